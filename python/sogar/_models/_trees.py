"""Reads scikit-learn's trees, forests and boosted trees for the engine.

This module defines how each class uses its trees: the precision of tests, what a leaf adds, where a sum
starts, and how it becomes a label. Trees and forests round a value to single precision before they test it;
histogram boosting does not.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ._cells import Array
from ._structure import Prepared
from ._transformers import NotReadableError, Symbol

Spec = dict[str, Any]

#: The largest float below 0: `x > JUST_BELOW_ZERO` is `x >= 0`.
JUST_BELOW_ZERO = -5e-324


def hash_of(spec: Any) -> str:
    """SHA-256 of nested lists and dictionaries of arrays, numbers and strings."""
    digest = hashlib.sha256()

    def add(part: Any) -> None:
        if isinstance(part, dict):
            # Covers change no prediction.
            for key in sorted(part.keys() - {"covers"}):
                digest.update(f"{key}\0".encode())
                add(part[key])
        elif isinstance(part, list | tuple):
            digest.update(f"[{len(part)}".encode())
            for inner in part:
                add(inner)
        elif isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(part, bytes):
            digest.update(part)
        else:
            digest.update(f"{part!r}\0".encode())

    add(spec)
    return digest.hexdigest()


def columns_spec(prepared: Prepared) -> Spec:
    """The table's columns, and the steps between them and the trees."""
    rows = prepared.rows
    categories: list[list[str]] = [[] for _ in rows.names]
    for source, levels in prepared.levels.items():
        categories[source] = levels.texts
    derived, seen = [], dict.fromkeys(prepared.levels, 0)
    for symbol in prepared.symbols:
        if not symbol.encoded:
            derived.append({"column": symbol.source, "steps": symbol.steps})
            continue
        levels, position = prepared.levels[symbol.source], seen[symbol.source]
        seen[symbol.source] += 1
        values, other = levels.values[:, position].tolist(), float(levels.other[position])
        if levels.texts:
            derived.append({"column": symbol.source, "values": values, "other": other})
            continue
        gap = [value for number, value in zip(levels.numbers, values, strict=True) if np.isnan(number)]
        pairs = [(n, v) for n, v in zip(levels.numbers, values, strict=True) if not np.isnan(n)]
        derived.append(
            {
                "column": symbol.source,
                "numbers": [number for number, _ in pairs],
                "values": [value for _, value in pairs],
                "other": other,
                "missing": gap[0] if gap else other,
            }
        )
    return {"columns": list(rows.names), "categories": categories, "derived": derived}


def library_spec(prepared: Prepared, data: bytes, threshold: float | None, name: str, library: str) -> Spec:
    """Another library's trees behind a pipeline."""
    spec = columns_spec(prepared) | {"library": data, "threshold": threshold, "name": name}
    spec["format"] = f"scikit-learn pipeline with {library}"
    return spec | {"hash": hash_of(spec)}


def trees_spec(model: Any, prepared: Prepared, threshold: float | None) -> Spec:
    """The trees of a fitted scikit-learn classifier."""
    name = type(model).__name__
    if getattr(model, "n_outputs_", 1) != 1:
        raise NotReadableError(f"{name} has several outputs")
    classes = len(model.classes_)
    if classes < 2:
        raise NotReadableError(f"{name} knows only one class")
    if threshold is not None and classes != 2:
        raise NotReadableError("a threshold needs two classes")
    made = READERS[name](model, classes, threshold)
    spec = (
        columns_spec(prepared) | made | {"classes": classes, "name": name, "format": f"scikit-learn {name}"}
    )
    return spec | {"hash": hash_of(spec)}


def _arrays(
    left: Array,
    right: Array,
    column: Array,
    threshold: Array,
    values: Array,
    missing_left: Array,
    covers: Array,
) -> Spec:
    count = len(left)
    return {
        "left": np.ascontiguousarray(left, dtype=np.int64),
        "right": np.ascontiguousarray(right, dtype=np.int64),
        "column": np.ascontiguousarray(column, dtype=np.int64),
        "threshold": np.ascontiguousarray(threshold, dtype=np.float64),
        "values": np.ascontiguousarray(values, dtype=np.float64).reshape(count, -1),
        "missing_left": np.ascontiguousarray(missing_left, dtype=bool),
        "covers": np.ascontiguousarray(covers, dtype=np.float64),
        "set_of": np.full(count, -1, dtype=np.int64),
        "outside_left": np.zeros(count, dtype=bool),
        "sets": [],
    }


def _tree(tree: Any, values: Array) -> Spec:
    missing = getattr(tree, "missing_go_to_left", None)
    missing = np.zeros(tree.node_count, dtype=bool) if missing is None else missing
    return _arrays(
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
        values,
        missing,
        tree.weighted_n_node_samples,
    )


def _votes(trees: list[Any], classes: int, threshold: float | None) -> Spec:
    """Mean probabilities: the first largest wins, or that of class 1 is compared with the threshold."""
    wanted = slice(0, classes) if threshold is None else slice(1, 2)
    return {
        "trees": [_tree(tree.tree_, tree.tree_.value[:, 0, wanted]) for tree in trees],
        "single": True,
        "base": [0.0] * (classes if threshold is None else 1),
        "divisor": float(len(trees)),
        "decision": "largest" if threshold is None else "raw",
        "threshold": threshold,
    }


def _forest(model: Any, classes: int, threshold: float | None) -> Spec:
    return _votes(list(model.estimators_), classes, threshold)


def _one_tree(model: Any, classes: int, threshold: float | None) -> Spec:
    return _votes([model], classes, threshold)


def _margins(base: Array, classes: int, threshold: float | None, at_zero: float, slope: float) -> Spec:
    """Sums that are log-odds: of class 1, or of each class."""
    made: Spec = {"base": base.astype(np.float64).tolist(), "divisor": 1.0}
    if classes > 2:
        return made | {"decision": "softmax", "threshold": None}
    if threshold is None:
        return made | {"decision": "margin", "slope": slope, "threshold": at_zero}
    return made | {"decision": "sigmoid", "slope": slope, "threshold": threshold}


def _gradient_boosting(model: Any, classes: int, threshold: float | None) -> Spec:
    start = getattr(model, "_raw_predict_init", None)
    if start is None or (model.init_ != "zero" and type(model.init_).__name__ != "DummyClassifier"):
        raise NotReadableError("GradientBoostingClassifier starts from another model")
    base = start(np.zeros((1, model.n_features_in_), dtype=np.float32))[0]
    trees = [
        _tree(tree.tree_, model.learning_rate * tree.tree_.value[:, 0, 0])
        for tree in model.estimators_.ravel()
    ]
    slope = 2.0 if model.loss == "exponential" else 1.0
    # Only this class predicts class 1 for a sum of exactly 0.
    return _margins(base, classes, threshold, JUST_BELOW_ZERO, slope) | {"trees": trees, "single": True}


def _hist_gradient_boosting(model: Any, classes: int, threshold: float | None) -> Spec:
    predictors, mapper = getattr(model, "_predictors", None), getattr(model, "_bin_mapper", None)
    if predictors is None or mapper is None:
        raise NotReadableError("HistGradientBoostingClassifier of this scikit-learn is not read")
    known, place = mapper.make_known_categories_bitsets()
    trees = [_hist_tree(tree, known, place) for round_ in predictors for tree in round_]
    base = np.asarray(model._baseline_prediction, dtype=np.float64).ravel()
    return _margins(base, classes, threshold, 0.0, 1.0) | {"trees": trees, "single": False}


def _hist_tree(tree: Any, known: Array, place: Array) -> Spec:
    nodes = tree.nodes
    leaf = nodes["is_leaf"].astype(bool)
    left = np.where(leaf, -1, nodes["left"].astype(np.int64))
    right = np.where(leaf, -1, nodes["right"].astype(np.int64))
    missing = nodes["missing_go_to_left"].astype(bool)
    spec = _arrays(
        left, right, nodes["feature_idx"], nodes["num_threshold"], nodes["value"], missing, nodes["count"]
    )
    for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf):
        words = tree.raw_left_cat_bitsets[nodes["bitset_idx"][node]]
        if missing[node]:
            # Missing and unknown categories also go left: everything except the known ones that go right.
            words = known[place[nodes["feature_idx"][node]]] & ~words
        spec["set_of"][node] = len(spec["sets"])
        spec["outside_left"][node] = missing[node]
        spec["sets"].append([int(word) for word in words])
    return spec


def hist_rearrangement(model: Any) -> Any:
    """Histogram boosting puts categorical columns first, with its own encoder."""
    categorical = getattr(model, "is_categorical_", None)
    preprocessor = getattr(model, "_preprocessor", None)
    if categorical is None or preprocessor is None:
        return None
    known = preprocessor.named_transformers_["encoder"].categories_

    def rearrange(symbols: list[Symbol]) -> list[Symbol]:
        encoded = [symbols[index] for index in np.flatnonzero(categorical)]
        first = [symbol.encode(levels) for symbol, levels in zip(encoded, known, strict=True)]
        return first + [symbols[index] for index in np.flatnonzero(~categorical)]

    return rearrange


READERS = {
    "DecisionTreeClassifier": _one_tree,
    "ExtraTreeClassifier": _one_tree,
    "RandomForestClassifier": _forest,
    "ExtraTreesClassifier": _forest,
    "GradientBoostingClassifier": _gradient_boosting,
    "HistGradientBoostingClassifier": _hist_gradient_boosting,
}

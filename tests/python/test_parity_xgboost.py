"""XGBoost models against XGBoost itself, 20,000 rows each: every label agrees, and every score bit by bit.

Half of the values lie at thresholds, at their neighbours in single precision, or at the borders in double
precision between what rounds to one and to the other. Tables have their columns in another order than models.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import xgboost as xgb

ROWS = 20_000
TRAINING_ROWS = 1500

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
Sogar = Callable[..., str]

BINARY = {"objective": "binary:logistic"}
SOFTPROB = {"objective": "multi:softprob", "num_class": 3}
DART = {"booster": "dart", "rate_drop": 0.4}


@dataclass
class Case:
    """A model with what it needs to be compared."""

    booster: xgb.Booster
    rows: pd.DataFrame
    save: Callable[[Path], None]
    early: bool = False
    threshold: float = 0.5
    options: list[str] = field(default_factory=list)
    texts: pd.DataFrame | None = None


def numbers(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Columns of several tempers: continuous, whole, mostly zero, tiny."""
    return pd.DataFrame(
        {
            "income": rng.lognormal(10, 1, n),
            "age": rng.integers(18, 90, n).astype(float),
            "gain": np.where(rng.random(n) < 0.7, 0.0, rng.normal(0, 5, n)),
            "rate": rng.normal(0, 1, n) * 1e-3,
        }
    )


def target(rng: np.random.Generator, frame: pd.DataFrame, classes: int) -> Ints:
    """Classes of equal size by a noisy sum of the columns."""
    signal = np.log(frame["income"]) - 10 + (frame["age"] - 50) / 40 + 400 * frame["rate"]
    noisy = signal.to_numpy() + rng.normal(0, 0.5, len(frame))
    cuts = np.quantile(noisy, np.arange(1, classes) / classes)
    return np.asarray(np.digitize(noisy, cuts), np.int64)


def thresholds_of(booster: xgb.Booster) -> dict[int, list[np.float32]]:
    """The thresholds at which each column's numbers are tested."""
    document = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]
    forest = document["gbtree"]["model"] if document["name"] == "dart" else document["model"]
    found: dict[int, list[np.float32]] = {}
    for tree in forest["trees"]:
        keys = ("left_children", "split_indices", "split_conditions", "split_type")
        for left, column, threshold, kind in zip(*(tree[key] for key in keys), strict=True):
            if left >= 0 and kind == 0:
                found.setdefault(column, []).append(np.float32(threshold))
    return found


def near(rng: np.random.Generator, thresholds: list[np.float32]) -> Floats:
    """Values at thresholds and where rounding to single precision turns."""
    at = rng.choice(np.array(thresholds, np.float32), ROWS)
    low, high = np.nextafter(at, np.float32(-np.inf)), np.nextafter(at, np.float32(np.inf))
    exact, below, above = at.astype(float), low.astype(float), high.astype(float)
    points = np.stack([exact, below, above, (below + exact) / 2, (exact + above) / 2])
    values = points[rng.integers(0, len(points), ROWS), np.arange(ROWS)]
    step = rng.integers(-1, 2, ROWS)
    towards = np.where(step < 0, -np.inf, np.inf)
    return np.where(step == 0, values, np.nextafter(values, towards))


def fresh_rows(booster: xgb.Booster, missing: float, *, single: bool = False) -> pd.DataFrame:
    """Fresh rows, half of whose values are at thresholds or next to them."""
    rng = np.random.default_rng(11)
    rows = numbers(rng, ROWS)
    for column, thresholds in thresholds_of(booster).items():
        name = rows.columns[column]
        rows[name] = np.where(rng.random(ROWS) < 0.5, near(rng, thresholds), rows[name])
    if single:
        rows = rows.astype(np.float32).astype(float)
    return rows.mask(rng.random(rows.shape) < missing)


def numeric(
    parameters: dict[str, Any],
    rounds: int = 30,
    *,
    missing: float = 0.0,
    single: bool = False,
    threshold: float = 0.5,
    options: tuple[str, ...] = (),
) -> Case:
    """A booster on numbers."""
    rng = np.random.default_rng(5)
    frame = numbers(rng, TRAINING_ROWS)
    label = target(rng, frame, max(int(parameters.get("num_class", 2)), 2))
    frame = frame.mask(rng.random(frame.shape) < missing)
    common = {"nthread": 1, "seed": 7, "max_depth": 5, "verbosity": 0}
    booster = xgb.train(common | parameters, xgb.DMatrix(frame, label), rounds)
    rows = fresh_rows(booster, missing, single=single)
    return Case(booster, rows, booster.save_model, threshold=threshold, options=list(options))


def classifier(model: xgb.XGBClassifier, classes: int = 2, *, early: bool = False) -> Case:
    """A model of scikit-learn's interface, which saves the file."""
    rng = np.random.default_rng(6)
    frame = numbers(rng, TRAINING_ROWS)
    label = target(rng, frame, classes)
    held_out = {"eval_set": [(frame[1000:], label[1000:])], "verbose": False} if early else {}
    model.fit(frame[:1000], label[:1000], **held_out)
    booster = model.get_booster()
    return Case(booster, fresh_rows(booster, 0.02), model.save_model, early=early)


#: Sixteen categories that only an exact comparison tells apart.
ALIKE = ["a", " a", "a ", "\ta", "a\t", "A", " ", "  ", "\t", "1", " 1", "1.0", "01", "true", "True", "TRUE"]


def categories(onehot: int, *, texts: bool, alike: bool = False) -> Case:
    """A booster on categories, as texts that the file knows or as plain codes, unseen ones among them."""
    rng = np.random.default_rng(8)
    jobs = ALIKE if alike else [f"job {letter}" for letter in "qwertzuiopasdfgh"]
    # As floats, all of these regions are two.
    regions = 2**60 + np.arange(60) * 3 if alike else np.arange(60) * 3

    def frame(n: int) -> pd.DataFrame:
        columns = {
            "age": rng.integers(18, 90, n).astype(float),
            "job": pd.Categorical.from_codes(rng.integers(0, 16, n), pd.Index(jobs)),
            "region": pd.Categorical.from_codes(rng.integers(0, 60, n), pd.Index(regions)),
            "size": pd.Categorical.from_codes(rng.integers(0, 3, n), pd.Index(["S", "M", "L"])),
        }
        return pd.DataFrame(columns)

    def codes(frame: pd.DataFrame) -> pd.DataFrame:
        coded = {name: frame[name].cat.codes.astype(float) for name in ("job", "region", "size")}
        return frame.assign(**coded).replace(-1.0, np.nan)

    train = frame(TRAINING_ROWS)
    signal = train["age"] / 40 + train["job"].cat.codes % 2 + train["region"].cat.codes % 7 / 3
    label = (signal + rng.normal(0, 0.3, TRAINING_ROWS) > signal.median()).astype(int)
    data = train if texts else codes(train)
    kinds = ["q", "c", "c", "c"]
    named = {} if texts else {"feature_types": kinds}
    parameters = BINARY | {"max_cat_to_onehot": onehot, "nthread": 1, "max_depth": 6, "verbosity": 0}
    matrix = xgb.DMatrix(data, label, enable_categorical=True, **named)
    booster = xgb.train(parameters, matrix, 20)
    rows = frame(ROWS)
    coded = codes(rows)
    age = np.where(rng.random(ROWS) < 0.5, near(rng, thresholds_of(booster)[0]), rows["age"])
    coded["age"] = age
    if not texts:
        odd = [0.5, 0.99999999999, 7.9, 63.0, 64.0, 1000.0, 2.0**24, 1e9, np.nan]
        for name in ("job", "region", "size"):
            coded[name] = np.where(rng.random(ROWS) < 0.3, rng.choice(odd, ROWS), coded[name])
        return Case(booster, coded, booster.save_model)
    # A category that the training never saw is a missing one.
    shown = rows.astype({"job": object, "region": object, "size": object}).assign(age=age)
    unseen = rng.random(ROWS) < 0.1
    shown.loc[unseen, "job"] = "a  " if alike else "job unknown"
    coded.loc[unseen, "job"] = np.nan
    return Case(booster, coded, booster.save_model, texts=shown)


FOREST = {"num_parallel_tree": 12, "subsample": 0.6, "colsample_bynode": 0.7, "learning_rate": 1.0}
CASES: dict[str, Callable[[], Case]] = {
    "binary": lambda: numeric(BINARY, 60),
    "binary_of_singles": lambda: numeric(BINARY, single=True),
    "missing": lambda: numeric(BINARY, 40, missing=0.15),
    "exact_and_deep": lambda: numeric(
        BINARY | {"tree_method": "exact", "max_depth": 16, "min_child_weight": 0.05}
    ),
    "stumps": lambda: numeric(BINARY | {"max_depth": 1}, 80),
    "one_round": lambda: numeric(BINARY, 1, missing=0.3),
    "leaf_wise": lambda: numeric(BINARY | {"grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0}),
    "base_score": lambda: numeric(BINARY | {"base_score": 0.87}),
    "one_sided": lambda: numeric(BINARY | {"scale_pos_weight": 9.0, "max_delta_step": 0.3}),
    "logit_raw": lambda: numeric({"objective": "binary:logitraw"}, threshold=0.0),
    "hinge": lambda: numeric({"objective": "binary:hinge"}, missing=0.1),
    "regression": lambda: numeric({"objective": "reg:squarederror"}, 40, options=("--threshold", "0.5")),
    "softmax": lambda: numeric(SOFTPROB | {"objective": "multi:softmax"}),
    "softprob": lambda: numeric(SOFTPROB | {"num_class": 5}, 20, missing=0.15),
    "softprob_of_two": lambda: numeric(SOFTPROB | {"num_class": 2}, 20),
    "dart": lambda: numeric(BINARY | DART, 40),
    "dart_softprob": lambda: numeric(SOFTPROB | DART, 20, missing=0.1),
    "forest": lambda: numeric(BINARY | FOREST, 1),
    "boosted_forest": lambda: numeric(SOFTPROB | FOREST, 3, missing=0.1),
    "vector_leaves": lambda: numeric(SOFTPROB | {"multi_strategy": "multi_output_tree"}, 20, missing=0.1),
    "categories_one_by_one": lambda: categories(100, texts=True),
    "categories_in_parts": lambda: categories(2, texts=True),
    "categories_alike_one_by_one": lambda: categories(100, texts=True, alike=True),
    "categories_alike_in_parts": lambda: categories(2, texts=True, alike=True),
    "codes_one_by_one": lambda: categories(100, texts=False),
    "codes_in_parts": lambda: categories(2, texts=False),
    "classifier": lambda: classifier(xgb.XGBClassifier(n_estimators=30, n_jobs=1), 4),
    "classifier_stopped_early": lambda: classifier(
        xgb.XGBClassifier(n_estimators=60, learning_rate=0.9, early_stopping_rounds=2, n_jobs=1), early=True
    ),
    "classifier_of_margins": lambda: classifier(
        xgb.XGBClassifier(n_estimators=20, objective="binary:logitraw", n_jobs=1)
    ),
    "classifier_forest": lambda: classifier(xgb.XGBRFClassifier(n_estimators=25, n_jobs=1)),
}


def theirs(case: Case) -> tuple[Ints, Floats]:
    """XGBoost's label and score of every row."""
    kinds, names = case.booster.feature_types, case.booster.feature_names
    assert names is not None
    matrix = xgb.DMatrix(case.rows[names].to_numpy(), feature_names=names, feature_types=kinds)
    used = {"iteration_range": (0, case.booster.best_iteration + 1)} if case.early else {}
    margin = case.booster.predict(matrix, output_margin=True, **used)
    prediction = case.booster.predict(matrix, **used)
    if margin.ndim == 1:
        hinge = "hinge" in json.loads(case.booster.save_config())["learner"]["objective"]["name"]
        return (prediction > case.threshold).astype(int), margin if hinge else prediction
    if prediction.ndim == 1:
        # `multi:softmax` gives labels only: its probabilities come from a twin.
        case.booster.set_param({"objective": "multi:softprob"})
        probabilities = case.booster.predict(matrix)
        labels = prediction.astype(int)
    else:
        probabilities, labels = prediction, prediction.argmax(axis=1)
    chosen = np.ones(ROWS, int) if margin.shape[1] == 2 else labels
    return labels, probabilities[np.arange(ROWS), chosen]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_labels_and_scores_are_xgboosts(name: str, ending: str, sogar: Sogar, tmp_path: Path) -> None:
    case = CASES[name]()
    model, table = tmp_path / f"model.{ending}", tmp_path / "rows.csv"
    case.save(model)
    shown = case.rows if case.texts is None else case.texts
    shown[shown.columns[::-1]].to_csv(table, index=False, float_format="%.17g")
    options = list(case.options)
    if case.texts is not None:
        config = tmp_path / "sogar.toml"
        config.write_text('[features.region]\nkind = "categorical"\n')
        options += ["--config", str(config)]
    ours = json.loads(sogar("predict", table, "--model", model, "--json", *options))
    labels, scores = theirs(case)
    assert len(set(labels.tolist())) > 1, "the rows should not all be alike"
    assert np.flatnonzero(labels != np.array(ours["labels"])).tolist() == []
    assert np.flatnonzero(scores.astype(float) != np.array(ours["scores"])).tolist() == []

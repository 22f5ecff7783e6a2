"""ONNX models against onnxruntime and the libraries that they were exported from, 20,000 rows each.

Trees: not one label differs from onnxruntime's on one thread, whatever the row: values at thresholds, one
single-precision unit to either side, and missing values included. Networks: labels differ at most where the
score is within single precision of the threshold.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pandas as pd
import pytest
from onnx import TensorProto, helper, numpy_helper
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

with warnings.catch_warnings():
    # Deprecations between the converters and what they import.
    warnings.simplefilter("ignore")
    import lightgbm
    import onnxmltools
    import skl2onnx
    import xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType
    from skl2onnx.common.data_types import DoubleTensorType
    from skl2onnx.common.data_types import FloatTensorType as ColumnType

ROWS = 20_000
TRAINING_ROWS = 1500
COLUMNS = ["income", "age", "gain", "rate", "kind"]
NAMES = np.array(["bad", "fair", "good"])

Floats = npt.NDArray[np.floating[Any]]
Sogar = Callable[..., str]


@dataclass
class Case:
    """A model file with what it needs to be compared."""

    model: onnx.ModelProto
    rows: Floats
    trees: bool
    original: Callable[[Floats], Any] | None = None
    options: list[str] = field(default_factory=list)
    inputs: list[str] | None = None


def training(seed: int, classes: int = 2, missing: float = 0.0) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Columns of several tempers, and classes by a noisy sum of them."""
    rng = np.random.default_rng(seed)
    rows = columns(rng, TRAINING_ROWS)
    signal = np.log(rows[:, 0]) - 10 + (rows[:, 1] - 50) / 40 + 400 * rows[:, 3] + rows[:, 4] % 2
    signal = signal + rng.normal(0, 0.5, TRAINING_ROWS)
    labels = np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows, labels


def columns(rng: np.random.Generator, n: int) -> Floats:
    """Rows in single precision: continuous, whole, mostly zero, tiny, a category."""
    gain = np.where(rng.random(n) < 0.7, 0.0, rng.normal(0, 5, n))
    parts = [
        rng.lognormal(10, 1, n),
        rng.integers(18, 90, n),
        gain,
        rng.normal(0, 1e-3, n),
        rng.integers(0, 8, n),
    ]
    return np.column_stack(parts).astype(np.float32)


def fresh_rows(model: onnx.ModelProto | None = None, missing: float = 0.0) -> Floats:
    """Fresh rows; half of the values of a tree model's columns are at its thresholds or next to them."""
    rng = np.random.default_rng(11)
    rows = columns(rng, ROWS)
    for node in model.graph.node if model else []:
        found = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if "nodes_values" not in found:
            continue
        inner = np.array([mode != b"LEAF" for mode in found["nodes_modes"]])
        tested = np.array(found["nodes_featureids"])
        values = np.array(found["nodes_values"], np.float32)
        for column in range(rows.shape[1]):
            thresholds = values[inner & (tested == column)]
            thresholds = thresholds[np.abs(thresholds) < 1e30]
            if len(thresholds) == 0:
                continue
            chosen = rng.choice(thresholds, ROWS)
            step = rng.integers(-1, 2, ROWS)
            towards = np.where(step < 0, -np.inf, np.inf).astype(np.float32)
            near = np.where(step == 0, chosen, np.nextafter(chosen, towards))
            rows[:, column] = np.where(rng.random(ROWS) < 0.5, near, rows[:, column])
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows


def sklearn_case(
    model: Any, classes: int = 2, *, trees: bool, names: bool = False, missing: float = 0.0
) -> Case:
    rows, labels = training(3, classes, missing)
    model.fit(rows, NAMES[labels] if names else labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = skl2onnx.to_onnx(model, rows[:1])
    scaled = trees and len(getattr(model, "steps", [])) > 1
    tested = fresh_rows(exported if trees and not scaled else None, missing)
    # A scaler in double precision, as in the library, is not the exported one.
    return Case(exported, tested, trees, None if scaled else model.predict)


def mlp(activation: str, **options: Any) -> MLPClassifier:
    return MLPClassifier((16, 12), activation=activation, max_iter=60, random_state=1, tol=0.1, **options)


def logistic() -> Case:
    return sklearn_case(make_pipeline(StandardScaler(), LogisticRegression()), trees=False)


def logistic_by_column() -> Case:
    """One input a column, as pandas pipelines are exported."""
    rows, labels = training(3)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, labels)
    types = [(name, ColumnType([None, 1])) for name in COLUMNS]
    exported = skl2onnx.convert_sklearn(model, initial_types=types)
    return Case(exported, fresh_rows(), trees=False, original=model.predict, inputs=COLUMNS)


def forest_of_doubles() -> Case:
    rows, labels = training(3)
    model = RandomForestClassifier(20, max_depth=6, random_state=1).fit(rows, labels)
    exported = skl2onnx.convert_sklearn(model, initial_types=[("X", DoubleTensorType([None, 5]))])
    return Case(exported, fresh_rows(exported).astype(np.float64), trees=True)


def histogram_boosting(classes: int) -> Case:
    """The converter writes booleans where newer protobuf releases want whole numbers."""
    make = helper.make_attribute

    def numbers(key: str, value: Any, *rest: Any, **more: Any) -> onnx.AttributeProto:
        if isinstance(value, list) and any(isinstance(item, bool | np.bool_) for item in value):
            value = [int(item) for item in value]
        attribute: onnx.AttributeProto = make(key, value, *rest, **more)
        return attribute

    model = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=12, random_state=1)
    helper.make_attribute = numbers
    try:
        return sklearn_case(model, classes, trees=True, missing=0.1)
    finally:
        helper.make_attribute = make


def lightgbm_case(classes: int, *, missing: float = 0.0, categories: bool = False) -> Case:
    rows, labels = training(4, classes, missing)
    options: dict[str, Any] = {"categorical_feature": [4]} if categories else {}
    model = lightgbm.LGBMClassifier(n_estimators=25, num_leaves=12, max_cat_to_onehot=1, verbose=-1)
    model.fit(rows, labels, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = onnxmltools.convert_lightgbm(model, initial_types=[("input", FloatTensorType([None, 5]))])
    return Case(exported, fresh_rows(exported, missing), trees=True)


def xgboost_case(classes: int, *, missing: float = 0.0) -> Case:
    rows, labels = training(5, classes, missing)
    model = xgboost.XGBClassifier(n_estimators=25, max_depth=4, n_jobs=1).fit(rows, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = onnxmltools.convert_xgboost(model, initial_types=[("input", FloatTensorType([None, 5]))])
    return Case(exported, fresh_rows(exported, missing), trees=True, original=model.predict)


def graph(nodes: list[onnx.NodeProto], constants: dict[str, Any], outputs: int) -> onnx.ModelProto:
    """A model from nodes that lead from `x` to `y`."""
    made = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", outputs])],
        [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants.items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def keras_like() -> Case:
    """A normalisation layer, products with biases added, a folded batch normalisation, a softmax."""
    rng = np.random.default_rng(6)
    rows = columns(rng, 500)
    constants = {
        "mean": rows.mean(axis=0),
        "deviation": rows.std(axis=0),
        "w1": rng.normal(size=(5, 24)) / 2,
        "b1": rng.normal(size=24),
        "scale": rng.uniform(0.5, 2, size=24),
        "shift": rng.normal(size=24),
        "w2": rng.normal(size=(24, 3)) / 4,
        "b2": rng.normal(size=3),
    }
    nodes = [
        helper.make_node("Sub", ["x", "mean"], ["centred"]),
        helper.make_node("Div", ["centred", "deviation"], ["scaled"]),
        helper.make_node("MatMul", ["scaled", "w1"], ["product"]),
        helper.make_node("Add", ["product", "b1"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["hidden"]),
        helper.make_node("Mul", ["hidden", "scale"], ["multiplied"]),
        helper.make_node("Add", ["multiplied", "shift"], ["normalised"]),
        helper.make_node("MatMul", ["normalised", "w2"], ["last"]),
        helper.make_node("Add", ["last", "b2"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["y"], axis=-1),
    ]
    return Case(graph(nodes, constants, 3), fresh_rows(), trees=False)


def torch_like() -> Case:
    """Gemm with transposed weights, batch normalisation, leaky activation, one logit."""
    rng = np.random.default_rng(7)
    constants = {
        "w1": rng.normal(size=(20, 5)) * [1e-5, 1e-2, 0.1, 300, 0.2],
        "b1": rng.normal(size=20),
        "gamma": rng.uniform(0.5, 2, size=20),
        "beta": rng.normal(size=20),
        "mean": rng.normal(size=20),
        "variance": rng.uniform(0.5, 2, size=20),
        "w2": rng.normal(size=(1, 20)) / 4,
        "b2": rng.normal(size=1),
    }
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["sum"], transB=1, alpha=1.0, beta=1.0),
        helper.make_node("BatchNormalization", ["sum", "gamma", "beta", "mean", "variance"], ["normalised"]),
        helper.make_node("LeakyRelu", ["normalised"], ["hidden"], alpha=0.1),
        helper.make_node("Dropout", ["hidden"], ["kept"]),
        helper.make_node("Gemm", ["kept", "w2", "b2"], ["y"], transB=1),
    ]
    return Case(graph(nodes, constants, 1), fresh_rows(), trees=False, options=["--threshold", "0"])


FOREST = {"n_estimators": 30, "max_depth": 7, "random_state": 1}
CASES: dict[str, Callable[[], Case]] = {
    "mlp_relu": lambda: sklearn_case(make_pipeline(StandardScaler(), mlp("relu")), trees=False),
    "mlp_tanh_classes": lambda: sklearn_case(make_pipeline(MinMaxScaler(), mlp("tanh")), 3, trees=False),
    "mlp_logistic_names": lambda: sklearn_case(
        make_pipeline(RobustScaler(), mlp("logistic")), trees=False, names=True
    ),
    "logistic": logistic,
    "logistic_classes": lambda: sklearn_case(
        make_pipeline(StandardScaler(), LogisticRegression()), 3, trees=False, names=True
    ),
    "logistic_by_column": logistic_by_column,
    "ridge": lambda: sklearn_case(RidgeClassifier(solver="svd"), trees=False),
    "tree": lambda: sklearn_case(DecisionTreeClassifier(max_depth=8, random_state=1), trees=True),
    "stump": lambda: sklearn_case(DecisionTreeClassifier(max_depth=1, random_state=1), trees=True),
    "forest": lambda: sklearn_case(RandomForestClassifier(**FOREST), trees=True),
    "forest_classes": lambda: sklearn_case(RandomForestClassifier(**FOREST), 3, trees=True, names=True),
    "forest_of_doubles": forest_of_doubles,
    "forest_scaled": lambda: sklearn_case(
        make_pipeline(StandardScaler(), RandomForestClassifier(**FOREST)), trees=True
    ),
    "forest_imputed": lambda: sklearn_case(
        make_pipeline(SimpleImputer(), RandomForestClassifier(**FOREST)), trees=True, missing=0.1
    ),
    "extra_trees": lambda: sklearn_case(ExtraTreesClassifier(**FOREST), trees=True, names=True),
    "boosting": lambda: sklearn_case(GradientBoostingClassifier(n_estimators=30, random_state=1), trees=True),
    "boosting_classes": lambda: sklearn_case(
        GradientBoostingClassifier(n_estimators=12, random_state=1), 3, trees=True
    ),
    "histogram_boosting": lambda: histogram_boosting(2),
    "histogram_boosting_classes": lambda: histogram_boosting(3),
    "lightgbm": lambda: lightgbm_case(2, missing=0.1),
    "lightgbm_classes": lambda: lightgbm_case(3),
    "lightgbm_categories": lambda: lightgbm_case(2, categories=True),
    "xgboost": lambda: xgboost_case(2, missing=0.1),
    "xgboost_classes": lambda: xgboost_case(3),
    "keras_like": keras_like,
    "torch_like": torch_like,
}


def runtime(case: Case) -> tuple[list[str], Floats]:
    """What onnxruntime says on one thread: the label of every row as text, and all scores."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), options)
    inputs = session.get_inputs()
    if len(inputs) == 1:
        feed = {inputs[0].name: case.rows}
    else:
        feed = {given.name: case.rows[:, [place]] for place, given in enumerate(inputs)}
    answers = session.run(None, feed)
    scores = answers[-1]
    if isinstance(scores, list):
        scores = np.array([list(row.values()) for row in scores])
    scores = np.asarray(scores).reshape(ROWS, -1)
    if len(answers) == 2:
        return [str(label) for label in answers[0]], scores
    labels = (scores[:, 0] > 0) if scores.shape[1] == 1 else scores.argmax(axis=1)
    return [str(int(label)) for label in labels], scores


def ours(case: Case, sogar: Sogar, folder: Path) -> tuple[list[str], Floats]:
    """What the binary says."""
    model, table = folder / "model.onnx", folder / "rows.csv"
    onnx.save(case.model, model)
    frame = pd.DataFrame(case.rows.astype(np.float64), columns=COLUMNS)
    frame.to_csv(table, index=False, float_format="%.17g")
    answer = json.loads(sogar("predict", table, "--model", model, "--json", *case.options))
    names = [str(name) for name in answer["classes"]]
    labels = [names[label] for label in answer["labels"]]
    return labels, np.array([np.nan if score is None else score for score in answer["scores"]], float)


def differing(a: list[str], b: list[str]) -> npt.NDArray[np.int64]:
    return np.flatnonzero(np.array(a, object) != np.array(b, object))


@pytest.mark.parametrize("name", CASES)
def test_labels_and_scores_are_onnxruntimes(name: str, sogar: Sogar, tmp_path: Path) -> None:
    case = CASES[name]()
    labels, scores = runtime(case)
    our_labels, our_scores = ours(case, sogar, tmp_path)
    assert len(set(labels)) > 1, "the rows should not all be alike"
    ordered = np.sort(scores, axis=1)
    binary = scores.shape[1] <= 2
    expected = scores[:, -1] if binary else ordered[:, -1]
    differences = differing(labels, our_labels)
    if case.trees:
        assert len(differences) == 0, f"rows {differences[:10]}"
        assert np.abs(expected - our_scores).max() <= 2e-7
    else:
        # Two single-precision evaluations of one row differ by less than this.
        close = 1e-4
        lead = ordered[:, -1] - ordered[:, -2] if scores.shape[1] > 1 else np.abs(scores[:, 0])
        assert (np.abs(lead[differences]) < close).all(), f"rows {differences[:10]}"
        assert len(differences) <= 2
        assert np.abs(expected - our_scores).max() <= close * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("name", CASES)
def test_labels_are_the_original_librarys(name: str, sogar: Sogar, tmp_path: Path) -> None:
    case = CASES[name]()
    if case.original is None:
        pytest.skip("made by hand, or the export itself differs from the library")
    _, scores = runtime(case)
    our_labels, _ = ours(case, sogar, tmp_path)
    theirs = [str(label) for label in case.original(case.rows)]
    ordered = np.sort(scores, axis=1)
    # Libraries add in double precision, the export in single: ties may be cut differently.
    lead = ordered[:, -1] - ordered[:, -2] if scores.shape[1] > 1 else np.abs(scores[:, 0])
    differences = differing(theirs, our_labels)
    assert (lead[differences] < 1e-5).all(), f"rows {differences[:10]}"
    assert len(differences) <= ROWS // 1000


def test_an_unknown_operator_is_named_with_its_node(tmp_path: Path, sogar_error: Callable[..., str]) -> None:
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["sum"], name="dense", transB=1),
        helper.make_node("Erf", ["sum"], ["y"], name="head/erf"),
    ]
    model = graph(nodes, {"w": np.ones((1, 5)), "b": np.zeros(1)}, 1)
    onnx.save(model, tmp_path / "model.onnx")
    pd.DataFrame(fresh_rows()[:20], columns=COLUMNS).to_csv(tmp_path / "rows.csv", index=False)
    message = sogar_error("predict", tmp_path / "rows.csv", "--model", tmp_path / "model.onnx")
    assert "`Erf` (node `head/erf`)" in message
    assert "--model-command" in message


def test_a_rewritten_outcome_of_a_network_is_drawn(
    tmp_path: Path, sogar: Sogar, sogar_error: Callable[..., str]
) -> None:
    """Networks are scored again cell by cell: all of them where there are fewer than are drawn."""
    rows, labels = training(3)
    model = make_pipeline(StandardScaler(), mlp("relu")).fit(rows, labels)
    onnx.save(skl2onnx.to_onnx(model, rows[:1].astype(np.float32)), tmp_path / "model.onnx")
    pd.DataFrame(rows[:400], columns=COLUMNS).to_csv(tmp_path / "rows.csv", index=False)
    words = ["solve", tmp_path / "rows.csv", "--model", tmp_path / "model.onnx", "--desired", "1"]
    words += ["--max-depth", "1", "--max-edits", "1", "--quiet", "--outcomes-cache", tmp_path / "kept"]
    sogar(*words, "-o", tmp_path / "a.json")
    [kept] = (tmp_path / "kept").glob("*.outcomes*")
    whole = kept.read_bytes()
    sogar(*words, "-o", tmp_path / "b.json")
    for at in (40, -50):  # behind the identity, and near the end
        start = whole.index(b"\n") + 1
        flips = bytearray(whole[start:-32])
        flips[at + (len(flips) // 40 if at > 0 else 0)] ^= 1
        changed = whole[:start] + bytes(flips)
        kept.write_bytes(changed + hashlib.sha256(changed).digest())
        assert "is not what the model says" in sogar_error(*words, "-o", tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()

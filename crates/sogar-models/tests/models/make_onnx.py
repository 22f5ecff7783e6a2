"""Makes the ONNX models of `tests/formats/onnx.rs` and records what onnxruntime says of chosen rows.

    python make_onnx.py            # needs numpy, onnx, onnxruntime, scikit-learn, skl2onnx, torch, onnxscript

For every model `onnx/NAME.onnx` there is `onnx/NAME.json`: rows of model inputs and, for each, the label (an
index) and the scores of onnxruntime on one thread. The `torch_*` models are exports of PyTorch, by the
exporter in use since 2.5 (`new`, `external`) and the one before (`old`), with the weights inside or in a file
beside the model.
"""

import json
import pathlib
import warnings

import numpy as np
import onnx
import onnxruntime
import skl2onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

FOLDER = pathlib.Path(__file__).parent / "onnx"
ROWS = 40
MEAN, DEVIATION = [40.0, 5e4, 1.0, 0.5], [12.0, 2e4, 1.0, 0.3]


def columns(rng, n=ROWS):
    """Rows in single precision whose columns differ in size."""
    return (rng.normal(size=(n, 4)) * DEVIATION + MEAN).astype(np.float32)


def record(name, rows, labels_of=None):
    """Writes what onnxruntime says of the rows."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(FOLDER / f"{name}.onnx", options)
    answers = session.run(None, {session.get_inputs()[0].name: rows})
    scores = answers[-1]
    if isinstance(scores, list):
        classes = list(scores[0])
        scores = np.array([list(row.values()) for row in scores])
        labels = [classes.index(label) for label in answers[0].tolist()]
    elif len(answers) == 2:
        labels = answers[0].tolist()
    else:
        labels = labels_of(np.asarray(scores).reshape(len(rows), -1)).astype(int).tolist()
    scores = np.asarray(scores, float).reshape(len(rows), -1)
    text = [" ".join(repr(float(value)) for value in row) for row in rows]
    content = {
        "rows": text,
        "labels": labels,
        "scores": [" ".join(map(repr, row)) for row in scores.tolist()],
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=0) + "\n")


class Scaled(nn.Module):
    """A scaler, batch normalisation, dropout and a leaky activation; one probability."""

    def __init__(self):
        """Random weights."""
        super().__init__()
        self.register_buffer("mean", torch.tensor(MEAN))
        self.register_buffer("deviation", torch.tensor(DEVIATION))
        norm = nn.BatchNorm1d(8)
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
        layers = [nn.Linear(4, 8), norm, nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 6), nn.LeakyReLU(0.1)]
        self.layers = nn.Sequential(*layers, nn.Linear(6, 1))

    def forward(self, rows):
        """The probability of each row."""
        return torch.sigmoid(self.layers((rows - self.mean) / self.deviation)).squeeze(-1)


def torch_models(rng):
    """Exports of PyTorch."""
    torch.manual_seed(3)
    rows = torch.tensor(columns(rng))
    scaled = Scaled().eval()
    scaled.layers[-1].bias.data -= torch.logit(scaled(rows)).median()
    logits = nn.Sequential(nn.Flatten(), nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3)).eval()
    softmax = nn.Sequential(nn.Linear(4, 40), nn.ReLU(), nn.Linear(40, 2), nn.Softmax(dim=1)).eval()
    wide = nn.Sequential(nn.Linear(4, 80), nn.ReLU(), nn.Linear(80, 2), nn.Softmax(dim=1)).eval()
    for layer in (logits[1], softmax[0], wide[0]):
        layer.weight.data /= torch.tensor(DEVIATION)
    for model in (softmax, wide):
        before = model[:-1](rows).detach()
        model[2].bias.data[0] -= (before[:, 0] - before[:, 1]).median()
    rows_vary = {"dynamic_shapes": ({0: torch.export.Dim("rows")},)}
    old = {"dynamo": False, "dynamic_axes": {"x": {0: "rows"}}}
    for name, model, options in [
        ("torch_old_sigmoid", scaled, old),
        ("torch_old_logits", logits, old),
        ("torch_new_sigmoid", scaled, {"dynamo": True, "external_data": False, **rows_vary}),
        ("torch_new_softmax", softmax, {"dynamo": True, "external_data": False, **rows_vary}),
        ("torch_external", wide, {"dynamo": True, "external_data": True, **rows_vary}),
    ]:
        path = FOLDER / f"{name}.onnx"
        torch.onnx.export(model, (rows,), path, input_names=["x"], output_names=["y"], **options)
        plain = onnx.load(path, load_external_data=False)
        # Where in the exporter's source every node came from is of no use here.
        for node in plain.graph.node:
            node.ClearField("metadata_props")
            node.ClearField("doc_string")
        for field in ("value_info", "metadata_props"):
            plain.graph.ClearField(field)
        onnx.save(plain, path)
    above = lambda scores: scores[:, 0] > 0.5  # noqa: E731
    largest = lambda scores: scores.argmax(axis=1)  # noqa: E731
    record("torch_old_sigmoid", rows.numpy(), above)
    record("torch_new_sigmoid", rows.numpy(), above)
    for name in ("torch_old_logits", "torch_new_softmax", "torch_external"):
        record(name, rows.numpy(), largest)


def sklearn_models(rng):
    """Exports of scikit-learn."""
    train = columns(rng, 400)
    signal = train[:, 0] / 12 + train[:, 1] / 2e4 * train[:, 2] + rng.normal(0, 0.3, 400)
    labels = np.digitize(signal, np.quantile(signal, [1 / 3, 2 / 3]))
    names = np.array(["bad", "good"])[(labels > 0).astype(int)]
    network = MLPClassifier((6,), max_iter=20, random_state=1, tol=0.1)
    forest = {"n_estimators": 6, "max_depth": 4, "random_state": 1}
    for name, model, target in [
        ("mlp", make_pipeline(StandardScaler(), network), names),
        ("forest", RandomForestClassifier(**forest), (labels > 0).astype(int)),
        ("forest_classes", RandomForestClassifier(**forest), labels),
        ("forest_scaled", make_pipeline(StandardScaler(), RandomForestClassifier(**forest)), names),
        ("boosting", GradientBoostingClassifier(n_estimators=6, random_state=1), (labels > 0).astype(int)),
    ]:
        model.fit(train, target)
        onnx.save(skl2onnx.to_onnx(model, train[:1]), FOLDER / f"{name}.onnx")
        record(name, columns(rng))


def tree_ensemble_5(rng):
    """The newest tree operator, by hand: two trees, all comparisons, shared leaves."""
    single = lambda values: numpy_helper.from_array(np.array(values, np.float32))  # noqa: E731
    modes = numpy_helper.from_array(np.array([0, 1, 2, 3, 4], np.uint8))
    node = helper.make_node(
        "TreeEnsemble",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=1,
        aggregate_function=1,
        post_transform=0,
        tree_roots=[0, 3],
        nodes_featureids=[0, 1, 2, 3, 2],
        nodes_splits=single([40, 5e4, 1, 0.5, 1]),
        nodes_modes=modes,
        nodes_truenodeids=[1, 0, 2, 4, 4],
        nodes_trueleafs=[0, 1, 1, 0, 1],
        nodes_falsenodeids=[2, 1, 3, 5, 6],
        nodes_falseleafs=[0, 1, 1, 1, 1],
        leaf_targetids=[0] * 7,
        leaf_weights=single([0.5, -0.25, 0.125, -1, 0.1, 0.3, -0.7]),
    )
    graph = helper.make_graph(
        [node],
        "trees",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 1])],
    )
    sets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 5)]
    onnx.save(helper.make_model(graph, opset_imports=sets, ir_version=10), FOLDER / "tree_ensemble_5.onnx")
    rows = columns(rng)
    rows[::3, 2] = 1
    rows[1::4, 0] = 40
    record("tree_ensemble_5", rows, lambda scores: scores[:, 0] > 0)


def residual(rng):
    """Networks that are no chain of layers (a detour around a layer), with one, two and three outputs."""
    weights = lambda *shape: rng.normal(size=shape).astype(np.float32) / 2  # noqa: E731
    last = {"residual": (1, "Sigmoid"), "residual_logits": (2, "Identity"), "residual_classes": (3, "Softmax")}
    for name, (outputs, activation) in last.items():
        constants = {
            "mean": np.array(MEAN, np.float32),
            "deviation": np.array(DEVIATION, np.float32),
            "first": weights(4, 6),
            "second": weights(6, 6),
            "third": weights(6, outputs),
        }
        nodes = [
            helper.make_node("Sub", ["x", "mean"], ["centred"]),
            helper.make_node("Div", ["centred", "deviation"], ["scaled"]),
            helper.make_node("MatMul", ["scaled", "first"], ["a"]),
            helper.make_node("Relu", ["a"], ["b"]),
            helper.make_node("MatMul", ["b", "second"], ["c"]),
            helper.make_node("Relu", ["c"], ["d"]),
            helper.make_node("Add", ["b", "d"], ["e"]),
            helper.make_node("MatMul", ["e", "third"], ["f"]),
            helper.make_node(activation, ["f"], ["y"]),
        ]
        graph = helper.make_graph(
            nodes,
            "residual",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 4])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", outputs])],
            [numpy_helper.from_array(value, key) for key, value in constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, FOLDER / f"{name}.onnx")
        label = lambda scores: scores[:, 0] > 0.5 if scores.shape[1] == 1 else scores.argmax(axis=1)  # noqa: E731
        record(name, columns(rng), label)


def main():
    """Makes all models."""
    FOLDER.mkdir(exist_ok=True)
    rng = np.random.default_rng(9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch_models(rng)
        sklearn_models(rng)
        tree_ensemble_5(rng)
        residual(rng)


if __name__ == "__main__":
    main()

"""The network of the published protocol: trained with NumPy, written as ONNX.

Five hidden layers of 50 units with ReLU and dropout 0.1 are published. The rest is open: here Adam at 1e-3,
batches of 128, 50 epochs, logistic loss, numbers standardised. Callers choose row weights, and whether
inputs are scaled; raw amounts of money need a lower rate. That is small enough for NumPy, and a seed then
gives the same network wherever the same NumPy runs with the same kernels (`KERNELS` of `paper_models.py`).
The file holds the scaler too, and has one input a column, so that it is given the table's own values by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pandas as pd
from onnx import TensorProto, helper, numpy_helper
from threadpoolctl import threadpool_limits

Floats = npt.NDArray[np.float32]

HIDDEN = (50, 50, 50, 50, 50)
DROPOUT = 0.1
RATE = 1e-3
RAW_RATE = 1e-4
"""For inputs that are not scaled: at 1e-3 training fails on them."""
BATCH = 128
EPOCHS = 50
DECAY = (0.9, 0.999)
"""Adam's memory of gradients and of their squares."""
EPSILON = 1e-8


@dataclass(frozen=True)
class Network:
    """A trained network with its scaler."""

    columns: list[str]
    mean: Floats
    deviation: Floats
    weights: list[Floats]
    biases: list[Floats]

    def probability(self, features: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Of class 1, for each row, in double precision."""
        rows = (features.to_numpy(np.float64) - self.mean) / self.deviation
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            rows = np.maximum(rows @ weight + bias, 0)
        logits = (rows @ self.weights[-1] + self.biases[-1])[:, 0]
        with np.errstate(over="ignore"):
            return 1 / (1 + np.exp(-logits))

    def save(self, path: Path) -> None:
        """Writes the network as an ONNX file."""
        constants = {"mean": self.mean, "deviation": self.deviation}
        nodes = [
            helper.make_node("Concat", self.columns, ["columns"], axis=1),
            helper.make_node("Sub", ["columns", "mean"], ["centred"]),
            helper.make_node("Div", ["centred", "deviation"], ["hidden0"]),
        ]
        last = len(self.weights)
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True), start=1):
            constants |= {f"weight{number}": weight, f"bias{number}": bias}
            names = [f"hidden{number - 1}", f"weight{number}", f"bias{number}"]
            nodes.append(helper.make_node("Gemm", names, [f"sum{number}"]))
            operator, result = ("Sigmoid", "probability") if number == last else ("Relu", f"hidden{number}")
            nodes.append(helper.make_node(operator, [f"sum{number}"], [result]))
        graph = helper.make_graph(
            nodes,
            "network",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", 1]) for name in self.columns],
            [helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["rows", 1])],
            [numpy_helper.from_array(value.astype(np.float32), name) for name, value in constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.save(model, path)


def scaler(rows: Floats) -> tuple[Floats, Floats]:
    """What is taken off each column, and by what it is divided: numbers are standardised, 0/1 stay."""
    binary = np.isin(rows, (0, 1)).all(axis=0)
    mean = np.where(binary, 0, rows.mean(axis=0, dtype=np.float64))
    deviation = np.where(binary, 1, rows.std(axis=0, dtype=np.float64))
    deviation[deviation == 0] = 1
    return mean.astype(np.float32), deviation.astype(np.float32)


class Adam:
    """Adam's update of a list of arrays, in place."""

    def __init__(self, parameters: list[Floats], rate: float) -> None:
        """Nothing is remembered yet."""
        self.parameters, self.rate = parameters, rate
        self.first = [np.zeros_like(parameter) for parameter in parameters]
        self.second = [np.zeros_like(parameter) for parameter in parameters]
        self.step = 0

    def update(self, gradients: list[Floats]) -> None:
        """One step against the gradients."""
        self.step += 1
        kept, kept_squares = DECAY
        rate = np.float32(self.rate * np.sqrt(1 - kept_squares**self.step) / (1 - kept**self.step))
        moments = zip(self.parameters, gradients, self.first, self.second, strict=True)
        for parameter, gradient, first, second in moments:
            first *= np.float32(kept)
            first += np.float32(1 - kept) * gradient
            second *= np.float32(kept_squares)
            second += np.float32(1 - kept_squares) * gradient * gradient
            parameter -= rate * first / (np.sqrt(second) + np.float32(EPSILON))


def train(
    features: pd.DataFrame,
    target: npt.NDArray[np.int64],
    weight: npt.NDArray[np.float64],
    seed: int,
    epochs: int = EPOCHS,
    *,
    scaled: bool = True,
) -> Network:
    """Trains the network; `weight` is what each row counts in the loss."""
    rng = np.random.default_rng(seed)
    values = features.to_numpy(np.float32)
    columns = values.shape[1]
    mean, deviation = (
        scaler(values) if scaled else (np.zeros(columns, np.float32), np.ones(columns, np.float32))
    )
    rows, wanted = (values - mean) / deviation, target.astype(np.float32)[:, None]
    counted = weight.astype(np.float32)[:, None]
    widths = (rows.shape[1], *HIDDEN, 1)
    weights = [
        rng.normal(0, np.sqrt(2 / inputs), (inputs, outputs)).astype(np.float32)
        for inputs, outputs in pairwise(widths)
    ]
    biases = [np.zeros(outputs, np.float32) for outputs in widths[1:]]
    adam = Adam([*weights, *biases], RATE if scaled else RAW_RATE)
    with threadpool_limits(1):
        for _ in range(epochs):
            order = rng.permutation(len(rows))
            for start in range(0, len(rows), BATCH):
                batch = order[start : start + BATCH]
                gradients = backward(rows[batch], wanted[batch], counted[batch], weights, biases, rng)
                adam.update(gradients)
    return Network(list(features.columns), mean, deviation, weights, biases)


def backward(
    rows: Floats,
    wanted: Floats,
    counted: Floats,
    weights: list[Floats],
    biases: list[Floats],
    rng: np.random.Generator,
) -> list[Floats]:
    """Gradients of the weighted mean loss with respect to all weights, then all biases, under dropout."""
    kept_share = np.float32(1 - DROPOUT)
    inputs, gates = [rows], []
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        sums = inputs[-1] @ weight + bias
        kept = rng.random(sums.shape, dtype=np.float32) < kept_share
        gate = ((sums > 0) & kept).astype(np.float32) / kept_share
        inputs.append(sums * gate)
        gates.append(gate)
    logits = inputs[-1] @ weights[-1] + biases[-1]
    with np.errstate(over="ignore"):
        slope = (1 / (1 + np.exp(-logits)) - wanted) * counted / np.float32(len(rows))
    of_weights: list[Floats] = []
    of_biases: list[Floats] = []
    for layer in reversed(range(len(weights))):
        of_weights.insert(0, inputs[layer].T @ slope)
        of_biases.insert(0, slope.sum(axis=0))
        if layer > 0:
            slope = (slope @ weights[layer].T) * gates[layer - 1]
    return [*of_weights, *of_biases]

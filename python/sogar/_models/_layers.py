"""Reads scikit-learn's linear models and dense networks for the engine.

The engine's networks take inputs and weights in single precision and compute in double precision. A linear
model therefore gets two parts: weights rounded to single precision, and the rounding errors, which a second
layer adds. Scalers are folded into the weights in exact arithmetic, so that the inputs are the table's own
numbers. A level of a string column has one weight for each output of the first layer, for every encoder.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ._cells import Array
from ._structure import Prepared
from ._transformers import NotReadableError, Step
from ._trees import Spec, hash_of

LINEAR = {
    "LogisticRegression",
    "LogisticRegressionCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "LinearSVC",
    "Perceptron",
    "PassiveAggressiveClassifier",
}
#: All classes that this module reads.
READERS = LINEAR | {"MLPClassifier"}


def layers_spec(model: Any, prepared: Prepared, threshold: float | None) -> Spec:
    """The layers of a fitted scikit-learn classifier."""
    name = type(model).__name__
    made = (_linear if name in LINEAR else _network)(model, prepared, threshold)
    spec = made | {"name": name, "format": f"scikit-learn {name}"}
    return spec | {"hash": hash_of(spec)}


def _decision(classes: int, threshold: float | None, *, probabilities: bool) -> Spec:
    if classes > 2:
        if threshold is not None:
            raise NotReadableError("a threshold needs two classes")
        return {"decision": "softmax", "threshold": None}
    if probabilities:
        return {"decision": "sigmoid", "threshold": 0.5 if threshold is None else threshold}
    return {"decision": "raw", "threshold": 0.0 if threshold is None else threshold}


def _linear(model: Any, prepared: Prepared, threshold: float | None) -> Spec:
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(coef),))
    classes = len(model.classes_)
    if len(coef) not in (1, classes) or (len(coef) == 1) != (classes == 2):
        raise NotReadableError("a linear model has another number of outputs than classes")
    inputs = _Inputs(prepared, fold=True)
    weights, bias = inputs.first_layer(coef, intercept)
    high = weights.astype(np.float32)
    bias_high = bias.astype(np.float32)
    low = (weights - high).astype(np.float32)
    bias_low = (bias - bias_high).astype(np.float32)
    count = len(coef)
    both = np.hstack([np.eye(count, dtype=np.float32)] * 2)
    layers = [
        _layer(np.vstack([high, low]), np.concatenate([bias_high, bias_low]), "identity"),
        _layer(both, np.zeros(count, dtype=np.float32), "identity"),
    ]
    logistic = type(model).__name__.startswith("LogisticRegression")
    return inputs.spec() | {"layers": layers} | _decision(classes, threshold, probabilities=logistic)


def _network(model: Any, prepared: Prepared, threshold: float | None) -> Spec:
    classes = len(model.classes_)
    if model.out_activation_ not in ("logistic", "softmax") or np.ndim(model.classes_) != 1:
        raise NotReadableError("MLPClassifier has several labels a row")
    inputs = _Inputs(prepared, fold=False)
    weights, bias = inputs.first_layer(model.coefs_[0].T, model.intercepts_[0])
    layers = []
    for number, (coef, intercept) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        last = number == len(model.coefs_) - 1
        activation = "identity" if last else model.activation
        matrix, constant = (weights, bias) if number == 0 else (coef.T, intercept)
        layers.append(_layer(matrix.astype(np.float32), constant.astype(np.float32), activation))
    return inputs.spec() | {"layers": layers} | _decision(classes, threshold, probabilities=True)


def _layer(weights: Array, bias: Array, activation: str) -> Spec:
    return {
        "weights": np.ascontiguousarray(weights),
        "bias": np.ascontiguousarray(bias),
        "activation": activation,
    }


class _Inputs:
    """The inputs of the first layer: the table's numbers, and the levels of its texts."""

    def __init__(self, prepared: Prepared, *, fold: bool) -> None:
        self.prepared = prepared
        self.fold = fold
        self.columns: list[str] = []
        self.scaling: list[list[Step]] = []

    def spec(self) -> Spec:
        return {"columns": self.columns, "scaling": self.scaling}

    def first_layer(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Weights (outputs by inputs) and biases for the table's own columns."""
        prepared = self.prepared
        if coef.shape[1] != len(prepared.symbols):
            raise NotReadableError("the model has another number of columns than its preparation makes")
        bias = [Fraction(float(value)) for value in intercept]
        weights: list[Array] = []
        for source, name in enumerate(prepared.rows.names):
            own = [index for index, symbol in enumerate(prepared.symbols) if symbol.source == source]
            encoded = [index for index in own if prepared.symbols[index].encoded]
            if own and encoded and len(encoded) < len(own):
                raise NotReadableError(f"`{name}` is used both as a number and encoded")
            if encoded:
                weights.extend(self._levels(source, name, coef[:, own], bias))
            elif own:
                weights.append(self._number(name, own, coef, bias))
        if not weights:
            raise NotReadableError("the model uses no column")
        return np.stack(weights, axis=1), np.array([float(value) for value in bias])

    def _number(self, name: str, own: list[int], coef: Array, bias: list[Fraction]) -> Array:
        """Adds a numeric column of the table; what its scalers add goes into `bias`."""
        self.columns.append(name)
        lists = [self.prepared.symbols[index].steps for index in own]
        if not self.fold or any(kind == "clip" for steps in lists for kind, _ in steps):
            if any(steps != lists[0] for steps in lists):
                raise NotReadableError(f"`{name}` reaches the model in two differently scaled copies")
            self.scaling.append(lists[0])
            return np.asarray(coef[:, own].sum(axis=1))
        fills = {tuple(numbers) for steps in lists for kind, numbers in steps[:1] if kind == "fill"}
        later = any(kind == "fill" for steps in lists for kind, _ in steps[1:])
        if later or len(fills) > 1 or (fills and any(not steps or steps[0][0] != "fill" for steps in lists)):
            raise NotReadableError(f"gaps in `{name}` are filled in more than one way")
        self.scaling.append([("fill", list(numbers)) for numbers in fills])
        total = [Fraction(0)] * len(coef)
        for index, steps in zip(own, lists, strict=True):
            factor, shift = _affine(steps)
            for output in range(len(coef)):
                weight = Fraction(float(coef[output, index]))
                total[output] += weight * factor
                bias[output] += weight * shift
        return np.array([float(value) for value in total])

    def _levels(self, source: int, name: str, coef: Array, bias: list[Fraction]) -> list[Array]:
        """Adds one input per level: 1 if the row has it. What an unknown level adds goes into the bias."""
        levels = self.prepared.levels[source]
        if not levels.texts:
            raise NotReadableError(f"the numbers of `{name}` are encoded as categories")
        other = np.where(np.isnan(levels.other), 0.0, levels.other)
        if np.isnan(levels.values).any():
            raise NotReadableError(f"`{name}` has gaps behind its encoder")
        exact = [[Fraction(float(value)) for value in row] for row in coef]
        for output, row in enumerate(exact):
            bias[output] += sum(
                (w * Fraction(float(v)) for w, v in zip(row, other, strict=True)), Fraction(0)
            )
        made = []
        for text, values in zip(levels.texts, levels.values, strict=True):
            moved = [
                Fraction(float(value)) - Fraction(float(rest))
                for value, rest in zip(values, other, strict=True)
            ]
            self.columns.append(f"{name}={text}")
            self.scaling.append([])
            sums = [sum((w * v for w, v in zip(row, moved, strict=True) if v), Fraction(0)) for row in exact]
            made.append(np.array([float(value) for value in sums]))
        return made


def _affine(steps: list[Step]) -> tuple[Fraction, Fraction]:
    """Steps as `factor · x + shift`, exactly."""
    factor, shift = Fraction(1), Fraction(0)
    for kind, numbers in steps:
        number = Fraction(numbers[0])
        if kind == "add":
            shift += number
        elif kind == "multiply":
            factor, shift = factor * number, shift * number
        elif kind == "divide":
            factor, shift = factor / number, shift / number
    return factor, shift

"""Reads fitted scikit-learn transformers: what each does to single columns.

If a transformer is not listed here, or combines several columns, the model is called instead of read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Step = tuple[str, list[float]]


class NotReadableError(Exception):
    """Why a model cannot be read; it is called instead."""


@dataclass
class Symbol:
    """A column behind the pipeline: its source column in the table, and the steps between them."""

    source: int
    steps: list[Step] = field(default_factory=list)
    encoded: bool = False
    #: Numbers that an encoder knows, if it encodes numbers.
    known: tuple[float, ...] = ()

    def then(self, *steps: Step) -> Symbol:
        """The symbol with more steps."""
        return Symbol(self.source, [*self.steps, *steps], self.encoded, self.known)

    def encode(self, known: Any) -> Symbol:
        """The symbol behind an encoder."""
        numbers = tuple(float(value) for value in known if is_number(value)) if not self.steps else ()
        if self.steps and not self.encoded:
            raise NotReadableError("numbers are scaled and then encoded")
        return Symbol(self.source, [], True, self.known + numbers)


def through(step: Any, symbols: list[Symbol]) -> list[Symbol]:
    """The symbols behind a fitted transformer."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return symbols
    if isinstance(step, str) and step == "drop":
        return []
    reader = READERS.get(type(step).__name__) if type(step).__module__.startswith("sklearn.") else None
    if reader is None:
        raise NotReadableError(f"{type(step).__name__} is not read")
    if len(symbols) != getattr(step, "n_features_in_", len(symbols)):
        raise NotReadableError(f"{type(step).__name__} was fitted to another number of columns")
    return reader(step, symbols)


def _pipeline(step: Any, symbols: list[Symbol]) -> list[Symbol]:
    for _, part in step.steps:
        symbols = through(part, symbols)
    return symbols


def _column_transformer(step: Any, symbols: list[Symbol]) -> list[Symbol]:
    names = [str(name) for name in getattr(step, "feature_names_in_", [])]
    made: dict[int, list[Symbol]] = {}
    for name, part, columns in step.transformers_:
        place = step.output_indices_.get(name, slice(0, 0))
        if isinstance(part, str) and part == "drop":
            continue
        own = [symbols[index] for index in _indices(columns, names, len(symbols))]
        if not own:
            continue
        found = through(part, own)
        if len(found) != place.stop - place.start:
            raise NotReadableError(f"the transformer {name} makes another number of columns")
        made[place.start] = found
    return [symbol for start in sorted(made) for symbol in made[start]]


def _indices(columns: Any, names: list[str], count: int) -> list[int]:
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            start = names.index(columns.start) if columns.start is not None else 0
            stop = names.index(columns.stop) + 1 if columns.stop is not None else count
            return list(range(start, stop))
        return list(range(count))[columns]
    listed = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    if listed and all(isinstance(column, bool | np.bool_) for column in listed):
        return [index for index, chosen in enumerate(listed) if chosen]
    return [names.index(column) if isinstance(column, str) else range(count)[column] for column in listed]


def _each(symbols: list[Symbol], *arrays: tuple[str, Any]) -> list[Symbol]:
    """Adds a step per array to each column, with the column's entry; ``None`` skips a step."""
    for kind, numbers in arrays:
        if numbers is not None:
            symbols = [
                symbol.then((kind, [float(number)])) for symbol, number in zip(symbols, numbers, strict=True)
            ]
    return symbols


def _standard_scaler(step: Any, symbols: list[Symbol]) -> list[Symbol]:
    mean = -step.mean_ if step.with_mean else None
    return _each(symbols, ("add", mean), ("divide", step.scale_ if step.with_std else None))


def _robust_scaler(step: Any, symbols: list[Symbol]) -> list[Symbol]:
    center = -step.center_ if step.with_centering else None
    return _each(symbols, ("add", center), ("divide", step.scale_ if step.with_scaling else None))


def _min_max_scaler(step: Any, symbols: list[Symbol]) -> list[Symbol]:
    symbols = _each(symbols, ("multiply", step.scale_), ("add", step.min_))
    low, high = step.feature_range
    return [symbol.then(("clip", [float(low), float(high)])) for symbol in symbols] if step.clip else symbols


def _max_abs_scaler(step: Any, symbols: list[Symbol]) -> list[Symbol]:
    symbols = _each(symbols, ("divide", step.scale_))
    return (
        [symbol.then(("clip", [-1.0, 1.0])) for symbol in symbols]
        if getattr(step, "clip", False)
        else symbols
    )


def _imputer(step: Any, symbols: list[Symbol]) -> list[Symbol]:
    if step.add_indicator or len(step.statistics_) != len(symbols):
        raise NotReadableError("an imputer adds or drops columns")
    is_gap = isinstance(step.missing_values, float) and np.isnan(step.missing_values)
    made = []
    for symbol, value in zip(symbols, step.statistics_, strict=True):
        if not is_number(value) or not is_gap or symbol.encoded:
            # Strings, or another marker for a gap: run the imputer on each level.
            made.append(Symbol(symbol.source, [], True, symbol.known) if not symbol.steps else _refuse())
        elif np.isnan(value):
            raise NotReadableError("an imputer drops an empty column")
        else:
            made.append(symbol.then(("fill", [float(value)])))
    return made


def _refuse() -> Symbol:
    raise NotReadableError("scaled numbers are filled in by their values")


def _one_hot_encoder(step: Any, symbols: list[Symbol]) -> list[Symbol]:
    counts = getattr(step, "_n_features_outs", None)
    if counts is None:
        raise NotReadableError("OneHotEncoder of this scikit-learn is not read")
    parts = zip(symbols, step.categories_, counts, strict=True)
    return [symbol.encode(known) for symbol, known, count in parts for _ in range(count)]


def _ordinal_encoder(step: Any, symbols: list[Symbol]) -> list[Symbol]:
    return [symbol.encode(known) for symbol, known in zip(symbols, step.categories_, strict=True)]


def _function_transformer(step: Any, symbols: list[Symbol]) -> list[Symbol]:
    if step.func is not None:
        raise NotReadableError("FunctionTransformer is not read")
    return symbols


READERS: dict[str, Callable[[Any, list[Symbol]], list[Symbol]]] = {
    "Pipeline": _pipeline,
    "ColumnTransformer": _column_transformer,
    "StandardScaler": _standard_scaler,
    "RobustScaler": _robust_scaler,
    "MinMaxScaler": _min_max_scaler,
    "MaxAbsScaler": _max_abs_scaler,
    "SimpleImputer": _imputer,
    "OneHotEncoder": _one_hot_encoder,
    "OrdinalEncoder": _ordinal_encoder,
    "FunctionTransformer": _function_transformer,
}


def is_number(value: Any) -> bool:
    """Whether a value of a column is a number (booleans are 0 and 1)."""
    return isinstance(value, int | float | np.integer | np.floating | bool | np.bool_)

"""Reads what a scikit-learn pipeline does to the table, column by column.

Scalers, imputers and encoders work on one column at a time, so every column behind them is a function of one
column of the table. For numbers that are only scaled, the function is stored as steps. For encoded columns it
is a lookup table: the pipeline runs once for each level of the column, and its output is stored. So dropped,
rare and unknown categories need no knowledge of an encoder's options. Finally, the whole table goes through
both the pipeline and what was read from it, and every number must agree to the last bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._columns import BLANKS, text_of
from ._cells import MISSING_LEVEL, Array
from ._rows import Rows
from ._transformers import NotReadableError, Step, Symbol, is_number, through


@dataclass
class Levels:
    """The values of encoded columns for each level of one column of the table."""

    #: The levels as strings; empty for a column of numbers.
    texts: list[str]
    #: The levels as numbers; empty for a column of strings.
    numbers: list[float]
    #: One row per level, one column for each column behind the pipeline.
    values: Array
    #: The same for an unknown level.
    other: Array
    #: The level of each row of the table.
    of_row: Array
    #: Whether the pipeline refuses every other level, so that no edit may lead to one.
    closed: bool = False


@dataclass
class Prepared:
    """The columns behind a pipeline."""

    symbols: list[Symbol]
    rows: Rows
    #: By column of the table.
    levels: dict[int, Levels]
    #: The table behind the pipeline.
    matrix: Array

    def closed(self) -> list[str]:
        """Columns of whole numbers whose range the encoder knows completely, and nothing outside it."""
        return [self.rows.names[source] for source, levels in self.levels.items() if levels.closed]


def read_preparation(
    rows: Rows, steps: list[Any], last: Callable[[Any], Any] | None, extra: Callable[..., Any] | None
) -> Prepared:
    """Reads fitted transformers, and a rearrangement `extra` of symbols, which `last` applies."""
    symbols = [Symbol(index) for index in range(len(rows.names))]
    for step in steps:
        symbols = through(step, symbols)
    if extra is not None:
        symbols = extra(symbols)

    def transform(table: Any) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for step in steps:
                table = table if step in (None, "passthrough") else step.transform(table)
            table = last(table) if last is not None else table
        return dense(table)

    matrix = transform(rows.own())
    if matrix.shape != (len(rows), len(symbols)):
        raise NotReadableError(
            f"the preparation makes {matrix.shape[1]} columns where {len(symbols)} were expected"
        )
    levels = {
        source: _levels(rows, source, symbols, transform)
        for source in sorted({s.source for s in symbols if s.encoded})
    }
    prepared = Prepared(symbols, rows, levels, matrix)
    _compare(prepared)
    return prepared


def dense(table: Any) -> Array:
    """Converts any table to an array of 64-bit floats."""
    if hasattr(table, "toarray"):
        table = table.toarray()
    try:
        return np.ascontiguousarray(np.asarray(table), dtype=np.float64)
    except (TypeError, ValueError):
        raise NotReadableError("the table has texts that no encoder takes") from None


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, float | np.floating) and bool(np.isnan(value)))
        or repr(value) in {"<NA>", "NaT"}
    )


def _levels(rows: Rows, source: int, symbols: list[Symbol], transform: Callable[[Any], Array]) -> Levels:
    """The output of the pipeline for each level of a column."""
    name = rows.names[source]
    own = [index for index, symbol in enumerate(symbols) if symbol.source == source]
    column = rows.column(name)
    place: dict[Any, int] = {}
    first: list[int] = []
    of_row = np.empty(len(column), dtype=np.intp)
    for row, value in enumerate(column.tolist()):
        key = MISSING_LEVEL if _is_missing(value) else value
        if key not in place:
            place[key] = len(first)
            first.append(row)
        of_row[row] = place[key]
    values = transform(rows.varied(name, np.array(first)))[:, own]
    known = [key for key in place if key is not MISSING_LEVEL]
    if known and all(is_number(key) for key in known):
        return _number_levels(rows, name, symbols, own, transform, place, values, of_row)
    if any(is_number(key) for key in known):
        raise NotReadableError(f"`{name}` has texts and numbers")
    texts = [text_of(key).strip(BLANKS) if rows.trim else text_of(key) for key in place]
    if len(set(texts)) < len(texts):
        raise NotReadableError(f"`{name}` has levels that look alike")
    other = np.full(len(own), np.nan)
    try:
        strange = rows.varied(name, np.array([0]))
        other = transform(_with_text(strange, rows, name))[0, own]
    except Exception:  # an encoder that refuses unknown levels; none of the table's rows has one
        pass
    return Levels(texts, [], values, other, of_row)


def _with_text(table: Any, rows: Rows, name: str) -> Any:
    """One row with a string that no encoder knows."""
    text = "\N{REPLACEMENT CHARACTER} unknown"
    if rows.kind == "numpy":
        table = table.astype(object)
        table[0, rows.names.index(name)] = text
        return table
    if rows.kind == "pandas":
        table = table.copy()
        table[rows.key(name)] = np.array([text], dtype=object)
        return table
    raise NotReadableError("unknown texts are not tried")


def _number_levels(
    rows: Rows,
    name: str,
    symbols: list[Symbol],
    own: list[int],
    transform: Callable[[Any], Array],
    place: dict[Any, int],
    values: Array,
    of_row: Array,
) -> Levels:
    """Numeric levels: edits may lead to others, which the encoder may or may not know."""
    numbers = [np.nan if key is MISSING_LEVEL else float(key) for key in place]
    known = sorted(
        {number for index in own for number in symbols[index].known if not np.isnan(number)} - set(numbers)
    )
    finite = [number for number in [*numbers, *known] if not np.isnan(number)]
    unknown = max(finite) + 0.5
    more = transform(rows.with_number(name, np.array(known)))[:, own] if known else np.empty((0, len(own)))
    closed, other = False, np.full(len(own), np.nan)
    try:
        other = transform(rows.with_number(name, np.array([unknown])))[0, own]
    except Exception:  # the encoder's error for an unknown level
        # Shifts keep numbers whole. If all in the range are known, no edit within it leads to another.
        closed = sorted(finite) == list(range(int(min(finite)), int(max(finite)) + 1))
        if not closed:
            message = f"an encoder knows only some numbers of `{name}` and refuses the others"
            raise NotReadableError(message) from None
    return Levels([], [*numbers, *known], np.vstack([values, more]), other, of_row, closed)


def applied(steps: list[Step], values: Array) -> Array:
    """Applies the steps in exactly the arithmetic of the scalers."""
    with np.errstate(all="ignore"):
        for kind, numbers in steps:
            if kind == "add":
                values = values + numbers[0]
            elif kind == "multiply":
                values = values * numbers[0]
            elif kind == "divide":
                values = values / numbers[0]
            elif kind == "clip":
                values = np.clip(values, numbers[0], numbers[1])
            else:
                values = np.where(np.isnan(values), numbers[0], values)
    return values


def _compare(prepared: Prepared) -> None:
    """Checks every number of the table behind the pipeline against what was read."""
    numbers: dict[int, Array] = {}
    seen: dict[int, int] = {}
    for index, symbol in enumerate(prepared.symbols):
        expected = prepared.matrix[:, index]
        if symbol.encoded:
            level = prepared.levels[symbol.source]
            position = seen.get(symbol.source, 0)
            seen[symbol.source] = position + 1
            found = level.values[level.of_row, position]
        else:
            if symbol.source not in numbers:
                numbers[symbol.source] = _as_numbers(prepared.rows, symbol.source)
            found = applied(symbol.steps, numbers[symbol.source])
        if not np.array_equal(found, expected, equal_nan=True):
            name = prepared.rows.names[symbol.source]
            raise NotReadableError(f"what becomes of `{name}` is not what its steps say")


def _as_numbers(rows: Rows, source: int) -> Array:
    column = rows.column(rows.names[source])
    try:
        return np.array([np.nan if _is_missing(value) else float(value) for value in column.tolist()])
    except (TypeError, ValueError):
        raise NotReadableError(f"`{rows.names[source]}` has texts") from None

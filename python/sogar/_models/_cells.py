"""Cells of one column, from the engine's numbers to the user's own values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._columns import text_of

Array = np.ndarray[Any, Any]
#: How the engine calls the level of a missing value.
MISSING_LEVEL = "(missing)"


def levels_of(texts: list[str], codes: Array, originals: dict[str, Any]) -> Array:
    """The levels that codes stand for, as objects; None where the value is missing."""
    level: list[Any] = [None if text == MISSING_LEVEL else originals.get(text, text) for text in texts]
    found = np.empty(len(level) + 1, dtype=object)
    found[:-1] = level
    found[-1] = None
    places = np.where(np.isnan(codes) | (codes >= len(level)), len(level), codes).astype(np.intp)
    return found[places]


def narrowed(values: Array, dtype: np.dtype[Any]) -> Array:
    """Whole numbers in the user's integer type; others stay as they are, with their fraction."""
    with np.errstate(invalid="ignore"):
        narrow = values.astype(dtype)
    return narrow if np.array_equal(narrow.astype(np.float64), values) else values


def pandas_cells(dtype: Any, texts: list[str], values: Array, originals: Any) -> Any:
    import pandas

    if isinstance(dtype, pandas.CategoricalDtype):
        own = {text_of(category): category for category in dtype.categories}
        if texts:
            objects = levels_of(texts, values, own)
        else:
            objects = np.array([own.get(text_of(value)) for value in values], dtype=object)
        return pandas.Categorical(objects, dtype=dtype)
    if texts:
        if pandas.api.types.is_bool_dtype(dtype):
            return pandas.array(
                [
                    None if text is None else str(text).lower() == "true"
                    for text in levels_of(texts, values, {})
                ]
            ).astype(dtype)
        if pandas.api.types.is_numeric_dtype(dtype):
            numbers = [np.nan if text is None else float(text) for text in levels_of(texts, values, {})]
            return pandas.Series(narrowed(np.array(numbers), np.dtype(np.float64))).astype(dtype)
        return pandas.Series(levels_of(texts, values, originals()), dtype=dtype)
    if pandas.api.types.is_float_dtype(dtype):
        return pandas.Series(values).astype(dtype)
    if pandas.api.types.is_integer_dtype(dtype) or pandas.api.types.is_bool_dtype(dtype):
        if isinstance(dtype, np.dtype):
            return narrowed(values, dtype)
        return pandas.array(values, dtype="Float64").astype(dtype, copy=False)
    return pandas.Series(values).astype(dtype) if dtype.kind != "O" else pandas.Series(values, dtype=object)

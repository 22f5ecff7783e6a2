"""Converts the cells of a column from the engine's numbers to the user's own values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._columns import by_text, text_of

Array = np.ndarray[Any, Any]
#: The engine's name for the level of missing values.
MISSING_LEVEL = "(missing)"


def levels_of(texts: list[str], codes: Array, originals: dict[str, Any]) -> Array:
    """The levels of codes, as objects; None where the value is missing."""
    level: list[Any] = [None if text == MISSING_LEVEL else originals.get(text, text) for text in texts]
    found = np.empty(len(level) + 1, dtype=object)
    found[:-1] = level
    found[-1] = None
    places = np.where(np.isnan(codes) | (codes >= len(level)), len(level), codes).astype(np.intp)
    return found[places]


def is_whole(text: str) -> bool:
    """Whether a level is a whole number, or stands for a missing value."""
    return text == MISSING_LEVEL or text.removeprefix("-").isdecimal()


def narrowed(values: Array, dtype: np.dtype[Any]) -> Array:
    """Whole numbers in the user's integer type; other numbers stay unchanged."""
    with np.errstate(invalid="ignore"):
        narrow = values.astype(dtype)
    return narrow if np.array_equal(narrow.astype(np.float64), values) else values


def pandas_cells(dtype: Any, texts: list[str], values: Array, originals: Any) -> Any:
    import pandas

    if isinstance(dtype, pandas.CategoricalDtype):
        own = by_text(dtype.categories)
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
        if pandas.api.types.is_integer_dtype(dtype) and all(is_whole(text) for text in texts):
            whole = [None if text is None else int(text) for text in levels_of(texts, values, {})]
            if None not in whole or not isinstance(dtype, np.dtype):
                return pandas.Series(pandas.array(whole, dtype=dtype))
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

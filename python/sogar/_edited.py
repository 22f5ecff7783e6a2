"""Writes edited cells back into the user's table, for each library.

The engine has numbers and strings. Here categories become the user's own objects again, booleans become
booleans, and whole numbers stay whole where their column can hold them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._columns import FIRST_INEXACT, by_text, is_gap, text_of

Array = np.ndarray[Any, Any]


def cells_as(column: Any, cells: Any) -> Array:
    """Converts new cells for an array: strings of numbers to numbers, others to the user's own objects."""
    if isinstance(cells, np.ndarray):
        return _as_texts(column, cells)
    if column.dtype.kind in "biuf":
        return np.array([np.nan if cell is None else _number_of(cell) for cell in cells])
    own = by_text(value for value in column if not is_gap(value))
    new = np.empty(len(cells), dtype=object)
    new[:] = [None if cell is None else own.get(cell, cell) for cell in cells]
    return new


def _as_texts(column: Any, numbers: Array) -> Array:
    """Converts 0 and 1 to the column's own strings, if it has strings for true and false."""
    truth = {"false": 0.0, "true": 1.0}
    texts = [value for value in column if isinstance(value, str)]
    own = {truth[text.lower()]: text for text in texts if text.lower() in truth}
    if not own or column.dtype.kind in "biuf":
        return numbers
    for number, other in ((0.0, 1.0), (1.0, 0.0)):
        if number not in own:
            like = next((style for style in (str.title, str.upper) if style(own[other]) == own[other]), str)
            own[number] = like("true" if number else "false")
    cells = np.empty(len(numbers), dtype=object)
    cells[:] = [own.get(number, number) for number in numbers.tolist()]
    return cells


def _truth_of(cell: Any) -> bool | None:
    """A new cell as a boolean: the engine has 0 and 1 for one-hot columns, otherwise strings."""
    if cell is None:
        return None
    return bool(cell) if isinstance(cell, float) else str(cell).lower() == "true"


def _number_of(text: str) -> float:
    if text.removeprefix("-").isdecimal() and abs(int(text)) >= FIRST_INEXACT:
        return int(text)
    return float({"true": "1", "false": "0"}.get(text.lower(), text))


def pandas_changed(series: Any, rows: Array, cells: Any) -> Any:
    """A pandas series with new cells in some rows."""
    import pandas

    dtype = series.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        own = by_text(dtype.categories)
        texts = [text_of(cell) for cell in cells] if isinstance(cells, np.ndarray) else cells
        new: Any = [None if text is None else own[text] for text in texts]
    elif pandas.api.types.is_bool_dtype(dtype):
        new = [_truth_of(cell) for cell in cells]
    elif pandas.api.types.is_numeric_dtype(dtype):
        new = cells_as(np.empty(0), cells)
        whole = getattr(dtype, "numpy_dtype", dtype) if pandas.api.types.is_integer_dtype(dtype) else None
        if whole is not None and _fits(new, whole):
            new = new.astype(whole)
        elif whole is not None:
            series = series.astype(np.float64)
    else:
        new = list(cells_as(series.dropna().unique(), cells))
    changed = series.copy()
    changed.iloc[rows] = new
    return changed


def _fits(numbers: Array, dtype: Any) -> bool:
    """Whether numbers are whole and within an integer type."""
    limits = np.iinfo(dtype)
    return bool(
        np.isfinite(numbers).all()
        and (numbers == np.floor(numbers)).all()
        and (limits.min <= numbers).all()
        and (numbers <= limits.max).all()
    )


def polars_changed(series: Any, rows: Array, cells: Any) -> Any:
    """A polars series with new cells in some rows."""
    import polars

    values, dtype = series.to_list(), series.dtype
    if dtype.is_numeric():
        new: Any = cells_as(np.empty(0), cells)
        if dtype.is_integer() and (new == np.floor(new)).all():
            new = new.astype(np.int64)
        elif dtype.is_integer():
            dtype = polars.Float64
        new = new.tolist()
    elif dtype == polars.Boolean:
        new = [_truth_of(cell) for cell in cells]
    else:
        new = list(cells_as(series.drop_nulls().unique().to_numpy().astype(object), cells))
    for row, cell in zip(rows.tolist(), new, strict=True):
        values[row] = cell
    return polars.Series(series.name, values, dtype=dtype, strict=False)


def arrow_changed(column: Any, rows: Array, cells: Any) -> Any:
    """An Arrow column with new cells in some rows."""
    import pyarrow

    values, kind = column.to_pylist(), column.type
    texts = np.array([value for value in set(values) if value is not None], dtype=object)
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_decimal(kind):
        new: Any = cells_as(np.empty(0), cells)
        if pyarrow.types.is_integer(kind):
            new = new.astype(np.int64)
        new = new.tolist()
    elif pyarrow.types.is_boolean(kind):
        new = [_truth_of(cell) for cell in cells]
    else:
        new = list(cells_as(texts, cells))
    for row, cell in zip(rows.tolist(), new, strict=True):
        values[row] = cell
    return pyarrow.array(values, type=kind)


def changed_array(column: Any, changes: list[tuple[Array, Any]]) -> Array:
    """A column of the engine (an array of numbers, or a list of strings) with new cells in some rows."""
    array: Array = np.array(column, dtype=object) if isinstance(column, list) else column.copy()
    for rows, cells in changes:
        array[rows] = cells_as(array, cells)
    return array

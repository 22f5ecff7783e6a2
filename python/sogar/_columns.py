"""Converts columns for the engine: to numbers, codes with their strings, or lists of strings.

Dates become strings, which the engine leaves aside. A column that the engine cannot hold (lists, numbers
mixed with strings) raises an error with its name.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from ._errors import DataError, utf8

Array = np.ndarray[Any, Any]
#: Characters that the engine strips from strings. (Python's `strip` also removes some control characters.)
BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


#: From here on, floats cannot represent every whole number.
FIRST_INEXACT = 2**53


def text_of(value: Any) -> str:
    """The engine's string for a level.

    >>> text_of(" Oslo "), text_of(3.0), text_of(True)
    (' Oslo ', '3', 'true')
    """
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating) and float(value).is_integer() and abs(float(value)) < 1e16:
        return str(int(value))
    return utf8(str(value), "a category", DataError)


def by_text(values: Any) -> dict[str, Any]:
    """Maps strings to the user's own objects; trimmed strings too, unless another object has that string.

    >>> by_text([" Oslo", 3.0])
    {' Oslo': ' Oslo', '3': 3.0, 'Oslo': ' Oslo'}
    """
    known = [(text_of(value), value) for value in values]
    own: dict[str, Any] = {}
    for text, value in known:
        own.setdefault(text, value)
    for text, value in known:
        own.setdefault(text.strip(BLANKS), value)
    return own


def column_of(name: str, values: Any) -> Any:
    """Converts a single column for the engine."""
    if isinstance(values, list) or hasattr(values, "__arrow_c_array__"):
        values = np.asarray(values, dtype=object)
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"column `{name}`: has {array.ndim} dimensions instead of 1")
    if array.dtype.kind == "b":
        array = array.astype(object)
    return array_column(name, array)


def pandas_column(name: str, series: Any) -> Any:
    """Converts a column of a pandas frame for the engine."""
    dtype = series.dtype
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        if any(not isinstance(level, str | int | float | np.generic) for level in dtype.categories):
            raise _unsupported(name, f"categories that are {type(dtype.categories[0]).__name__} objects")
        codes = np.ascontiguousarray(series.cat.codes, dtype=np.int32)
        return codes, [text_of(level) for level in dtype.categories]
    kind = getattr(dtype, "kind", "O")
    if type(dtype).__name__ == "SparseDtype":
        series, kind = series.sparse.to_dense(), dtype.subtype.kind
    if kind == "b":
        return _object_column(name, series.to_numpy(dtype=object, na_value=None))
    if kind in "iu":
        gaps = np.asarray(series.isna(), dtype=bool)
        wide = np.int64 if kind == "i" else np.uint64
        return _whole_column(series.to_numpy(dtype=wide, na_value=0), gaps)
    if kind == "f":
        return np.ascontiguousarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind == "M":  # also with a time zone
        return _times(series.to_numpy(dtype="datetime64[us]"))
    if kind in "cm":
        raise _unsupported(name, f"values of type {dtype}")
    storage = getattr(dtype, "storage", "")
    if (storage == "pyarrow" or hasattr(dtype, "pyarrow_dtype")) and hasattr(series, "__arrow_c_stream__"):
        return series
    return _object_column(name, series.to_numpy(dtype=object, na_value=None))


def array_column(name: str, column: Array) -> Any:
    """Converts a column of an array for the engine."""
    kind = column.dtype.kind
    if kind in "iu":
        return _whole_column(column, np.zeros(len(column), dtype=bool))
    if kind in "bf":
        return np.ascontiguousarray(column, dtype=np.float64)
    if kind == "U" or type(column.dtype).__name__ == "StringDType":
        return [str(text) for text in column]
    if kind == "M":
        return _times(column)
    if kind == "O":
        return _object_column(name, column)
    raise _unsupported(name, f"values of type {column.dtype}")


def _times(column: Array) -> list[str | None]:
    """Dates and times as strings, which the engine recognises and leaves out."""
    texts = np.datetime_as_string(column.astype("datetime64[s]"))
    return [None if gap else str(text) for text, gap in zip(texts, np.isnat(column), strict=True)]


def _whole_column(numbers: Array, gaps: Array) -> Any:
    """Whole numbers as floats; as integers with a mask of gaps if floats would merge some of them."""
    if np.all((numbers < FIRST_INEXACT) & (numbers > -FIRST_INEXACT)):
        floats = numbers.astype(np.float64)
        floats[gaps] = np.nan
        return np.ascontiguousarray(floats)
    wide = np.int64 if numbers.dtype.kind == "i" else np.uint64
    return np.ascontiguousarray(numbers, dtype=wide), np.ascontiguousarray(gaps)


def _object_column(name: str, column: Array) -> Any:
    """Converts a column of Python objects: all numbers, all booleans or all strings, with gaps."""
    gaps = np.fromiter((is_gap(cell) for cell in column), dtype=bool, count=len(column))
    known = column[~gaps]
    if all(isinstance(cell, str) for cell in known):
        return [None if gap else str(cell) for cell, gap in zip(column, gaps, strict=True)]
    if len(known) and all(isinstance(cell, datetime.date) for cell in known):
        return [None if gap else cell.isoformat() for cell, gap in zip(column, gaps, strict=True)]
    if all(isinstance(cell, bool | np.bool_) for cell in known):
        return [None if gap else text_of(cell) for cell, gap in zip(column, gaps, strict=True)]
    for row, (cell, gap) in enumerate(zip(column, gaps, strict=True)):
        if (
            gap
            or isinstance(cell, int | float | np.integer | np.floating)
            or type(cell).__name__ == "Decimal"
        ):
            continue
        if isinstance(cell, str):
            shown = cell if len(cell) <= 60 else f"{cell[:60]}…"
            raise DataError(
                f"column `{name}`: row {row + 1} has the text `{shown}`, but others are numbers",
                "make the column all numbers or all text: `X[column].astype(str)`",
            )
        raise _unsupported(name, f"{type(cell).__name__} objects")
    if any(isinstance(cell, int | np.integer) and abs(int(cell)) >= FIRST_INEXACT for cell in known):
        return _large_numbers(name, column, gaps)
    numbers = np.full(len(column), np.nan)
    try:
        numbers[~gaps] = known.astype(np.float64)
    except (OverflowError, ValueError, TypeError) as cause:
        raise DataError(f"column `{name}`: a value does not fit into a 64-bit number ({cause})") from None
    return numbers


def _large_numbers(name: str, column: Array, gaps: Array) -> Any:
    """Converts a column with whole numbers that floats would merge."""
    cells = [0 if gap else cell for cell, gap in zip(column, gaps, strict=True)]
    for wide in (np.int64, np.uint64):
        try:
            if all(isinstance(cell, int | np.integer) for cell in cells):
                return np.array([int(cell) for cell in cells], dtype=wide), np.ascontiguousarray(gaps)
        except OverflowError:
            continue
    raise DataError(
        f"column `{name}`: has whole numbers that 64 bits can't tell apart",
        "make them texts (`X[column].astype(str)`) or floats (`X[column].astype(float)`)",
    )


def is_gap(cell: Any) -> bool:
    """Whether an object stands for a missing value."""
    if cell is None:
        return True
    if isinstance(cell, float | np.floating):
        return bool(np.isnan(cell))
    return type(cell).__name__ in ("NAType", "NaTType")


def _unsupported(name: str, what: str) -> DataError:
    return DataError(
        f"column `{name}`: {what} are not supported", "convert the column to numbers or text, or leave it out"
    )

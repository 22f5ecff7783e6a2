"""Columns on their way into the engine: numbers, codes with their texts, or lists of texts.

Dates become texts, which the engine leaves aside. What no column of the engine can hold (lists, mixtures of
numbers and texts) is refused with the column's name.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from ._errors import DataError, utf8

Array = np.ndarray[Any, Any]
#: What the engine takes for blanks around texts. (Python's `strip` takes some control characters, too.)
BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


#: Whole numbers from here on are not all told apart by floats.
FIRST_INEXACT = 2**53


def text_of(value: Any) -> str:
    """A level's text, as the engine has it.

    >>> text_of(" Oslo "), text_of(3.0), text_of(True)
    (' Oslo ', '3', 'true')
    """
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating) and float(value).is_integer() and abs(float(value)) < 1e16:
        return str(int(value))
    return utf8(str(value), "a category", DataError)


def by_text(values: Any) -> dict[str, Any]:
    """The user's own objects by their texts, and by trimmed ones where no other object has that text.

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
    """One column by itself in a form that the engine takes."""
    if isinstance(values, list) or hasattr(values, "__arrow_c_array__"):
        values = np.asarray(values, dtype=object)
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"column `{name}`: has {array.ndim} dimensions instead of 1")
    if array.dtype.kind == "b":
        array = array.astype(object)
    return array_column(name, array)


def pandas_column(name: str, series: Any) -> Any:
    """A column of a pandas frame in a form that the engine takes."""
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
    """A column of an array in a form that the engine takes."""
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
    """Dates and times as texts, which the engine recognises and leaves aside."""
    texts = np.datetime_as_string(column.astype("datetime64[s]"))
    return [None if gap else str(text) for text, gap in zip(texts, np.isnat(column), strict=True)]


def _whole_column(numbers: Array, gaps: Array) -> Any:
    """Whole numbers as floats; with their gaps where floats could not tell all of them apart."""
    if np.all((numbers < FIRST_INEXACT) & (numbers > -FIRST_INEXACT)):
        floats = numbers.astype(np.float64)
        floats[gaps] = np.nan
        return np.ascontiguousarray(floats)
    wide = np.int64 if numbers.dtype.kind == "i" else np.uint64
    return np.ascontiguousarray(numbers, dtype=wide), np.ascontiguousarray(gaps)


def _object_column(name: str, column: Array) -> Any:
    """A column of Python objects: all numbers, all truth values, or all texts, with gaps."""
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
        raise DataError(f"column `{name}`: a value is no number that 64 bits can hold ({cause})") from None
    return numbers


def _large_numbers(name: str, column: Array, gaps: Array) -> Any:
    """A column of numbers with whole ones that floats could not tell apart."""
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
    """Whether an object means that a value is missing."""
    if cell is None:
        return True
    if isinstance(cell, float | np.floating):
        return bool(np.isnan(cell))
    return type(cell).__name__ in ("NAType", "NaTType")


def _unsupported(name: str, what: str) -> DataError:
    return DataError(
        f"column `{name}`: {what} are not supported", "convert the column to numbers or text, or leave it out"
    )

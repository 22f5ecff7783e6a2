"""Groups as users give them: names of columns, conditions or values of rows; and scans over features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _native
from ._columns import column_of
from ._errors import ArgumentError, utf8
from ._settings import class_text
from ._tables import UserTable, in_one_piece, kind_of

#: The column name of true labels that are not in the table.
LABEL = "(true label)"


def all_utf8(texts: list[str]) -> None:
    """Refuses texts that cannot be written down."""
    for text in texts:
        utf8(text, "an argument")


def is_values(y: Any) -> bool:
    """Whether labels are given as values, not as the name of a column."""
    return y is not None and not isinstance(y, str)


def labels_of(y: Any) -> list[str | None]:
    """True labels as texts."""
    values = np.asarray(in_one_piece(y), dtype=object)
    if values.ndim != 1:
        raise ArgumentError(f"the true labels have {values.ndim} dimensions instead of 1")
    return [None if value is None or value != value else class_text(value) for value in values]


def beside(groups: Any, y: Any) -> tuple[list[str], _native.Table | None]:
    """Names of groups, and a table of the values that the user's table does not have."""
    columns = values_of(groups)
    names = list(columns) or ([groups] if isinstance(groups, str) else [str(name) for name in groups])
    if is_values(y):
        columns[LABEL] = labels_of(y)
    return names, table_of(columns)


def values_of(groups: Any) -> dict[str, Any]:
    """Groups that are given as values of rows, not as names of columns."""
    if groups is None or isinstance(groups, str):
        return {}
    if isinstance(groups, Mapping):
        return {str(name): in_one_piece(values) for name, values in groups.items()}
    groups = in_one_piece(groups)
    if kind_of(groups) in ("pandas", "polars", "pyarrow"):
        table = UserTable(groups)
        return dict(table.native("{}").columns())
    if isinstance(groups, list | tuple) and all(isinstance(name, str) for name in groups):
        return {}
    name = getattr(groups, "name", None)
    return {str(name) if name is not None else "group": groups}


def table_of(columns: Mapping[str, Any]) -> _native.Table | None:
    """Columns as a table of the engine."""
    if not columns:
        return None
    cells = [column_of(name, values) for name, values in columns.items()]
    return _native.Table.from_columns(list(columns), cells, "{}", "")


def scan_of(
    scan: Any,
) -> tuple[list[str], int | None, str | None, int | None, int | None] | None:
    """A scan's settings: features, or a dictionary with `features` and more."""
    if scan is None:
        return None
    settings = dict(scan) if isinstance(scan, Mapping) else {"features": scan}
    known = ("features", "max_terms", "measure", "point", "permutations")
    for name in settings:
        if name not in known:
            raise ArgumentError(f"a scan has no setting {name!r}", f"use {', '.join(known)}")
    features = settings.get("features", ())
    features = [features] if isinstance(features, str) else [str(name) for name in features]
    all_utf8(features)
    numbers = (settings.get(name) for name in ("max_terms", "point", "permutations"))
    terms, point, permutations = (None if number is None else int(number) for number in numbers)
    if any(number is not None and number < 0 for number in (terms, point, permutations)):
        raise ArgumentError("a setting of the scan is negative", "give numbers of 0 or more")
    return features, terms, settings.get("measure"), point, permutations

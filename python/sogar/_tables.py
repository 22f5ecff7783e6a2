"""Converts tables of all supported types into the engine's and back.

Numbers go in as 64-bit floats (without a copy on this side if they already are), strings and categories
through Arrow or as codes. The engine decides what they mean, for all types of tables and files alike. This
module only adds what a library knows beyond the values: the order of categories.

It imports only what the user has imported: it recognises a table by the modules that are loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _native
from ._columns import BLANKS, array_column, pandas_column, text_of
from ._edited import arrow_changed, cells_as, changed_array, pandas_changed, polars_changed
from ._errors import ArgumentError, DataError, path_of, utf8

__all__ = ["UserTable", "as_frame", "in_one_piece", "is_dask", "kind_of", "rows_of", "text_of"]

Array = np.ndarray[Any, Any]
#: The recommended edits of a column: its name, the rows, and the new cells.
Change = tuple[str, Array, Any]


def kind_of(data: Any) -> str:
    """The type of a table: ``path``, ``pandas``, ``polars``, ``pyarrow``, ``arrow`` or ``numpy``.

    >>> kind_of("people.csv"), kind_of(np.zeros((2, 2)))
    ('path', 'numpy')
    """
    if isinstance(data, str | os.PathLike):
        return "path"
    for library, names in (
        ("pandas", ["DataFrame"]),
        ("polars", ["DataFrame", "LazyFrame"]),
        ("pyarrow", ["Table", "RecordBatch"]),
    ):
        module = sys.modules.get(library)
        classes = tuple(getattr(module, name) for name in names if hasattr(module, name))
        if classes and isinstance(data, classes):
            return library
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return "arrow"
    return "numpy"


def is_dask(data: Any) -> bool:
    """Whether this is a Dask table or column, without importing Dask."""
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(data, "to_delayed")


def in_one_piece(data: Any) -> Any:
    """Computes a Dask table as a pandas frame; returns other tables unchanged."""
    return data.compute() if is_dask(data) else data


def rows_of(data: Any) -> Any:
    """A pandas series with the names of columns as the table of one row that it is; other data unchanged."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(data, pandas.Series):
        return data
    if not any(isinstance(name, str) for name in data.index):
        raise DataError(
            "the series is neither a table nor a row of one",
            "give a table with one row: `X.iloc[[0]]`; for one feature, `X.to_frame()`",
        )
    return data.to_frame().T.infer_objects()


class UserTable:
    """A table as the user gave it.

    >>> table = UserTable(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> table.kind, table.names, table.rows
    ('numpy', ['x0', 'x1'], 2)
    >>> table.native("{}").rows
    2
    """

    def __init__(self, data: Any, names: Sequence[str] | None = None) -> None:
        """Finds the type; `names` are for arrays, which have no names (default: x0, x1, …)."""
        self.kind = kind_of(data)
        self.named = self.kind != "numpy"
        #: Levels of ordered categories, by column.
        self.ordered: dict[str, list[str]] = {}
        self._file: _native.Table | None = None
        self.data: Any
        if self.kind == "path":
            self.data, self.names, self.rows = path_of(data), [], -1
            return
        if self.kind == "polars" and hasattr(data, "collect"):
            data = data.collect()
        if self.kind == "arrow" and hasattr(data, "__dataframe__") is False and "pyarrow" in sys.modules:
            data, self.kind = sys.modules["pyarrow"].table(data), "pyarrow"
        if self.kind == "numpy":
            data = _as_array(data)
            count = data.shape[1]
            self.names = (
                list(names) if names is not None and len(names) == count else [f"x{i}" for i in range(count)]
            )
            self.rows = data.shape[0]
        elif self.kind == "pandas":
            self.names, self.rows = _pandas_names(data), len(data)
        elif self.kind in ("polars", "pyarrow"):
            self.names = [
                str(name) for name in (data.columns if self.kind == "polars" else data.schema.names)
            ]
            self.rows = data.height if self.kind == "polars" else data.num_rows
        else:
            self.names, self.rows = [], -1
        for name in self.names:
            utf8(name, "the name of a column", DataError)
        self.data = data
        self.ordered = self._ordered()

    def native(self, config: str, ignored: Collection[str] = ()) -> _native.Table:
        """The engine's table, with columns read as the configuration says.

        Ignored columns become strings if the engine cannot hold them otherwise (dates, lists).
        """
        ignored = set(ignored)
        if self.kind == "path":
            self._file = _native.Table.read(self.data, config)
            self.names, self.rows = self._file.names, self._file.rows
            return self._file
        if self.kind in ("polars", "pyarrow", "arrow"):
            data = self.data
            for at, name in enumerate(self.names):
                if name in ignored and self._is_foreign(name):
                    data = self._with_texts(data, at, name)
            table = _native.Table.from_arrow(data, config, "")
            if self.kind == "arrow":
                self.names, self.rows = table.names, table.rows
            self._file = table if self.kind == "arrow" else None
            return table
        columns: list[Any] = []
        for at, name in enumerate(self.names):
            try:
                column = (
                    pandas_column(name, self.data.iloc[:, at])
                    if self.kind == "pandas"
                    else array_column(name, self.data[:, at])
                )
            except DataError:
                if name not in ignored:
                    raise
                cells = self.data.iloc[:, at] if self.kind == "pandas" else self.data[:, at]
                column = [str(cell) for cell in cells]
            columns.append(column)
        if not columns:
            raise DataError("the table has no columns")
        return _native.Table.from_columns(self.names, columns, config, "")

    def _with_texts(self, data: Any, at: int, name: str) -> Any:
        """The table with a column as strings."""
        if self.kind == "polars":
            texts = [None if cell is None else str(cell) for cell in data[name].to_list()]
            return data.with_columns(sys.modules["polars"].Series(name, texts))
        texts = [None if cell is None else str(cell) for cell in data.column(at).to_pylist()]
        return data.set_column(at, name, sys.modules["pyarrow"].array(texts))

    def _is_foreign(self, name: str) -> bool:
        """Whether the engine cannot hold a column's type."""
        if self.kind == "polars":
            dtype = self.data.schema[name]
            return bool(dtype.is_temporal() or dtype.is_nested() or str(dtype) in ("Binary", "Object"))
        if self.kind == "pyarrow":
            types, dtype = sys.modules["pyarrow"].types, self.data.schema.field(name).type
            return bool(types.is_temporal(dtype) or types.is_nested(dtype) or types.is_binary(dtype))
        return False

    def edited(self, changes: Iterable[Change]) -> Any:
        """A new table of the same type with some cells changed. A file becomes a data frame."""
        if self.kind in ("path", "arrow"):
            by_name: dict[str, list[tuple[Array, Any]]] = {}
            for name, rows, cells in changes:
                by_name.setdefault(name, []).append((rows, cells))
            read = self._file.columns() if self._file is not None else {}
            return as_frame(
                {name: changed_array(column, by_name.get(name, [])) for name, column in read.items()}
            )
        if self.kind == "numpy":
            return self._edited_array(list(changes))
        edited = self.data.copy() if self.kind == "pandas" else self.data
        for name, rows, cells in changes:
            at = self.names.index(name)
            if self.kind == "pandas":
                edited.isetitem(at, pandas_changed(self.data.iloc[:, at], rows, cells))
            elif self.kind == "polars":
                edited = edited.with_columns(polars_changed(self.data[name], rows, cells))
            else:
                edited = edited.set_column(
                    at, self.data.schema.field(at), arrow_changed(self.data.column(at), rows, cells)
                )
        return edited

    def frame(self, columns: Mapping[str, Any]) -> Any:
        """Columns of results as a frame; `as_frame` chooses its type."""
        return as_frame(columns, self.kind)

    def _edited_array(self, changes: list[Change]) -> Array:
        data: Array = self.data.copy()
        for name, rows, cells in changes:
            at = self.names.index(name)
            new = cells_as(data[:, at], cells)
            if data.dtype.kind in "iub" and not np.array_equal(new.astype(data.dtype), new):
                data = data.astype(np.float64)
            data[rows, at] = new
        return data

    def _ordered(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        # All at once: each access builds the array anew.
        dtypes = list(self.data.dtypes) if self.kind in ("pandas", "polars") else []
        for at, name in enumerate(self.names):
            levels: list[Any] | None = None
            if self.kind == "pandas":
                dtype = dtypes[at]
                if getattr(dtype, "ordered", False) and hasattr(dtype, "categories"):
                    levels = list(dtype.categories)
            elif self.kind == "polars":
                dtype = dtypes[at]
                levels = list(dtype.categories) if type(dtype).__name__ == "Enum" else None
            elif self.kind == "pyarrow":
                dtype = self.data.schema.field(at).type
                if getattr(dtype, "ordered", False):
                    column = self.data.column(at)
                    chunks = column.chunks if hasattr(column, "chunks") else [column]
                    levels = chunks[0].dictionary.to_pylist() if chunks else None
            if levels and len(levels) > 1:
                found[name] = [text_of(level) for level in levels]
        return found


def as_frame(columns: Mapping[str, Any], kind: str = "") -> Any:
    """Columns as a frame of a given type, or of pandas or polars if installed, or as a structured array."""
    if kind == "pyarrow":
        import pyarrow

        return pyarrow.table(dict(columns))
    libraries = [kind] if kind in ("pandas", "polars") else ["pandas", "polars"]
    for library in libraries:
        try:
            return __import__(library).DataFrame(dict(columns))
        except ImportError:
            continue
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    table = np.empty(
        len(next(iter(arrays.values()))), dtype=[(name, array.dtype) for name, array in arrays.items()]
    )
    for name, array in arrays.items():
        table[name] = array
    return table


def _as_array(data: Any) -> Array:
    """Converts anything array-like to an array of rows and columns."""
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise DataError("sparse matrices are not supported", "give a dense array: `X.toarray()`")
    if not isinstance(data, np.ndarray):
        if isinstance(data, Mapping | str | bytes) or not hasattr(data, "__len__"):
            raise ArgumentError(
                f"a {type(data).__name__} is not a table",
                "give a path, a pandas, polars or pyarrow table, or a two-dimensional array",
            )
        try:
            data = np.asarray(data)
        except ValueError:
            raise DataError("the rows of the table differ in length") from None
    if data.dtype.names is not None:
        raise DataError("structured arrays are not supported", "give a data frame: `pandas.DataFrame(X)`")
    if data.ndim != 2:
        raise DataError(
            f"the table has {data.ndim} dimension{'s' if data.ndim != 1 else ''} instead of 2",
            "reshape it: `X.reshape(-1, 1)` for one feature, `X.reshape(1, -1)` for one row",
        )
    array: Array = data
    return array


def _pandas_names(data: Any) -> list[str]:
    keys = list(data.columns)
    if data.columns.nlevels > 1:
        raise DataError(
            "the table has more than one level of column names", "give it one: `X.columns = [...]`"
        )
    if not all(isinstance(key, str) for key in keys) and any(isinstance(key, str) for key in keys):
        raise DataError(
            "some column names are texts and some are not",
            "name all columns: `X.columns = X.columns.astype(str)`",
        )
    return [str(key).strip(BLANKS) for key in keys]

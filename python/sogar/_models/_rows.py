"""Builds blocks of rows for a model's own `predict`, in the user's type of table.

The engine stores a row as numbers (a value, or the position of a level). A called model was trained on the
user's own table, so it gets rows of that type: a pandas frame with the same columns, dtypes and categories, a
polars frame with the same schema, an Arrow table, or an array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._columns import by_text, text_of
from .._errors import DataError
from .._tables import as_frame, kind_of
from ._cells import Array, levels_of, narrowed, pandas_cells

if TYPE_CHECKING:
    from .._native import Table


def frame_of(table: Table) -> Any:
    """Reads a file with pandas or polars, whichever is installed; ``None`` if neither is."""
    made = as_frame(table.columns())
    return None if isinstance(made, np.ndarray) else made


class Rows:
    """The feature columns of a user's table, and how to make more rows like them.

    >>> rows = Rows(np.array([[1.0, 5.0], [4.0, 2.0]]), ["income", "debt"])
    >>> rows.block(["income", "debt"], [[], []], np.array([[2.0, 3.0]]))
    array([[2., 3.]])
    """

    def __init__(
        self, table: Any, columns: Sequence[str], features: Sequence[str] | None = None, *, trim: bool = False
    ) -> None:
        """Stores a table (``None``: only a file), the names of its columns, and which are features."""
        self.trim = trim
        self.kind = "pandas" if table is None else kind_of(table)
        self.table: Any = np.asarray(table) if self.kind == "numpy" else table
        self._own_objects: dict[str, dict[str, Any]] = {}
        self._texts: dict[str, bool] = {}
        self.columns = list(columns)
        self.names = list(features) if features is not None else list(columns)
        missing = [name for name in self.names if name not in self.columns]
        if missing:
            raise DataError(f"the table has no column `{missing[0]}`")

    def arrange(self, wanted: Sequence[str]) -> None:
        """Selects the features that a model uses, in its order."""
        known = {name.strip(): name for name in self.names}
        lacking = [name for name in wanted if name.strip() not in known]
        if lacking:
            raise DataError(
                f"the model wants the column `{lacking[0]}`, which the table does not have as a feature",
                "fit with the columns that the model was trained on; a label or ignored column is no feature",
            )
        self.names = [known[name.strip()] for name in wanted]

    def __len__(self) -> int:
        """Number of rows of the table."""
        return 0 if self.table is None else len(self.table)

    def own(self) -> Any:
        """The user's table, features only."""
        return self._select(self.table)

    def blocks(self, count: int) -> Iterator[Any]:
        """The user's table, features only, at most `count` rows at a time."""
        for start in range(0, len(self), count):
            yield self.take(np.arange(start, min(start + count, len(self))))

    def sample(self, count: int) -> Any:
        """At most `count` rows of the table, spread evenly."""
        return self.take(self._spread(count))

    def _spread(self, count: int) -> Array:
        return np.unique(np.linspace(0, len(self) - 1, min(count, len(self))).astype(np.intp))

    def take(self, rows: Array) -> Any:
        """These rows of the table, features only."""
        table = self.own()
        if self.kind == "pandas":
            return table.iloc[rows]
        return table.take(rows) if self.kind == "pyarrow" else table[rows]

    def mixed(self, count: int) -> Rows:
        """Mixed rows: a sample with each column shuffled separately."""
        draw = np.random.default_rng(0)
        rows = self._spread(count)
        orders = [draw.permutation(rows) for _ in self.columns]
        table = self.table
        if self.kind == "numpy":
            made: Any = np.stack([table[order, at] for at, order in enumerate(orders)], axis=1)
        elif self.kind == "pandas":
            made = table.iloc[rows].reset_index(drop=True)
            for at, order in enumerate(orders):
                made.isetitem(at, table.iloc[order, at].array)
        else:
            parts = [table[name][order] if self.kind == "polars" else table[name].take(order)
                     for name, order in zip(self.columns, orders, strict=True)]  # fmt: skip
            made = (
                type(table)(parts)
                if self.kind == "polars"
                else type(table).from_arrays(parts, schema=table.schema)
            )
        return Rows(made, self.columns, self.names, trim=self.trim)

    def column(self, name: str) -> Array:
        """One column of the table as an array, with NaN or None for missing values."""
        if self.kind == "numpy":
            return self.table[:, self.columns.index(name)]  # type: ignore[no-any-return]
        column = self.table[self.key(name)]
        if self.kind == "pandas" and str(column.dtype) == "category":
            return np.asarray(column.astype(object))
        if self.kind == "pyarrow" and str(column.type).startswith("dictionary"):
            return np.array(column.to_pylist(), dtype=object)
        return np.asarray(column.to_numpy(), dtype=None)

    def varied(self, name: str, rows: Array) -> Any:
        """Copies of the first row, with one column taken from these rows."""
        values = self.take(rows)
        if self.kind == "numpy":
            return self._with(name, values[:, self.names.index(name)])
        return self._with(name, values[self.key(name)])

    def with_number(self, name: str, values: Array) -> Any:
        """Copies of the first row, with these numbers in one column."""
        return self._with(name, values)

    def _with(self, name: str, values: Any) -> Any:
        """Copies of the first row, with these values in one column."""
        made, at = self.take(np.zeros(len(values), dtype=np.intp)), self.names.index(name)
        if self.kind == "numpy":
            made = made.astype(np.result_type(made.dtype, np.asarray(values).dtype))
            made[:, at] = values
        elif self.kind == "pandas":
            made = made.copy()
            made.isetitem(at, getattr(values, "array", values))
        elif self.kind == "polars":
            import polars

            made = made.with_columns(polars.Series(name, values))
        else:
            import pyarrow

            column = values if hasattr(values, "type") else pyarrow.array(values)
            made = made.set_column(at, name, column)
        return made

    def block(self, names: list[str], texts: list[list[str]], values: Array) -> Any:
        """Rows of the engine in the user's type of table; `texts[j]` are the levels of column `j`, if any."""
        place = {name: index for index, name in enumerate(names)}
        columns = [place[name] for name in self.names]
        if self.kind == "numpy":
            return self._array(columns, texts, values)
        made = {
            name: self._column(name, texts[at], values[:, at])
            for name, at in zip(self.names, columns, strict=True)
        }
        if self.kind == "pandas":
            import pandas

            frame = pandas.DataFrame(made)
            frame.columns = pandas.Index([self.key(name) for name in self.names])
            return frame
        if self.kind == "polars":
            import polars

            return polars.DataFrame(list(made.values()))
        import pyarrow

        return pyarrow.table(made)

    def key(self, name: str) -> Any:
        """The table's own key of a column (pandas allows any, such as numbers)."""
        return self.table.columns[self.columns.index(name)] if self.kind == "pandas" else name

    def _select(self, table: Any) -> Any:
        if self.kind == "numpy":
            if self.names == self.columns:
                return table
            return table[:, [self.columns.index(name) for name in self.names]]
        if self.kind == "pandas":
            return table[[self.key(name) for name in self.names]]
        return table.select(self.names)

    def _array(self, columns: list[int], texts: list[list[str]], values: Array) -> Array:
        numeric = self.table.dtype.kind in "fiub"
        if numeric and not any(texts[at] for at in columns):
            block = np.ascontiguousarray(values[:, columns])
            return (
                block.astype(self.table.dtype)
                if self.table.dtype.kind == "f"
                else narrowed(block, self.table.dtype)
            )
        block = np.empty((len(values), len(columns)), dtype=object)
        for position, (name, at) in enumerate(zip(self.names, columns, strict=True)):
            if texts[at]:
                block[:, position] = levels_of(texts[at], values[:, at], self._originals(name))
            elif self._is_text(name):
                block[:, position] = self._number_texts(name, values[:, at])
            else:
                block[:, position] = values[:, at]
        if numeric:
            whole = self.table.dtype.kind in "iu" and all(isinstance(cell, int) for cell in block.flat)
            return block.astype(self.table.dtype if whole else np.float64)
        return block if self.table.dtype == object else block.astype(self.table.dtype)

    def _originals(self, name: str) -> dict[str, Any]:
        """The user's own objects for the strings of a column, if they are not the strings themselves."""
        if name not in self._own_objects:
            values = [] if self.table is None else self.column(name).tolist()
            known = [value for value in values if value is not None and value == value]
            self._own_objects[name] = {text: value for text, value in by_text(known).items() if text != value}
        return self._own_objects[name]

    def _is_text(self, name: str) -> bool:
        """Whether the user's column holds strings, even if the engine reads them as numbers."""
        if name not in self._texts:
            self._texts[name] = any(isinstance(value, str) for value in self.column(name).tolist())
        return self._texts[name]

    def _number_texts(self, name: str, values: Array) -> Array:
        """The user's own strings of numbers, if the engine reads a column of strings as numbers."""
        own: dict[float, str] = {}
        for value in self.column(name).tolist():
            if isinstance(value, str):
                own.setdefault(float(value), value)
        found = np.empty(len(values), dtype=object)
        found[:] = [None if np.isnan(value) else own.get(value, text_of(value)) for value in values.tolist()]
        return found

    def _column(self, name: str, texts: list[str], values: Array) -> Any:
        """One column of a block in the user's dtype."""
        if self.table is None:
            return levels_of(texts, values, {}) if texts else values
        key = self.key(name)
        if self.kind == "pandas":
            dtype = self.table[key].dtype
            if not texts and self._is_text(name):
                import pandas

                return pandas.Series(self._number_texts(name, values), dtype=dtype)
            return pandas_cells(dtype, texts, values, lambda: self._originals(name))
        plain = levels_of(texts, values, {}) if texts else values
        if not texts and self._is_text(name):
            texts, plain = ["numbers"], self._number_texts(name, values)
        if self.kind == "polars":
            import polars

            dtype = self.table.schema[name]
            if not texts and dtype.is_integer():
                plain = narrowed(plain, np.dtype(np.int64))
            series = polars.Series(name, plain.tolist() if texts else plain, nan_to_null=not texts)
            if dtype == polars.Boolean and texts:
                return series.str.to_lowercase() == "true"
            if dtype.is_temporal() and texts:
                zone = getattr(dtype, "time_zone", None)  # the engine stores the instant
                if zone is not None:
                    instants = series.str.to_datetime(time_unit=dtype.time_unit, time_zone="UTC")
                    return instants.dt.convert_time_zone(zone)
                return series.str.strptime(dtype)
            return (
                series.cast(dtype) if texts or plain.dtype != np.float64 or not dtype.is_integer() else series
            )
        import pyarrow

        wanted = self.table.schema.field(name).type
        array = pyarrow.array(plain.tolist() if texts else plain, from_pandas=True)
        if pyarrow.types.is_boolean(wanted) and texts:
            return pyarrow.array([None if text is None else text.lower() == "true" for text in plain])
        try:
            return array.cast(wanted)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
            return array

"""Tables of all kinds: the engine gets the same values, and says clearly what it can't take."""

from __future__ import annotations

import datetime
import decimal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sogar import ArgumentError, ConfigError, DataError, Sogar, _native
from sogar._columns import BLANKS, text_of
from sogar._tables import UserTable

Array = np.ndarray[Any, Any]


def columns_of(data: Any, config: str = "{}") -> dict[str, list[Any]]:
    """What the engine has of a table; missing values are None."""
    found = UserTable(data).native(config).columns()
    return {
        name: [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in list(column)]
        for name, column in found.items()
    }


NUMBERS = st.floats(allow_nan=True, allow_infinity=False, width=64)
#: Texts as people write them: anything but surrogates, which no file can hold.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def expected_numbers(values: list[float]) -> list[float | None]:
    return [None if np.isnan(value) else value + 0.0 for value in values]


def expected_texts(values: list[str | None], trim: bool) -> list[str | None]:
    kept = [value.strip(BLANKS) if trim and value is not None else value for value in values]
    return [value or None for value in kept]


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_numbers_arrive_as_they_are(values: list[float]) -> None:
    expected = {"a": expected_numbers(values)}
    array = np.array(values)
    assert columns_of(pd.DataFrame({"a": array})) == expected
    assert columns_of(pd.DataFrame({"a": pd.array(array, dtype="Float64")})) == expected
    assert columns_of(pd.DataFrame({"a": array.astype(object)})) == expected
    assert columns_of(pl.DataFrame({"a": array})) == expected
    assert columns_of(pa.table({"a": array})) == expected
    assert columns_of(pa.table({"a": pa.chunked_array([array[:1], array[1:]])})) == expected
    assert columns_of(array[:, np.newaxis]) == {"x0": expected["a"]}


@pytest.mark.parametrize("trim", [False, True])
@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.one_of(st.none(), TEXTS), min_size=1, max_size=20))
def test_texts_arrive_with_their_spaces_unless_trimmed(trim: bool, values: list[str | None]) -> None:
    def found(data: object) -> dict[str, list[object]]:
        return columns_of(data, '{"data": {"trim": true}}' if trim else "{}")

    expected = {"a": expected_texts(values, trim)}
    known = sorted({value for value in values if value is not None})
    assert found(pd.DataFrame({"a": pd.array(values, dtype="str")})) == expected
    assert found(pd.DataFrame({"a": np.array([*values, None], dtype=object)[:-1]})) == expected
    assert found(pd.DataFrame({"a": pd.Categorical(values, categories=known)})) == expected
    assert found(pl.DataFrame({"a": pl.Series(values, dtype=pl.String)})) == expected
    assert found(pl.DataFrame({"a": pl.Series(values, dtype=pl.Categorical)})) == expected
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        assert found(pa.table({"a": pa.array(values, type=kind)})) == expected


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=12))
def test_whole_numbers_that_are_categories_keep_their_digits(values: list[int]) -> None:
    config = '{"features": {"a": {"kind": "categorical"}}}'
    expected = {"a": [str(value) for value in values]}
    assert columns_of(pd.DataFrame({"a": np.array(values, dtype=np.int64)}), config) == expected
    assert columns_of(pd.DataFrame({"a": np.array(values, dtype=object)}), config) == expected
    assert columns_of(pd.DataFrame({"a": pd.Categorical(values)}), config) == expected
    assert columns_of(pl.DataFrame({"a": values}), config) == expected
    assert columns_of(pa.table({"a": pa.array(values, type=pa.int64())}), config) == expected
    gaps = pd.array([*values, None], dtype="Int64")
    assert columns_of(pd.DataFrame({"a": gaps}), config) == {"a": [*expected["a"], None]}
    numbers = {"a": [float(value) for value in values]}
    assert columns_of(pd.DataFrame({"a": np.array(values, dtype=np.int64)})) == numbers
    unsigned = [value + 2**63 for value in values]
    expected = {"a": [str(value) for value in unsigned]}
    assert columns_of(pd.DataFrame({"a": np.array(unsigned, dtype=np.uint64)}), config) == expected


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    hnp.arrays(
        dtype=st.one_of(
            hnp.integer_dtypes(endianness="?"),
            hnp.unsigned_integer_dtypes(endianness="?"),
            hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
            hnp.boolean_dtypes(),
        ),
        shape=hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
    ),
    st.sampled_from(["plain", "fortran", "reversed", "strided", "read-only"]),
)
def test_arrays_of_every_type_and_layout_are_read(array: Array, layout: str) -> None:
    if array.dtype.kind == "f":
        array = np.where(np.isinf(array), np.nan, array).astype(array.dtype)
    if layout == "fortran":
        array = np.asfortranarray(array)
    elif layout == "reversed":
        array = array[::-1, ::-1]
    elif layout == "strided":
        array = np.repeat(np.repeat(array, 2, axis=0), 3, axis=1)[::2, ::3]
    elif layout == "read-only":
        array.flags.writeable = False
    before = array.copy()
    found = columns_of(array)
    expected = {
        f"x{at}": expected_numbers(array[:, at].astype(np.float64).tolist()) for at in range(array.shape[1])
    }
    assert found == expected
    np.testing.assert_array_equal(array, before)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=12).filter(
        lambda cells: any(c is not None for c in cells)
    )
)
def test_truth_values_are_texts(values: list[bool | None]) -> None:
    expected = {"a": [None if value is None else text_of(value) for value in values]}
    assert columns_of(pd.DataFrame({"a": pd.array(values, dtype="boolean")})) == expected
    assert columns_of(pd.DataFrame({"a": np.array([*values, None], dtype=object)[:-1]})) == expected
    assert columns_of(pl.DataFrame({"a": pl.Series(values, dtype=pl.Boolean)})) == expected
    assert columns_of(pa.table({"a": pa.array(values, type=pa.bool_())})) == expected
    if None not in values:
        assert columns_of(pd.DataFrame({"a": np.array(values)})) == expected


def test_nullable_decimal_small_and_categorical_numbers_are_read() -> None:
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], dtype="Int8"),
            "f": np.array([0.5, np.nan, 2.0], dtype=np.float32),
            "d": np.array([decimal.Decimal("1.5"), None, 2], dtype=object),
            "c": pd.Categorical([3, 1, 3]),
            "s": pd.arrays.SparseArray([0.0, 0.0, 1.0]),
            "arrow": pd.array([1.5, None, 2.5], dtype="double[pyarrow]"),
        }
    )
    assert columns_of(frame) == {
        "i": [1, None, 3],
        "f": [0.5, None, 2.0],
        "d": [1.5, None, 2.0],
        "c": ["3", "1", "3"],
        "s": [0, 0, 1],
        "arrow": [1.5, None, 2.5],
    }
    polars = pl.DataFrame(
        {"u": pl.Series([1, None], dtype=pl.UInt8), "d": pl.Series(["1.50", None]).cast(pl.Decimal(10, 2))}
    )
    assert columns_of(polars) == {"u": [1, None], "d": [1.5, None]}
    assert columns_of(polars.lazy()) == {"u": [1, None], "d": [1.5, None]}


def test_other_tables_of_arrow_are_read() -> None:
    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table({"a": [1, 2], "b": ["x", None]}).__arrow_c_stream__(requested_schema)

    assert columns_of(Stream()) == {"a": [1, 2], "b": ["x", None]}
    assert columns_of(pa.RecordBatch.from_pydict({"a": [1, 2]})) == {"a": [1, 2]}


def test_streams_of_arrow_that_are_no_tables_or_fail_are_refused() -> None:
    class Exported:
        def __init__(self, stream: object) -> None:
            self.stream = stream

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.stream

    def read(stream: object) -> list[str]:
        names: list[str] = _native.Table.from_arrow(Exported(stream), "{}", "").names
        return names

    def broken() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"a": [1]})
        raise OSError("the disk is gone")

    once = pa.table({"a": [1]}).__arrow_c_stream__()
    assert read(once) == ["a"]
    with pytest.raises(ValueError, match="has been read before"):
        read(once)
    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), broken())
    with pytest.raises(ValueError, match="the disk is gone"):
        read(reader.__arrow_c_stream__())
    with pytest.raises(TypeError, match="no table"):
        read(pa.chunked_array([[1, 2]]).__arrow_c_stream__())
    with pytest.raises(TypeError, match="no table"):
        _native.Table.from_arrow(3, "{}", "")
    rows = pa.chunked_array([pa.array([{"a": 1}, None])])
    with pytest.raises(ValueError, match="missing as a whole"):
        read(rows.__arrow_c_stream__())


def test_an_index_is_no_column() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=pd.Index(["p", "q"], name="person"))
    assert columns_of(frame) == {"a": [1.0, 2.0]}
    assert columns_of(frame[frame["a"] > 1]) == {"a": [2.0]}


def test_names_that_are_numbers_are_texts() -> None:
    assert list(columns_of(pd.DataFrame(np.zeros((1, 2))))) == ["0", "1"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros(3), "1 dimension instead of 2"),
        (np.zeros((2, 2, 2)), "3 dimensions instead of 2"),
        (np.zeros((0, 2)), "the table has no rows"),
        (np.zeros((2, 0)), "the table has no columns"),
        (pd.DataFrame(), "the table has no columns"),
        (pd.DataFrame({"a": []}), "the table has no rows"),
        (pl.DataFrame({"a": pl.Series([], dtype=pl.Float64)}), "the table has no rows"),
        (pl.DataFrame(), "the table has no columns"),
        (np.array([[1.0, np.inf]]), "row 1, column `x1`: `inf` is not a finite number"),
        (pd.DataFrame({"a": [1.0, -np.inf]}), "row 2, column `a`: `-inf` is not a finite number"),
        (np.array([[1 + 2j]]), "values of type complex128 are not supported"),
        (np.array([[1]], dtype="timedelta64[D]"), "values of type timedelta64[D] are not supported"),
        (np.zeros(2, dtype=[("a", float)]), "structured arrays are not supported"),
        (pd.DataFrame({"when": pd.to_timedelta(["1 days"])}), "column `when`: values of type timedelta64"),
        (pd.DataFrame({"span": pd.to_timedelta(["1 day"])}), "column `span`"),
        (pd.DataFrame({"z": [1j]}), "values of type complex128"),
        (pl.DataFrame({"when": [datetime.time(1, 2)]}), "values of type Time64(ns) are not supported"),
        (pl.DataFrame({"list": [[1, 2]]}), "column `list`"),
        (
            pd.DataFrame({"o": np.array([1, "x"], dtype=object)}),
            "row 2 has the text `x`, but others are numbers",
        ),
        (pd.DataFrame({"o": [object()]}), "column `o`: object objects are not supported"),
        (pd.DataFrame({"o": [[1], [2]]}), "column `o`: list objects are not supported"),
        (pd.DataFrame({"o": np.array([10**400, 1], dtype=object)}), "column `o`"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "two columns are called `a`"),
        (pa.table([[1], [2]], names=["a", "a"]), "two columns are called `a`"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", ""]), "a column has no name"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", 3]), "some column names are texts and some are not"),
        (pd.DataFrame({("a", "b"): [1.0]}), "more than one level of column names"),
        (pd.DataFrame({"c": pd.Categorical([(1, 2)])}), "column `c`: categories that are tuple objects"),
        ([[1, 2], [3]], "differ in length"),
    ],
)
def test_tables_that_cannot_be_read_are_named(table: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        UserTable(table).native("{}")
    assert message in str(caught.value)
    with pytest.raises(DataError):
        Sogar(progress=False).fit(table, lambda rows: np.zeros(len(rows)))


@pytest.mark.parametrize("table", [3, None, {"a": [1]}, b"bytes", lambda: 0])
def test_things_that_are_no_tables_are_refused(table: Any) -> None:
    with pytest.raises((ArgumentError, DataError)):
        UserTable(table)


def test_sparse_matrices_are_refused() -> None:
    import scipy.sparse

    with pytest.raises(DataError, match="sparse matrices are not supported"):
        UserTable(scipy.sparse.csr_matrix(np.eye(3)))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_edited_tables_keep_kind_and_types_in_other_cells(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 8))
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=1))))
    whole = data.draw(st.booleans())
    by = 1.0 if whole else 0.5
    frame = pd.DataFrame(
        {
            "i": np.arange(count, dtype=np.int32),
            "f": np.arange(count) / 4,
            "b": np.arange(count) % 2 == 0,
            "c": pd.Categorical([" x", "y"] * count)[:count],
            "t": np.array(["u", "v "] * count, dtype=object)[:count],
        }
    )
    changes: list[Any] = [
        ("i", rows, frame["i"].to_numpy()[rows] + by),
        ("b", rows, ["true"] * len(rows)),
        ("c", rows, ["x"] * len(rows)),
        ("t", rows, ["v"] * len(rows)),
    ]
    tables: list[Any] = [frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.to_numpy()]
    for table in tables[: 4 if whole else 2]:
        if isinstance(table, np.ndarray):
            user = UserTable(table, names=[str(name) for name in frame])
            edited: Any = pd.DataFrame(user.edited(changes), columns=list(frame))
        else:
            edited = UserTable(table).edited(changes)
            assert type(edited) is type(table)
            edited = edited if isinstance(edited, pd.DataFrame) else edited.to_pandas()
        others = np.setdiff1d(np.arange(count), rows)
        assert edited["i"].astype(float)[rows].tolist() == (frame["i"][rows] + by).tolist()
        assert edited["i"].astype(float)[others].tolist() == frame["i"].astype(float)[others].tolist()
        assert edited["f"].tolist() == frame["f"].tolist()
        assert edited["b"][rows].all()
        assert edited["b"][others].tolist() == frame["b"][others].tolist()
        assert edited["c"].astype(str)[rows].tolist() == [" x"] * len(rows)
        assert edited["t"].astype(str)[rows].tolist() == ["v "] * len(rows)
        if whole and isinstance(table, pd.DataFrame):
            assert (edited.dtypes == frame.dtypes).all()


HALF = "\ud83d"


def text(*values: str) -> pd.Index:
    """Texts as objects: pandas' own texts can't hold half of a character."""
    return pd.Index(values, dtype=object)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame([[1.0], [2.0]], columns=text(f"a{HALF}")),
        lambda: pd.DataFrame({"a": pd.Series(["x", f"y{HALF}"], dtype=object)}),
        lambda: pd.DataFrame({"a": pd.Categorical.from_codes([0, 1], text("x", f"y{HALF}"))}),
        lambda: np.array([["x"], [f"y{HALF}"]]),
        lambda: f"people{HALF}.csv",
    ],
    ids=["name", "cell", "category", "array", "path"],
)
def test_half_of_a_character_is_refused_with_its_place(make: Any) -> None:
    with pytest.raises((DataError, ArgumentError), match="half of a character"):
        UserTable(make()).native("{}")


def test_half_of_a_character_in_parameters_is_refused(people: pd.DataFrame, decide: Any) -> None:
    for parameters in ({"immutable": [HALF]}, {"label": HALF}, {"missing": [f"a{HALF}"]}, {"preset": HALF}):
        with pytest.raises(ConfigError, match="half of a character"):
            Sogar(**parameters).fit(people, decide)
    with pytest.raises(ArgumentError, match="half of a character"):
        Sogar(checkpoint=f"kept{HALF}").fit(people, decide)
    front = Sogar(min_leaf=20, max_edits=1, max_depth=1).fit(people, decide)
    for call in (
        lambda: front.select(f"cost<={HALF}"),
        lambda: front.audit(HALF),
        lambda: front.report(f"report{HALF}.html"),
        lambda: front.report("report.html", title=HALF),
        lambda: front.to_json(f"front{HALF}.json"),
        lambda: Sogar.from_json(f"front{HALF}.json"),
        lambda: Sogar.from_json("{" + HALF),
        lambda: front.explain(0).letter(to=HALF),
    ):
        with pytest.raises(ArgumentError, match="half of a character"):
            call()
    with pytest.raises((ConfigError, DataError), match="half of a character"):
        front.explain({**people.iloc[0].to_dict(), "city": HALF})


def test_decimal_commas_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("price;size\n1,5;2\n2,25;3\n")
    native = UserTable(path).native('{"data": {"decimal": ","}}')
    assert list(native.columns()["price"]) == [1.5, 2.25]


def test_very_many_columns_take_no_squared_time() -> None:
    frame = pd.DataFrame(np.zeros((2, 20_000)), columns=[f"column {number}" for number in range(20_000)])
    started = time.monotonic()
    assert len(UserTable(frame).native("{}").names) == 20_000
    assert time.monotonic() - started < 20

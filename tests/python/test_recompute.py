"""The recomputation itself, against values worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from recompute import Feature, Json, bits


def feature(kind: str, values: list[str], **extra: Any) -> Feature:
    spec: Json = {"name": "x", "kind": kind, "columns": {"one": "x"}, **extra}
    return Feature(spec, pd.Series(values))


def test_bitsets_start_at_the_lowest_bit() -> None:
    assert bits("BQE=", 9).tolist() == [True, False, True, False, False, False, False, False, True]


def test_a_shift_is_charged_the_rows_it_passes() -> None:
    age = feature("integer", ["20", "30", "30", "40", ""])
    before = np.array([20.0, 30.0, 40.0, 50.0, np.nan])
    after = age.edited(before, {"op": "shift", "by": 10, "lo": 20, "hi": 40})
    assert after[:4].tolist() == [30, 40, 40, 50], "clamped, but a row beyond the end keeps its value"
    assert np.isnan(after[4])
    assert age.cost(before, after).tolist() == [2, 1, 0, 0, 0]


def test_a_downward_shift_never_moves_up() -> None:
    age = feature("integer", ["20", "30", "40"])
    before = np.array([10.0, 20.0, 25.0, 40.0])
    after = age.edited(before, {"op": "shift", "by": -10, "lo": 20, "hi": 40})
    assert after.tolist() == [10, 20, 20, 30]
    assert age.cost(before, after).tolist() == [0, 0, 0, 1]


def test_ordinal_levels_shift_by_position() -> None:
    savings = feature("ordinal", ["low", "low", "mid", "high"], levels=["low", "mid", "high"])
    before = savings.parse(pd.Series(["low", "mid", "high"]))
    after = savings.edited(before, {"op": "shift", "by": 1, "lo": 0, "hi": 2})
    assert savings.spell(after) == ["mid", "high", "high"]
    assert savings.cost(before, after).tolist() == [1, 1, 0]
    assert savings.test(before, {"test": "<=", "value": "mid"}).tolist() == [True, True, False]


def test_a_category_costs_the_larger_of_two_shares() -> None:
    job = feature("categorical", ["a", "a", "a", "b", "c"])
    before = job.parse(pd.Series(["a", "b", "c", "d"]))
    assert job.cost(before, job.edited(before, {"op": "set", "to": "b"})).tolist() == [3, 0, 1, 1]
    assert job.edited(before, {"op": "set", "to": "b", "not_from": ["c"]}).tolist() == ["b", "b", "c", "b"]
    assert job.edited(before, {"op": "swap", "from": "a", "to": "c"}).tolist() == ["c", "b", "c", "d"]


@pytest.mark.parametrize(("values", "larger"), [(["yes", "no", "no"], "yes"), (["1", "2", "1"], "2")])
def test_a_binary_change_costs_the_larger_values_share(values: list[str], larger: str) -> None:
    binary = feature("binary", values)
    before = binary.parse(pd.Series(values))
    after = binary.edited(before, {"op": "flip"})
    assert binary.levels[1] == larger
    assert binary.cost(before, after).tolist() == [values.count(larger)] * 3
    assert binary.edited(before, {"op": "set", "to": larger}).tolist() == [1, 1, 1]


def test_a_missing_number_fails_every_test() -> None:
    age = feature("real", ["1.5", "", "2"])
    assert age.test(np.array([1.5, np.nan]), {"test": "<=", "value": 9.0}).tolist() == [True, False]


def test_a_special_code_is_no_amount() -> None:
    income = feature("integer", ["-9", "-9", "10", "20", "30", "99", ""], codes=[-9, 99])
    before = np.array([-9.0, 10.0, 89.0, 99.0, 30.0, np.nan])
    after = income.edited(before, {"op": "shift", "by": 10, "lo": 10, "hi": 120})
    assert after[:5].tolist() == [-9, 20, 89, 99, 40], "codes stay, and nobody moves to one"
    assert income.cost(before, after).tolist() == [0, 1, 0, 0, 0, 0]
    assert income.test(before, {"test": "<=", "value": 200.0}).tolist() == [
        False, True, True, False, True, False,
    ]  # fmt: skip
    assert income.test(before, {"test": "=", "value": -9}).tolist() == [True] + [False] * 5

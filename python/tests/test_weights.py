"""Rows that stand for several people: `sample_weight_column=` in fits, and `weights=` of `solve_matrix`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sogar import ArgumentError, DataError, Sogar, solve_matrix

Array = np.ndarray[Any, Any]


def people(rows: int = 120, seed: int = 0) -> pd.DataFrame:
    """People with weights."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": draw.integers(10, 90, rows),
            "debt": np.round(draw.uniform(0, 40, rows), 1),
            "member": draw.choice(["no", "yes"], rows),
            "people": draw.integers(1, 5, rows),
        }
    )


def model(rows: pd.DataFrame) -> Array:
    """Income against debt."""
    return np.asarray(rows["income"] - rows["debt"] + 5 * (rows["member"] == "yes") > 35)


def repeated(table: pd.DataFrame) -> pd.DataFrame:
    """Every row as often as its weight says."""
    return (
        table.loc[table.index.repeat(table["people"].astype(int))]
        .drop(columns="people")
        .reset_index(drop=True)
    )


SETTINGS: dict[str, Any] = {"max_depth": 2, "max_edits": 2, "min_leaf": 10, "bins": 6, "progress": False}


@pytest.fixture(scope="module")
def fitted() -> tuple[Sogar, Sogar]:
    table = people()
    weighted = Sogar(sample_weight_column="people", **SETTINGS).fit(table, model)
    return weighted, Sogar(**SETTINGS).fit(repeated(table), model)


def test_a_fit_with_weights_is_one_with_repeated_rows(fitted: tuple[Sogar, Sogar]) -> None:
    weighted, plain = fitted
    pd.testing.assert_frame_equal(weighted.front_, plain.front_)
    assert weighted.n_affected_ == plain.n_affected_
    for by in ("invalidity", "knee"):
        one, other = weighted.select(by), plain.select(by)
        assert str(one) == str(other)
        assert one._repr_html_() == other._repr_html_()
        assert one.works == other.works


def test_held_out_people_and_audits_count_by_weight(fitted: tuple[Sogar, Sogar]) -> None:
    weighted, plain = fitted
    others = people(80, 1)
    one, other = weighted.evaluate(others), plain.evaluate(repeated(others))
    pd.testing.assert_frame_equal(one, other)
    audits = [front.audit(["member"], draws=50) for front in fitted]
    groups = [audit["reference"]["groupings"][0]["groups"] for audit in audits]
    for a, b in zip(*groups, strict=True):
        assert (a["rows"], a["affected"]) == (b["rows"], b["affected"])
        assert a["measures"]["cost"]["gap"] == pytest.approx(b["measures"]["cost"]["gap"])
        assert a["measures"]["cost"]["mean_gap_low"] == pytest.approx(b["measures"]["cost"]["mean_gap_low"])
    with pytest.raises(DataError, match="no column `people`"):
        weighted.evaluate(others.drop(columns="people"))


def test_advice_needs_no_weights(fitted: tuple[Sogar, Sogar]) -> None:
    weighted, plain = fitted
    others = people(30, 2).drop(columns="people")
    pd.testing.assert_frame_equal(weighted.transform(others), plain.transform(others))


def test_decimals_are_people_too(tmp_path: Path) -> None:
    table = people()
    table["people"] = table["people"] / 4
    front = Sogar(sample_weight_column="people", **SETTINGS).fit(table, model)
    front.to_json(tmp_path / "front.json")
    weight = json.loads((tmp_path / "front.json").read_text())["weight"]
    affected = ~model(table)
    assert front.n_affected_ == pytest.approx(table["people"][affected].sum())
    assert (weight["column"], weight["unit"]) == ("people", 100)
    assert weight["total"] == pytest.approx(100 * table["people"].sum())
    summary = front.select("invalidity")
    assert 0 < summary.works <= 1
    assert summary.person == 100


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf"), 1e30, 1e-9])
def test_what_is_no_weight_is_refused(bad: float) -> None:
    table = people()
    table["people"] = table["people"].astype(float)
    table.loc[3, "people"] = bad
    with pytest.raises(DataError, match="people"):
        Sogar(sample_weight_column="people", **SETTINGS).fit(table, model)


def test_the_solver_counts_rows_by_weight() -> None:
    for seed in range(200):
        draw = np.random.default_rng(seed)
        n, tests, actions = int(draw.integers(2, 14)), int(draw.integers(0, 4)), int(draw.integers(1, 6))
        splits, flips = draw.random((n, tests)) < 0.5, draw.random((actions, n)) < 0.5
        cost, weights = draw.integers(0, 9, (actions, n)), draw.integers(1, 6, n)
        limits: dict[str, Any] = {"max_depth": 2, "min_leaf": int(draw.integers(1, 4)), "progress": False}
        long = np.repeat(np.arange(n), weights)
        weighted = solve_matrix(splits, cost, flips, weights=weights, **limits)
        plain = solve_matrix(splits[long], cost[:, long], flips[:, long], **limits)
        assert weighted == plain


@pytest.mark.parametrize(
    "weights", [[1, 2], [1, 0, 1], [1, 1.5, 1], [1, -1, 1], ["a", "b", "c"], [2**31] * 3]
)
def test_the_solver_refuses_what_is_no_weight(weights: list[Any]) -> None:
    with pytest.raises(ArgumentError, match="weights"):
        solve_matrix([[True], [True], [False]], [[1, 1, 4]], [[True] * 3], weights=weights, progress=False)

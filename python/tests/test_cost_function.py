"""A Python function of a row and an edit as the cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from sogar import ConfigError, Sogar

SMALL: dict[str, Any] = {"max_depth": 1, "max_edits": 2, "bins": 5, "progress": False}
Decide = Callable[[Any], Any]


def test_a_function_gives_the_costs(people: pd.DataFrame, decide: Decide) -> None:
    seen: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def price(row: dict[str, Any], edit: dict[str, Any]) -> float:
        seen.append((row, edit))
        return 2.0 if edit["feature"] == "city" else 0.5

    estimator = Sogar(cost=price, **SMALL).fit(people, decide)
    row, edit = seen[0]
    assert set(row) == set(people.columns)
    assert {"feature", "op", "from", "to", "text"} <= set(edit)
    assert all(row[edit["feature"]] == edit["from"] != edit["to"] for row, edit in seen)
    document = json.loads(estimator.to_json() or "")
    assert document["cost"] == {"kind": "function", "unit": 1_000_000}
    estimator.select(-1)
    edited = estimator.transform(people)
    changed = (edited != people).any(axis=1)
    city = edited["city"].astype(str) != people["city"].astype(str)
    expected = (2_000_000 * city + 500_000 * (changed & ~city)).sum()
    assert estimator.front_["cost_sum"].iloc[-1] == expected
    pd.testing.assert_series_equal(estimator.evaluate(people)["cost_sum"], estimator.front_["cost_sum"])


def test_a_function_that_counts_like_a_built_in_cost_gives_its_front(people: pd.DataFrame) -> None:
    numbers = people[["income", "debt"]]
    width = numbers.max() - numbers.min()

    def distance(_: dict[str, Any], edit: dict[str, Any]) -> float:
        return float(abs(edit["to"] - edit["from"]) / width[edit["feature"]])

    def model(rows: pd.DataFrame) -> Any:
        return (rows["income"] - rows["debt"] > 30).to_numpy()

    single = {
        **SMALL,
        "max_edits": 1,
    }  # with one edit an action, the largest cost and the sum of costs are the same
    ours = Sogar(cost=distance, **single).fit(numbers, model).front_
    theirs = Sogar(cost="l1", **single).fit(numbers, model).front_
    pd.testing.assert_frame_equal(ours, theirs)


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf"), 1e9])
def test_costs_that_are_none_are_refused(people: pd.DataFrame, decide: Decide, price: float) -> None:
    with pytest.raises(ConfigError, match="the cost of an edit is not a number between 0 and 4294"):
        Sogar(cost=lambda _row, _edit: price, **SMALL).fit(people, decide)


def test_what_a_cost_raises_is_the_cause(people: pd.DataFrame, decide: Decide) -> None:
    def broken(row: dict[str, Any], edit: dict[str, Any]) -> float:
        raise LookupError(f"no price for {edit['feature']} of {len(row)}")

    with pytest.raises(
        ConfigError, match=r"the cost function raised .*LookupError.*: .*no price for"
    ) as caught:
        Sogar(cost=broken, **SMALL).fit(people, decide)
    assert isinstance(caught.value.__cause__, LookupError)
    words: Any = "dear"
    with pytest.raises(ConfigError, match="TypeError"):
        Sogar(cost=lambda _row, _edit: words, **SMALL).fit(people, decide)


def test_a_configuration_alone_has_no_function(people: pd.DataFrame, decide: Decide) -> None:
    with pytest.raises(ConfigError, match="none is given here"):
        Sogar(config={"cost": {"kind": "function"}}, **SMALL).fit(people, decide)

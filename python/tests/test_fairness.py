"""Fairness inside the search: `max_gap`, `minimax`, `epsilon`, against a recomputation with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sogar import ArgumentError, ConfigError, Sogar

Decide = Callable[[Any], Any]
SMALL: dict[str, Any] = {"max_depth": 2, "max_edits": 1, "bins": 5, "min_leaf": 10, "progress": False}


@pytest.fixture
def table(people: pd.DataFrame) -> pd.DataFrame:
    """The small example, with a column that the model does not see."""
    side = np.where(np.random.default_rng(1).uniform(size=len(people)) < 0.4, "left", "right")
    return people.assign(side=side)


@pytest.fixture
def seen(decide: Decide) -> Decide:
    """The model without that column."""
    return lambda rows: decide(rows.drop(columns="side"))


def vectors(front: Sogar) -> tuple[np.ndarray, np.ndarray]:
    """The groups' front, and the sizes of the groups."""
    found = front.fairness_
    return np.array(found["front"], dtype=float), np.array([group["affected"] for group in found["groups"]])


def gaps(all_vectors: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    losses = all_vectors[:, 1:]
    rest = (losses.sum(axis=1, keepdims=True) - losses) / (sizes.sum() - sizes)
    return np.asarray(np.abs(losses / sizes - rest).max(axis=1))


def stairs(costs: np.ndarray, values: np.ndarray) -> list[tuple[float, float]]:
    """The pairs that no other dominates."""
    kept: list[tuple[float, float]] = []
    for cost, value in sorted(zip(costs, values, strict=True)):
        if not kept or value < kept[-1][1]:
            kept.append((cost, value))
    return kept


def test_the_points_are_the_trade_off_within_the_limit(table: pd.DataFrame, seen: Decide) -> None:
    front = Sogar(**SMALL, protected=["side"], max_gap="loss, side <= 0.1").fit(table, seen)
    assert front.status_ == "complete"
    found, sizes = vectors(front)
    within = found[gaps(found, sizes) <= 0.1 + 1e-12]
    points = list(zip(front.front_["cost_sum"], front.front_["loss_count"], strict=True))
    assert points == stairs(within[:, 0], within[:, 1:].sum(axis=1))
    # Every vector of a point is what its tree does to the groups.
    turned_down = table[np.asarray(seen(table)) == 0]
    assert sizes.tolist() == [
        (turned_down["side"] == group["group"]).sum() for group in front.fairness_["groups"]
    ]


def test_without_groups_the_projection_is_the_front(table: pd.DataFrame, seen: Decide) -> None:
    plain = Sogar(**SMALL, protected=["side"]).fit(table, seen)
    worst = Sogar(**SMALL, protected=["side"], minimax="side").fit(table, seen)
    found, sizes = vectors(worst)
    expected = list(zip(plain.front_["cost_sum"], plain.front_["loss_count"], strict=True))
    assert stairs(found[:, 0], found[:, 1:].sum(axis=1)) == expected
    shares = (found[:, 1:] / sizes).max(axis=1)
    chosen = found[worst.fairness_["points"]]
    assert stairs(found[:, 0], shares) == stairs(chosen[:, 0], (chosen[:, 1:] / sizes).max(axis=1))
    assert plain.fairness_ is None


@pytest.mark.parametrize("seed", range(12))
def test_no_tree_splits_on_what_is_protected_and_blind_is_never_better_than_sighted(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = 240
    table = pd.DataFrame(
        {
            "side": random.choice(["left", "right", "up"], count),
            "money": random.normal(0.0, 1.0, count).round(1),
            "years": random.integers(0, 12, count),
            "city": random.choice(["a", "b"], count),
        }
    )

    def model(rows: pd.DataFrame) -> Any:
        drawn = rows["side"].map({"left": 1.0, "right": -1.0, "up": 0.0}).astype(float)
        return (rows["money"] + 0.2 * rows["years"] + 0.8 * drawn > 1.4).astype(int)

    blind = Sogar(**SMALL, protected=["side"]).fit(table, model)
    sighted = Sogar(**SMALL, immutable=["side"]).fit(table, model)
    assert all("side" not in str(blind.select(point).tree) for point in range(len(blind.front_["cost"])))
    assert any("side" in str(sighted.select(point).tree) for point in range(len(sighted.front_["cost"])))
    better = stairs(np.array(sighted.front_["cost_sum"]), np.array(sighted.front_["loss_count"]))
    for cost, loss in zip(blind.front_["cost_sum"], blind.front_["loss_count"], strict=True):
        assert any(other[0] <= cost and other[1] <= loss for other in better)


def test_epsilon_stands_in_the_status(table: pd.DataFrame, seen: Decide) -> None:
    settings = {**SMALL, "protected": ["side"], "minimax": "side"}
    complete, near = Sogar(**settings).fit(table, seen), Sogar(**settings, epsilon=0.05).fit(table, seen)
    assert near.status_ == "complete_within_epsilon"
    (exact, sizes), (some, _) = vectors(complete), vectors(near)
    assert len(some) <= len(exact)
    slack = 0.05 * sizes
    for vector in exact:
        assert any((other[1:] <= vector[1:] + slack + 1e-9).all() for other in some)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"max_gap": "sex"}, ConfigError),
        ({"max_gap": "loss, side <= 0.1", "minimax": "side"}, ConfigError),
        ({"max_gap": "loss, side <= 0.1", "sample": 10}, ConfigError),
        ({"epsilon": 0.1}, ConfigError),
        ({"max_gap": "loss, nothing <= 0.1"}, ArgumentError),
    ],
)
def test_what_is_wrong_is_said(
    table: pd.DataFrame, seen: Decide, settings: dict[str, Any], error: type
) -> None:
    with pytest.raises(error):
        Sogar(**SMALL, **settings).fit(table, seen)

"""`solve_matrix` against a plain reference, and what it refuses."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sogar import ArgumentError, ConfigError, MatrixLeaf, MatrixSplit, solve_matrix

Array = np.ndarray[Any, Any]
Points = set[tuple[int, int]]


def non_dominated(points: Points) -> Points:
    """What no other point beats."""
    return {p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}


def plain_front(
    splits: Array, cost: Array, flips: Array, rows: Array, depth: int, leaves: int, min_leaf: int
) -> Points:
    """The front by the definition, without any cleverness."""
    points: Points = {(0, len(rows))}
    for action in range(len(cost)):
        points.add((int(cost[action, rows].sum()), int((~flips[action, rows]).sum())))
    if depth > 0:
        for split in range(splits.shape[1]):
            left, right = rows[splits[rows, split]], rows[~splits[rows, split]]
            if min(len(left), len(right)) < min_leaf:
                continue
            for first in range(1, leaves):
                ours = plain_front(splits, cost, flips, left, depth - 1, first, min_leaf)
                theirs = plain_front(splits, cost, flips, right, depth - 1, leaves - first, min_leaf)
                points |= {(a + c, b + d) for (a, b), (c, d) in itertools.product(ours, theirs)}
    return non_dominated(points)


def applied(
    tree: MatrixLeaf | MatrixSplit, splits: Array, cost: Array, flips: Array, rows: Array
) -> tuple[int, int, list[int]]:
    """Cost, loss and sizes of the leaves of a tree."""
    if isinstance(tree, MatrixLeaf):
        if tree.action is None:
            return 0, len(rows), [len(rows)]
        return int(cost[tree.action, rows].sum()), int((~flips[tree.action, rows]).sum()), [len(rows)]
    passes = splits[rows, tree.split]
    left = applied(tree.left, splits, cost, flips, rows[passes])
    right = applied(tree.right, splits, cost, flips, rows[~passes])
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]


@pytest.mark.parametrize("block", range(10))
def test_300_random_problems_have_the_front_of_the_plain_reference(block: int) -> None:
    for number in range(30):
        draw = np.random.default_rng(1000 * block + number)
        n, tests, actions = int(draw.integers(1, 14)), int(draw.integers(0, 5)), int(draw.integers(0, 6))
        depth, min_leaf = int(draw.integers(0, 4)), int(draw.integers(1, min(n, 3) + 1))
        leaves = int(draw.integers(1, 2**depth + 1))
        splits = draw.random((n, tests)) < 0.5
        cost = draw.integers(0, draw.choice([2, 10, 100_000]), (actions, n))
        flips = draw.random((actions, n)) < draw.random()
        limits: dict[str, Any] = {"max_depth": depth, "max_leaves": leaves, "min_leaf": min_leaf}
        front = solve_matrix(splits, cost, flips, n_jobs=1, progress=False, **limits)
        rows = np.arange(n)
        expected = plain_front(splits, cost, flips, rows, depth, leaves, min_leaf)
        found = [(point.cost_sum, point.loss_count) for point in front]
        assert front.status == "complete"
        assert found == sorted(expected), (block, number)
        for point in front:
            total, loss, sizes = applied(point.tree, splits, cost, flips, rows)
            assert (total, loss) == (point.cost_sum, point.loss_count)
            assert len(sizes) <= leaves
            assert min(sizes) >= min_leaf


def test_floats_on_a_grid_are_whole_numbers_of_it() -> None:
    splits, flips = np.zeros((3, 0), dtype=bool), np.ones((2, 3), dtype=bool)
    cost = np.array([[0.1, 0.2, 0.3], [0.7, 0.0, 0.1]])
    front = solve_matrix(splits, cost, flips, grid=0.1)
    assert [(point.cost_sum, point.loss_count) for point in front] == [(0, 3), (6, 0)]
    assert front.grid == 0.1
    with pytest.raises(ArgumentError, match=r"cost\[0, 0\] is 0.1, which is not a multiple"):
        solve_matrix(splits, cost, flips, grid=0.2)
    with pytest.raises(ArgumentError, match="has fractions"):
        solve_matrix(splits, cost, flips)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"splits": [True, False]}, "`splits` has 1 dimensions"),
        ({"splits": [[2], [0]]}, "other than true and false"),
        ({"splits": [["a"], ["b"]]}, "other than true and false"),
        ({"cost": [[1, 2, 3]]}, "3 columns, but `splits` has 2 rows"),
        ({"cost": [[1, 2], [3, 4]]}, "2 actions, but `flips` has 1"),
        ({"cost": [[1, -2]]}, "below 0"),
        ({"cost": [[1, 2**40]]}, "beyond"),
        ({"cost": [[1, float("nan")]]}, "not a number"),
        ({"cost": [[1, None]]}, "not numbers"),
        ({"cost": [[1], [2, 3]]}, "differ in length"),
        ({"flips": [[0.5, 1]]}, "other than true and false"),
        ({"max_depth": -1}, "max_depth is -1"),
        ({"max_depth": True}, "max_depth is True"),
        ({"max_leaves": 0}, "max_leaves is 0"),
        ({"min_leaf": 0}, "min_leaf is 0"),
        ({"min_leaf": 3}, "limits leave no tree"),
        ({"grid": 0.0}, "grid is 0.0"),
        ({"time_limit": float("nan")}, "time_limit is nan"),
        ({"n_jobs": -3}, "n_jobs is -3"),
        (
            {
                "splits": np.zeros((0, 1), dtype=bool),
                "cost": np.zeros((1, 0), int),
                "flips": np.zeros((1, 0), bool),
            },
            "no rows",
        ),
    ],
)
def test_wrong_matrices_are_value_errors(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "splits": [[True], [False]],
        "cost": [[1, 2]],
        "flips": [[True, True]],
        **change,
    }
    with pytest.raises((ArgumentError, ConfigError)) as caught:
        solve_matrix(**arguments)
    assert message in str(caught.value)


def test_a_time_limit_of_nothing_still_gives_a_front() -> None:
    draw = np.random.default_rng(0)
    front = solve_matrix(
        draw.random((400, 60)) < 0.5,
        draw.integers(0, 1000, (300, 400)),
        draw.random((300, 400)) < 0.5,
        max_depth=4,
        time_limit=0.0,
        progress=False,
    )
    assert front.status == "time_limit"
    assert front.points[0].cost_sum == 0
    assert front.bound[0] <= (0, 400)


def test_sums_beyond_63_bits_are_positive() -> None:
    cost = np.full((1, 2), 2**32 - 1, dtype=np.uint32)
    front = solve_matrix(
        np.zeros((2, 1), dtype=bool),
        cost,
        np.ones((1, 2), dtype=bool),
        weights=[2**31 - 2, 2**31 - 2],
        max_depth=0,
    )
    last = front.points[-1]
    assert last.cost_sum == (2**32 - 4) * (2**32 - 1) > 2**63
    assert all(point.cost_sum >= 0 and point.loss_count >= 0 for point in front.points)

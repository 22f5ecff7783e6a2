"""The German example end to end: what the result file claims is what LightGBM and the raw table say."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recompute import Json, Population, bits, differences
from running import GERMAN, Solve


def test_the_search_was_exhausted(front: Json) -> None:
    assert (front["format"], front["version"], front["status"]) == ("sogar-front", 2, "complete")
    assert len(front["points"]) > 1


def test_affected_rows_are_those_that_lightgbm_turns_down(front: Json, people: Population) -> None:
    population = front["population"]
    assert population["rows"] == front["table"]["rows"] == len(people.table)
    assert population["affected"] == people.size
    assert np.array_equal(bits(population["affected_rows"], len(people.table)), people.affected)


def test_every_tree_reapplied_through_lightgbm_gives_the_same_cost_and_loss(
    front: Json, people: Population
) -> None:
    points = front["points"]
    assert differences(people, points, [point["tree"] for point in points]) == []


def test_every_leaf_reapplied_gives_the_same_counts(front: Json, people: Population) -> None:
    for point in front["points"]:
        for leaf in people.leaves(point["tree"]):
            outcome = people.outcome(leaf.node["action"])
            claimed = leaf.node["rows"], leaf.node["flipped"], leaf.node["cost_sum"]
            flipped, cost = outcome.flipped[leaf.rows].sum(), outcome.cost[leaf.rows].sum()
            assert claimed == (leaf.rows.sum(), flipped, cost)


def test_flips_of_every_action_are_those_of_lightgbm(front: Json, people: Population) -> None:
    for index, action in enumerate(front["actions"]):
        assert np.array_equal(bits(action["flips"], people.size), people.outcome(index).flipped), action[
            "text"
        ]


def test_means_are_the_sums_divided(front: Json, people: Population) -> None:
    unit = front["cost"]["unit"]
    assert unit == len(people.table)
    for point in front["points"]:
        cost = point["cost_sum"] / unit / people.size
        loss = point["loss_count"] / people.size
        assert point["cost"] == pytest.approx(cost, rel=1e-12, abs=1e-15)
        assert point["loss"] == pytest.approx(loss, rel=1e-12, abs=1e-15)
        assert point["invalidity"] == pytest.approx(cost + loss, rel=1e-12, abs=1e-15)


def test_no_point_dominates_another(front: Json) -> None:
    sums = sorted((point["cost_sum"], point["loss_count"]) for point in front["points"])
    costs, losses = zip(*sums, strict=True)
    assert np.all(np.diff(costs) > 0)
    assert np.all(np.diff(losses) < 0)
    assert costs[0] == 0, "doing nothing costs nothing, so every front reaches cost 0"


def test_trees_keep_the_limits(front: Json, people: Population) -> None:
    limits = front["limits"]
    for point in front["points"]:
        leaves = people.leaves(point["tree"])
        assert (point["leaves"], point["depth"]) == (len(leaves), max(leaf.depth for leaf in leaves))
        assert point["leaves"] <= limits["max_leaves"]
        assert point["depth"] <= limits["max_depth"]
        assert min(leaf.rows.sum() for leaf in leaves) >= limits["min_leaf"]
    assert all(len(action["edits"]) <= limits["max_edits"] for action in front["actions"])


def test_trees_are_simplified(front: Json, people: Population) -> None:
    def has_idle_split(node: Json) -> bool:
        if "split" not in node:
            return False
        left, right = node["left"], node["right"]
        same = "action" in left and "action" in right and left["action"] == right["action"]
        return same or has_idle_split(left) or has_idle_split(right)

    for point in front["points"]:
        assert not has_idle_split(point["tree"])
        for leaf in people.leaves(point["tree"]):
            changed = people.outcome(leaf.node["action"]).changed
            assert all((rows & leaf.rows).any() for rows in changed), (
                "an edit that changes nobody in its leaf"
            )


def test_nothing_of_depth_one_beats_the_front(front: Json, people: Population) -> None:
    """Trees of at most one split, over the splits and actions that the front uses, are all dominated."""
    outcomes = [people.outcome(action) for action in range(len(front["actions"]))]
    cost = np.stack([outcome.cost for outcome in outcomes])
    loss = np.stack([~outcome.flipped for outcome in outcomes]).astype(np.int64)
    best = np.full(people.size + 1, np.iinfo(np.int64).max)
    for point in front["points"]:
        best[point["loss_count"] :] = np.minimum(best[point["loss_count"] :], point["cost_sum"])

    assert np.all(best[loss.sum(axis=1)] <= cost.sum(axis=1))
    for split in range(len(front["splits"])):
        rows = people.passes(split)
        if min(rows.sum(), (~rows).sum()) < front["limits"]["min_leaf"]:
            continue
        cost_sums = cost[:, rows].sum(axis=1)[:, None] + cost[:, ~rows].sum(axis=1)[None, :]
        loss_sums = loss[:, rows].sum(axis=1)[:, None] + loss[:, ~rows].sum(axis=1)[None, :]
        assert np.all(best[loss_sums] <= cost_sums), front["splits"][split]["text"]


def test_a_falsified_point_is_noticed(front: Json, people: Population) -> None:
    points = copy.deepcopy(front["points"])
    trees = [point["tree"] for point in points]
    points[0]["loss_count"] += 1
    points[-1]["cost_sum"] -= 1
    assert len(differences(people, points, trees)) == 2


def without_run_block(path: Path) -> str:
    """The file with every number as spelled, without times, threads, versions, date and paths."""
    content: Json = json.loads(path.read_text(), parse_float=str, parse_int=str)
    del content["run"]
    return json.dumps(content)


def test_the_number_of_threads_does_not_show(solve: Solve, tmp_path: Path) -> None:
    files = [
        solve(GERMAN / "german.csv", tmp_path / f"{threads}.json", "--threads", str(threads))
        for threads in (1, 2, 8)
    ]
    first, *others = [without_run_block(file) for file in files]
    assert all(other == first for other in others)


def test_the_order_of_rows_matters_only_for_bitsets(
    front: Json, german: pd.DataFrame, solve: Solve, tmp_path: Path
) -> None:
    shuffled = tmp_path / "shuffled.csv"
    german.sample(frac=1, random_state=0).to_csv(shuffled, index=False, lineterminator="\n")
    again: Json = json.loads(solve(shuffled, tmp_path / "front.json").read_text())
    sums = [[(point["cost_sum"], point["loss_count"]) for point in file["points"]] for file in (front, again)]
    assert sums[0] == sums[1]

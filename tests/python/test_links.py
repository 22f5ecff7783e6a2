"""Actions with links against a brute force from the specification, priced and scored independently."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from recompute import Json, Population, differences, read_table

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import lightgbm as lgb

Sogar = Callable[..., str]

CASES: dict[str, str] = {
    "one": "[[links]]\nfrom = 'a'\nto = 'b'\nfactor = 2",
    "backwards": "[[links]]\nfrom = 'c'\nto = 'a'\nfactor = -1",
    "immutable": "features.b.immutable = true\n[[links]]\nfrom = 'a'\nto = 'b'",
    "chain": "[[links]]\nfrom = 'a'\nto = 'b'\n[[links]]\nfrom = 'b'\nto = 'c'\nfactor = 0.5",
    "shared": "[[links]]\nfrom = 'a'\nto = 'c'\n[[links]]\nfrom = 'b'\nto = 'c'",
    "shared_immutable": (
        "features.c.immutable = true\n[[links]]\nfrom = 'a'\nto = 'c'\n[[links]]\nfrom = 'b'\nto = 'c'"
    ),
    "narrow": "features.b.range = [40, 41]\n[[links]]\nfrom = 'a'\nto = 'b'\nfactor = 3",
}


def people(folder: Path) -> tuple[Path, Path]:
    """A table of four numbers and a model of it."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.integers(0, 100, 240) for name in "abcd"})
    signal = frame["a"] - frame["b"] + frame["c"] * 0.7 + frame["d"] * 0.3
    label = (signal + rng.normal(0, 10, 240) > 55).astype(int)
    parameters: dict[str, Any] = {"objective": "binary", "verbose": -1, "num_threads": 1, "num_leaves": 6}
    booster = lgb.train(parameters | {"min_data_in_leaf": 5}, lgb.Dataset(frame, label), 15)
    table, model = folder / "people.csv", folder / "model.txt"
    frame.to_csv(table, index=False)
    booster.save_model(model)
    return table, model


@pytest.mark.parametrize("name", CASES)
def test_no_action_moves_a_feature_twice(name: str, sogar: Sogar, tmp_path: Path) -> None:
    table, model = people(tmp_path)
    config, out = tmp_path / "sogar.toml", tmp_path / "front.json"
    config.write_text('bins = 4\nnumbers = "bins"\n' + CASES[name] + "\n")
    flags = ("--max-depth", "1", "--max-edits", "3", "--min-leaf", "20", "--quiet")
    sogar("solve", table, "--model", model, "--config", config, "-o", out, *flags)
    front: Json = json.loads(out.read_text())
    assert front["status"] == "complete"
    reference = read_table(table)
    found = Population(front, model, reference)
    assert differences(found, front["points"], [point["tree"] for point in front["points"]]) == []
    assert {(p["cost_sum"], p["loss_count"]) for p in front["points"]} == brute_force(front, found)


def all_edits(front: Json) -> list[list[Json]]:
    """The edits of every feature that has some, by the specification of whole numbers in four bins."""
    config = front["config"]
    groups = []
    for spec in front["features"]:
        settings = config.get("features", {}).get(spec["name"], {})
        if settings.get("immutable"):
            continue
        column = spec["values"]
        low, high = float(column.min()), float(column.max())
        width = np.ceil((high - low) / 4)
        bins = int(np.ceil((high - low) / width))
        edge = settings.get("range") or [low, high]
        steps = sorted({-(-step * bins // 10) for step in range(1, 6)})
        shifts = [
            {"feature": spec["name"], "op": "shift", "by": sign * step * width, "lo": edge[0], "hi": edge[1]}
            for step in steps
            for sign in (1, -1)
        ]
        groups.append(shifts)
    return groups


def brute_force(front: Json, found: Population) -> set[tuple[int, int]]:
    """The front over all trees of at most one split, from all sets of edits that touch distinct features."""
    for spec in front["features"]:
        spec["values"] = found.features[spec["name"]].sorted
    follows: dict[str, set[str]] = {}
    for link in found.links:
        follows.setdefault(link["from"], set()).add(link["to"])
    actions: list[list[Json]] = [[]]
    groups = all_edits(front)
    for size in (1, 2, 3):
        for chosen in itertools.combinations(groups, size):
            touched = [
                f
                for group in chosen
                for f in ({group[0]["feature"]} | follows.get(group[0]["feature"], set()))
            ]
            if len(set(touched)) == len(touched):
                actions.extend(list(edits) for edits in itertools.product(*chosen))
    outcomes = [found._apply(edits) for edits in actions]
    costs = np.array([outcome.cost for outcome in outcomes])
    losses = np.array([~outcome.flipped for outcome in outcomes])
    losses[0] = True

    def leaf(rows: Any) -> list[tuple[int, int]]:
        pairs = zip(costs[:, rows].sum(axis=1).tolist(), losses[:, rows].sum(axis=1).tolist(), strict=True)
        return best(set(pairs))

    everybody = np.ones(found.size, dtype=bool)
    points = set(leaf(everybody))
    for spec in front["features"]:
        values = found.features[spec["name"]].sorted
        low, high = float(values[0]), float(values[-1])
        width = np.ceil((high - low) / 4)
        for edge in range(1, int(np.ceil((high - low) / width))):
            passed = found.columns[spec["name"]] <= low + edge * width - 0.5
            if min(passed.sum(), (~passed).sum()) >= 20:
                sides = itertools.product(leaf(passed), leaf(~passed))
                points |= {(a[0] + b[0], a[1] + b[1]) for a, b in sides}
    return set(best(points))


def best(points: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that no other dominates."""
    front: list[tuple[int, int]] = []
    for point in sorted(points):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    return front

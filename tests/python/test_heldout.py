"""`evaluate` on held-out rows: the same trees, the reference rows' percentiles, other people."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recompute import Json, Population, differences
from running import GERMAN, Sogar, Solve


def write(rows: pd.DataFrame, path: Path) -> Path:
    rows.to_csv(path, index=False, lineterminator="\n")
    return path


def test_heldout_sums_equal_the_recomputation(
    german: pd.DataFrame, solve: Solve, sogar: Sogar, tmp_path: Path
) -> None:
    held = np.arange(len(german)) % 4 == 3
    reference, other = german[~held].reset_index(drop=True), german[held].reset_index(drop=True)
    train, test = write(reference, tmp_path / "train.csv"), write(other, tmp_path / "test.csv")
    out = solve(train, tmp_path / "front.json")
    front: Json = json.loads(out.read_text())
    report: Json = json.loads(sogar("evaluate", out, "--holdout", test, "--json"))

    people = Population(front, GERMAN / "model.txt", reference, other)
    assert (report["rows"], report["affected"]) == (len(other), people.size)
    assert differences(people, report["points"], [point["tree"] for point in front["points"]]) == []

    unit = front["cost"]["unit"]
    distances = []
    for known, held_out in zip(front["points"], report["points"], strict=True):
        cost, loss = held_out["cost_sum"] / unit / people.size, held_out["loss_count"] / people.size
        assert held_out["cost"] == pytest.approx(cost, abs=1e-12)
        assert held_out["loss"] == pytest.approx(loss, abs=1e-12)
        assert held_out["invalidity"] == pytest.approx(cost + loss, abs=1e-12)
        distances.append(np.hypot(known["cost"] - cost, known["loss"] - loss))
    assert report["mean_distance"] == pytest.approx(np.mean(distances), abs=1e-9)


def test_evaluating_the_reference_rows_gives_the_front_itself(
    front: Json, sogar: Sogar, solve: Solve, tmp_path: Path
) -> None:
    out = solve(GERMAN / "german.csv", tmp_path / "front.json")
    report: Json = json.loads(sogar("evaluate", out, "--holdout", GERMAN / "german.csv", "--json"))
    assert report["affected"] == front["population"]["affected"]
    for known, again in zip(front["points"], report["points"], strict=True):
        assert (again["cost_sum"], again["loss_count"]) == (known["cost_sum"], known["loss_count"])
    assert report["mean_distance"] == 0

"""Special codes of numbers, against the second implementation on random tables."""

from __future__ import annotations

import json
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import pytest
from recompute import Json, Population, differences, read_table
from running import Sogar


def people_with_codes(seed: int) -> pd.DataFrame:
    """Amounts, some of which are codes: below the range, above it, and within it."""
    draw = np.random.default_rng(seed)
    rows = 500
    frame = pd.DataFrame(
        {
            "income": draw.integers(0, 60, rows),
            "debt": np.round(draw.uniform(0, 30, rows), 2),
            "years": draw.integers(0, 40, rows),
        }
    )
    frame.loc[draw.random(rows) < 0.2, "income"] = -9
    frame.loc[draw.random(rows) < 0.1, "income"] = 30
    frame.loc[draw.random(rows) < 0.15, "debt"] = -8
    frame.loc[draw.random(rows) < 0.1, "years"] = 99
    return frame


def trained(frame: pd.DataFrame, seed: int, path: Path) -> Path:
    score = frame["income"] - frame["debt"] + 0.5 * frame["years"].where(frame["years"] != 99, 60)
    noise = np.random.default_rng(seed).normal(0, 8, len(frame))
    parameters = {"objective": "binary", "verbosity": -1, "num_leaves": 12, "num_threads": 1, "seed": 1}
    lightgbm.train(parameters, lightgbm.Dataset(frame, score + noise > 25), 12).save_model(path)
    return path


CODES = """
bins = 8
[data]
codes = [-9, -8]
[features.income]
codes = [-9, 30]
[features.years]
codes = [99]
[limits]
max_depth = 2
max_edits = 2
min_leaf = 10
"""


@pytest.mark.parametrize("seed", range(4))
def test_fronts_with_codes_equal_the_recomputation(seed: int, sogar: Sogar, tmp_path: Path) -> None:
    frame = people_with_codes(seed)
    table, config, out = tmp_path / "t.csv", tmp_path / "c.toml", tmp_path / "front.json"
    frame.to_csv(table, index=False)
    config.write_text(CODES)
    model = trained(frame, seed, tmp_path / "m.txt")
    sogar("solve", table, "--model", model, "--config", config, "-o", out, "--quiet")
    front: Json = json.loads(out.read_text())
    assert {feature["name"]: feature.get("codes") for feature in front["features"]} == {
        "income": [-9, 30],
        "debt": [-9, -8],
        "years": [99],
    }
    assert front["status"] == "complete"
    people = Population(front, model, read_table(table))
    assert differences(people, front["points"], [point["tree"] for point in front["points"]]) == []
    asked = {(split["feature"], split["value"]) for split in front["splits"] if split["test"] == "="}
    assert asked, "a code is asked about somewhere on the front"
    assert asked <= {("income", -9), ("income", 30), ("debt", -8), ("years", 99)}
    sogar("check", out, "--table", table, "--model", model)
    held = json.loads(sogar("evaluate", out, "--holdout", table, "--model", model, "--json"))
    assert [point["cost_sum"] for point in held["points"]] == [p["cost_sum"] for p in front["points"]]
    for cost in ("cet", "logshift", "l1"):
        other = tmp_path / f"{cost}.json"
        sogar("solve", table, "--model", model, "--config", config, "--cost", cost, "-o", other, "--quiet")
        sogar("check", other, "--table", table, "--model", model)


def test_nobody_moves_from_or_to_a_code(sogar: Sogar, tmp_path: Path) -> None:
    frame = people_with_codes(7)
    table, config, out = tmp_path / "t.csv", tmp_path / "c.toml", tmp_path / "front.json"
    frame.to_csv(table, index=False)
    config.write_text(CODES)
    model = trained(frame, 7, tmp_path / "m.txt")
    sogar("solve", table, "--model", model, "--config", config, "-o", out, "--quiet")
    front: Json = json.loads(out.read_text())
    people = Population(front, model, read_table(table))
    for action in front["actions"]:
        for edit in action["edits"]:
            feature = people.features[edit["feature"]]
            before = people.columns[feature.name]
            after = feature.edited(before, edit)
            assert (feature.coded(before) == feature.coded(after)).all()
    for edit in (edit for action in front["actions"] for edit in action["edits"]):
        low, high = {"income": (0, 59), "debt": (0, 30), "years": (0, 39)}[edit["feature"]]
        assert low <= edit["lo"], "a code is no end of the range"
        assert edit["hi"] <= high, "a code is no end of the range"
    for group in ("income<=20", "income"):
        audit = sogar("audit", out, "--table", table, "--model", model, "--group", group, "--json")
        assert '"-9"' in audit, "a code is a group of its own"


def test_a_starting_file_suggests_codes(sogar: Sogar, tmp_path: Path) -> None:
    frame = people_with_codes(1)
    table = tmp_path / "t.csv"
    frame.to_csv(table, index=False)
    text = sogar("config", "init", table)
    assert "# codes = [-9]" in text
    assert "# codes = [99]" in text
    assert "# codes = [-8]" in text


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("[features.job]\ncodes = [-9]\n", "codes makes no sense for a binary feature"),
        ("[features.x]\ncodes = [-9]\nrange = [-9, 4]\n", "range ends on the special code -9"),
    ],
)
def test_codes_that_make_no_sense_are_errors(
    setting: str, message: str, sogar_error: Sogar, tmp_path: Path
) -> None:
    table, config = tmp_path / "t.csv", tmp_path / "c.toml"
    table.write_text("x,job\n1,a\n2,b\n-9,a\n4,b\n")
    config.write_text(setting)
    assert message in sogar_error("config", "check", config, "--table", table)

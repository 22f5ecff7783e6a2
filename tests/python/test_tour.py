"""A stranger's first sitting: ten tables that the program has never seen, from the CSV to the report.

Each table goes through `config init --model`, `solve` and `report`, and nothing is edited by hand in between.
The assertions are what a careful person would look for: the right outcome (the truth agrees with the model
about who has it), no advice about who somebody is, no ids or dates among the questions, one-hot columns that
are one feature. Times and notices are printed (`pytest -s`).
"""

from __future__ import annotations

import base64
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from running import the_binary
from stranger_tables import TABLES, Stranger

Json = dict[str, Any]

# What a debug build finds in this time is enough to look at; the command line's own default is no limit.
SECONDS = "5"


class Sitting:
    """What one person types, and what they get."""

    def __init__(self, folder: Path, stranger: Stranger) -> None:
        """Begins with a table, a model and an empty folder."""
        self.folder = folder
        self.stranger = stranger
        self.notices: list[str] = []

    def sogar(self, *arguments: str | Path, codes: tuple[int, ...] = (0,)) -> str:
        """Runs the binary; prints how long it took, and what it said."""
        start = time.monotonic()
        command = [the_binary(), *arguments]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode in codes, f"{arguments}\n{done.stdout}\n{done.stderr}"
        print(f"\n$ sogar {' '.join(map(str, arguments))}   # {time.monotonic() - start:.1f} s")
        print(done.stderr)
        self.notices += done.stderr.splitlines()
        return done.stdout

    def front(self) -> Json:
        """From the table to the report; gives the front."""
        table, model = self.stranger.table, self.stranger.model
        init: list[str | Path] = ["config", "init", table, "--model", model, "-o", "sogar.toml"]
        self.sogar(*init, *self.stranger.flags)
        solve: list[str | Path] = [
            "solve",
            table,
            "--model",
            model,
            "--config",
            "sogar.toml",
            "--time-limit",
            SECONDS,
        ]
        print(self.sogar(*solve, codes=(0, 3)))
        self.sogar("report", "front.json")
        front: Json = json.loads((self.folder / "front.json").read_text())
        return front


def edited(front: Json) -> set[str]:
    """The features that advice changes."""
    return {edit["feature"] for action in front["actions"] for edit in action["edits"]}


def asked(front: Json) -> set[str]:
    """The features that trees ask about."""
    return {split["feature"] for split in front["splits"]}


@pytest.fixture(scope="module", params=sorted(TABLES))
def sitting(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sitting:
    """One of the ten."""
    folder = tmp_path_factory.mktemp(request.param)
    return Sitting(folder, TABLES[request.param](np.random.default_rng(7), folder))


def test_a_stranger_gets_a_sensible_result_in_the_first_sitting(sitting: Sitting) -> None:
    """Nothing is wrong in silence."""
    stranger = sitting.stranger
    front = sitting.front()
    assert len(front["points"]) > 1, "advice that helps somebody"
    assert (sitting.folder / "report.html").stat().st_size > 10_000
    assert not edited(front) & stranger.never_edited
    assert not asked(front) & stranger.never_split
    label = front["config"]["data"]["label"]
    assert label == stranger.label
    desired = front["population"]["desired"]
    assert len(desired) == 1
    if front["config"]["data"].get("desired"):
        assert desired == [stranger.hoped_for]
    else:
        # Nothing tells which of 0 and 1 people hope for: the run says which one it took, and how to answer.
        assert any("which outcome people hope for" in notice for notice in sitting.notices)
    assert_the_truth_agrees(front, stranger)
    assert_one_feature_per_group(front, stranger)


def assert_the_truth_agrees(front: Json, stranger: Stranger) -> None:
    """Those whom the run calls turned down mostly did not get the hoped-for outcome, and the others did."""
    population = front["population"]
    packed = population["affected_rows"]
    bits = np.frombuffer(base64.b64decode(packed + "=" * (-len(packed) % 4)), dtype=np.uint8)
    down = np.unpackbits(bits, bitorder="little", count=population["rows"]).astype(bool)
    assert down.sum() == population["affected"]
    table = pd.read_csv(stranger.table, sep=None, engine="python", dtype=str, keep_default_na=False)
    truth = table[stranger.label].to_numpy() == population["desired"][0]
    if set(table[stranger.label]) == {"0.0", "1.0"}:
        truth = table[stranger.label].astype(float).to_numpy() == float(population["desired"][0])
    assert (truth == ~down).mean() > 0.6, "the outcome is the other way round"


def assert_one_feature_per_group(front: Json, stranger: Stranger) -> None:
    """One-hot columns that are one feature to people are one feature: advice sets one of them."""
    table = pd.read_csv(stranger.table, sep=None, engine="python")
    groups = {}
    for feature in front["features"]:
        columns = feature["columns"].get("onehot") or []
        if columns:
            groups[feature["name"]] = [column for column in columns if column]
    for group in stranger.one_hot:
        members = {column for column in table.columns if column.startswith(group)}
        grouped = [name for name, columns in groups.items() if set(columns) == members]
        assert grouped, f"{group}: {sorted(members)} are one feature, not {sorted(groups)}"

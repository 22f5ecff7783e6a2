"""The published protocol, reduced: models of one fold of German Credit, and an experiment on them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import paper_network
import pytest
from paper_models import CLASSIFIERS, DATA_SETS
from running import ROOT, Sogar, skip

DATA = Path(os.environ.get("SOGAR_DATA", ROOT.parent / "shared" / "data"))
QUICK = ("--datasets", "german", "--quick", "--time-limit", "20", "--quiet")


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of the first fold of German Credit."""
    if not (DATA / DATA_SETS["german"].file).exists():
        skip("data", f"the tables are not in {DATA}; set SOGAR_DATA")
    out = tmp_path_factory.mktemp("paper")
    train(out)
    return out


def train(out: Path) -> str:
    """Trains what is missing, and answers with what the script says."""
    script = str(ROOT / "scripts" / "paper_models.py")
    command = [sys.executable, script, "--data", str(DATA), "--out", str(out), "--models", "all", "german"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def rows_of(path: Path) -> pd.DataFrame:
    """A table as the models see it."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return DATA_SETS["german"].features(table)


def test_models_are_those_of_the_protocol_and_kept(paper: Path) -> None:
    fold = paper / "german" / "fold1"
    about = json.loads((fold / "fold.json").read_text())
    assert about["models"]["lightgbm"]["affected"] == [321, 39]
    assert len(about["test_rows"]) == 100
    before = {name: (fold / of.file).stat().st_mtime_ns for name, of in CLASSIFIERS.items()}
    assert "as published" in train(paper)
    assert before == {name: (fold / of.file).stat().st_mtime_ns for name, of in CLASSIFIERS.items()}
    # Other data would make other models: the record says what they were made from.
    (fold / "fold.json").write_text(json.dumps({**about, "table": "another"}))
    train(paper)
    assert json.loads((fold / "fold.json").read_text()) == about


def test_the_network_is_read_as_it_was_trained(paper: Path, sogar: Sogar, tmp_path: Path) -> None:
    rows = rows_of(paper / "german" / "fold1" / "train.csv")
    target = np.arange(len(rows)) % 3 == 0
    network = paper_network.train(rows, target.astype(int), np.ones(len(rows)), seed=3, epochs=4)
    again = paper_network.train(rows, target.astype(int), np.ones(len(rows)), seed=3, epochs=4)
    assert all((a == b).all() for a, b in zip(network.weights, again.weights, strict=True))
    network.save(tmp_path / "model.onnx")
    arguments = ("--preset", "paper-german", "--model", tmp_path / "model.onnx", "--json", "--quiet")
    answer = json.loads(sogar("predict", paper / "german" / "fold1" / "train.csv", *arguments))
    expected = network.probability(rows)
    assert np.abs(np.array(answer["scores"]) - expected).max() < 1e-5
    clear = np.abs(expected - 0.5) > 1e-5
    assert (np.array(answer["labels"]) == (expected > 0.5))[clear].all()
    assert clear.mean() > 0.99


def test_a_reduced_table1_runs_and_is_kept(paper: Path, sogar: Sogar, tmp_path: Path) -> None:
    methods = "sogar,globe-ce,glance,t-crex-0.9,t-crex-0.99"
    command = ("experiment", "table1", *QUICK, "--methods", methods, "--paper", paper, "--out", tmp_path)
    printed = sogar(*command)
    cells = sorted((tmp_path / "cells").iterdir())
    assert len(cells) == 5 * 3
    assert "lowest mean invalidity in 3 of 3 cells on train rows" in printed
    with (tmp_path / "table1.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["model"], row["method"]) for row in rows} == {
        (model, method) for model in CLASSIFIERS for method in methods.split(",")
    }
    for row in rows:
        if row["train_cost"]:
            parts = float(row["train_cost"]) + float(row["train_loss"])
            assert parts == pytest.approx(float(row["train_invalidity"]), abs=2e-6)
        else:
            assert row["reasons"], row
    # What is finished is kept, and the tables are made again from it.
    times = [cell.stat().st_mtime_ns for cell in cells]
    (tmp_path / "table1.md").unlink()
    again = json.loads(sogar(*command, "--json"))
    assert again["complete"]
    assert times == [cell.stat().st_mtime_ns for cell in cells]
    assert printed.startswith((tmp_path / "table1.md").read_text())


def test_a_cell_of_sogar_is_the_front_that_solve_finds(paper: Path, sogar: Sogar, tmp_path: Path) -> None:
    fold = paper / "german" / "fold1"
    options = ("--models", "lightgbm", "--methods", "sogar", "--cost", "cet", "--paper", paper)
    sogar("experiment", "table1", *QUICK, *options, "--out", tmp_path)
    (cell,) = (tmp_path / "cells").iterdir()
    result = json.loads(cell.read_text())
    flags = ("--preset", "paper-german", "--cost", "cet", "--holdout", fold / "test.csv", "--quiet")
    out = tmp_path / "front.json"
    sogar("solve", fold / "train.csv", "--model", fold / "model.txt", *flags, "-o", out)
    front = json.loads(out.read_text())
    unit, points = front["cost"]["unit"], front["points"]
    totals = [point["cost_sum"] + unit * point["loss_count"] for point in points]
    best = totals.index(min(totals))
    for score, point in (
        (result["score"], points[best]),
        (result["held_out"], front["holdout"]["points"][best]),
    ):
        assert (score["cost_sum"], score["loss_count"]) == (point["cost_sum"], point["loss_count"])
    assert result["search"]["points"] == len(points)
    assert result["search"]["mean_distance"] == pytest.approx(front["holdout"]["mean_distance"])


def test_missing_models_are_named_with_what_makes_them(sogar_error: Sogar, tmp_path: Path) -> None:
    message = sogar_error("experiment", "depth", "--paper", tmp_path / "none", "--out", tmp_path / "out")
    assert "a file of the experiment is not there" in message
    assert "python scripts/paper_models.py" in message
    assert "did you mean `depth`" in sogar_error("experiment", "dept", "--out", tmp_path / "out")

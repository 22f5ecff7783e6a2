"""The published protocol, reduced: models of one fold of German Credit, and an experiment on them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import paper_network
import pytest
from paper_models import CLASSIFIERS, DATA_SETS
from running import DATA, ROOT, Sogar, skip

QUICK = ("--datasets", "german", "--quick", "--quiet", "--lab", ROOT / "lab")


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of the first fold of German Credit."""
    if not (DATA / DATA_SETS["german"].file).exists():
        skip("data", f"the tables are not in {DATA}; set SOGAR_DATA")
    out = tmp_path_factory.mktemp("paper")
    train(out)
    return out


def train(out: Path, models: str = "every", **variables: str) -> str:
    """Trains what is missing, and answers with what the script says."""
    script = str(ROOT / "scripts" / "paper_models.py")
    command = [sys.executable, script, "--data", str(DATA), "--out", str(out), "--models", models, "german"]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


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
    assert "as expected" in train(paper)
    assert before == {name: (fold / of.file).stat().st_mtime_ns for name, of in CLASSIFIERS.items()}
    # Other data would make other models: the record says what they were made from.
    (fold / "fold.json").write_text(json.dumps({**about, "table": "another"}))
    train(paper)
    assert json.loads((fold / "fold.json").read_text()) == about


def test_a_network_is_the_same_whatever_kernels_a_machine_prefers(paper: Path, tmp_path: Path) -> None:
    train(tmp_path, "dnn-unweighted", OPENBLAS_CORETYPE="Prescott")
    file = Path("german", "fold1", CLASSIFIERS["dnn-unweighted"].file)
    assert (tmp_path / file).read_bytes() == (paper / file).read_bytes()


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


def lines_of(folder: Path) -> list[Any]:
    """All cells of a store."""
    return [json.loads(line) for file in sorted(folder.iterdir()) for line in file.read_text().splitlines()]


def test_the_variants_of_a_classifier_differ(paper: Path) -> None:
    models = json.loads((paper / "german" / "fold1" / "fold.json").read_text())["models"]
    affected = {name: tuple(models[name]["affected"]) for name in CLASSIFIERS}
    assert affected["xgboost"] != affected["xgboost-default"]
    assert len({affected[name] for name in ("dnn", "dnn-unweighted", "dnn-unscaled")}) == 3


def test_a_reduced_table1_runs_is_kept_and_verified(paper: Path, sogar: Sogar, tmp_path: Path) -> None:
    methods = "sogar,globe-ce-common,glance,t-crex-0.9,t-crex-0.99"
    places = ("--paper", paper, "--out", tmp_path, "--cells", tmp_path / "cells")
    command = ("experiment", "table1", *QUICK, "--methods", methods, *places)
    printed = sogar(*command)
    cells = lines_of(tmp_path / "cells")
    assert len(cells) == 5 * 3
    assert "among summaries in 3 of 3 columns on train rows" in printed
    with (tmp_path / "table1.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = ("dnn", "xgboost", "lightgbm")
    assert {(row["model"], row["method"]) for row in rows} == {
        (model, method) for model in kinds for method in methods.split(",")
    }
    for row in rows:
        if row["train_cost"]:
            parts = float(row["train_cost"]) + float(row["train_loss"])
            assert parts == pytest.approx(float(row["train_invalidity"]), abs=2e-6)
        else:
            assert row["reasons"], row
    # What is finished is kept, and the tables are made again from it, without tables and models.
    (tmp_path / "table1.md").unlink()
    again = json.loads(sogar(*command, "--json"))
    assert again["complete"]
    assert cells == lines_of(tmp_path / "cells")
    assert printed.startswith((tmp_path / "table1.md").read_text())
    elsewhere = ("--paper", tmp_path / "none", "--out", tmp_path, "--cells", tmp_path / "cells")
    options = (*QUICK, "--methods", methods, *elsewhere, "--tables-only", "--json")
    assert json.loads(sogar("experiment", "table1", *options))["complete"]
    chosen = ("--methods", "glance,t-crex-0.9", "--models", "lightgbm")
    for flags, repeated in ((("--sample", "3"), 3), (chosen, 2)):
        answer = sogar("experiment", "verify", *flags, *places, "--lab", ROOT / "lab", "--json", "--quiet")
        verified = json.loads(answer)
        assert (verified["repeated"], verified["different"], verified["left_over"]) == (repeated, [], 0)


def test_a_cell_of_sogar_is_the_front_that_solve_finds(paper: Path, sogar: Sogar, tmp_path: Path) -> None:
    fold = paper / "readable-german" / "fold1"
    script = str(ROOT / "scripts" / "paper_models.py")
    command = [sys.executable, script, "--data", str(DATA), "--out", str(paper), "readable-german"]
    subprocess.run(command, capture_output=True, check=True)
    options = ("--models", "lightgbm", "--methods", "sogar", "--protocol", "ours", "--paper", paper)
    flags = (*QUICK, *options, "--time-limit", "60", "--out", tmp_path, "--cells", tmp_path / "cells")
    sogar("experiment", "table1", *flags)
    (result,) = lines_of(tmp_path / "cells")
    solve = ("--preset", "german", "--holdout", fold / "test.csv", "--quiet")
    out = tmp_path / "front.json"
    sogar("solve", fold / "train.csv", "--model", fold / "model.txt", *solve, "-o", out)
    front = json.loads(out.read_text())
    unit, points = front["cost"]["unit"], front["points"]
    totals = [point["cost_sum"] + unit * point["loss_count"] for point in points]
    best = totals.index(min(totals))
    for score, point in (
        (result["train"], points[best]),
        (result["held_out"], front["holdout"]["points"][best]),
    ):
        assert (score["cost_sum"], score["loss_count"]) == (point["cost_sum"], point["loss_count"])
    assert result["search"]["points"] == len(points)
    assert result["search"]["mean_distance"] == pytest.approx(front["holdout"]["mean_distance"], abs=1e-5)
    assert {group["group"] for group in result["groups"]} == {group["group"] for group in result["audit"]}


def test_missing_models_are_named_with_what_makes_them(sogar_error: Sogar, tmp_path: Path) -> None:
    places = ("--paper", tmp_path / "none", "--out", tmp_path / "out", "--lab", ROOT / "lab")
    message = sogar_error("experiment", "depth", *places, "--cells", tmp_path / "cells")
    assert "a file of the experiment is not there" in message
    assert "python scripts/paper_models.py" in message
    assert "did you mean `depth`" in sogar_error("experiment", "dept", *places)

"""One-hot columns as people have them, columns that no model uses, and many numbers."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
from recompute import Json
from running import Sogar, the_binary

JOBS = ["at_home", "civil_services", "health", "teacher"]


def people(rows: int = 400) -> pd.DataFrame:
    draw = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": draw.integers(18, 70, rows),
            "mother_job": draw.choice(JOBS, rows),
            "Sex": draw.choice(["Female", "Male"], rows),
            "studytime": draw.integers(1, 5, rows),
        }
    )


def dummies(frame: pd.DataFrame, **options: Any) -> pd.DataFrame:
    return pd.get_dummies(frame, columns=["mother_job"], **options)


def accepted(frame: pd.DataFrame) -> Any:
    good = frame["mother_job"].isin(["health", "teacher"])
    return good * 2 + frame["studytime"] - (frame["age"] > 50) > 3


def trained(columns: pd.DataFrame, labels: Any, path: Path) -> Path:
    parameters = {"objective": "binary", "verbosity": -1, "num_leaves": 8, "num_threads": 1}
    columns = columns.astype(float).rename(columns=lambda name: name.replace(":", "_"))
    data = lightgbm.Dataset(columns, np.asarray(labels).astype(int))
    lightgbm.train(parameters | {"min_data_in_leaf": 5}, data, 10).save_model(path)
    return path


#: Few bins and edits: quick runs.
SMALL = ("--bins", "5", "--max-edits", "2")


def solved(
    table: Path, model: Path, *options: str | Path, depth: int = 1, settings: tuple[str, ...] = SMALL
) -> tuple[Json, str]:
    """The front, and what was said on the way."""
    out = table.with_suffix(".front.json")
    flags = ("--model", model, "--max-depth", str(depth), "-o", out, *settings, *options)
    done = subprocess.run([the_binary(), "solve", table, *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text()), done.stderr


def feature(front: Json, name: str) -> Json:
    return next(feature for feature in front["features"] if feature["name"] == name)


@pytest.fixture
def frame() -> pd.DataFrame:
    full = people()
    full["Sex"] = (full["Sex"] == "Female").astype(int)
    return full.rename(columns={"Sex": "Sex:Female"})


def test_truth_values_and_numbers_are_the_same_features(frame: pd.DataFrame, tmp_path: Path) -> None:
    labels = accepted(frame)
    points = []
    for kind in ("bool", "int"):
        table = tmp_path / f"{kind}.csv"
        made = dummies(frame, dtype=kind)
        made.to_csv(table, index=False)
        front, said = solved(table, trained(made, labels, tmp_path / f"{kind}.txt"))
        job = feature(front, "mother_job")
        assert (job["kind"], job["levels"]) == ("categorical", JOBS)
        assert "4 one-hot columns `mother_job_…` are read as one categorical feature `mother_job`" in said
        sex = feature(front, "Sex")
        assert (sex["kind"], sex["levels"]) == ("binary", ["not Female", "Female"])
        assert sex["columns"] == {"onehot": [None, "Sex:Female"]}
        points.append([(point["cost_sum"], point["loss_count"]) for point in front["points"]])
        assert any(
            edit["feature"] == "mother_job" for action in front["actions"] for edit in action["edits"]
        ), "the job is what matters"
    assert points[0] == points[1]


def test_parquet_booleans_are_read_alike(frame: pd.DataFrame, tmp_path: Path) -> None:
    made = dummies(frame)
    made.to_csv(tmp_path / "t.csv", index=False)
    made.to_parquet(tmp_path / "t.parquet")
    model = trained(made, accepted(frame), tmp_path / "m.txt")
    (csv, _), (parquet, _) = solved(tmp_path / "t.csv", model), solved(tmp_path / "t.parquet", model)
    assert csv["features"] == parquet["features"]
    assert csv["points"] == parquet["points"]


def test_a_group_of_truth_values_can_be_declared(frame: pd.DataFrame, tmp_path: Path) -> None:
    made = dummies(frame).rename(columns=lambda name: name.replace("mother_job_", ""))
    table, config = tmp_path / "t.csv", tmp_path / "c.toml"
    made.to_csv(table, index=False)
    config.write_text(f"[features.job]\ncolumns = {json.dumps(JOBS)}\n")
    front, _ = solved(table, trained(made, accepted(frame), tmp_path / "m.txt"), "--config", config)
    assert feature(front, "job")["levels"] == JOBS


def test_columns_without_the_first_are_reported_and_can_be_declared(
    frame: pd.DataFrame, tmp_path: Path, sogar: Sogar
) -> None:
    made = dummies(frame, drop_first=True)
    table, config = tmp_path / "t.csv", tmp_path / "c.toml"
    made.to_csv(table, index=False)
    model = trained(made, accepted(frame), tmp_path / "m.txt")
    guessed, said = solved(table, model)
    assert 'dropped = "…"' in said
    assert feature(guessed, "mother_job")["levels"] == ["(other)", *JOBS[1:]]
    columns = [name for name in made.columns if name.startswith("mother_job_")]
    config.write_text(f'[features.mother_job]\ncolumns = {json.dumps(columns)}\ndropped = "at_home"\n')
    front, said = solved(table, model, "--config", config)
    job = feature(front, "mother_job")
    assert job["levels"] == JOBS
    assert job["columns"] == {"onehot": [None, *columns]}
    assert [(p["cost_sum"], p["loss_count"]) for p in guessed["points"]] == [
        (p["cost_sum"], p["loss_count"]) for p in front["points"]
    ], "the name of a category does not matter"
    sogar("check", table.with_suffix(".front.json"), "--table", table, "--model", model)


def test_the_models_columns_show_the_category_that_the_table_left_out(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    """A model of all categories, and a table without the first: its rows are those with none."""
    full, short = dummies(frame), dummies(frame, drop_first=True)
    model = trained(full, accepted(frame), tmp_path / "m.txt")
    full.to_csv(tmp_path / "full.csv", index=False)
    short.to_csv(tmp_path / "short.csv", index=False)
    (complete, _), (shown, said) = solved(tmp_path / "full.csv", model), solved(tmp_path / "short.csv", model)
    assert "lack the category `at_home`, which the model has" in said
    assert feature(shown, "mother_job")["levels"] == JOBS
    assert [(p["cost_sum"], p["loss_count"]) for p in shown["points"]] == [
        (p["cost_sum"], p["loss_count"]) for p in complete["points"]
    ]


def test_a_table_may_lack_a_category_of_the_model(frame: pd.DataFrame, tmp_path: Path, sogar: Sogar) -> None:
    model = trained(dummies(frame), accepted(frame), tmp_path / "m.txt")
    table = tmp_path / "t.csv"
    few = frame[frame["mother_job"] != "health"].reset_index(drop=True)
    for made in (dummies(few), few):
        made.to_csv(table, index=False)
        front, said = solved(table, model)
        assert "nobody in the table has `mother_job` = `health`" in said
        assert "health" not in feature(front, "mother_job")["levels"]
        out = table.with_suffix(".front.json")
        sogar("check", out, "--table", table, "--model", model)
    # The other way round: held-out rows without a category that the reference table has.
    full, held = tmp_path / "full.csv", tmp_path / "held.csv"
    dummies(frame).to_csv(full, index=False)
    dummies(few).to_csv(held, index=False)
    solved(full, model)
    found = json.loads(
        sogar("evaluate", full.with_suffix(".front.json"), "--holdout", held, "--model", model, "--json")
    )
    assert found["rows"] == len(few)


def test_an_amount_that_the_table_lacks_is_no_category(
    frame: pd.DataFrame, tmp_path: Path, sogar_error: Sogar
) -> None:
    made = dummies(frame)
    wide = made.assign(mother_job_years=np.random.default_rng(5).integers(0, 100, len(made)))
    model = trained(wide, wide["mother_job_years"] > 50, tmp_path / "m.txt")
    made.to_csv(tmp_path / "t.csv", index=False)
    said = sogar_error("solve", tmp_path / "t.csv", "--model", model, "-o", tmp_path / "f.json")
    assert "the model wants a column that the table does not have: `mother_job_years`" in said


def test_columns_that_the_model_does_not_use_have_no_edits(frame: pd.DataFrame, tmp_path: Path) -> None:
    made = dummies(frame)
    model = trained(made, accepted(frame), tmp_path / "m.txt")
    draw = np.random.default_rng(3)
    wide = made.assign(noise=draw.integers(0, 50, len(made)), colour=draw.choice(["red", "blue"], len(made)))
    made.to_csv(tmp_path / "t.csv", index=False)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    front, _ = solved(tmp_path / "t.csv", model, depth=0)
    more, said = solved(tmp_path / "wide.csv", model, depth=0)
    assert "the model does not use `noise`, `colour`: no action changes them" in said
    assert more["counts"]["edits"] == front["counts"]["edits"]
    assert [(p["cost_sum"], p["loss_count"]) for p in more["points"]] == [
        (p["cost_sum"], p["loss_count"]) for p in front["points"]
    ]
    # With a rule that speaks of it, its edits have a meaning.
    config = tmp_path / "c.toml"
    config.write_text('rules = ["noise <= age"]\n')
    ruled, _ = solved(tmp_path / "wide.csv", model, "--config", config)
    assert ruled["counts"]["edits"] > more["counts"]["edits"]


def test_edits_of_unused_columns_never_matter(frame: pd.DataFrame, tmp_path: Path) -> None:
    """The front with all edits, as if a rule that always holds involved the column, is the same."""
    made = dummies(frame)
    model = trained(made, accepted(frame), tmp_path / "m.txt")
    wide = made.assign(noise=np.random.default_rng(3).integers(0, 50, len(made)))
    wide.to_csv(tmp_path / "wide.csv", index=False)
    config = tmp_path / "c.toml"
    config.write_text('rules = ["noise >= 0"]\n')
    without, _ = solved(tmp_path / "wide.csv", model)
    everything, _ = solved(tmp_path / "wide.csv", model, "--config", config)
    assert everything["counts"]["actions"] > without["counts"]["actions"]
    assert [(p["cost_sum"], p["loss_count"]) for p in everything["points"]] == [
        (p["cost_sum"], p["loss_count"]) for p in without["points"]
    ]


def test_many_numbers_stay_within_the_budget(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    numbers = pd.DataFrame({f"x{i}": np.round(draw.normal(0, 1, 200), 3) for i in range(25)})
    model = trained(numbers, numbers.iloc[:, :5].sum(axis=1) > 0, tmp_path / "m.txt")
    table = tmp_path / "t.csv"
    numbers.to_csv(table, index=False)

    def run(*options: str) -> tuple[Json, str]:
        return solved(table, model, *options, depth=0, settings=())

    front, said = run()
    assert front["counts"]["actions"] <= 200_000
    assert "a number has 2 sizes of shifts instead of 5. --actions all" in said
    assert (front["config"]["limits"]["steps"], front["config"]["limits"]["max_edits"]) == (2, 3)
    fewer, said = run("--actions", "3000")
    assert fewer["counts"]["actions"] <= 3000
    assert "an action has at most 2 edits instead of 3" in said
    fixed, said = run("--immutable", "x0", "--immutable", "x1")
    assert fixed["config"]["limits"]["steps"] == 2, "what is immutable does not change the shifts"
    everything, said = run("--actions", "all", "--max-edits", "2")
    assert "budget" not in said
    assert everything["counts"]["edits"] > 230


def test_lines_of_progress_off_a_terminal(tmp_path: Path) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import sys, time\nrows = sys.stdin.read().splitlines()[1:]\ntime.sleep(6)\n"
        "print('\\n'.join(str(int(float(row.split(',')[0]) > 5)) for row in rows))\n"
    )
    table = tmp_path / "t.csv"
    pd.DataFrame({"a": range(12), "b": [1, 2, 3] * 4}).to_csv(table, index=False)
    command: list[str | Path] = [
        the_binary(),
        "solve",
        table,
        "--model-command",
        f"python3 {slow}",
        "--max-depth",
        "0",
    ]
    command += ["--desired", "1"]
    done = subprocess.run(
        [*command, "-o", tmp_path / "f.json"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"scoring its rows: \d+ s", done.stderr), done.stderr
    quiet = subprocess.run(
        [*command, "-o", tmp_path / "f.json", "--quiet"], capture_output=True, text=True, check=False
    )
    assert quiet.stderr == ""

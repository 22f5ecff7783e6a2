"""The command line and the package give the same bytes for the same problem."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sogar
from running import GERMAN
from sogar import Sogar, SogarError

Cli = Callable[..., str]


def without_run(text: str) -> str:
    """The bytes before the block `run`, which is the last one of the file."""
    before, _, _ = text.rpartition(',"run":{')
    assert before
    return before


@pytest.mark.parametrize(
    ("flags", "params"),
    [
        (
            f"--config {GERMAN / 'sogar.toml'} --max-edits 2",
            {"config": GERMAN / "sogar.toml", "max_edits": 2},
        ),
        (
            "--bins auto --max-depth 2 --max-edits 1 --label credit --desired good",
            {"max_depth": 2, "max_edits": 1, "label": "credit", "desired": "good"},
        ),
        (
            "--bins 5 --max-edits 1 --ignore credit --immutable age --cost l1 --seed 3 --min-leaf 20",
            {"bins": 5, "max_edits": 1, "ignore": ["credit"], "immutable": ["age"], "cost": "l1"}
            | {"random_state": 3, "min_leaf": 20},
        ),
        (
            "--max-leaves 3 --threads 1 --threshold 0.4 --bins quantile:4 --ignore credit --max-edits 1",
            {"max_leaves": 3, "n_jobs": 1, "threshold": 0.4, "bins": "quantile:4", "ignore": ["credit"]}
            | {"max_edits": 1},
        ),
    ],
    ids=["a configuration", "bins", "cost and seed", "threshold and threads"],
)
def test_a_file_gives_the_same_bytes(
    run_cli: Cli, tmp_path: Path, flags: str, params: dict[str, Any]
) -> None:
    table, model, out = GERMAN / "german.csv", GERMAN / "model.txt", tmp_path / "front.json"
    run_cli("solve", table, "--model", model, "-o", out, "--quiet", *flags.split())
    desired = params.pop("desired", None)
    estimator = Sogar(progress=False, **params).fit(table, str(model), desired=desired)
    assert without_run(estimator.to_json() or "") == without_run(out.read_text(encoding="utf-8"))
    ours = tmp_path / "ours.json"
    estimator.to_json(ours)
    shown = json.loads(run_cli("show", ours, "--json"))
    assert shown["point"] == estimator.select("invalidity").point
    evaluated = json.loads(run_cli("evaluate", ours, "--holdout", table, "--json"))
    assert evaluated["points"][-1]["cost_sum"] == estimator.evaluate(table)["cost_sum"].iloc[-1]


def test_the_front_of_the_command_line_is_read(run_cli: Cli, tmp_path: Path) -> None:
    table, model, out = GERMAN / "german.csv", GERMAN / "model.txt", tmp_path / "front.json"
    run_cli(
        "solve",
        table,
        "--model",
        model,
        "-o",
        out,
        "-q",
        "--config",
        GERMAN / "sogar.toml",
        "--max-edits",
        "1",
    )
    estimator = Sogar.from_json(out, table, str(model))
    assert estimator.to_json() == out.read_text(encoding="utf-8")
    edited = estimator.transform(table)
    assert isinstance(edited, pd.DataFrame)
    assert edited.shape == (1000, 21)
    assert json.loads(run_cli("evaluate", out, "--holdout", table, "--json"))["points"][5][
        "loss_count"
    ] == int(estimator.evaluate(table)["loss_count"].iloc[5])


def test_a_parquet_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    pd.read_csv(GERMAN / "german.csv").to_parquet(file)
    settings: dict[str, Any] = {"config": GERMAN / "sogar.toml", "max_edits": 1, "progress": False}
    parquet = Sogar(**settings).fit(file, str(GERMAN / "model.txt"))
    csv = Sogar(**settings).fit(GERMAN / "german.csv", str(GERMAN / "model.txt"))
    frame = Sogar(**settings).fit(pd.read_csv(GERMAN / "german.csv"), str(GERMAN / "model.txt"))
    for other in (parquet, frame):
        pd.testing.assert_frame_equal(other.front_, csv.front_)


def test_errors_have_the_words_of_the_command_line(run_cli: Cli, tmp_path: Path) -> None:
    for table, model in [
        (GERMAN / "german.csv", GERMAN / "none.txt"),
        (GERMAN / "none.csv", GERMAN / "model.txt"),
        (GERMAN / "model.txt", GERMAN / "model.txt"),
        (GERMAN / "german.csv", GERMAN / "german.csv"),
    ]:
        with pytest.raises(SogarError) as ours:
            Sogar(progress=False).fit(table, str(model))
        with pytest.raises(AssertionError) as theirs:
            run_cli("solve", table, "--model", model, "-o", tmp_path / "front.json")
        assert ours.value.message in str(theirs.value)
        assert ours.value.help in str(theirs.value)


@pytest.mark.parametrize("cost", ["mps", "l1"])
def test_an_exported_problem_has_the_same_front(run_cli: Cli, tmp_path: Path, cost: str) -> None:
    table, model = GERMAN / "german.csv", GERMAN / "model.txt"
    flags = ["--config", GERMAN / "sogar.toml", "--max-edits", "2", "--max-depth", "2", "--cost", cost]
    flags += ["--model", model, "--quiet"]
    run_cli("solve", table, *flags, "-o", tmp_path / "front.json")
    run_cli("problem", "export", table, *flags, "-o", tmp_path / "problem.npz")
    problem = sogar.read_problem(tmp_path / "problem.npz")
    points = json.loads((tmp_path / "front.json").read_text(encoding="utf-8"))["points"]
    front = sogar.solve_matrix(**problem, progress=False)
    assert front.status == "complete"
    assert [(point.cost_sum, point.loss_count) for point in front] == [
        (point["cost_sum"], point["loss_count"]) for point in points
    ]
    # The same actions as plain rows of a matrix.
    edits, combine = problem.pop("actions"), problem.pop("combine")
    padded = np.vstack([problem["cost"], np.zeros(len(problem["splits"]), dtype=np.uint32)])
    parts = padded[edits].astype(np.int64)
    problem["cost"] = parts.max(axis=1) if combine == "max" else parts.sum(axis=1)
    assert [point.cost_sum for point in sogar.solve_matrix(**problem, progress=False)] == [
        point["cost_sum"] for point in points
    ]


def test_what_is_no_problem_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no archive")
    np.savez(tmp_path / "other.npz", splits=np.zeros((2, 2)))
    for name in ("text.npz", "other.npz", "missing.npz"):
        with pytest.raises(SogarError, match="problem export"):
            sogar.read_problem(tmp_path / name)
    with pytest.raises(SogarError, match="combine"):
        sogar.solve_matrix([[True]], [[1]], [[True]], combine="mean")
    with pytest.raises(SogarError, match="`actions` has numbers"):
        sogar.solve_matrix([[True]], [[1]], [[True]], actions=[[3]])

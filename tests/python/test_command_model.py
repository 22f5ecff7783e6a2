"""A model behind a command gives what the same model gives as a file."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from recompute import Json
from running import GERMAN, Sogar

SCORE = '''"""Scores of rows on standard input, as a user would write it."""
import sys

import lightgbm
import pandas as pd

booster = lightgbm.Booster(model_file=sys.argv[1])
table = pd.read_csv(sys.stdin, keep_default_na=False, na_values=[""])
texts = [name for name in booster.feature_name() if not pd.api.types.is_numeric_dtype(table[name])]
for name, categories in zip(texts, booster.pandas_categorical, strict=True):
    table[name] = pd.Categorical(table[name], categories=categories)
for score in booster.predict(table[booster.feature_name()]):
    print(repr(float(score)))
'''


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A command that scores with the example's model through LightGBM itself."""
    script = tmp_path_factory.mktemp("command") / "score.py"
    script.write_text(SCORE)
    return shlex.join([sys.executable, "-W", "error", str(script), str(GERMAN / "model.txt")])


def solve(sogar: Sogar, out: Path, *model: str) -> Json:
    """Solves the example with single edits of a few features."""
    config = GERMAN / "sogar.toml"
    sogar(
        "solve", GERMAN / "german.csv", *model, "--config", config, "--max-edits", "1", "-o", out, "--quiet"
    )
    result: Json = json.loads(out.read_text())
    return result


@pytest.fixture(scope="module")
def solved(sogar: Sogar, command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the front that the command gives, and the outcomes that were kept."""
    folder = tmp_path_factory.mktemp("solved")
    solve(sogar, folder / "front.json", "--model-command", command, "--outcomes-cache", str(folder / "kept"))
    return folder


def test_labels_and_scores_are_those_of_the_file(sogar: Sogar, command: str) -> None:
    """Both ways print the same numbers, to the last digit."""
    arguments = ["predict", GERMAN / "german.csv", "--config", GERMAN / "sogar.toml", "--json", "--quiet"]
    by_file = json.loads(sogar(*arguments, "--model", GERMAN / "model.txt"))
    by_command = json.loads(sogar(*arguments, "--model-command", command))
    assert by_command == by_file
    assert len(by_file["labels"]) == 1000


def test_the_front_is_that_of_the_file(sogar: Sogar, command: str, solved: Path, tmp_path: Path) -> None:
    """The scored outcomes are those of the decomposition, so everything behind them is the same."""
    by_file = solve(sogar, tmp_path / "file.json", "--model", str(GERMAN / "model.txt"))
    by_command = json.loads((solved / "front.json").read_text())
    for block in ["points", "actions", "splits", "population", "counts"]:
        assert by_command[block] == by_file[block], block
    assert by_command["model"]["format"] == "command"
    cache = ["--outcomes-cache", str(solved / "kept")]
    again = solve(sogar, tmp_path / "again.json", "--model-command", command, *cache)
    assert again["run"]["outcome_method"] == "kept from an earlier run"
    assert again["points"] == by_file["points"]


def test_evaluation_takes_the_command_again(sogar: Sogar, command: str, solved: Path) -> None:
    """A front on its own table has its own costs and losses."""
    front = solved / "front.json"
    points = json.loads(front.read_text())["points"]
    arguments = ["--holdout", GERMAN / "german.csv", "--model-command", command, "--json"]
    evaluation = json.loads(sogar("evaluate", front, *arguments))
    assert [point["loss_count"] for point in evaluation["points"]] == [
        point["loss_count"] for point in points
    ]
    assert evaluation["mean_distance"] == 0.0

"""Fits that keep what they have finished."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import GERMAN
from sogar import CheckpointError, ConfigError, Sogar

TABLE, MODEL = GERMAN / "german.csv", GERMAN / "model.txt"


def fitted(**settings: object) -> Sogar:
    """The example, small."""
    front = Sogar(config=GERMAN / "sogar.toml", max_edits=1, max_depth=2, progress=False)
    return front.set_params(**settings).fit(TABLE, MODEL)


def test_a_second_fit_searches_nothing_and_finds_the_same(tmp_path: Path) -> None:
    """The folder is made on demand, and stays."""
    fronts = [json.loads(fitted(checkpoint=tmp_path / "kept").to_json() or "") for _ in range(2)]
    runs = [front.pop("run") for front in fronts]
    plain = json.loads(fitted().to_json() or "")
    del plain["run"]
    assert fronts == [plain, plain]
    assert runs[1]["leaf_sets"] == 1
    assert runs[1]["outcome_method"] == "kept from an earlier run"


def test_the_checkpoint_of_another_fit_is_refused(tmp_path: Path) -> None:
    """In the words of Python."""
    fitted(checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="belongs to another run") as refused:
        fitted(checkpoint=tmp_path, min_leaf=40)
    assert refused.value.help.endswith("choose another one with checkpoint")
    with pytest.raises(ConfigError, match="not an amount of memory"):
        fitted(checkpoint=tmp_path, checkpoint_limit="a lot")

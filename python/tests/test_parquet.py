"""A Parquet file whose rows stay there: the same front, and everybody in memory only where it takes that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from running import GERMAN
from sogar import DataError, Sogar, _native

MODEL = str(GERMAN / "model.txt")


def essence(estimator: Sogar, folder: Path) -> dict[str, Any]:
    """A front as in its file, without the block `run`."""
    estimator.to_json(folder / "front.json")
    said: dict[str, Any] = json.loads((folder / "front.json").read_text(encoding="utf-8"))
    del said["run"]
    return said


def fitted(path: Path, **settings: Any) -> Sogar:
    settings = {"config": GERMAN / "sogar.toml", "max_edits": 1, "max_depth": 2, **settings}
    return Sogar(**settings, progress=False).fit(path, MODEL, desired="good")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The German example in row groups of a hundred, with weights."""
    table = pd.read_csv(GERMAN / "german.csv")
    table["people"] = np.arange(len(table)) % 3 + 1
    path = tmp_path / "german.parquet"
    table.to_parquet(path, index=False, row_group_size=100)
    return path


@pytest.mark.parametrize("settings", [{"ignore": ["people"]}, {"sample_weight_column": "people"}])
def test_a_front_is_that_of_the_table_in_memory(
    path: Path, tmp_path: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    lean = fitted(path, **settings)
    assert lean._problem is not lean._require_problem(), "the rows stay in the file until they are needed"
    assert lean._require_problem() is lean._require_problem(), "they are read once"
    monkeypatch.setattr(_native, "is_parquet", lambda _: False)
    whole = fitted(path, **settings)
    assert whole._problem is whole._require_problem()
    assert essence(lean, tmp_path) == essence(whole, tmp_path)
    assert list(lean.feature_names_in_) == list(whole.feature_names_in_)
    assert lean.notices_ == whole.notices_
    assert lean.audit("status_sex", draws=0) == whole.audit("status_sex", draws=0)
    affected = int(np.flatnonzero(whole.predict(path) != 0)[0])
    assert (lean.predict(path) == whole.predict(path)).all()
    assert dict(lean.explain(affected)) == dict(whole.explain(affected))
    pd.testing.assert_frame_equal(lean.evaluate(path), whole.evaluate(path))
    assert lean.score(path) == whole.score(path)
    page = lean.report(tmp_path / "page.html", groups="status_sex", draws=0).read_text(encoding="utf-8")
    assert "status_sex" in page


def test_a_folder_of_files_is_a_table(path: Path, tmp_path: Path) -> None:
    table, folder = pd.read_parquet(path), tmp_path / "parts"
    folder.mkdir()
    for number, part in enumerate((table[:300], table[300:300], table[300:])):
        part.to_parquet(folder / f"{number}.parquet", index=False)
    one, several = (essence(fitted(where, ignore=["people"]), tmp_path) for where in (path, folder))
    assert one.pop("table") != several.pop("table"), "the hash is that of the bytes"
    assert one == several


def test_what_is_wrong_is_said_with_its_place(path: Path) -> None:
    table = pd.read_parquet(path)
    table["people"] = table["people"].astype(float)
    table.loc[700, "people"] = 0
    table.to_parquet(path, index=False)
    with pytest.raises(DataError, match="line 701, column `people`: a weight of 0 counts for nobody"):
        fitted(path, sample_weight_column="people")


def test_damaged_files_are_refused_by_name_and_nothing_is_printed(
    path: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever the reader of the file does: it panics on some of these."""
    whole = path.read_bytes()
    draw = np.random.default_rng(7)
    damaged = tmp_path / "damaged.parquet"
    panics = 0
    for _ in range(300):
        data = bytearray(whole)
        for at in draw.integers(4, len(data) - 8, size=int(draw.integers(1, 40))):
            data[at] ^= 1 << int(draw.integers(8))
        damaged.write_bytes(data)
        try:
            _native.Table.read(str(damaged), "{}")
        except DataError as error:
            assert "damaged.parquet" in str(error)  # noqa: PT017 - most of them are
            panics += "its reader failed" in str(error)
    assert capfd.readouterr() == ("", "")
    assert panics > 0

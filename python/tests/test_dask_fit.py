"""A table of Dask is fitted where its partitions are; the result is that of the whole table."""

from __future__ import annotations

import itertools
import json
import weakref
from typing import Any

import lightgbm
import pandas as pd
import pytest
import sogar
from sogar import Sogar, _dask_tables, _dask_tasks, _native

pytest.importorskip("distributed", reason="dask.distributed is not installed: pip install sogar[dask]")
pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")

import dask.dataframe as frame
from distributed import Client
from running import GERMAN

MODEL = GERMAN / "model.txt"


def estimator(**settings: Any) -> Sogar:
    """The example, a little smaller."""
    return Sogar(config=GERMAN / "sogar.toml", max_depth=2, max_edits=2, progress=False, **settings)


def result(front: Sogar) -> dict[str, Any]:
    """All of a result that does not depend on when and where it was found."""
    file: dict[str, Any] = json.loads(front.to_json() or "")
    del file["run"]
    return file


@pytest.fixture(scope="module")
def whole() -> pd.DataFrame:
    """The example's table."""
    return pd.read_csv(GERMAN / "german.csv")


def divided(table: pd.DataFrame, cuts: list[int]) -> Any:
    """Partitions of different sizes; some may be empty."""
    parts = [table.iloc[a:b] for a, b in itertools.pairwise([0, *cuts, len(table)])]
    return frame.from_map(lambda part: part, parts, meta=table.iloc[:0])


CUTS = [100, 100, 101, 420, 960]


class Watched:
    """Counts the parts of a table that are alive in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Looks at everything that becomes a table of the engine."""
        self.alive: list[weakref.ref[Any]] = []
        self.most = self.rows = self.looks = 0
        plain = _dask_tasks.native_table

        def watching(part: Any, config: str) -> _native.Table | None:
            self.looks += 1
            self._note(part)
            table = plain(part, config)
            if table is not None:
                self.alive.append(weakref.ref(table))
            return table

        monkeypatch.setattr(_dask_tasks, "native_table", watching)

        def gathered(_: Any) -> None:
            raise AssertionError("the table was gathered")

        monkeypatch.setattr(_dask_tables.RemoteTable, "gathered", gathered)

    def _note(self, part: Any) -> None:
        self.alive = [ref for ref in self.alive if ref() is not None]
        self.most = max(self.most, len(self.alive))
        self.rows = max(self.rows, len(part))
        self.alive.append(weakref.ref(part))


@pytest.mark.parametrize("sample", [None, 150])
def test_the_client_has_one_partition_at_a_time(
    client: Client, whole: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, sample: int | None
) -> None:
    """Every frame and every engine's table of an earlier partition is gone when the next one comes."""
    expected = result(estimator(sample=sample).fit(whole, MODEL))
    watched = Watched(monkeypatch)
    parts = divided(whole, CUTS)
    monkeypatch.setattr(type(parts), "compute", None)  # nobody asks Dask for all of it
    front = estimator(sample=sample).fit(parts, MODEL, client=client)
    assert result(front) == expected
    assert watched.looks > 6
    assert (watched.most, watched.rows) == (0, 540)


def test_a_booster_and_texts_as_categories(
    client: Client, german: pd.DataFrame, booster: lightgbm.Booster
) -> None:
    """LightGBM's own object is read without the table."""
    settings: dict[str, Any] = {"max_depth": 1, "max_edits": 1, "bins": 10, "progress": False}
    expected = result(Sogar(**settings).fit(german, booster, desired=1))
    parts = frame.from_pandas(german, npartitions=4)
    assert result(Sogar(**settings).fit(parts, booster, desired=1, client=client)) == expected


def test_other_models_score_the_gathered_table(client: Client, whole: pd.DataFrame) -> None:
    """A function needs rows to be asked about, so the table comes to the client."""

    def decide(rows: pd.DataFrame) -> Any:
        return (rows["duration"] < 24).astype(int)

    table = whole[["duration", "credit_amount", "housing"]]
    settings: dict[str, Any] = {"max_depth": 1, "max_edits": 1, "bins": 5, "progress": False}
    expected = result(Sogar(**settings).fit(table, decide, desired=1))
    parts = frame.from_pandas(table, npartitions=3)
    assert result(Sogar(**settings).fit(parts, decide, desired=1, client=client)) == expected


@pytest.fixture(scope="module")
def retrained(whole: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two further models, each of other rows."""
    folder = tmp_path_factory.mktemp("retrained")
    texts = whole.select_dtypes(exclude="number").columns
    people = whole.astype(dict.fromkeys(texts, "category"))
    files = []
    for seed in (1, 2):
        rows = people.sample(len(people), replace=True, random_state=seed)
        model = lightgbm.LGBMClassifier(n_estimators=30, num_leaves=8, n_jobs=1, verbose=-1)
        model.fit(rows.drop(columns="credit"), rows["credit"] == "good")
        files.append(str(folder / f"{seed}.txt"))
        model.booster_.save_model(files[-1])
    return files


@pytest.mark.parametrize("sample", [None, 150])
def test_several_models_and_plausible_people_are_the_same(
    client: Client, whole: pd.DataFrame, retrained: list[str], sample: int | None
) -> None:
    """What an action must do besides convincing the first model goes to the workers."""
    plain = result(estimator(sample=sample).fit(whole, MODEL))
    fitting: dict[str, Any] = {"also": retrained, "agree": 2}
    expected = result(estimator(sample=sample, min_plausibility=0.2).fit(whole, MODEL, **fitting))
    assert expected["points"] != plain["points"]
    assert len(expected["also"]) == 2
    for table in (whole, divided(whole, CUTS)):
        front = estimator(sample=sample, min_plausibility=0.2).fit(table, MODEL, client=client, **fitting)
        assert result(front) == expected


def test_everybody_comes_when_they_are_needed(client: Client, whole: pd.DataFrame) -> None:
    """An audit of the fitted table is about everybody, who are gathered for it."""
    here = estimator().fit(whole, MODEL)
    there = estimator().fit(divided(whole, CUTS), MODEL, client=client)
    asked: dict[str, Any] = {"draws": 0, "unreachable": False}
    assert json.dumps(there.audit("housing", **asked)) == json.dumps(here.audit("housing", **asked))
    pd.testing.assert_frame_equal(there.evaluate(whole.iloc[:500]), here.evaluate(whole.iloc[:500]))


def test_what_is_wrong_with_a_partition_is_said(client: Client, whole: pd.DataFrame) -> None:
    """With the partition, its row and the column."""
    odd = whole.assign(credit_amount=whole["credit_amount"].astype(float))
    odd.loc[700, "credit_amount"] = float("inf")
    with pytest.raises(sogar.DataError, match="partition 4: row 281, column `credit_amount`: `inf`"):
        estimator().fit(divided(odd, CUTS), MODEL, client=client)
    with pytest.raises(sogar.DataError, match="the table has no"):
        estimator().fit(divided(whole.iloc[:0], [0]), MODEL, client=client)

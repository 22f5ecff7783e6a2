"""Tables in partitions are evaluated and audited as if they were whole, by workers and by one process."""

from __future__ import annotations

import itertools
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sogar
from sogar import Sogar, _dask_tables, _native
from sogar._dask_tasks import user_table

pytest.importorskip("distributed", reason="dask.distributed is not installed: pip install sogar[dask]")
pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")

import dask.dataframe as frame
from distributed import Client
from running import GERMAN


@pytest.fixture(scope="module")
def fitted() -> Sogar:
    """The example, a little smaller."""
    front = Sogar(config=GERMAN / "sogar.toml", max_depth=2, max_edits=2, progress=False)
    return front.fit(GERMAN / "german.csv", GERMAN / "model.txt")


@pytest.fixture(scope="module")
def others() -> pd.DataFrame:
    """Other people, those who are not turned down last; some have what the first table does not know."""
    table = pd.read_csv(GERMAN / "german.csv").sample(frac=0.8, random_state=3).reset_index(drop=True)
    table.loc[3, "housing"] = "a boat </script>"
    table.loc[700, "housing"] = "=tent"
    return table.sort_values("credit", kind="stable").reset_index(drop=True)


def engine_table(table: pd.DataFrame, front: Sogar) -> _native.Table:
    """The engine's table."""
    return user_table(table, json.dumps(json.loads(front._front.about())["config"]))


def is_accepted(table: pd.DataFrame, front: Sogar) -> Any:
    """Who is not turned down."""
    return front._require_problem().assign(front._front, 0, engine_table(table, front)) < 0


def divided(table: pd.DataFrame, front: Sogar) -> Any:
    """Partitions of different sizes: one is empty, and in one nobody is turned down."""
    accepted = np.zeros(len(table), dtype=bool)
    accepted[np.flatnonzero(is_accepted(table, front))[:40]] = True
    whole = pd.concat([table[~accepted], table[accepted]], ignore_index=True)
    cuts = [0, 100, 100, 101, 420, len(table) - 40, len(table)]
    parts = [whole.iloc[a:b] for a, b in itertools.pairwise(cuts)]
    return whole, frame.from_map(lambda part: part, parts, meta=whole.iloc[:0])


GROUPS = ["housing", "age", "age<=25", "housing*foreign_worker", "status_sex"]


@pytest.mark.parametrize("unreachable", [False, True])
def test_an_audit_of_german_is_the_same(
    client: Client, fitted: Sogar, others: pd.DataFrame, unreachable: bool
) -> None:
    """To the byte, with intersections, bins, new values, true labels and conditions."""
    whole, parts = divided(others, fitted)
    asked: dict[str, Any] = {"draws": 20, "unreachable": unreachable, "fail_on": "gap(cost, age<=25) > 9"}
    expected = json.dumps(fitted.audit(GROUPS, holdout=whole, **asked))
    assert json.dumps(fitted.audit(GROUPS, holdout=parts, **asked)) == expected
    assert json.dumps(fitted.audit(GROUPS, holdout=parts, client=client, **asked)) == expected
    assert "a boat </script>" in expected
    assert "reference table lacks" in expected


def test_workers_look_for_people_out_of_reach_in_tables_that_are_here(
    client: Client, fitted: Sogar, others: pd.DataFrame
) -> None:
    """The fitted table in blocks of its people; a held-out one is the client's own business."""
    for holdout in (None, others):
        asked: dict[str, Any] = {"draws": 0, "unreachable": True, "holdout": holdout}
        expected = json.dumps(fitted.audit("housing", **asked))
        assert json.dumps(fitted.audit("housing", client=client, **asked)) == expected
    assert "not looked for" not in expected


def test_groups_and_labels_beside_the_table(client: Client, fitted: Sogar, others: pd.DataFrame) -> None:
    """Values of rows, also as columns of Dask."""
    whole, parts = divided(others, fitted)
    draw = np.random.default_rng(5)
    here, there = draw.choice(["x", "y"], 1000), draw.choice(["x", "y", "z"], len(whole))
    truth = draw.choice(["good", "bad"], len(whole))
    asked: dict[str, Any] = {"draws": 0, "unreachable": False, "y": "credit"}
    expected = fitted.audit(
        {"team": here}, holdout=whole, holdout_groups={"team": there}, holdout_y=None, **asked
    )
    given = {"team": frame.from_pandas(pd.Series(there), npartitions=3)}
    found = fitted.audit({"team": here}, holdout=parts, holdout_groups=given, client=client, **asked)
    assert json.dumps(found) == json.dumps(expected)
    labels: dict[str, Any] = {"draws": 0, "y": np.array(["good"] * 1000), "holdout_y": truth}
    expected = fitted.audit("housing", holdout=whole, **labels)
    assert json.dumps(fitted.audit("housing", holdout=parts, **labels)) == json.dumps(expected)
    with pytest.raises(sogar.ArgumentError, match="one value for every row"):
        fitted.audit({"team": here}, holdout=parts, holdout_groups={"team": there[1:]}, **asked)


def test_what_a_table_in_partitions_lacks_is_noted(fitted: Sogar, others: pd.DataFrame) -> None:
    """As for a table in one piece."""
    without = others.drop(columns="credit")
    parts = frame.from_pandas(without, npartitions=3)
    asked: dict[str, Any] = {"draws": 0, "unreachable": False}
    expected = fitted.audit(["credit", "housing"], holdout=without, **asked)
    assert json.dumps(fitted.audit(["credit", "housing"], holdout=parts, **asked)) == json.dumps(expected)
    assert any("can't be grouped by `credit`" in note for note in expected["notes"])


def test_files_that_dask_reads_together(
    client: Client, fitted: Sogar, others: pd.DataFrame, tmp_path: Path
) -> None:
    """Where few columns are wanted, Dask takes several files of Parquet as one partition."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed, without which Dask reads no Parquet")
    for number, start in enumerate(range(0, 800, 100)):
        others.iloc[start : start + 100].to_parquet(tmp_path / f"{number}.parquet")
    expected = fitted.audit("housing", holdout=others, draws=0, unreachable=False)
    evaluation = fitted.evaluate(others)
    for hired in (None, client):
        parts = frame.read_parquet(tmp_path)
        found = fitted.audit("housing", holdout=parts, draws=0, unreachable=False, client=hired)
        assert json.dumps(found) == json.dumps(expected)
        some = parts[[*others.columns]].query("age > 0")
        pd.testing.assert_frame_equal(fitted.evaluate(some, client=hired), evaluation)


def test_a_worker_that_is_killed(
    client: Client, fitted: Sogar, others: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask repeats what it had."""
    parts = frame.from_pandas(others, npartitions=6)
    expected = fitted.audit("housing", holdout=others, draws=20)
    killed: list[int] = []
    plain = _dask_tables.Partitions._submitted

    def submitted(self: Any, *arguments: Any) -> Any:
        futures: Any = plain(self, *arguments)
        if not killed:
            futures[0].result()
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)
        return futures

    monkeypatch.setattr(_dask_tables.Partitions, "_submitted", submitted)
    found = fitted.audit("housing", holdout=parts, draws=20, client=client)
    assert killed
    assert json.dumps(found) == json.dumps(expected)
    client.wait_for_workers(2, timeout=60)
    left = [str(key) for keys in client.has_what().values() for key in keys]
    assert not [key for key in left if "sogar-audit" in key]


def people(rows: int, seed: int, weights: list[float]) -> pd.DataFrame:
    """People with weights."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": draw.integers(10, 90, rows),
            "debt": np.round(draw.uniform(0, 40, rows), 1),
            "member": draw.choice(["no", "yes"], rows),
            "people": draw.choice(weights, rows).astype(float),
        }
    )


def model(rows: pd.DataFrame) -> Any:
    """Income against debt."""
    return np.asarray(rows["income"] - rows["debt"] + 5 * (rows["member"] == "yes") > 35)


SETTINGS: dict[str, Any] = {"max_depth": 2, "max_edits": 2, "min_leaf": 10, "bins": 6, "progress": False}


@pytest.mark.parametrize("fine", [1.0, 0.25, 0.001])
def test_weights_whose_decimals_only_one_partition_has(client: Client, fine: float) -> None:
    """The units of all partitions are those of the whole column."""
    front = Sogar(sample_weight_column="people", **SETTINGS).fit(people(150, 1, [1, 2, 3]), model)
    whole = people(90, 2, [1, 2])
    whole.loc[70, "people"] = 1 + fine
    parts = frame.from_pandas(whole, npartitions=4)
    expected = front.evaluate(whole)
    about = {key: value for key, value in front.evaluation_.items() if key != "hash"}
    for hired in (None, client):
        pd.testing.assert_frame_equal(front.evaluate(parts, client=hired), expected)
        assert {key: value for key, value in front.evaluation_.items() if key != "hash"} == about
        audit = front.audit(["member", "debt<=20"], holdout=parts, draws=50, min_group=2, client=hired)
        assert json.dumps(audit) == json.dumps(
            front.audit(["member", "debt<=20"], holdout=whole, draws=50, min_group=2)
        )


def test_weights_that_are_wrong_are_refused_with_their_row(client: Client) -> None:
    """The row is that of the whole table."""
    front = Sogar(sample_weight_column="people", **SETTINGS).fit(people(150, 1, [1, 2, 3]), model)
    bad = people(60, 2, [1, 2])
    bad.loc[50, "people"] = -1
    with pytest.raises(sogar.DataError, match="row 51, column `people`: a weight of -1"):
        front.evaluate(frame.from_pandas(bad, npartitions=3), client=client)
    with pytest.raises(sogar.DataError, match="row 51, column `people`: a weight of -1"):
        front.audit("member", holdout=frame.from_pandas(bad, npartitions=3))


def test_one_hot_columns_make_groups(client: Client) -> None:
    """The feature that they are goes by its own name, in partitions too."""
    draw = np.random.default_rng(0)

    def table(rows: int) -> pd.DataFrame:
        job = draw.integers(0, 3, rows)
        columns = {
            f"job={name}": (job == at).astype(int) for at, name in enumerate(["none", "clerk", "boss"])
        }
        return pd.DataFrame({"income": draw.integers(10, 90, rows), **columns})

    def decide(rows: pd.DataFrame) -> Any:
        return np.asarray(rows["income"] + 10 * rows["job=boss"] > 50)

    front = Sogar(**SETTINGS).fit(table(200), decide)
    whole = table(120)
    parts = frame.from_pandas(whole, npartitions=3)
    expected = front.audit("job", holdout=whole, draws=0, min_group=2)
    assert json.dumps(front.audit("job", holdout=parts, draws=0, min_group=2, client=client)) == json.dumps(
        expected
    )


def test_nobody_and_nothing(fitted: Sogar, others: pd.DataFrame) -> None:
    """A table in which nobody is turned down, and one without rows."""
    accepted = others[is_accepted(others, fitted)]
    with pytest.raises(sogar.PopulationError, match="turns nobody down"):
        fitted.audit("housing", holdout=frame.from_pandas(accepted, npartitions=2))
    with pytest.raises(sogar.PopulationError, match="turns nobody down"):
        fitted.evaluate(frame.from_pandas(accepted, npartitions=2))
    with pytest.raises(sogar.DataError, match="no rows"):
        fitted.audit("housing", holdout=frame.from_pandas(others.iloc[:0], npartitions=1))


def test_parts_that_are_damaged_or_out_of_place_are_refused(fitted: Sogar, others: pd.DataFrame) -> None:
    """By those who lead the audit, with what is wrong."""
    problem, front = fitted._require_problem(), fitted._front
    start = engine_table(others.iloc[:300], fitted)

    def leader() -> _native.AuditLeader:
        made = _native.AuditLeader(problem, front, ["housing"], draws=0)
        made.see(engine_table(others[["housing", "credit"]], fitted))
        return made

    first, second = leader().places(0, 300), leader().places(300, 800)
    part = _native.audit_part(problem, front, start, first)
    with pytest.raises(sogar.SogarError, match="the checksum is wrong"):
        leader().add(300, part[:-1] + bytes([part[-1] ^ 1]))
    with pytest.raises(sogar.SogarError, match="not a file that sogar stored"):
        leader().add(300, b"")
    with pytest.raises(sogar.SogarError, match="or elsewhere in this one"):
        leader().add(301, part)
    with pytest.raises(sogar.SogarError, match="a partition has 300 rows, but it had 500 before"):
        _native.audit_part(problem, front, start, second)
    with pytest.raises(sogar.SogarError, match="this does not say who is in which group"):
        _native.audit_part(problem, front, start, first[:-1])
    begun = leader()
    begun.add(300, part)
    with pytest.raises(sogar.SogarError, match="the table has 800 rows, not 900"):
        begun.add(600, part)
    with pytest.raises(sogar.SogarError, match="parts with 500 of 800 rows are missing"):
        begun.finish()
    reach = leader()
    reach.add(300, part)
    with pytest.raises(sogar.SogarError, match="who is out of reach"):
        reach.add_reach(b"none")

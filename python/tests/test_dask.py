"""Fits on a real cluster of two worker processes equal those in one, whatever happens to the workers."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sogar
from sogar import Sogar

pytest.importorskip("distributed", reason="dask.distributed is not installed: pip install sogar[dask]")

from distributed import Client
from running import GERMAN
from sogar import _dask

PROBLEMS = 50


def result(front: Sogar) -> str:
    """All of a result that does not depend on when and where it was found."""
    file = json.loads(front.to_json() or "")
    del file["run"]
    return json.dumps(file)


def german(**settings: Any) -> Sogar:
    """The example, a little smaller."""
    return Sogar(config=GERMAN / "sogar.toml", max_edits=2, progress=False, **settings)


TABLE, MODEL = GERMAN / "german.csv", GERMAN / "model.txt"


@pytest.fixture(scope="module")
def alone() -> Sogar:
    """The example in this process."""
    return german().fit(TABLE, MODEL)


def test_german_is_the_same(client: Client, alone: Sogar) -> None:
    """Byte for byte."""
    assert result(german().fit(TABLE, MODEL, client=client)) == result(alone)


def people(seed: int) -> pd.DataFrame:
    """A small random table."""
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(60, 200))
    return pd.DataFrame(
        {
            "age": draw.integers(18, 80, rows),
            "income": np.round(draw.gamma(2.0, 1000.0, rows)),
            "job": draw.choice(["none", "clerk", "boss"], rows),
            "debt": draw.uniform(0, 1, rows),
        }
    )


def rule(seed: int) -> Any:
    """A random model: a function that goes to the workers."""
    weights = np.random.default_rng(seed + 1000).normal(size=3)

    def decide(rows: pd.DataFrame) -> Any:
        score = weights[0] * rows["age"] / 50 + weights[1] * rows["income"] / 2000 - rows["debt"]
        score = score + weights[2] * (rows["job"] == "boss").astype(float)
        return (score > 0.5).astype(int)

    return decide


def test_random_problems_are_the_same(client: Client) -> None:
    """Depths, groups and limits on leaves; black-box models on the workers."""
    solved = seed = 0
    while solved < PROBLEMS:
        seed += 1
        table, model = people(seed), rule(seed)
        share = model(table).mean()
        if not 0.1 < share < 0.9:
            continue
        draw = np.random.default_rng(seed)
        settings: dict[str, Any] = {
            "max_depth": int(draw.integers(0, 4)),
            "min_leaf": int(draw.integers(1, 6)),
            "max_edits": int(draw.integers(1, 3)),
            "bins": 4,
            "progress": False,
        }
        if draw.random() < 0.3 and settings["max_depth"] > 1:
            settings["max_leaves"] = 3
        here = Sogar(**settings).fit(table, model)
        there = Sogar(**settings).fit(table, model, client=client)
        assert result(there) == result(here), f"seed {seed}"
        solved += 1


class Kept:
    """A model that only exists on the client: it can't be pickled."""

    def __init__(self) -> None:
        """A lock stays where it is."""
        self.lock = threading.Lock()
        self.process = os.getpid()

    def __call__(self, rows: pd.DataFrame) -> Any:
        """Answers here and nowhere else."""
        assert os.getpid() == self.process
        with self.lock:
            return (rows["income"] / 2000 - rows["debt"] > 0.5).astype(int)


def test_a_model_that_only_exists_on_the_client(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """The client finds the outcomes, says so, and the workers search."""
    settings: dict[str, Any] = {"max_depth": 2, "min_leaf": 4, "max_edits": 2, "bins": 4, "progress": False}
    here = Sogar(**settings).fit(people(1), Kept())
    there = Sogar(**settings).fit(people(1), Kept(), client=client)
    assert result(there) == result(here)
    assert "the client computes the outcomes" in caplog.text


STAGES = ["outcomes", "search: leaves", "search: cuts"]


def at(stage: str, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Something that happens when a fit shows that it has come to a stage."""
    plain = _dask.Fit.submit

    def submit(self: Any, *arguments: Any, **options: Any) -> Any:
        def bar(name: str, *_: Any) -> None:
            if name.startswith(stage):
                act()

        self.bar = bar
        return plain(self, *arguments, **options)

    monkeypatch.setattr(_dask.Fit, "submit", submit)


def killing(client: Client) -> tuple[Callable[[], None], list[int]]:
    """Kills one of the workers, once; and the process that was killed."""
    killed: list[int] = []

    def kill() -> None:
        if not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    return kill, killed


@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_that_is_killed(
    client: Client, alone: Sogar, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a fit; Dask repeats what it had."""
    kill, killed = killing(client)
    at(stage, kill, monkeypatch)
    assert result(german().fit(TABLE, MODEL, client=client)) == result(alone)
    assert killed
    client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize("stage", STAGES)
def test_cancelling(client: Client, alone: Sogar, stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C leaves a valid partial front, and nothing on the cluster."""

    def press() -> None:
        raise KeyboardInterrupt

    at(stage, press, monkeypatch)
    front = german()
    with pytest.raises(KeyboardInterrupt):
        front.fit(TABLE, MODEL, client=client)
    assert front.status_ == "cancelled"
    best = alone.front_
    for cost, loss in zip(front.front_["cost_sum"], front.front_["loss_count"], strict=True):
        # Every point is attained, so the complete front has one that is as good.
        assert ((best["cost_sum"] <= cost) & (best["loss_count"] <= loss)).any()
    bound = json.loads(front.to_json() or "").get("bound")
    assert (bound is None) == (stage == "outcomes")
    for cost, loss in zip(best["cost_sum"], best["loss_count"], strict=True) if bound else ():
        # Nothing is better than the bound.
        assert any(least[0] <= cost and least[1] <= loss for least in bound)
    waiting = [str(key) for keys in client.processing().values() for key in keys]
    assert not [key for key in waiting if "sogar-cuts" in key]


@pytest.mark.parametrize("rows", [150, 10_000])
def test_a_sample_is_the_same(client: Client, rows: int) -> None:
    """Searched by the workers, and evaluated on everybody by them; a sample of everybody is none."""
    front = german(sample=rows).fit(TABLE, MODEL, client=client)
    assert front.status_ == ("complete_on_sample" if rows == 150 else "complete")
    assert result(front) == result(german(sample=rows).fit(TABLE, MODEL))


def test_samples_of_weighted_people_and_of_black_box_models(client: Client) -> None:
    """On the workers, and where the model only exists on the client."""
    settings: dict[str, Any] = {"max_depth": 2, "min_leaf": 4, "max_edits": 2, "bins": 4, "progress": False}
    table = people(1)
    weighted = table.assign(count=np.arange(len(table)) % 4 + 0.5)
    cases: list[tuple[pd.DataFrame, Any, str | None]] = [
        (table, rule(1), None),
        (weighted, rule(1), "count"),
        (table, Kept(), None),
    ]
    for data, model, weight in cases:
        here = Sogar(**settings, sample_weight_column=weight, sample=40).fit(data, model)
        there = Sogar(**settings, sample_weight_column=weight, sample=40).fit(data, model, client=client)
        assert here.status_ == "complete_on_sample"
        assert result(there) == result(here)


def test_a_worker_that_is_killed_while_everybody_is_looked_at(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the search on a sample."""
    kill, killed = killing(client)
    at("outcomes for everybody", kill, monkeypatch)
    found = german(sample=150).fit(TABLE, MODEL, client=client)
    assert result(found) == result(german(sample=150).fit(TABLE, MODEL))
    assert killed
    client.wait_for_workers(2, timeout=60)


def test_cancelling_while_everybody_is_looked_at(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but doing nothing is known of them then."""

    def press() -> None:
        raise KeyboardInterrupt

    at("outcomes for everybody", press, monkeypatch)
    front = german(sample=150)
    with pytest.raises(KeyboardInterrupt):
        front.fit(TABLE, MODEL, client=client)
    assert (front.status_, len(front.front_)) == ("cancelled", 1)


def test_a_search_on_a_sample_that_is_stopped(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Front and bound of the sample stand in its block; nothing is claimed for everybody."""

    def stop() -> None:
        raise _dask._Stopped

    at("search: cuts", stop, monkeypatch)
    with pytest.warns(sogar.SogarWarning, match="stopped early"):
        front = german(sample=150).fit(TABLE, MODEL, client=client)
    said = json.loads(front.to_json() or "")
    sample = said["sample"]
    assert (said["status"], sample["status"]) == ("time_limit", "time_limit")
    assert "bound" not in said
    assert sample["bound"]
    for point in sample["front"]:
        assert any(
            cost <= point["cost_sum"] and loss <= point["loss_count"] for cost, loss in sample["bound"]
        )


def test_a_time_limit(client: Client) -> None:
    """As in one process: a warning, and what there is."""
    with pytest.warns(sogar.SogarWarning, match="stopped early"):
        front = german(time_limit=1e-6).fit(TABLE, MODEL, client=client)
    assert front.status_ == "time_limit"
    assert len(front.front_) >= 1


def test_tables_of_dask(client: Client, alone: Sogar) -> None:
    """A table in partitions is fitted as one, and evaluated partition by partition."""
    frame = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    table, model = people(1), rule(1)
    parts = frame.from_pandas(table, npartitions=3)
    settings: dict[str, Any] = {"max_depth": 2, "min_leaf": 4, "max_edits": 2, "bins": 4, "progress": False}
    here = Sogar(**settings).fit(table, model)
    there = Sogar(**settings).fit(parts, model, client=client)
    assert json.loads(result(there))["points"] == json.loads(result(here))["points"]
    others = people(4)
    expected = here.evaluate(others)
    found = there.evaluate(frame.from_pandas(others, npartitions=5), client=client)
    pd.testing.assert_frame_equal(found, expected)
    pd.testing.assert_frame_equal(here.evaluate(frame.from_pandas(others, npartitions=4)), expected)
    keys = ("rows", "affected", "mean_distance", "sd_distance")
    assert [there.evaluation_[key] for key in keys] == [here.evaluation_[key] for key in keys]
    assert alone.status_ == "complete"


def test_what_workers_have_no_room_for_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent to them."""
    tiny = {"workers": {"a": {"memory_limit": 100_000_000}}}
    monkeypatch.setattr(client, "scheduler_info", lambda **_: tiny)
    with pytest.raises(sogar.TooLargeError, match=r"a worker has 0\.1 GB"):
        german().fit(TABLE, MODEL, client=client)


def test_what_does_not_go_together_is_refused(client: Client) -> None:
    """With a way out."""
    with pytest.raises(sogar.ArgumentError, match="is not a Dask client"):
        german().fit(TABLE, MODEL, client="localhost:8786")
    with pytest.raises(sogar.ArgumentError, match="`checkpoint` and `client` cannot be combined"):
        german(checkpoint="kept").fit(TABLE, MODEL, client=client)

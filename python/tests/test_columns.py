"""Columns as people have them: dummies of all kinds, special codes, and many numbers."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sogar import Sogar
from sogar._progress import BETWEEN_LINES, Progress


@pytest.fixture
def dummies() -> pd.DataFrame:
    draw = np.random.default_rng(4)
    jobs = ["at_home", "health", "teacher"]
    frame = pd.DataFrame({"age": draw.integers(18, 70, 300), "mother_job": draw.choice(jobs, 300)})
    frame["Sex:Female"] = draw.random(300) < 0.5
    return pd.get_dummies(frame, columns=["mother_job"])


def decide(rows: pd.DataFrame) -> Any:
    teacher = np.asarray(rows["mother_job_teacher"]).astype(str)
    return np.isin(teacher, ["True", "1", "1.0", "true"]) & (np.asarray(rows["age"], dtype=float) > 30)


def features_of(estimator: Sogar) -> Any:
    return json.loads(estimator.to_json() or "")["features"]


def fitted(table: Any) -> Sogar:
    return Sogar(max_depth=1, max_edits=2, bins=5, progress=False).fit(table, decide)


def test_frames_and_files_have_the_same_features(dummies: pd.DataFrame, tmp_path: Path) -> None:
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    path = tmp_path / "t.csv"
    dummies.to_csv(path, index=False)
    expected = fitted(dummies)
    assert [feature["name"] for feature in features_of(expected)] == ["age", "Sex", "mother_job"]
    texts = dummies.assign(**{name: dummies[name].map(str) for name in map(str, dummies) if name != "age"})
    tables = [path, dummies.astype(int), texts, polars.from_pandas(dummies), pyarrow.table(dummies)]
    points = expected.front_[["cost_sum", "loss_count"]]
    for table in tables:
        found = fitted(table)
        assert features_of(found) == features_of(expected)
        frame = found.front_ if isinstance(found.front_, pd.DataFrame) else found.front_.to_pandas()
        assert frame[["cost_sum", "loss_count"]].astype("int64").equals(points.astype("int64"))


def test_changed_rows_have_one_category_in_the_users_own_terms(dummies: pd.DataFrame) -> None:
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    jobs = [name for name in map(str, dummies) if name.startswith("mother_job_")]
    texts = dummies.assign(**{name: dummies[name].map(str) for name in jobs})
    for table in (dummies, dummies.astype(int), texts, polars.from_pandas(dummies), pyarrow.table(dummies)):
        estimator = fitted(table)
        estimator.select(len(estimator.front_) - 1)
        changed = estimator.transform(table)
        frame = changed if isinstance(changed, pd.DataFrame) else changed.to_pandas()
        set_ = frame[jobs].map(lambda cell: str(cell) in ("True", "1", "1.0"))
        assert (set_.sum(axis=1) == 1).all()
        assert (set_ != dummies[jobs]).any(axis=None), "somebody gets another job"
        if isinstance(table, pd.DataFrame):
            assert (frame.dtypes == table.dtypes).all()


def test_a_group_without_the_first_column_is_declared(dummies: pd.DataFrame) -> None:
    short = dummies.drop(columns="mother_job_at_home")
    columns = ["mother_job_health", "mother_job_teacher"]
    features = {"mother_job": {"columns": columns, "dropped": "at_home"}}
    estimator = Sogar(max_depth=1, max_edits=2, bins=5, progress=False, features=features)
    estimator.fit(short, decide)
    job = next(feature for feature in features_of(estimator) if feature["name"] == "mother_job")
    assert job["levels"] == ["at_home", "health", "teacher"]
    assert estimator.feature_names_in_.tolist() == list(short.columns)
    assert (estimator.transform(short)[columns].sum(axis=1) <= 1).all()


def test_special_codes_reach_the_model_and_are_never_changed() -> None:
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"income": draw.integers(0, 50, 300), "debt": draw.integers(0, 20, 300)})
    frame.loc[::5, "income"] = -9
    seen = []

    def accepts(rows: pd.DataFrame) -> Any:
        seen.append(bool((rows["income"] == -9).any()))
        return (rows["income"] - rows["debt"] > 15).to_numpy()

    for codes in ([-9], {"income": [-9]}):
        estimator = Sogar(max_depth=1, max_edits=2, bins=10, progress=False, codes=codes).fit(frame, accepts)
        assert any("special code in 60 of 300 rows" in notice for notice in estimator.notices_)
        estimator.select(len(estimator.front_) - 1)
        changed = estimator.transform(frame)
        assert (changed["income"] == -9).equals(frame["income"] == -9)
        assert changed["income"].max() <= frame["income"].max()
    assert any(seen)


def test_many_numbers_stay_within_the_budget() -> None:
    draw = np.random.default_rng(2)
    frame = pd.DataFrame({f"x{i}": draw.normal(size=120) for i in range(20)})

    def accepts(rows: Any) -> Any:
        return np.asarray(rows)[:, :3].sum(axis=1) > 0

    with_budget = Sogar(max_depth=0, bins=10, progress=False, actions=2000).fit(frame, accepts)
    limits = json.loads(with_budget.to_json() or "")["config"]["limits"]
    assert limits["max_edits"] == 2
    assert any("--actions all" in notice for notice in with_budget.notices_)
    everything = Sogar(max_depth=0, bins=10, progress=False, max_edits=1, actions="all").fit(frame, accepts)
    assert json.loads(everything.to_json() or "")["counts"]["edits"] == 200


def test_progress_is_logged_now_and_then(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with caplog.at_level(logging.INFO, "sogar"), Progress(False) as progress:
        progress("search, depth 2", 3, 10, "120 leaf sets")
        assert caplog.messages == []
        now += BETWEEN_LINES
        progress("search, depth 2", 4, 10, "130 leaf sets")
        progress("search, depth 2", 5, 10, "140 leaf sets")
        progress.announce("this may take about 3 min")
    assert caplog.messages == [
        "search, depth 2: 4 of 10, 5 s, 130 leaf sets",
        "this may take about 3 min",
    ]

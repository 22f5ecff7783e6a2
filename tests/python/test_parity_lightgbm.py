"""LightGBM models against LightGBM itself, as text and as JSON dump, 20,000 rows each: every label agrees.

Half of the values lie at thresholds or one unit in the last place to either side; others are zero, next to
zero or missing; categories were never seen or are no category at all.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import lightgbm as lgb

ROWS = 20_000
TRAINING_ROWS = 1500

Floats = npt.NDArray[np.floating[Any]]
Sogar = Callable[..., str]

BINARY = {"objective": "binary"}
CLASSES = {"objective": "multiclass", "num_class": 3}
FOREST = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6, "feature_fraction": 0.8}


@dataclass
class Case:
    """A booster and the rows on which it is compared."""

    booster: lgb.Booster
    rows: pd.DataFrame


def numbers(rng: np.random.Generator, n: int, names: list[str]) -> pd.DataFrame:
    """Columns of several tempers: continuous, whole, mostly zero, tiny."""
    columns = [
        rng.lognormal(10, 1, n),
        rng.integers(18, 90, n).astype(float),
        np.where(rng.random(n) < 0.7, 0.0, rng.normal(0, 5, n)),
        rng.normal(0, 1, n) * 1e-3,
    ]
    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def near(rng: np.random.Generator, booster: lgb.Booster, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with half of the values at thresholds or next to them."""
    found: dict[int, list[float]] = {}
    for tree in booster.model_to_string().split("Tree=")[1:]:
        fields = dict(re.findall(r"^(\w+)=(.*)$", tree, re.MULTILINE))
        keys = ("split_feature", "threshold", "decision_type")
        for column, threshold, kind in zip(*(fields[key].split() for key in keys), strict=True):
            if not int(kind) & 1:
                found.setdefault(int(column), []).append(float(threshold))
    for column, thresholds in found.items():
        at = rng.choice(np.array(thresholds), ROWS)
        step = rng.integers(-1, 2, ROWS)
        moved = np.where(step == 0, at, np.nextafter(at, np.where(step < 0, -np.inf, np.inf)))
        name = rows.columns[column]
        rows[name] = np.where(rng.random(ROWS) < 0.5, moved, rows[name])
    return rows


def numeric(
    parameters: dict[str, Any],
    rounds: int = 40,
    *,
    missing: float = 0.0,
    names: tuple[str, ...] = ("income", "age", "gain", "rate"),
) -> Case:
    """A booster on numbers."""
    rng = np.random.default_rng(5)
    frame = numbers(rng, TRAINING_ROWS, list(names))
    signal = np.log(frame.iloc[:, 0]) - 10 + (frame.iloc[:, 1] - 50) / 40 + 400 * frame.iloc[:, 3]
    signal = signal + rng.normal(0, 0.5, TRAINING_ROWS)
    classes = int(parameters.get("num_class", 2))
    label = np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))
    frame = frame.mask(rng.random(frame.shape) < missing)
    common = {"verbose": -1, "num_threads": 1, "deterministic": True, "seed": 7}
    booster = lgb.train(common | parameters, lgb.Dataset(frame, label), rounds)
    rows = near(rng, booster, numbers(rng, ROWS, list(names)))
    tiny = [0.0, -0.0, 1e-36, -1e-36, 1e-34, 1e300, -1e300]
    for name in names:
        rows[name] = np.where(rng.random(ROWS) < 0.05, rng.choice(tiny, ROWS), rows[name])
    return Case(booster, rows.mask(rng.random(rows.shape) < max(missing, 0.02)))


def codes() -> Case:
    """A booster on category codes, with codes that the training never saw and that are none."""
    rng = np.random.default_rng(8)

    def frame(n: int) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "age": rng.integers(18, 90, n).astype(float),
                "job": rng.integers(0, 6, n).astype(float),
                "region": rng.integers(0, 90, n).astype(float),
            }
        )

    train = frame(TRAINING_ROWS)
    signal = train["age"] / 40 + train["job"] % 2 + train["region"] % 7 / 3
    label = (signal + rng.normal(0, 0.3, TRAINING_ROWS) > signal.median()).astype(int)
    common = {"verbose": -1, "num_threads": 1, "deterministic": True, "seed": 7}
    parameters = common | BINARY | {"min_data_per_group": 5, "cat_smooth": 1}
    dataset = lgb.Dataset(train, label, categorical_feature=["job", "region"])
    booster = lgb.train(parameters, dataset, 40)
    rows = near(rng, booster, frame(ROWS))
    odd = [-1.0, -0.5, -3.0, 0.5, 1.9, 95.0, 1000.0, 2.0**31, 1e18, np.nan]
    for name in ("job", "region"):
        rows[name] = np.where(rng.random(ROWS) < 0.3, rng.choice(odd, ROWS), rows[name])
    return Case(booster, rows)


CASES: dict[str, Callable[[], Case]] = {
    "binary": lambda: numeric(BINARY, 80),
    "deep": lambda: numeric(BINARY | {"num_leaves": 300, "min_data_in_leaf": 1}, 20),
    "stumps": lambda: numeric(BINARY | {"num_leaves": 2}, 60),
    "missing": lambda: numeric(BINARY, missing=0.15),
    "zero_is_missing": lambda: numeric(BINARY | {"zero_as_missing": True}, missing=0.1),
    "nothing_is_missing": lambda: numeric(BINARY | {"use_missing": False}, missing=0.1),
    "multiclass": lambda: numeric(CLASSES, 20, missing=0.1),
    "one_vs_all": lambda: numeric(CLASSES | {"objective": "multiclassova", "sigmoid": 1.5}, 20),
    "dart": lambda: numeric(BINARY | {"boosting": "dart", "drop_rate": 0.4}),
    "forest": lambda: numeric(BINARY | FOREST, 25),
    "forest_multiclass": lambda: numeric(CLASSES | FOREST, 10),
    "cross_entropy": lambda: numeric({"objective": "cross_entropy"}),
    "odd_names": lambda: numeric(BINARY, 20, names=("monthly income", "age in years", "gain", "rate (%)")),
    "codes": codes,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("ending", ["txt", "json"])
def test_labels_and_scores_are_lightgbms(name: str, ending: str, sogar: Sogar, tmp_path: Path) -> None:
    case = CASES[name]()
    model, table = tmp_path / f"model.{ending}", tmp_path / "rows.csv"
    if ending == "txt":
        case.booster.save_model(model)
    else:
        model.write_text(json.dumps(case.booster.dump_model()))
    case.rows[case.rows.columns[::-1]].to_csv(table, index=False, float_format="%.17g")
    ours = json.loads(sogar("predict", table, "--model", model, "--json"))
    scores = case.booster.predict(case.rows.to_numpy())
    assert isinstance(scores, np.ndarray)
    if scores.ndim == 1:
        labels = (scores > 0.5).astype(int)
    else:
        labels = scores.argmax(axis=1)
        scores = scores[np.arange(ROWS), labels]
    assert len(set(labels.tolist())) > 1, "the rows should not all be alike"
    assert np.flatnonzero(labels != np.array(ours["labels"])).tolist() == []
    assert np.abs(scores - np.array(ours["scores"])).max() <= 4 * np.finfo(float).eps


#: Categories that only an exact comparison tells apart: spaces, tabs, no-break spaces, spellings of numbers.
ALIKE = [
    *("a", " a", "a ", "  a", "\ta", "a\t", "\u00a0a", "a\u00a0", "\u3000a", "A", " ", "\t", "\u00a0"),
    *("1", " 1", "1 ", "1.0", "01", "1e0", "true", "True", "9007199254740992", "9007199254740993"),
]
#: As floats, these are five.
LARGE = [2**53 + i for i in range(8)] + [-(2**60) - i for i in range(8)] + [2**63 - 1 - i for i in range(8)]


def alike(rng: np.random.Generator, n: int, known: bool) -> pd.DataFrame:
    """Rows of such categories; some that the training never saw unless `known`."""
    kinds = ALIKE if known else [*ALIKE, "a  ", "\u2003a", " 01", "b"]
    ids = LARGE if known else [*LARGE, 2**53 + 20, 5]
    columns = {
        "age": rng.integers(18, 90, n).astype(float),
        "kind": np.array(kinds, dtype=object)[rng.integers(0, len(kinds), n)],
        "id": np.array(ids, dtype=object)[rng.integers(0, len(ids), n)],
    }
    return pd.DataFrame(columns)


@pytest.mark.parametrize("kept", ["csv", "parquet"])
def test_categories_that_look_alike_stay_different(kept: str, sogar: Sogar, tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    train = alike(rng, 4 * TRAINING_ROWS, known=True)
    worth = {text: float(rng.normal()) for text in [*ALIKE, *LARGE]}
    signal = train["kind"].map(worth) + train["id"].map(worth) + train["age"] / 40
    label = (signal > signal.median()).astype(int)
    dtypes = {"kind": pd.CategoricalDtype(ALIKE), "id": pd.CategoricalDtype(LARGE)}
    parameters = {"verbose": -1, "num_threads": 1, "deterministic": True, "seed": 7, "cat_smooth": 1}
    booster = lgb.train(
        parameters | BINARY | {"min_data_per_group": 5}, lgb.Dataset(train.astype(dtypes), label), 40
    )
    model, table, config = tmp_path / "model.txt", tmp_path / f"rows.{kept}", tmp_path / "sogar.toml"
    booster.save_model(model)
    rows = alike(rng, ROWS, known=False)
    if kept == "csv":
        rows.to_csv(table, index=False)
    else:
        rows.astype({"id": np.int64}).to_parquet(table)
    config.write_text('[features.id]\nkind = "categorical"\n')
    ours = json.loads(sogar("predict", table, "--model", model, "--json", "--config", config))
    seen = rows.assign(
        kind=rows["kind"].where(rows["kind"].isin(ALIKE)), id=rows["id"].where(rows["id"].isin(LARGE))
    )
    labels = (np.asarray(booster.predict(seen.astype(dtypes))) > 0.5).astype(int)
    assert np.flatnonzero(labels != np.array(ours["labels"])).tolist() == []
    assert booster.feature_importance().min() > 0, "both columns should matter"


def test_trimming_merges_them_on_request(sogar: Sogar, sogar_error: Sogar, tmp_path: Path) -> None:
    rng = np.random.default_rng(10)
    train = pd.DataFrame({"kind": np.array(["no", "yes"])[rng.integers(0, 2, 400)], "age": rng.random(400)})
    label = (train["kind"] == "yes").astype(int)
    dataset = lgb.Dataset(train.astype({"kind": "category"}), label)
    booster = lgb.train({"verbose": -1, "num_threads": 1} | BINARY, dataset, 5)
    model, table = tmp_path / "model.txt", tmp_path / "rows.csv"
    booster.save_model(model)
    (train.assign(kind=" " + train["kind"])).to_csv(table, index=False)
    message = sogar_error("predict", table, "--model", model)
    assert "knows none of the values of `kind`" in message
    assert "trim = true" in message
    ours = json.loads(sogar("predict", table, "--model", model, "--json", "--trim"))
    assert ours["labels"] == label.tolist()

"""`audit` across groups: every figure computed again from front, table and LightGBM's own predictions."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from recompute import Json, Population
from running import DATA, GERMAN, ROOT, Sogar, Solve, skip
from scipy import stats

Floats = npt.NDArray[np.float64]
MEASURES = ("cost", "loss", "invalidity")


def sex(table: pd.DataFrame) -> pd.Series[str]:
    """The part of `status_sex` before the colon."""
    return table["status_sex"].str.split(" :").str[0]


@dataclass(frozen=True)
class Case:
    """A front with its reference and held-out people, and what the audit says of them."""

    audit: Json
    front: Json
    out: Path
    tables: dict[str, pd.DataFrame]
    people: dict[str, Population]

    def populations(self) -> Iterator[tuple[str, Json]]:
        """What is said of the two tables by the groups that were named; protected features come on top."""
        for which in ("reference", "holdout"):
            said = self.audit[which]
            named = [grouping for grouping in said["groupings"] if grouping["name"] in GROUPINGS]
            yield which, {**said, "groupings": named}

    def values(self, which: str) -> dict[str, Floats]:
        """What every affected person pays and loses at every point, a row a person."""
        people, unit = self.people[which], self.front["cost"]["unit"]
        points = self.front["points"]
        cost, loss = np.zeros((people.size, len(points))), np.zeros((people.size, len(points)))
        for number, point in enumerate(points):
            for leaf in people.leaves(point["tree"]):
                outcome = people.outcome(leaf.node["action"])
                cost[leaf.rows, number] = outcome.cost[leaf.rows] / unit
                loss[leaf.rows, number] = ~outcome.flipped[leaf.rows]
        return {"cost": cost, "loss": loss, "invalidity": cost + loss}


TIMES = "\N{MULTIPLICATION SIGN}"
GROUPINGS = ("sex", "foreign_worker", f"sex{TIMES}foreign_worker", "age<=25")


@pytest.fixture(scope="session")
def case(german: pd.DataFrame, solve: Solve, sogar: Sogar, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """German Credit with a column `sex` that the model does not see, three quarters of it as reference."""
    folder = tmp_path_factory.mktemp("audit")
    table = german.assign(sex=sex(german))
    held = np.arange(len(table)) % 4 == 3
    tables = {
        "reference": table[~held].reset_index(drop=True),
        "holdout": table[held].reset_index(drop=True),
    }
    for name, rows in tables.items():
        rows.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    out = solve(
        folder / "reference.csv",
        folder / "front.json",
        *("--ignore", "sex", "--holdout", str(folder / "holdout.csv")),
    )
    front: Json = json.loads(out.read_text())
    groups = [flag for name in GROUPINGS for flag in ("--group", name)]
    audit: Json = json.loads(sogar("audit", out, *groups, "--draws", "200", "--seed", "7", "--json"))
    people = {
        name: Population(front, GERMAN / "model.txt", tables["reference"], rows)
        for name, rows in tables.items()
    }
    return Case(audit, front, out, tables, people)


def members(table: pd.DataFrame, grouping: str, group: str) -> npt.NDArray[np.bool_]:
    """The rows of a group, by its name."""
    if grouping == "age<=25":
        young = pd.to_numeric(table["age"]) <= 25
        return np.asarray(young if group == "age <= 25" else ~young, dtype=np.bool_)
    wanted = np.ones(len(table), dtype=np.bool_)
    for column, value in zip(grouping.split(TIMES), group.split(f" {TIMES} "), strict=True):
        wanted &= np.asarray(table[column] == value, dtype=np.bool_)
    return wanted


def test_every_person_is_in_one_group(case: Case) -> None:
    names = [grouping["name"] for grouping in case.audit["reference"]["groupings"]]
    assert names[: len(GROUPINGS)] == list(GROUPINGS)
    assert {"status_sex", "age", "foreign_worker"} <= set(names), "protected features are always audited"
    for which, population in case.populations():
        table = case.tables[which]
        assert population["rows"] == len(table)
        assert population["affected"] == case.people[which].size
        for grouping in population["groupings"]:
            assert sum(group["rows"] for group in grouping["groups"]) == len(table)
            assert sum(group["affected"] for group in grouping["groups"]) == population["affected"]


def test_rates_of_the_classifier_equal_the_recomputation(case: Case) -> None:
    for which, population in case.populations():
        table, down = case.tables[which], case.people[which].affected
        truth = np.asarray(table["credit"] == "good")
        for grouping in population["groupings"]:
            rates: dict[str, list[float]] = {"adverse_rate": [], "selection_rate": [], "tpr": []}
            for group in grouping["groups"]:
                rows = members(table, grouping["name"], group["group"])
                positives = int((rows & truth).sum())
                assert (group["rows"], group["affected"]) == (rows.sum(), (rows & down).sum())
                assert group["positives"] == positives
                expected = {
                    "adverse_rate": (rows & down).sum() / rows.sum(),
                    "selection_rate": (rows & ~down).sum() / rows.sum(),
                    "tpr": (rows & truth & ~down).sum() / positives if positives else None,
                }
                for key, value in expected.items():
                    assert group[key] == (value if value is None else pytest.approx(value, abs=1e-12))
                for key in ("adverse_rate", "selection_rate"):
                    rates[key] += [expected[key]] if rows.sum() >= 10 else []
                rates["tpr"] += [expected["tpr"]] if positives >= 10 else []
            for key in ("adverse_rate", "selection_rate"):
                ratio = min(rates[key]) / max(rates[key]) if len(rates[key]) > 1 else None
                assert grouping[f"{key}_ratio"] == (ratio and pytest.approx(ratio, abs=1e-12))
            gap = max(rates["tpr"]) - min(rates["tpr"]) if len(rates["tpr"]) > 1 else None
            assert grouping["tpr_gap"] == (gap and pytest.approx(gap, abs=1e-12))


def test_measures_and_gaps_equal_the_recomputation_at_every_point(case: Case) -> None:
    compared = 0
    for which, population in case.populations():
        values, table = case.values(which), case.tables[which]
        for grouping in population["groupings"]:
            stated = []
            for group in grouping["groups"]:
                rows = members(table, grouping["name"], group["group"])[case.people[which].affected]
                enough = rows.sum() >= 10 and (~rows).sum() >= 10
                assert group["enough"] == enough
                if not enough:
                    assert group["measures"] is None
                    continue
                stated.append(group["measures"])
                for measure in MEASURES:
                    check_measure(group["measures"][measure], values[measure], rows)
                    compared += 1
            assert grouping["comparisons"] == 3 * len(stated)
            for measure in MEASURES if len(stated) > 1 else ():
                means = np.array([found[measure]["values"] for found in stated])
                spread = means.max(axis=0) - means.min(axis=0)
                np.testing.assert_allclose(grouping["spread"][measure], spread, atol=1e-12)
    assert compared >= 30


def check_measure(found: Json, values: Floats, rows: npt.NDArray[np.bool_]) -> None:
    """A group's measure along the front: means, gaps, intervals, and what is said of the whole front."""
    inside, outside = values[rows], values[~rows]
    gap = inside.mean(axis=0) - outside.mean(axis=0)
    np.testing.assert_allclose(found["values"], inside.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found["gap"], gap, atol=1e-12)
    assert found["mean_gap"] == pytest.approx(gap.mean(), abs=1e-12)
    # Gaps of 0 may be off by a rounding error here.
    assert found["share_worse"] == pytest.approx((np.array(found["gap"]) > 0).mean(), abs=1e-12)
    assert found["share_worse"] == pytest.approx((gap > 1e-12).mean(), abs=2 / len(gap))
    assert abs(gap[found["widest"]]) == pytest.approx(np.abs(gap).max(), abs=1e-12)
    low, high = welch(inside, outside)
    np.testing.assert_allclose(found["low"], low, atol=1e-4)
    np.testing.assert_allclose(found["high"], high, atol=1e-4)


def welch(inside: Floats, outside: Floats) -> tuple[Floats, Floats]:
    """Welch's 95 % interval of a difference of means, per column."""
    parts = [rows.var(axis=0, ddof=1) / len(rows) for rows in (inside, outside)]
    parts = [np.where(part < 1e-20, 0.0, part) for part in parts]
    freedom = [part**2 / (len(rows) - 1) for part, rows in zip(parts, (inside, outside), strict=True)]
    error = parts[0] + parts[1]
    certain = error == 0
    degrees = np.where(certain, 1.0, error**2 / np.where(certain, 1.0, freedom[0] + freedom[1]))
    half = stats.t.ppf(0.975, degrees) * np.sqrt(error)
    gap = inside.mean(axis=0) - outside.mean(axis=0)
    return gap - half, gap + half


def drawn(seed: int, stream: int, people: int) -> npt.NDArray[np.int64]:
    """People drawn with replacement: SplitMix64, as the documentation says."""
    with np.errstate(over="ignore"):
        start = np.uint64(seed) ^ (np.uint64(stream) * np.uint64(0xD1B54A32D192ED03))
        steps = np.arange(1, people + 1, dtype=np.uint64)
        mixed = start + steps * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((mixed ^ (mixed >> np.uint64(31))) % np.uint64(people)).astype(np.int64)


def test_the_bootstrap_equals_the_recomputation(case: Case) -> None:
    for which, population in case.populations():
        means = {measure: values.mean(axis=1) for measure, values in case.values(which).items()}
        draws = [drawn(7, stream, case.people[which].size) for stream in range(1, 201)]
        for grouping in population["groupings"]:
            for group in grouping["groups"]:
                if not group["enough"]:
                    continue
                rows = members(case.tables[which], grouping["name"], group["group"])
                rows = rows[case.people[which].affected]
                for measure in MEASURES:
                    gaps = [
                        means[measure][draw[rows[draw]]].mean() - means[measure][draw[~rows[draw]]].mean()
                        for draw in draws
                    ]
                    found = group["measures"][measure]
                    ends = np.quantile(gaps, [0.025, 0.975])
                    np.testing.assert_allclose(
                        [found["mean_gap_low"], found["mean_gap_high"]], ends, atol=1e-9
                    )


def test_csv_has_the_same_figures(case: Case, sogar: Sogar, tmp_path: Path) -> None:
    path = tmp_path / "audit.csv"
    groups = [flag for name in GROUPINGS for flag in ("--group", name)]
    sogar("audit", case.out, *groups, "--draws", "0", "--unreachable", "no", "--csv", path)
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    found = {(line["table"], line["grouping"], line["group"], line["point"]): line for line in lines}
    assert len(found) == len(lines)
    for which, population in case.populations():
        for grouping in population["groupings"]:
            for group in grouping["groups"]:
                key = (which, grouping["name"], group["group"])
                if not group["enough"]:
                    assert found[*key, ""]["cost"] == ""
                    continue
                for point in range(case.audit["points"]):
                    line = found[*key, str(point)]
                    for measure in MEASURES:
                        expected = group["measures"][measure]
                        assert float(line[measure]) == expected["values"][point]
                        assert float(line[f"{measure}_gap"]) == expected["gap"][point]
                        assert float(line[f"{measure}_gap_low"]) == expected["low"][point]


def test_a_limit_on_a_gap_chooses_the_best_point_within_it(case: Case, sogar: Sogar) -> None:
    grouping = case.audit["reference"]["groupings"][0]
    gaps = np.array([group["measures"]["invalidity"]["gap"] for group in grouping["groups"]])
    widest = np.abs(gaps).max(axis=0)
    limit = float(np.quantile(widest, 0.3))
    picks: Any = json.loads(sogar("select", case.out, "--by", f"gap(invalidity, sex)<={limit}", "--json"))
    invalidity = [point["invalidity"] for point in case.front["points"]]
    allowed = np.flatnonzero(widest <= limit)
    assert picks["picks"][0]["point"] == min(allowed, key=lambda point: invalidity[point])


def test_a_failing_condition_gives_exit_code_1(case: Case, binary: Path) -> None:
    groups = case.audit["reference"]["groupings"][0]["groups"]
    gap = max(abs(group["measures"]["loss"]["mean_gap"]) for group in groups)

    def code(limit: float) -> int:
        condition = f"gap(loss, sex) > {limit}"
        flags = ("--fail-on", condition, "--unreachable", "no", "--draws", "0")
        command: list[str | Path] = [binary, "audit", case.out, *flags]
        return subprocess.run(command, capture_output=True, timeout=600, check=False).returncode

    assert (code(gap - 1e-6), code(gap + 1e-6)) == (1, 0)


def test_the_unreachable_are_flipped_by_no_action(german: pd.DataFrame, sogar: Sogar, tmp_path: Path) -> None:
    """With one edit an action, all actions can be tried by hand."""
    out, problem = tmp_path / "front.json", tmp_path / "problem.npz"
    table = tmp_path / "german.csv"
    german.assign(sex=sex(german)).to_csv(table, index=False, lineterminator="\n")
    model, config = GERMAN / "model.txt", GERMAN / "sogar.toml"
    flags = ("--model", model, "--config", config, "--max-edits", "1", "--ignore", "sex", "--quiet")
    sogar("solve", table, *flags, "-o", out)
    sogar("problem", "export", table, *flags, "-o", problem)
    arrays = np.load(problem)
    unreachable = ~arrays["flips"].any(axis=0)
    audit: Json = json.loads(sogar("audit", out, "--group", "sex", "--draws", "0", "--json"))
    assert audit["reference"]["unreachable"] == unreachable.sum() > 0
    who = sex(german).to_numpy()[arrays["affected"]][unreachable]
    for group in audit["reference"]["groupings"][0]["groups"]:
        assert group["unreachable"] == (who == group["group"]).sum()
        blocked = group["blocked_by"]
        assert blocked["none_alone"] <= group["unreachable"]
    # One more edit: what the problem with two edits flips.
    two = tmp_path / "two.npz"
    flags = ("--model", model, "--config", config, "--max-edits", "2", "--ignore", "sex", "--quiet")
    sogar("problem", "export", table, *flags, "-o", two)
    reached = np.load(two)["flips"].any(axis=0)
    assert (np.load(two)["affected"] == arrays["affected"]).all()
    assert audit["reference"]["blocked_by"]["edits"] == (unreachable & reached).sum()


def test_the_published_rates_of_adult_are_reproduced(sogar: Sogar, tmp_path: Path) -> None:
    """To the printed digit, with the model that the published protocol trains on the first fold."""
    if not (DATA / "adult_train.csv").exists():
        skip("data", f"{DATA} has no adult_train.csv (set SOGAR_DATA)")
    script = ROOT / "scripts" / "paper_models.py"
    flags = ("--data", DATA, "--out", tmp_path, "--folds", "1", "adult")
    subprocess.run([sys.executable, script, *flags], check=True, capture_output=True, timeout=600)
    fold, out = tmp_path / "adult" / "fold1", tmp_path / "front.json"
    small = ("--max-depth", "1", "--max-leaves", "2", "--max-edits", "1", "--quiet")
    inputs = (fold / "train.csv", "--model", fold / "model.txt", "--holdout", fold / "test.csv")
    sogar("solve", *inputs, "--preset", "paper-adult", "-o", out, *small)
    options = ("--group", "sex", "--draws", "0", "--unreachable", "no", "--json")
    audit: Json = json.loads(sogar("audit", out, *options))
    published = {
        "reference": (
            19_199,
            (9_730, 8_417, 0.865, 0.792, 1_054),
            (19_574, 10_782, 0.551, 0.904, 6_002),
            0.64,
        ),
        "holdout": (2_120, (1_041, 891, 0.856, 0.776, 125), (2_216, 1_229, 0.555, 0.894, 660), 0.65),
    }
    for which, (affected, women, men, ratio) in published.items():
        population = audit[which]
        grouping = population["groupings"][0]
        assert population["affected"] == affected
        assert [group["group"] for group in grouping["groups"]] == ["Female", "Male"]
        for group, (rows, down, adverse_rate, tpr, positives) in zip(
            grouping["groups"], (women, men), strict=True
        ):
            assert (group["rows"], group["affected"], group["positives"]) == (rows, down, positives)
            assert round(group["adverse_rate"], 3) == adverse_rate
            assert round(group["tpr"], 3) == tpr
        assert round(grouping["adverse_rate_ratio"], 2) == ratio
    assert round(audit["reference"]["groupings"][0]["selection_rate_ratio"], 2) == 0.30

"""What holds for people not yet seen: guaranteed choices, intervals, several models, targets."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import sogar
from running import GERMAN
from scipy.stats import binom, binomtest, t
from sogar import Sogar, SogarError

Cli = Callable[..., str]
FEATURES = ["income", "debt", "age"]


def drawn(seed: int, count: int) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    """Independent people, and whether they repaid."""
    draw = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "income": draw.normal(50, 15, count).round(2),
            "debt": draw.normal(20, 8, count).round(2),
            "age": draw.integers(18, 70, count),
        }
    )
    score = table["income"] - 1.5 * table["debt"] + draw.normal(0, 8, count)
    return table, (score > 15).to_numpy().astype(np.int64)


def trained(seed: int) -> lightgbm.LGBMClassifier:
    """A model of such people."""
    return lightgbm.LGBMClassifier(n_estimators=15, num_leaves=6, n_jobs=1, verbose=-1).fit(*drawn(seed, 500))


@pytest.fixture(scope="module")
def front() -> sogar.Sogar:
    """A small front."""
    table, _ = drawn(1, 400)
    return sogar.Sogar(max_depth=1, max_edits=2, protected=["age"]).fit(table, trained(2), desired=1)


def test_intervals_are_those_of_scipy(front: sogar.Sogar) -> None:
    """Clopper and Pearson for each point and for all at once, Student for mean costs."""
    found = front.evaluate(drawn(3, 300)[0])
    affected = front.evaluation_["affected"]
    for row, details in zip(found.itertuples(), front.evaluation_["details"], strict=True):
        test = binomtest(affected - row.loss_count, affected)
        for name, confidence in (("works", 0.95), ("band", 1 - 0.05 / len(found))):
            expected = test.proportion_ci(confidence, "exact")
            ends = getattr(row, f"{name}_low"), getattr(row, f"{name}_high")
            assert ends == pytest.approx((expected.low, expected.high), abs=1e-9)
        half = t.ppf(0.975, affected - 1) * details["cost_sd"] / np.sqrt(affected)
        assert (row.cost_low, row.cost_high) == pytest.approx(
            (max(row.cost - half, 0), row.cost + half), abs=1e-6
        )
    for detail, intervals in zip(front.evaluation_["details"], front.evaluation_["intervals"], strict=True):
        for leaf, interval in zip(detail["leaves"], intervals["leaves"], strict=True):
            if leaf["rows"]:
                expected = binomtest(leaf["flipped"], leaf["rows"]).proportion_ci(0.95, "exact")
                assert (interval["low"], interval["high"]) == pytest.approx(
                    (expected.low, expected.high), abs=1e-9
                )


def test_a_guaranteed_choice_is_the_last_that_passes_an_exact_test(front: sogar.Sogar) -> None:
    """Fixed-sequence testing, computed again with scipy."""
    calibration = drawn(4, 400)[0]
    chosen = front.select(guarantee="loss<=0.3", confidence=0.9, calibration=calibration)
    evaluated = front.evaluate(calibration)
    affected = front.evaluation_["affected"]
    expected = None
    for point in reversed(range(len(evaluated))):
        lost = int(evaluated["loss_count"][point])
        if binomtest(lost, affected, 0.3, alternative="less").pvalue > 0.1:
            break
        expected = point
    assert chosen.point == expected
    assert chosen.guarantee is not None
    assert chosen.guarantee["affected"] == affected
    assert "neither the search nor the training" in chosen.guarantee["assumes"]


def hoeffding_bentkus(total: float, count: int, limit: float) -> float:
    """The p-value for a mean of `count` numbers between 0 and 1."""
    mean = min(total / count, limit)
    entropy = sum(p * np.log(p / q) for p, q in ((mean, limit), (1 - mean, 1 - limit)) if p > 0)
    bentkus = np.e * binom.cdf(np.ceil(total), count, limit)
    return float(min(np.exp(-count * entropy), bentkus, 1))


@pytest.mark.parametrize(("cost", "largest"), [("mps", 1), ("cet", 1), ("l1", 2)])
def test_costs_of_groups_are_guaranteed_by_hoeffding_and_bentkus(cost: str, largest: int) -> None:
    """The largest p-value of the groups counts; the costs of two edits add up to 2 with `l1`."""
    table, _ = drawn(1, 400)
    front = sogar.Sogar(max_depth=1, max_edits=2, protected=["age"], cost=cost)
    front.fit(table, trained(2), desired=1)
    calibration = drawn(4, 1500)[0]
    region = np.where(np.arange(1500) % 3 == 0, "north", "south")
    chosen = front.select(
        guarantee="cost<=0.3",
        confidence=0.9,
        calibration=calibration,
        groups={"region": np.resize(["north", "south"], 400)},
        calibration_groups={"region": region},
    )
    found = {"point": chosen.point, **(chosen.guarantee or {})}
    sides: list[tuple[Any, int]] = []
    most = json.loads(front.to_json() or "")["cost"]["unit"] * largest
    for name in ("north", "south"):
        evaluated = front.evaluate(calibration[region == name])
        sides.append((evaluated["cost_sum"] / most, front.evaluation_["affected"]))
    assert [group["affected"] for group in found["groups"]] == [count for _, count in sides]

    def p_values(point: int) -> list[float]:
        return [hoeffding_bentkus(sums[point], count, 0.3 / largest) for sums, count in sides]

    passed = [max(p_values(point)) <= 0.1 for point in range(len(front.front_))]
    expected = passed.index(False) - 1
    assert (found["point"], found["failed"]) == (expected, expected + 1)
    assert [group["p_value"] for group in found["groups"]] == pytest.approx(p_values(expected), rel=1e-6)


def test_the_band_is_the_exact_test_of_scipy(front: sogar.Sogar) -> None:
    """A loss is beyond the band if and only if its p-value is at most 5 % divided by the number of points."""
    people, model = drawn(3, 3000)[0], trained(2)
    level = 0.05 / len(front.front_)
    beyond: list[bool] = []
    point = len(front.front_) // 2
    front.select(point)
    turned_down = people[model.predict(people) == 0].reset_index(drop=True)
    fails = model.predict(front.transform(turned_down)) == 0
    for share in np.linspace(0.0, 1.0, 21):
        lost, kept = turned_down[fails][: int(100 * share)], turned_down[~fails][: int(100 * (1 - share))]
        others = pd.concat([lost, kept])
        loss, count = front.front_["loss"][point], len(others)
        p_value = binomtest(len(lost), count, loss, alternative="greater").pvalue
        beyond.append(bool(p_value <= level))
        if beyond[-1]:
            with pytest.raises(sogar.EvaluationFailedError, match="loss > band"):
                front.evaluate(others, fail_on="loss > band")
        else:
            front.evaluate(others, fail_on="loss > band")
    assert 3 < sum(beyond) < 18, beyond


def test_what_cannot_be_guaranteed_is_refused(front: sogar.Sogar) -> None:
    """Without people, with those of the fit, with a confidence that is none, with two ways to choose."""
    calibration = drawn(4, 400)[0]
    accepted = calibration[front.predict(calibration) == 0]
    with pytest.raises(sogar.PopulationError, match="turns nobody down"):
        front.select(guarantee="loss<=0.3", calibration=accepted)
    with pytest.raises(sogar.PopulationError, match="with 99 % confidence"):
        front.select(guarantee="loss<=0.01", confidence=0.99, calibration=calibration)
    table, model = drawn(1, 400)[0], trained(2)
    unbounded = sogar.Sogar(max_depth=0, max_edits=1, cost="logshift").fit(table, model, desired=1)
    with pytest.raises(sogar.ArgumentError, match="no largest value"):
        unbounded.select(guarantee="cost<=0.3", calibration=calibration)
    weighted = sogar.Sogar(max_depth=0, max_edits=1, sample_weight_column="people")
    weighted.fit(table.assign(people=np.resize([1, 2], 400)), model, desired=1)
    with pytest.raises(sogar.ArgumentError, match="with weights, nothing can be guaranteed"):
        weighted.select(guarantee="loss<=0.3", calibration=calibration.assign(people=1))
    without: list[dict[str, Any]] = [{"calibration": calibration}, {"confidence": 0.9}, {"groups": "age"}]
    for alone in without:
        with pytest.raises(sogar.ArgumentError, match="belongs to a guarantee"):
            front.select("knee", **alone)
    with pytest.raises(sogar.ArgumentError, match="needs people to test it with"):
        front.select(guarantee="loss<=0.3")
    with pytest.raises(sogar.ArgumentError, match="equal rows of the fitted table"):
        front.select(guarantee="loss<=0.3", calibration=drawn(1, 400)[0])
    with pytest.raises(sogar.ArgumentError, match="not between 0 and 1"):
        front.select(guarantee="loss<=0.3", confidence=95, calibration=calibration)
    with pytest.raises(sogar.ArgumentError, match="by a criterion or by a guarantee"):
        front.select("knee", guarantee="loss<=0.3", calibration=calibration)


def test_a_condition_that_holds_raises(front: sogar.Sogar) -> None:
    """The monthly check, as an exception."""
    others = drawn(3, 300)[0]
    front.evaluate(others, fail_on="cost > 10")
    with pytest.raises(sogar.EvaluationFailedError, match="loss >= 0") as failed:
        front.evaluate(others, fail_on=["loss >= 0", "cost > 10"], point="invalidity")
    again = pickle.loads(pickle.dumps(failed.value))
    assert [verdict["condition"] for verdict in again.verdicts] == ["loss >= 0"]


def test_advice_works_only_if_enough_models_accept() -> None:
    """The flips of k of m models, counted again from their own predictions."""
    table, _ = drawn(1, 200)
    models = [trained(seed) for seed in (2, 5, 6)]
    for agree, least in ((2, 2), ("all", 3)):
        front = sogar.Sogar(max_depth=1, max_edits=1, protected=["age"])
        front.fit(table, models[0], desired=1, also=models[1:], agree=agree)
        for point in range(len(front.front_)):
            front.select(point)
            edited = front.transform(table)
            said = np.array([model.predict(edited) for model in models])
            turned_down = models[0].predict(table) == 0
            works = (said[0] == 1) & (said.sum(axis=0) >= least)
            assert (turned_down & ~works).sum() == front.front_["loss_count"][point]
    with pytest.raises(sogar.ConfigError, match="there are only 3 models"):
        sogar.Sogar().fit(table, models[0], desired=1, also=models[1:], agree=4)
    people, repaid = drawn(5, 300)
    three = repaid + (people["age"] > 60)
    for rows, labels, why in (
        (people, three, "other classes than the first"),
        (people.rename(columns={"age": "wealth"}), repaid, "wealth"),
    ):
        other = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(rows, labels)
        with pytest.raises(SogarError, match=why):
            sogar.Sogar().fit(table, models[0], desired=1, also=[other])


def test_targets_bring_everybody_to_the_same_side() -> None:
    """Raise to at least, bring down to at most; in words and in the edited table."""
    table, _ = drawn(1, 200)
    front = sogar.Sogar(
        max_depth=0,
        max_edits=1,
        protected=["age"],
        steps={"debt": [1], "income": [1]},
        targets={"debt": [10]},
    )
    front.fit(table, trained(2), desired=1)
    texts = list(front.actions_["text"])
    assert "Bring `debt` down to at most 10" in texts
    front.select(next(i for i in range(len(front.front_)) if "at most 10" in str(front.select(i))))
    turned_down = front.predict(table) != 0
    assert front.transform(table)["debt"][turned_down].max() <= 10


def test_neighbours_are_the_nearest_real_people() -> None:
    """Against distances computed here from docs/SPEC.md, section 11."""
    table, _ = drawn(1, 200)
    model = trained(2)
    front = sogar.Sogar(max_depth=1, max_edits=2, protected=["age"]).fit(table, model, desired=1)
    front.select("invalidity")
    edited, near = front.transform(table), front.neighbours(k=4)
    assert list(near.columns) == ["who", "action", "row", "nearest", "distance"]
    assert len(near) > 0
    assert near.equals(front.neighbours("invalidity", k=4))
    for row, found in near.groupby("row"):
        person = edited.iloc[row]
        assert model.predict(edited.iloc[[row]])[0] == 1, "the advice works for the person who is shown"
        apart = np.zeros(len(table))
        for name in table:
            amounts = np.sort(table[name].to_numpy())
            below = np.searchsorted(amounts, table[name], side="right")
            apart += abs(below - np.searchsorted(amounts, person[name], side="right")) / len(amounts)
        apart = np.delete(apart / table.shape[1], row)
        np.testing.assert_allclose(found["distance"], np.sort(apart)[:4], atol=1e-12)
        assert row not in set(found["nearest"])
    with pytest.raises(sogar.ArgumentError, match="not a number of people"):
        front.neighbours(k=0)


def test_plausible_people_are_those_of_the_command_line(run_cli: Cli, tmp_path: Path) -> None:
    table, model, out = GERMAN / "german.csv", GERMAN / "model.txt", tmp_path / "front.json"
    config = GERMAN / "sogar.toml"
    flags = ("--config", config, "--max-edits", "1", "--max-depth", "1", "--min-plausibility", "0.1")
    run_cli("solve", table, "--model", model, "-o", out, "--quiet", *flags)
    params: dict[str, Any] = {"config": config, "max_edits": 1, "max_depth": 1, "progress": False}
    front = Sogar(min_plausibility=0.1, **params).fit(table, str(model))
    theirs = json.loads(out.read_text(encoding="utf-8"))
    ours = json.loads(front.to_json() or "")
    assert {**theirs, "run": None} == {**ours, "run": None}
    assert front.plausibility_ == theirs["plausibility"]
    assert "How usual are the people for whom it works?" in str(front.select("knee"))
    assert Sogar(**params).fit(table, str(model)).plausibility_ is None


def test_a_function_says_how_usual_rows_are() -> None:
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"income": rng.uniform(0, 100, 300), "debt": rng.uniform(0, 100, 300)})

    def granted(rows: pd.DataFrame) -> Any:
        return rows["income"] - rows["debt"] > 10

    def usual(rows: pd.DataFrame) -> Any:
        return -np.abs(rows["income"] - 50)

    params: dict[str, Any] = {"max_depth": 1, "max_edits": 1, "bins": 10, "progress": False}
    plain = Sogar(**params).fit(people, granted, desired=1)
    front = Sogar(min_plausibility=0.2, plausibility=usual, **params).fit(people, granted, desired=1)
    assert front.plausibility_["measure"] == "function"
    assert front.front_["loss"].min() >= plain.front_["loss"].min()
    # Nobody is led further from 50 than they are, unless at least 20 % of people are further away.
    distance = np.sort(np.abs(people["income"] - 50))[::-1]
    limit = distance[int(0.2 * len(people)) - 1]
    affected = people[~granted(people).to_numpy()].reset_index(drop=True)
    for position, action in enumerate(json.loads(front.to_json() or "")["actions"]):
        works = front._front.flips(position)
        shift = next((edit for edit in action["edits"] if edit["feature"] == "income"), None)
        if shift is None:
            continue
        after = np.clip(affected["income"] + shift["by"], shift["lo"], shift["hi"])[works]
        before = affected["income"][works]
        assert (((after - 50).abs() < limit) | ((after - 50).abs() <= (before - 50).abs())).all()
    with pytest.raises(SogarError, match="inf"):
        Sogar(min_plausibility=0.2, plausibility=lambda rows: np.full(len(rows), np.inf), **params).fit(
            people, granted, desired=1
        )
    with pytest.raises(SogarError, match="no effect without"):
        Sogar(plausibility=usual, **params).fit(people, granted, desired=1)

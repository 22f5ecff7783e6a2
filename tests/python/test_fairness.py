"""Further measures, intervals, the scan and the bias audit: computed again with NumPy and SciPy."""

from __future__ import annotations

import functools
import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from recompute import Json, Population
from running import Sogar
from scipy import optimize, stats
from test_audit import TIMES, Case, case, members  # noqa: F401 - `case` is a fixture

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
BUDGET, SHARE = 0.2, 0.5
MEASURES = (f"reached({BUDGET})", f"cost_to_reach({SHARE})", f"choices({SHARE})", "ks")
GROUPINGS = ("sex", "age<=25")


@pytest.fixture(scope="module")
def audit(case: Case, sogar: Sogar) -> Json:  # noqa: F811
    """An audit with every further measure."""
    flags = [flag for name in GROUPINGS for flag in ("--group", name)]
    flags += [flag for name in MEASURES for flag in ("--measure", name)]
    found: Json = json.loads(sogar("audit", case.out, *flags, "--draws", "0", "--json"))
    return found


def groups_of(audit: Json, case: Case, which: str) -> list[tuple[Json, Bools]]:  # noqa: F811
    """Groups with a statement, and who of the affected is in them."""
    table, down = case.tables[which], case.people[which].affected
    return [
        (group, members(table, grouping["name"], group["group"])[down])
        for grouping in audit[which]["groupings"]
        if grouping["name"] in GROUPINGS  # protected features come on top
        for group in grouping["groups"]
        if group["enough"]
    ]


def named(group: Json, measure: str, where: str = "further") -> Json:
    found: Json = next(found for found in group[where] if found["measure"] == measure)
    return found


def wilson(x: float, n: float, level: float = 0.95) -> tuple[float, float]:
    ends = stats.binomtest(int(x), int(n)).proportion_ci(level, method="wilson")
    return float(ends.low), float(ends.high)


def newcombe(x: int, n: int, y: int, m: int) -> tuple[float, float]:
    """The hybrid score interval of a difference, from its definition."""
    p, q = x / n, y / m
    (a, b), (c, d) = wilson(x, n), wilson(y, m)
    return p - q - math.hypot(p - a, d - q), p - q + math.hypot(b - p, q - c)


def koopman(x: int, n: int, y: int, m: int) -> tuple[float, float]:
    """The score interval of a ratio: the likelihood under a ratio is maximised numerically."""

    def statistic(ratio: float) -> float:
        def unlikely(q: float) -> float:
            p = ratio * q
            parts = [(x, p), (n - x, 1 - p), (y, q), (m - y, 1 - q)]
            return -sum(k * math.log(max(r, 1e-300)) for k, r in parts if k > 0)

        most = min(1.0, 1 / ratio) * (1 - 1e-12)
        q = optimize.minimize_scalar(
            unlikely, bounds=(1e-12, most), method="bounded", options={"xatol": 1e-13}
        ).x
        variance = ratio * q * (1 - ratio * q) / n + ratio**2 * q * (1 - q) / m
        return float((x / n - ratio * y / m) ** 2 / variance) - float(stats.chi2.ppf(0.95, 1))

    estimate = x / n / (y / m)
    return (
        float(optimize.brentq(statistic, estimate / 50, estimate * (1 - 1e-6))),
        float(optimize.brentq(statistic, estimate * (1 + 1e-6), estimate * 50)),
    )


def curve(cost: Floats, flipped: Bools, budget: float) -> int:
    return int(np.count_nonzero(flipped & (cost <= budget)))


def least(cost: Floats, flipped: Bools, people: float) -> float:
    """The least budget that reaches so many people."""
    costs = np.sort(cost[flipped])
    rank = math.ceil(people - 1e-9)
    return 0.0 if rank <= 0 else float(costs[rank - 1]) if rank <= len(costs) else math.inf


@functools.cache
def ranks(n: int) -> tuple[int, int]:
    """How many people must be within the ends of the exact interval of a quantile."""
    exact = [stats.binomtest(k, n).proportion_ci(0.95, method="exact") for k in range(n + 1)]
    low = next(k for k, ends in enumerate(exact) if ends.high >= SHARE)
    high = next((k for k, ends in enumerate(exact) if ends.low >= SHARE), n + 1)
    return low, high


def close(found: float | None, wanted: float) -> bool:
    if math.isinf(wanted):
        return found is None
    return found is not None and abs(found - wanted) < 1e-9


def compare_point(group: Json, inside: Bools, cost: Floats, flipped: Bools, at: int, where: str) -> None:
    n, m = int(inside.sum()), int((~inside).sum())
    # The mean cost of those who succeed.
    found = named(group, "cost_of_success", where)
    mine, theirs = cost[inside & flipped], cost[~inside & flipped]
    if len(mine) > 0:
        assert close(found["values"][at], float(mine.mean()))
    if len(mine) > 1 and len(theirs) > 1 and mine.std() > 1e-9 and theirs.std() > 1e-9:
        test = stats.ttest_ind(mine, theirs, equal_var=False).confidence_interval(0.95)
        assert close(found["gap"][at], float(mine.mean() - theirs.mean()))
        assert found["low"][at] == pytest.approx(test.low, abs=1e-7)
        assert found["high"][at] == pytest.approx(test.high, abs=1e-7)
    # The share reached within a budget.
    found = named(group, f"reached({BUDGET})", where)
    x, y = curve(cost[inside], flipped[inside], BUDGET), curve(cost[~inside], flipped[~inside], BUDGET)
    assert close(found["values"][at], x / n)
    assert close(found["gap"][at], x / n - y / m)
    low, high = wilson(x, n)
    assert close(found["values_low"][at], low)
    assert close(found["values_high"][at], high)
    low, high = newcombe(x, n, y, m)
    assert close(found["low"][at], low)
    assert close(found["high"][at], high)
    # The least cost to reach a share.
    found = named(group, f"cost_to_reach({SHARE})", where)
    mine_least = least(cost[inside], flipped[inside], SHARE * n)
    their_least = least(cost[~inside], flipped[~inside], SHARE * m)
    assert close(found["values"][at], mine_least)
    low_rank, high_rank = ranks(n)
    assert close(found["values_low"][at], least(cost[inside], flipped[inside], low_rank))
    assert close(found["values_high"][at], least(cost[inside], flipped[inside], high_rank))
    if math.isfinite(mine_least) and math.isfinite(their_least):
        assert close(found["gap"][at], mine_least - their_least)
    # The distance between the cost curves: those who are not reached never are.
    found = named(group, "ks", where)
    never = float(cost.max()) + 1
    both = [np.where(flipped[side], cost[side], never) for side in (inside, ~inside)]
    distance = stats.ks_2samp(*both, method="asymp")
    assert close(found["gap"][at], float(distance.statistic))
    if distance.statistic > 0:
        budget = found["at"][at]
        here = abs(
            curve(cost[inside], flipped[inside], budget) / n
            - curve(cost[~inside], flipped[~inside], budget) / m
        )
        assert close(here, float(distance.statistic))
    error = sum(math.sqrt(math.log(4 / 0.05) / (2 * k)) for k in (n, m))
    assert close(found["low"][at], max(0.0, float(distance.statistic) - error))


def test_further_measures_equal_the_recomputation(case: Case, audit: Json) -> None:  # noqa: F811
    for which in ("reference", "holdout"):
        values = case.values(which)
        points = range(0, len(case.front["points"]), max(1, len(case.front["points"]) // 7))
        groups = groups_of(audit, case, which)
        assert groups
        for group, inside in groups:
            for at in points:
                compare_point(group, inside, values["cost"][:, at], values["loss"][:, at] == 0, at, "further")


def test_choices_count_the_actions_of_the_summary(case: Case, audit: Json) -> None:  # noqa: F811
    people = case.people["reference"]
    for group, inside in groups_of(audit, case, "reference"):
        found = named(group, f"choices({SHARE})")
        for at in range(0, len(case.front["points"]), max(1, len(case.front["points"]) // 5)):
            actions = {leaf.node["action"] for leaf in people.leaves(case.front["points"][at]["tree"])}
            effects = [people.outcome(action).flipped for action in actions]
            mine = sum(flipped[inside].mean() >= SHARE for flipped in effects)
            theirs = sum(flipped[~inside].mean() >= SHARE for flipped in effects)
            assert found["values"][at] == mine
            assert found["gap"][at] == mine - theirs
            surely = sum(
                wilson(int(flipped[inside].sum()), int(inside.sum()))[0] >= SHARE for flipped in effects
            )
            assert found["values_low"][at] == surely


def test_individual_recourse_is_never_worse_than_a_summary(case: Case, audit: Json) -> None:  # noqa: F811
    for group, _ in groups_of(audit, case, "reference"):
        for measure in (f"reached({BUDGET})", f"choices({SHARE})"):
            alone = named(group, measure, "individual")["values"][0]
            assert alone >= max(named(group, measure)["values"])
        assert named(group, "ks", "individual")["gap"][0] is not None


def test_intervals_of_rates_ratios_and_differences(audit: Json) -> None:
    for which in ("reference", "holdout"):
        grouping = audit[which]["groupings"][0]
        rates = [(int(g["rows"] - g["affected"]), int(g["rows"])) for g in grouping["groups"]]
        for group, (x, n) in zip(grouping["groups"], rates, strict=True):
            low, high = wilson(x, n)
            assert close(group["selection_rate_interval"]["low"], low)
            assert close(group["selection_rate_interval"]["high"], high)
            low, high = wilson(n - x, n)
            assert close(group["adverse_rate_interval"]["low"], low)
            if group["unreachable"]:
                low, _ = wilson(group["unreachable"], group["affected"])
                assert close(group["unreachable_interval"]["low"], low)
        assert len(rates) == 2
        rates.sort(key=lambda rate: rate[0] / rate[1])
        low, high = koopman(*rates[0], *rates[1])
        found = grouping["selection_rate_ratio_interval"]
        assert found["low"] == pytest.approx(low, rel=1e-5)
        assert found["high"] == pytest.approx(min(1.0, high), rel=1e-5)
        positives = [(round(g["tpr"] * g["positives"]), int(g["positives"])) for g in grouping["groups"]]
        positives.sort(key=lambda rate: -rate[0] / rate[1])
        low, high = newcombe(*positives[0], *positives[1])
        assert close(grouping["tpr_gap_interval"]["low"], max(0.0, low))
        assert close(grouping["tpr_gap_interval"]["high"], high)


def test_p_values_are_welchs_with_holms_correction(case: Case) -> None:  # noqa: F811
    grouping = next(
        g
        for g in case.audit["reference"]["groupings"]
        if "foreign_worker" in g["name"] and "sex" in g["name"]
    )
    values = case.values("reference")
    table, down = case.tables["reference"], case.people["reference"].affected
    stated = [group for group in grouping["groups"] if group["enough"]]
    for measure in ("cost", "loss"):
        means = values[measure].mean(axis=1)
        plain = []
        for group in stated:
            inside = members(table, grouping["name"], group["group"])[down]
            plain.append(float(stats.ttest_ind(means[inside], means[~inside], equal_var=False).pvalue))
        assert [g["measures"][measure]["p"] for g in stated] == pytest.approx(plain, rel=1e-4, abs=1e-12)
        order = np.argsort(plain)
        steps = [min(1.0, plain[test] * (len(plain) - rank)) for rank, test in enumerate(order)]
        wanted = np.empty(len(plain))
        wanted[order] = np.maximum.accumulate(steps)
        factor = 1 if len(stated) == 2 and len(grouping["groups"]) == 2 else None
        if factor is None:
            assert [g["measures"][measure]["p_holm"] for g in stated] == pytest.approx(
                wanted.tolist(), rel=1e-4, abs=1e-12
            )


def test_a_scan_equals_enumeration(case: Case, sogar: Sogar) -> None:  # noqa: F811
    features = ["sex", "housing", "foreign_worker", "telephone"]
    features = [name for name in features if name in case.tables["reference"].columns]
    flags = ("--scan", ",".join(features), "--max-terms", "3", "--scan-measure", "loss")
    scanned: Json = json.loads(sogar("audit", case.out, *flags, "--permutations", "99", "--json"))["scan"]
    values = case.values("reference")["loss"][:, scanned["point"]]
    table = case.tables["reference"][case.people["reference"].affected].reset_index(drop=True)
    best, p = enumerated(table[features], values, scanned)
    worst = scanned["found"][0]
    assert worst["z"] == pytest.approx(best, abs=1e-9)
    inside = met(table, worst["terms"])
    assert worst["affected"] == inside.sum()
    assert worst["gap"] == pytest.approx(values[inside].mean() - values[~inside].mean())
    assert worst["z"] == pytest.approx(studentised(values, inside))
    assert worst["p"] == pytest.approx(p)
    held = case.tables["holdout"][case.people["holdout"].affected].reset_index(drop=True)
    there = case.values("holdout")["loss"][:, scanned["point"]]
    inside = met(held, worst["terms"])
    if worst["holdout"]["gap"] is not None:
        assert worst["holdout"]["gap"] == pytest.approx(there[inside].mean() - there[~inside].mean())


def met(table: pd.DataFrame, terms: list[str]) -> Bools:
    inside = np.ones(len(table), dtype=np.bool_)
    for term in terms:
        name, value = term.split("=", 1)
        inside &= np.asarray(table[name].astype(str) == value, dtype=np.bool_)
    return inside


def studentised(values: Floats, inside: Bools) -> float:
    n, total = int(inside.sum()), len(values)
    spread = values.std(ddof=1) * math.sqrt(n * (total - n) / total)
    return float((values[inside] - values.mean()).sum() / spread)


def splitmix(seed: int, stream: int) -> Any:
    mask = 2**64 - 1
    state = (seed ^ (stream * 0xD1B54A32D192ED03)) & mask

    def below(end: int) -> int:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & mask
        x = state
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        return (x ^ (x >> 31)) % end

    return below


def enumerated(table: pd.DataFrame, values: Floats, scanned: Json) -> tuple[float, float]:
    """The largest studentised gap over all conjunctions, and its p-value over the same shuffles."""
    sets: list[tuple[int, Bools]] = [(-1, np.ones(len(table), dtype=np.bool_))]
    found: list[Bools] = []
    for _ in range(scanned["max_terms"]):
        longer = []
        for last, inside in sets:
            for position in range(last + 1, len(table.columns)):
                column = table.iloc[:, position].astype(str)
                longer += [(position, inside & np.asarray(column == value)) for value in column.unique()]
        found += [inside for _, inside in longer]
        sets = longer
    least = scanned["min_group"]
    found = [inside for inside in found if least <= inside.sum() <= len(table) - least]
    matrix = np.array(found, dtype=np.float64)
    sizes = matrix.sum(axis=1)
    scale = values.std(ddof=1) * np.sqrt(sizes * (len(table) - sizes) / len(table))

    def largest(shuffled: Floats) -> float:
        return float(((matrix @ shuffled - sizes * values.mean()) / scale).max())

    best = largest(values)
    as_bad = 0
    for shuffle in range(1, scanned["permutations"] + 1):
        below = splitmix(scanned["seed"], 2**32 + shuffle)
        order = list(range(len(values)))
        for last in range(len(values) - 1, 0, -1):
            other = below(last + 1)
            order[last], order[other] = order[other], order[last]
        as_bad += largest(values[order]) >= best - 1e-12
    return best, (as_bad + 1) / (scanned["permutations"] + 1)


def test_a_scan_is_the_same_on_one_thread_and_on_two(case: Case, binary: Path) -> None:  # noqa: F811
    command: list[str | Path] = [
        binary,
        "audit",
        case.out,
        "--scan",
        "age,sex,housing,purpose",
        "--permutations",
        "99",
        "--json",
    ]
    one, two = (
        subprocess.run(
            command, env={**os.environ, "RAYON_NUM_THREADS": threads}, capture_output=True, check=True
        )
        for threads in "12"
    )
    assert one.stdout == two.stdout


def test_a_bias_audit_has_rates_ratios_and_marks(case: Case, sogar: Sogar) -> None:  # noqa: F811
    flags = (
        "--format",
        "bias-audit",
        "--group",
        "sex",
        "--group",
        "foreign_worker",
        "--source",
        "German Credit",
    )
    found: Json = json.loads(sogar("audit", case.out, *flags, "--json"))
    assert [table["name"] for table in found["tables"]] == [
        "sex",
        "foreign_worker",
        f"sex{TIMES}foreign_worker",
    ]
    people: Population = case.people["reference"]
    table = case.tables["reference"]
    selected = np.ones(len(table), dtype=np.bool_)
    selected[np.flatnonzero(people.affected) if people.affected.dtype == np.bool_ else people.affected] = (
        False
    )
    for one in found["tables"]:
        rates = {}
        for category in one["categories"]:
            inside = members(table, one["name"], category["category"])
            assert category["people"] == inside.sum()
            assert category["selected"] == (inside & selected).sum()
            assert category["small"] == (inside.sum() < 0.02 * len(table))
            if not category["small"]:
                rates[category["category"]] = category["rate"]
        best = max(rates.values())
        for category in one["categories"]:
            wanted = None if category["small"] else category["rate"] / best
            assert category["impact_ratio"] == (None if wanted is None else pytest.approx(wanted))
    text = sogar("audit", case.out, *flags)
    assert "German Credit" in text
    assert "no statement of compliance" in text


def test_conditions_on_ends_of_intervals_and_on_one_side(case: Case, sogar: Sogar) -> None:  # noqa: F811
    low, high = ("gap(loss, sex).low > 1", "gap(loss, sex).high < 0")
    conditions = (
        low,
        high,
        "individual.gap(reached(0.2), sex).low > 1",
        "gap(loss, age<=25) > 2",
        "ks(sex).high > 1",
    )
    flags = [flag for text in conditions for flag in ("--fail-on", text)]
    verdicts = json.loads(sogar("audit", case.out, *flags, "--json"))["fail_on"]
    assert [verdict["holds"] for verdict in verdicts] == [False] * len(conditions)
    assert all(verdict["value"] is not None for verdict in verdicts)
    assert "one-sided" in verdicts[3]["side"]
    assert verdicts[0]["side"] is None
    picks = json.loads(
        sogar("select", case.out, "--by", "gap(loss, sex).high<=0.5", "--by", "ks(sex)<=0.9", "--json")
    )
    assert len(picks["picks"]) == 2


def test_bad_scans_are_refused_with_a_remedy(case: Case, sogar_error: Sogar) -> None:  # noqa: F811
    for flags, said in (
        (("--scan", "sexx"), "there is no column or feature `sexx`"),
        (("--scan", "sex", "--max-terms", "0"), "not possible"),
        (("--scan", "sex", "--scan-measure", "ks"), "cannot compare"),
        (("--scan", "sex", "--scan-point", "100000"), "there is no point"),
        (("--group", "sex", "--measure", "reached(x)"), "names no budget"),
    ):
        assert said in sogar_error("audit", case.out, *flags), flags

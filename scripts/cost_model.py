#!/usr/bin/env python3
"""Fits the cost model of docs/SCALE.md to measured runs, and prints its predictions.

Reads the tables of measured runs in docs/BENCHMARKS.md ("Growth") and docs/SCALE.md ("Measured"): rows,
splits, actions, depth, leaf sets and seconds on two threads. With R affected rows, A actions, L leaf sets and
trees of depth d

    outcomes = R · (a + b · A^p)
    search   = L · (c · A^q + (e · R + f · max(0, R - 50,000)) · A^r / 2^d)

The constants are those of least relative squares, the exponents those of a grid with the least squares of
logarithms. The last term is for sets of rows that are too large for the processor's caches. Runs that took
less than 0.05 s, or were stopped, are left out. Nothing is measured here.

    python scripts/cost_model.py                      # the fit, beside every measured run
    python scripts/cost_model.py --rows 100000000 --workers 64 --efficiency 0.7
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parent.parent / "docs"
#: Shorter times are mostly those of starting threads.
SHORTEST = 0.05
#: Threads of the measured runs.
THREADS = 2
#: Rows whose sets fit into the processor's caches.
CACHED = 50_000


@dataclass(frozen=True)
class Run:
    """A measured run."""

    name: str
    rows: int
    splits: int
    actions: int
    depth: int
    leaf_sets: float
    outcomes: float
    search: float


def tables(path: Path) -> list[dict[str, str]]:
    """The rows of all Markdown tables of a file, as dictionaries by column name."""
    found: list[dict[str, str]] = []
    head: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            head = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not head:
            head = cells
        elif not set(line) <= set("|-: "):
            found.append(dict(zip(head, cells, strict=False)))
    return found


def number(text: str) -> float:
    """A number as tables write it: ``1,516,522`` or ``≈ 4.5``."""
    return float(re.sub(r"[^0-9.]", "", text))


def leaf_sets(splits: float, depth: int) -> float:
    """About how many different sets of rows a search looks at: each level has half of what it could have."""
    return sum(splits**level / math.factorial(level) * 0.5 ** max(level - 1, 0) for level in range(depth + 1))


def measured() -> list[Run]:
    """All runs with rows, splits, actions, depth and both times."""
    runs = []
    for row in [*tables(DOCS / "BENCHMARKS.md"), *tables(DOCS / "SCALE.md")]:
        outcomes, search = (
            row.get("outcomes (s)", row.get("outcomes")),
            row.get("search (s)", row.get("search")),
        )
        rows = row.get("affected", row.get("rows"))
        if outcomes is None or search is None or rows is None or "stopped" in search:
            continue
        if not {"splits", "actions", "depth"} <= row.keys():
            continue
        splits, depth = int(number(row["splits"])), int(number(row["depth"]))
        sets = number(row["leaf sets"]) if row.get("leaf sets") else leaf_sets(splits, depth)
        name = row.get("data set", "adult, resampled")
        times = (number(outcomes), number(search))
        runs.append(Run(name, int(number(rows)), splits, int(number(row["actions"])), depth, sets, *times))
    return runs


#: What the constants of a fit are multiplied with, for a run and exponents.
Terms = Callable[[Run, tuple[float, ...]], list[float]]


def terms_of_outcomes(run: Run, exponents: tuple[float, ...]) -> list[float]:
    """What the constants of the outcomes are multiplied with."""
    return [run.rows, run.rows * run.actions ** exponents[0]]


def terms_of_search(run: Run, exponents: tuple[float, ...]) -> list[float]:
    """What the constants of the search are multiplied with."""
    few, many = (run.actions**exponent for exponent in exponents)
    per_row = run.leaf_sets * many / 2**run.depth
    return [run.leaf_sets * few, per_row * run.rows, per_row * max(0, run.rows - CACHED)]


@dataclass(frozen=True)
class Fit:
    """Constants, exponents, and the typical factor by which a run is off."""

    terms: Terms
    constants: list[float]
    exponents: tuple[float, ...]
    off: float

    def seconds(self, run: Run) -> float:
        """What the fit gives for a run."""
        return float(np.dot(self.constants, self.terms(run, self.exponents)))


def fit(
    runs: list[Run],
    times: list[float],
    terms: Terms,
    exponents: int,
) -> Fit:
    """The best fit with exponents from a grid and positive constants."""
    kept = [(run, time) for run, time in zip(runs, times, strict=True) if time >= SHORTEST]
    wanted = np.array([time for _, time in kept])
    best: Fit | None = None
    for powers in itertools.product(np.arange(0.0, 1.01, 0.05), repeat=exponents):
        columns = np.array([terms(run, powers) for run, _ in kept])
        constants, *_ = np.linalg.lstsq(columns / wanted[:, None], np.ones(len(kept)), rcond=None)
        if (constants <= 0).any():
            continue
        off = float(np.exp(np.sqrt(np.mean(np.log(columns @ constants / wanted) ** 2))))
        if best is None or off < best.off:
            best = Fit(terms, [float(one) for one in constants], tuple(float(one) for one in powers), off)
    if best is None:
        raise SystemExit("no fit with positive constants: are the tables of measured runs there?")
    return best


def main() -> None:
    """Prints the fit, and a prediction where one is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, help="affected rows to predict for")
    parser.add_argument("--actions", type=int, default=10_808)
    parser.add_argument("--splits", type=int, default=148)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--workers", type=int, default=THREADS, help="cores that share the work")
    parser.add_argument("--efficiency", type=float, default=1.0, help="share of a core's time that is work")
    args = parser.parse_args()
    runs = measured()
    outcomes = fit(runs, [run.outcomes for run in runs], terms_of_outcomes, 1)
    search = fit(runs, [run.search for run in runs], terms_of_search, 2)
    print(f"{len(runs)} measured runs, {THREADS} threads each; seconds:")
    (a, b), (p,) = outcomes.constants, outcomes.exponents
    print(f"outcomes = R · ({a:.2e} + {b:.2e} · A^{p:.2f})   typically within a factor of {outcomes.off:.2f}")
    (c, e, f), (q, r) = search.constants, search.exponents
    print(
        f"search   = L · ({c:.2e} · A^{q:.2f} + ({e:.2e} · R + {f:.2e} · max(0, R - {CACHED:,}))"
        f" · A^{r:.2f} / 2^d)   typically within a factor of {search.off:.2f}"
    )
    head = ("data set", "rows", "actions", "depth", "leaf sets", "outcomes", "fit", "search", "fit")
    print("\n{:18}{:>11}{:>9}{:>7}{:>11}{:>10}{:>8}{:>9}{:>8}".format(*head))
    for run in runs:
        print(
            f"{run.name:18}{run.rows:>11,}{run.actions:>9,}{run.depth:>7}{run.leaf_sets:>11,.0f}{run.outcomes:>10.2f}"
            f"{outcomes.seconds(run):>8.2f}{run.search:>9.2f}{search.seconds(run):>8.2f}"
        )
    if args.rows:
        sets = leaf_sets(args.splits, args.depth)
        asked = Run("asked", args.rows, args.splits, args.actions, args.depth, sets, 0.0, 0.0)
        share = THREADS / (args.workers * args.efficiency)
        print(
            f"\ncalculated, not measured: {args.rows:,} rows, {args.actions:,} actions, "
            f"{args.splits} splits, depth {args.depth}, {args.workers} cores at {args.efficiency:.0%}:\n"
            f"outcomes {outcomes.seconds(asked) * share:,.0f} s, "
            f"search {search.seconds(asked) * share:,.0f} s, "
            f"flips {args.rows / 8 * args.actions / 1e9:,.0f} GB"
        )


if __name__ == "__main__":
    main()

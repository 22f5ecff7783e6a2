"""What it costs to want several models to agree: a plain and a robust front under unseen retrained models.

For each of the four readable tables, in every fold that ``paper_models.py`` has written to ``--models``: the
deployed model is that of the fold. Four further models are trained on bootstrap samples of the same rows. The
plain front asks the deployed model alone; the robust one wants all five to accept. Both are evaluated on the
held-out rows, and under twenty models that were trained on other bootstrap samples: the plain front at its
lowest invalidity, the robust one at the point that works for most people without a higher mean cost, and at
its own lowest invalidity. Prints a Markdown table; people of several folds are counted together.

    python scripts/paper_models.py --out paper-models --data DATA --folds 1-5 readable-german ...
    python scripts/robustness.py --models paper-models --data DATA --sogar target/release/sogar
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from paper_models import DATA_SETS
from scipy.stats import binomtest

ALSO, LATER = 4, 20


def retrained(name: str, data: Path, fold: Path, seeds: range, folder: Path) -> None:
    """Models on bootstrap samples of the training rows, as the deployed one is trained."""
    known = DATA_SETS[name]
    # Categories have the codes of the whole table, as in the deployed model.
    whole = pd.read_csv(data / known.file, dtype=str, keep_default_na=False)
    held_out = json.loads((fold / "fold.json").read_text())["test_rows"]
    train = np.setdiff1d(np.arange(len(whole)), held_out)
    target = (whole[known.label] == known.positive).to_numpy().astype(int)
    features = known.features(whole)
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        rows = np.random.default_rng(seed).choice(train, size=len(train))
        model = lightgbm.LGBMClassifier(
            n_estimators=100, num_leaves=16, class_weight="balanced", n_jobs=1, verbose=-1
        )
        model.fit(features.iloc[rows], target[rows])
        model.booster_.save_model(folder / f"{seed:03}.txt")


def run(*command: str | Path) -> Any:
    """The JSON that a command prints."""
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


class Figures:
    """What a front does at its chosen point, over the folds of a table."""

    def __init__(self) -> None:
        """Nobody yet."""
        self.costs: list[float] = []
        self.fitted = np.zeros(2, int)  # for whom it works, of whom
        self.held_out = np.zeros(2, int)
        self.later = np.zeros((LATER, 2), int)  # for whom it works today, and under each later model
        self.seconds = 0.0

    def add(self, front: dict[str, Any], found: dict[str, Any], chosen: int) -> None:
        """Adds the chosen point of a fold."""
        point, there = front["points"][chosen], found["points"][chosen]
        affected = front["population"]["affected"]
        self.costs.append(point["cost"])
        self.fitted += (affected - point["loss_count"], affected)
        self.held_out += (found["affected"] - there["loss_count"], found["affected"])
        leaves = [one["points"][chosen] for one in found["later"]]
        self.later += [[sum(leaf[key] for leaf in one) for key in ("works", "survives")] for one in leaves]
        self.seconds += front["run"]["seconds_outcomes"]

    def row(self) -> str:
        """Cells of the Markdown table."""
        (works, affected), (held_out, people) = self.fitted, self.held_out
        ends = binomtest(int(held_out), int(people)).proportion_ci(0.95, "exact")
        survives = self.later[:, 1] / self.later[:, 0]
        return (
            f"{np.mean(self.costs):.3f} | {100 * works / affected:.1f} % "
            f"| {100 * held_out / people:.1f} % ({100 * ends.low:.0f}-{100 * ends.high:.0f} %) "
            f"| {100 * survives.mean():.1f} % | {100 * survives.min():.1f} % "
            f"| {100 * self.later[:, 1].mean() / people:.1f} % | {self.seconds:.1f} s"
        )


def solved(sogar: Path, fold: Path, flags: list[str | Path], later: Path, front: Path) -> tuple[Any, Any]:
    """A front, and how it does on the held-out rows and under later models."""
    files: list[str | Path] = [fold / "train.csv", "--model", fold / "model.txt", "-o", front]
    run(sogar, "solve", *files, *flags, "--json", "-q")
    found = run(sogar, "evaluate", front, "--holdout", fold / "test.csv", "--later", later, "--json", "-q")
    return json.loads(front.read_text()), found


def main() -> None:
    """Prints a table: a line for each table and front."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=Path, required=True, help="where paper_models.py wrote to")
    parser.add_argument("--data", type=Path, required=True, help="directory of the tables")
    parser.add_argument("--sogar", type=Path, default=Path("target/release/sogar"))
    parser.add_argument("--depth", default="2", help="largest depth of the trees (default: 2)")
    parser.add_argument("tables", nargs="*", default=["german", "attrition", "bank", "adult"])
    args = parser.parse_args()
    heads = "table front mean_cost works_for held_out survives,_mean least works_later outcomes"
    print("".join(f"| {head.replace('_', ' ')} " for head in heads.split()) + "|")
    print("|---|---" + "|--:" * 7 + "|")
    for table in args.tables:
        name = f"readable-{table}"
        kinds = ("plain", "robust, as cheap", "robust")
        figures = {kind: Figures() for kind in kinds}
        for fold in sorted((args.models / name).glob("fold*")):
            with tempfile.TemporaryDirectory() as scratch:
                also, later, file = (Path(scratch, part) for part in ("also", "later", "front.json"))
                retrained(name, args.data, fold, range(1, ALSO + 1), also)
                retrained(name, args.data, fold, range(101, LATER + 101), later)
                flags: list[str | Path] = ["--preset", table, "--max-depth", args.depth]
                front, found = solved(args.sogar, fold, flags, later, file)
                figures["plain"].add(front, found, found["point"])
                most = front["points"][found["point"]]["cost"]
                front, found = solved(args.sogar, fold, [*flags, "--also", also], later, file)
                # Points are in the order of their costs.
                cheap = sum(point["cost"] <= most for point in front["points"]) - 1
                figures["robust, as cheap"].add(front, found, cheap)
                figures["robust"].add(front, found, found["point"])
        for kind, sums in figures.items():
            print(f"| {table} | {kind} | {sums.row()} |", flush=True)


if __name__ == "__main__":
    main()

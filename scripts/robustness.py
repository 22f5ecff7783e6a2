"""What it costs to want several models to agree: a plain and a robust front under unseen retrained models.

For each of the four readable tables (``paper_models.py`` must have written fold 1 to ``--models``): the
deployed model is that of the fold. Four further models are trained on bootstrap samples of the same rows. The
plain front asks the deployed model alone; the robust one wants all five to accept. Both are evaluated on the
held-out rows, and under twenty models that were trained on other bootstrap samples. Prints a Markdown table.

    python scripts/paper_models.py --out paper-models --data DATA readable-german readable-attrition ...
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
    print("| table | front | mean cost | works for | held out | survives, mean | least |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for table in args.tables:
        name, fold = f"readable-{table}", args.models / f"readable-{table}" / "fold1"
        with tempfile.TemporaryDirectory() as scratch:
            also, later = Path(scratch, "also"), Path(scratch, "later")
            retrained(name, args.data, fold, range(1, ALSO + 1), also)
            retrained(name, args.data, fold, range(101, LATER + 101), later)
            for kind in ("plain", "robust"):
                front = Path(scratch, f"{kind}.json")
                more: list[str | Path] = ["--also", also] if kind == "robust" else []
                files: list[str | Path] = [
                    fold / "train.csv",
                    "--model",
                    fold / "model.txt",
                    "--preset",
                    table,
                ]
                run(
                    args.sogar, "solve", *files, *more, "--max-depth", args.depth, "-o", front, "--json", "-q"
                )
                found = run(
                    args.sogar,
                    "evaluate",
                    front,
                    "--holdout",
                    fold / "test.csv",
                    "--later",
                    later,
                    "--json",
                    "-q",
                )
                chosen = found["point"]
                point = json.loads(front.read_text())["points"][chosen]
                shares = [
                    sum(leaf["survives"] for leaf in one["points"][chosen])
                    / max(sum(leaf["works"] for leaf in one["points"][chosen]), 1)
                    for one in found["later"]
                ]
                there, works = found["points"][chosen], found["intervals"][chosen]["works"]
                span = f"{100 * works['low']:.0f}-{100 * works['high']:.0f} %"
                print(
                    f"| {table} | {kind} | {point['cost']:.3f} | {100 * (1 - point['loss']):.1f} % "
                    f"| {100 * (1 - there['loss']):.1f} % ({span}) "
                    f"| {100 * np.mean(shares):.1f} % | {100 * min(shares):.1f} % |",
                    flush=True,
                )


if __name__ == "__main__":
    main()

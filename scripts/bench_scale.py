"""Time a complete front for a large population: one machine, a stated number of affected rows.

The table is made from Adult (the training rows of the published protocol's first fold): rows are drawn with
replacement, and the numbers of each are moved a little (age and hours by up to two, the others by up to two
per cent where they are not 0), so that few rows are alike. Drawing continues until the model turns down the
requested number of rows. The same seed gives the same table.

Some features are held fixed, so that there are some 10,000 actions of up to three edits; a leaf has at least
as large a share of the people as in the published protocol (500 of 19,199).

    python scripts/bench_scale.py --paper target/paper --sogar target/release/sogar
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from paper_models import DATA_SETS

HEADER = """\
| affected | rows | splits | actions | depth | reading | outcomes | search | all (s) | points | peak |
|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"""
FIXED = ("education", "education-num", "occupation", "workclass")
WHOLE = ("age", "hours-per-week", "education-num")
DRAWN_AT_ONCE = 200_000


@dataclass(frozen=True)
class Setting:
    """What is solved."""

    sogar: Path
    paper: Path
    depth: int
    min_leaf_share: float
    """Of the affected rows."""


def perturbed(rows: pd.DataFrame, like: pd.DataFrame, draw: np.random.Generator) -> pd.DataFrame:
    """The rows with their numbers moved a little, within the range of the original table."""
    rows = rows.copy()
    for name in like.columns:
        if not pd.api.types.is_numeric_dtype(like[name]) or name == "education-num":
            continue
        values = rows[name].to_numpy(dtype=np.float64)
        if name in WHOLE:
            moved = values + draw.integers(-2, 3, len(rows))
        else:
            moved = np.where(values == 0, 0, values * (1 + draw.uniform(-0.02, 0.02, len(rows))))
        rows[name] = np.clip(np.rint(moved), like[name].min(), like[name].max()).astype(np.int64)
    return rows


def population(folder: Path, affected: int, seed: int) -> pd.DataFrame:
    """A table of which the model turns exactly `affected` rows down."""
    spec = DATA_SETS["adult"]
    original = pd.read_csv(folder / "train.csv", skipinitialspace=True)
    booster = lightgbm.Booster(model_file=folder / "model.txt")
    draw = np.random.default_rng(seed)
    parts: list[pd.DataFrame] = []
    missing = affected
    # With the whole table, every category has its column when rows are encoded.
    base = original.astype(str)
    text = [name for name in original.columns if not pd.api.types.is_numeric_dtype(original[name])]
    while missing > 0:
        chosen = draw.integers(0, len(original), min(2 * missing + 1000, DRAWN_AT_ONCE))
        if not parts:
            # Every category is there at least once, or the model would miss its column.
            first = np.concatenate([original.drop_duplicates(name).index.to_numpy() for name in text])
            chosen = np.concatenate([np.unique(first), chosen])
        rows = perturbed(original.iloc[chosen], original, draw)
        encoded = spec.features(pd.concat([base, rows.astype(str)], ignore_index=True)).iloc[len(base) :]
        turned_down = np.asarray(booster.predict(encoded.to_numpy(dtype=np.float64))) <= 0.5
        # Up to and with the row that completes the number.
        enough = int(np.searchsorted(np.cumsum(turned_down), missing)) + 1
        parts.append(rows.iloc[:enough])
        missing -= int(turned_down[:enough].sum())
    return pd.concat(parts, ignore_index=True)


def solved(table: Path, setting: Setting, affected: int) -> str:
    """Solves once and gives a line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "front.json"
        command: list[str | Path] = [setting.sogar, "solve", table]
        command += ["--model", setting.paper / "adult" / "fold1" / "model.txt", "--preset", "paper-adult"]
        command += ["--max-depth", str(setting.depth)]
        command += [word for name in FIXED for word in ("--immutable", name)]
        command += ["--min-leaf", str(max(1, int(affected * setting.min_leaf_share))), "-o", out, "--quiet"]
        start = time.perf_counter()
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
        front = json.loads(out.read_text(encoding="utf-8"))
    run, counts = front["run"], front["counts"]
    reading = seconds - run["seconds_outcomes"] - run["seconds_search"]
    assert front["status"] == "complete"
    return (
        f"| {front['population']['affected']:,} | {front['population']['rows']:,} | {counts['splits']} "
        f"| {counts['actions']:,} | {setting.depth} | {reading:.1f} | {run['seconds_outcomes']:.1f} "
        f"| {run['seconds_search']:.1f} | {seconds:.1f} | {len(front['points']):,} | {peak:.2f} GB |"
    )


def main() -> int:
    """Makes the tables (kept in the folder of the models) and solves each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paper", type=Path, required=True, help="directory that paper_models.py wrote")
    parser.add_argument("--sogar", type=Path, required=True, help="the program, built with optimisation")
    parser.add_argument("--rows", default="1000,10000,100000,1000000", help="affected rows, one run each")
    parser.add_argument("--depth", type=int, default=2)
    args = parser.parse_args()
    folder = args.paper / "adult" / "fold1"
    if not (folder / "model.txt").is_file():
        print(f"NOTHING WAS MEASURED: there is no {folder}/model.txt", file=sys.stderr)
        return 0
    setting = Setting(args.sogar.resolve(), args.paper.resolve(), args.depth, 500 / 19_199)
    print(HEADER, flush=True)
    for affected in [int(rows) for rows in args.rows.split(",")]:
        table = args.paper / "scale" / f"adult-{affected}.parquet"
        if not table.is_file():
            print(f"making {table.name} …", file=sys.stderr)
            table.parent.mkdir(exist_ok=True)
            made = table.with_suffix(".new")
            population(folder, affected, seed=0).to_parquet(made, index=False)
            made.rename(table)
        print(solved(table, setting, affected), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

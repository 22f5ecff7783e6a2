"""Run the cells of an experiment on the workers of a Dask cluster, then write its tables.

A cell is one data set, model, fold and method; `sogar-lab experiment` stores each in a separate file, so
cells can run anywhere that shares the two folders, in any order, and again after a failure. Without
``--scheduler`` a cluster is started on this machine. Flags that this script does not know go to `sogar-lab
experiment`.

    python scripts/experiments_dask.py table1 --folds 1-10 --paper target/paper --out target/experiments \
        --lab target/release/sogar-lab --workers 4
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from pathlib import Path

from distributed import Client, LocalCluster, as_completed

RETRIES = 2


def numbers(text: str) -> list[int]:
    """The folds in such a list as 1,3 or 1-10.

    >>> numbers("1,3-5")
    [1, 3, 4, 5]
    """
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def cell(command: list[str]) -> str:
    """Runs one cell; its result is a file."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return done.stderr


def main() -> int:
    """Submits all cells, waits for them, and writes the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="the experiment, as `sogar-lab experiment` calls it")
    parser.add_argument("--folds", default="1")
    parser.add_argument("--datasets", default="attrition,german")
    parser.add_argument("--models", default="lightgbm")
    parser.add_argument("--methods", help="methods of table1, one cell each (default: all in one cell)")
    parser.add_argument("--paper", type=Path, default=Path("target/paper"))
    parser.add_argument("--out", type=Path, default=Path("target/experiments"))
    parser.add_argument("--lab", type=Path, default=Path("target/release/sogar-lab"))
    parser.add_argument("--scheduler", help="address of a running cluster")
    parser.add_argument("--workers", type=int, default=2, help="of a cluster on this machine")
    args, rest = parser.parse_known_args()
    base = [str(args.lab.resolve()), "experiment", args.name, "--paper", str(args.paper.resolve())]
    base += ["--out", str(args.out.resolve()), *rest]
    cells = itertools.product(
        numbers(args.folds),
        args.datasets.split(","),
        args.models.split(","),
        args.methods.split(",") if args.methods else [None],
    )
    with Client(args.scheduler or LocalCluster(n_workers=args.workers, threads_per_worker=1)) as client:
        futures = {}
        for fold, data, model, method in cells:
            command = [*base, "--folds", str(fold), "--datasets", data, "--models", model, "--threads", "1"]
            command += ["--methods", method] if method else []
            name = "-".join(str(part) for part in (args.name, data, model, fold, method) if part)
            futures[client.submit(cell, command, key=f"sogar-cell-{name}", retries=RETRIES)] = name
        failed = 0
        for done, future in enumerate(as_completed(futures), 1):
            error = future.exception()
            failed += error is not None
            print(f"{done}/{len(futures)} {futures[future]}{f': {error}' if error else ''}", flush=True)
    whole = ["--folds", args.folds, "--datasets", args.datasets, "--models", args.models]
    subprocess.run([*base, *whole, "--tables-only"], check=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

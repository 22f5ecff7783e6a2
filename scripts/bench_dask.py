"""Time a fit on two single-threaded local workers of Dask beside two threads in one process.

The problem is Adult of the published protocol, fold 1, depth 3; then a quarter of its rows, for the growth.
Both are timed from the prepared problem on (outcomes and search), alternating, and their results are
compared. The workers start before the clock does; sending them data and preparing the problem on each of them
count.

    PYTHONPATH=python python scripts/bench_dask.py --paper target/paper
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

import pandas as pd
from distributed import Client, LocalCluster
from sogar import Sogar

RATIO, GROWTH = 1.4, 4.4
"""Limits: of Dask relative to threads, and of four times the rows relative to one time."""
HEADER = """\
| rows | affected | way | outcomes | search | both (s) | ratio |
|--:|--:|---|--:|--:|--:|--:|"""


def seconds(front: Sogar) -> tuple[float, float]:
    """Seconds of outcomes and search."""
    run = json.loads(front.to_json() or "")["run"]
    return run["seconds_outcomes"], run["seconds_search"]


def result(front: Sogar) -> str:
    """The result without the circumstances of the run."""
    file = json.loads(front.to_json() or "")
    del file["run"]
    return json.dumps(file)


def main() -> int:
    """Prints a table, and whether the targets are met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paper", type=Path, required=True, help="directory that paper_models.py wrote")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", default="adult", help="adult, or another data set of the protocol")
    parser.add_argument("--depth", type=int, default=3)
    args = parser.parse_args()
    folder = args.paper / args.data / "fold1"
    if not (folder / "model.txt").is_file():
        print(f"NOTHING WAS MEASURED: there is no {folder}/model.txt", file=sys.stderr)
        return 0
    table = pd.read_csv(folder / "train.csv", skipinitialspace=True, keep_default_na=False)
    totals: dict[int, float] = {}
    met = True
    print(HEADER, flush=True)
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="6GB")
    with cluster, Client(cluster) as client:
        for every in (1, 4):
            rows = table.iloc[::every].reset_index(drop=True)
            times: dict[str, list[tuple[float, float]]] = {"two threads": [], "two workers": []}
            results = set()
            for _ in range(args.rounds):
                for way in times:
                    settings = {"preset": f"paper-{args.data}", "max_depth": args.depth, "n_jobs": 2}
                    if every > 1:
                        settings["min_leaf"] = 500 // every
                    front = Sogar(progress=False, **settings).fit(
                        rows, folder / "model.txt", client=client if way == "two workers" else None
                    )
                    times[way].append(seconds(front))
                    results.add(result(front))
            assert len(results) == 1, "the results differ"
            both = {way: statistics.median(map(sum, found)) for way, found in times.items()}
            for way, found in times.items():
                outcomes, search = (statistics.median(part) for part in zip(*found, strict=True))
                print(
                    f"| {len(rows):,} | {front.n_affected_:,} | {way} | {outcomes:.2f} | {search:.2f} "
                    f"| {both[way]:.2f} | {both[way] / both['two threads']:.2f} |",
                    flush=True,
                )
            totals[every] = both["two workers"]
            if every == 1:
                met &= both["two workers"] <= RATIO * both["two threads"]
    growth = totals[1] / totals[4]
    met &= growth <= GROWTH
    print(f"\nFour times the rows: {growth:.2f} times the time. Targets {'met' if met else 'NOT met'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Check the guess about long runs, on generated tables of many shapes.

It is printed before a run, or after the first seconds of the search. The guess is right about "a minute or
not" within a factor of ten if no run that was announced ends within six seconds, and no run that was not
announced takes more than ten minutes. A run that takes the processor longer than ``--patience`` is stopped
and reported as such. On a busy machine the processor's time counts, if it is less; but an announcement that
follows the speed of the search itself is held against the time that passed. A stopped run decides nothing
before those six seconds or ten minutes: it is reported as open.

    python scripts/time_guess.py --sogar target/release/sogar
    python scripts/time_guess.py --sogar target/release/sogar --patience 600 --only 5 18
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import lightgbm as lgb

# Rows, numbers (below zero: with five values each), categories of eight levels, flags.
SHAPES: list[tuple[int, int, int, list[str]]] = [
    (600, 4, 0, []),
    (600, 0, 6, []),
    (2000, 6, 2, []),
    (2000, 12, 0, ["--max-depth", "2"]),
    (2000, 12, 0, []),
    (4000, 24, 0, ["--max-depth", "2"]),
    (4000, 24, 0, []),
    (4000, 6, 6, ["--max-edits", "2"]),
    (10000, 8, 4, ["--max-depth", "2"]),
    (10000, 8, 4, []),
    (10000, 8, 4, ["--cost", "cet"]),
    (10000, 3, 3, ["--max-depth", "4"]),
    (20000, 12, 4, ["--max-depth", "2"]),
    (20000, 12, 4, ["--max-edits", "1"]),
    (20000, 12, 4, ["--cost", "l1"]),
    (50000, 5, 3, ["--max-depth", "2"]),
    (1500, -10, 2, []),
    (3000, 16, 3, []),
    (3000, 1, 10, []),
    (6000, 20, 0, ["--cost", "logshift"]),
    (6000, -16, 0, ["--cost", "cet", "--max-edits", "2"]),
    (8000, 10, 0, ["--min-leaf", "40"]),
    (15000, 18, 6, []),
    (30000, 4, 0, []),
    (600, 30, 0, []),
    (1500, 40, 0, ["--max-edits", "2"]),
]


def problem(folder: Path, rows: int, numbers: int, categories: int) -> tuple[Path, Path]:
    """A table and a model that turns a third of its people down."""
    draw = np.random.default_rng(rows + 31 * abs(numbers) + 7 * categories)
    table = pd.DataFrame({f"x{i}": draw.normal(50, 20, rows).round(1) for i in range(abs(numbers))})
    if numbers < 0:
        table = (table.clip(10, 90) / 20).round()
    for i in range(categories):
        table[f"c{i}"] = draw.choice([f"level{k}" for k in range(8)], rows)
    levels = table.select_dtypes(exclude="number").apply(lambda column: column.str[-1].astype(int))
    signal = table.select_dtypes("number").sum(axis=1) / 20 + levels.sum(axis=1)
    good = (signal + draw.normal(0, 1, rows) > signal.quantile(0.35)).astype(int)
    text = {name: "category" for name in table.columns if name.startswith("c")}
    train = lgb.Dataset(table.astype(text), good)
    settings = {"objective": "binary", "num_leaves": 15, "verbose": -1, "seed": 1, "num_threads": 1}
    model = lgb.train(settings, train, 60)
    table.to_csv(folder / "table.csv", index=False)
    model.save_model(folder / "model.txt")
    return folder / "table.csv", folder / "model.txt"


def run(binary: Path, folder: Path, flags: list[str], patience: float) -> tuple[str, float, dict[str, Any]]:
    """How a run was announced, if it was, its seconds, and what it printed."""
    command = [
        str(binary),
        "solve",
        "table.csv",
        "-m",
        "model.txt",
        "--desired",
        "1",
        "-o",
        "front.json",
        *flags,
    ]
    command.append("--json")
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with (
        (folder / "out").open("w") as out,
        (folder / "err").open("w") as err,
        subprocess.Popen(command, cwd=folder, stdout=out, stderr=err) as child,
    ):
        while child.poll() is None:
            time.sleep(0.05)
            if processor_time(child.pid) > patience:
                child.send_signal(signal.SIGTERM)
                child.wait()
    printed, notices = (folder / "out").read_text(), (folder / "err").read_text()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    passed = time.perf_counter() - start
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if child.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)} ended with {child.returncode}:\n{notices}")
    told = re.search(r"this may take (.*?) \(", notices)
    seconds = passed if "(by the first" in notices else min(passed, busy)
    return told.group(1) if told else "", seconds, json.loads(printed)


def processor_time(process: int) -> float:
    """Seconds that a process took from the processor so far (Linux)."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Runs all shapes and prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sogar", type=Path, required=True, help="the binary")
    parser.add_argument("--patience", type=float, default=20.0, help="processor seconds for each run")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of shapes, from 0 (all)")
    arguments = parser.parse_args()
    wrong = 0
    shapes = SHAPES if arguments.only is None else [SHAPES[number] for number in arguments.only]
    print("| rows | numbers | categories | flags | actions | announced | seconds | status |")
    print("|--:|--:|--:|---|--:|---|--:|---|")
    for rows, numbers, categories, flags in shapes:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            problem(folder, rows, numbers, categories)
            said, seconds, told = run(arguments.sogar.resolve(), folder, flags, arguments.patience)
        complete = told["status"] == "complete"
        is_wrong = seconds < 6 and complete if said else seconds > 600
        is_open = not complete and (seconds < 6 if said else seconds <= 600)
        wrong += is_wrong
        cells = [rows, numbers, categories, " ".join(flags), told["actions"], said or "no"]
        cells += [f"{seconds:.1f}", told["status"] + (" WRONG" if is_wrong else " (open)" if is_open else "")]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    sys.exit(f"{wrong} of {len(shapes)} guesses are off by more than a factor of ten" if wrong else 0)


if __name__ == "__main__":
    main()

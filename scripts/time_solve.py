"""Time whole `sogar solve` runs, from reading the files to the written front.

The German example is always timed; further problems are directories with `train.csv`, `model.txt` and
`sogar.toml`. Every run is shown, never the best alone, and each front is compared with the first one.

    python scripts/time_solve.py --binary target/release/sogar --repeat 5 [DIRECTORY …]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def solve(binary: Path, table: Path, folder: Path, threads: int, out: Path) -> tuple[float, dict[str, Any]]:
    """One run: wall-clock seconds and the front without its `run` block."""
    command: list[str | Path] = [binary, "solve", table, "--model", folder / "model.txt"]
    command += ["--config", folder / "sogar.toml", "-o", out, "--quiet", "--threads", str(threads)]
    start = time.perf_counter()
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - start
    front: dict[str, Any] = json.loads(out.read_text())
    front.pop("run", None)
    return seconds, front


def time_problem(binary: Path, folder: Path, threads: int, repeat: int) -> bool:
    """Times one problem and says whether all its fronts were equal."""
    table = next(path for name in ("train.csv", "german.csv") if (path := folder / name).exists())
    with tempfile.TemporaryDirectory() as scratch:
        runs = [solve(binary, table, folder, threads, Path(scratch) / "front.json") for _ in range(repeat)]
    times = [seconds for seconds, _ in runs]
    first = runs[0][1]
    equal = all(front == first for _, front in runs)
    shown = " ".join(f"{seconds:.2f}" for seconds in times)
    size = f"n = {first['population']['affected']}, {len(first['points'])} points"
    print(f"{folder.name:<12} {first['status']}, {size}, {threads} threads")
    print(f"{'':<12} median {statistics.median(times):.2f} s of [{shown}]")
    if not equal:
        print(f"{'':<12} THE FRONTS DIFFER BETWEEN RUNS")
    return equal


def main() -> int:
    """Times what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", type=Path, required=True, help="the release build of sogar")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each problem (default: 3)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="default: all cores")
    parser.add_argument(
        "problems", nargs="*", type=Path, help="directories with train.csv, model.txt, sogar.toml"
    )
    args = parser.parse_args()

    print(f"{platform.platform()}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    folders = [ROOT / "examples" / "german", *args.problems]
    equal = [time_problem(args.binary, folder, args.threads, args.repeat) for folder in folders]
    return 0 if all(equal) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Time `Sogar.fit` beside the command line on the same problem and in the same run, and the package's import.

The German Credit example with its own LightGBM model: the command line reads table and model from files, the
package gets a pandas frame and a `lightgbm.Booster`, whose own predictions it compares with the engine's.
Both are timed from the outside, the command line as a process, and exclude only the import of libraries.

    PYTHONPATH=python python scripts/bench_python.py --sogar target/release/sogar
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lightgbm
import pandas as pd
from sogar import Sogar

GERMAN = Path(__file__).resolve().parents[1] / "examples" / "german"
TARGET = 1.2
"""How many times the command line's time a fit may take."""


def seconds_of_cli(binary: Path, folder: Path) -> float:
    """One run of the command line."""
    command: list[str | Path] = [binary, "solve", GERMAN / "german.csv", "--model", GERMAN / "model.txt"]
    command += ["--config", GERMAN / "sogar.toml", "-o", folder / "front.json", "--quiet"]
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun


def seconds_of_fit(table: pd.DataFrame, booster: lightgbm.Booster) -> float:
    """One fit on a frame and a model object."""
    begun = time.perf_counter()
    front = Sogar(config=GERMAN / "sogar.toml", progress=False).fit(table, booster, desired="good")
    assert front.model_backend_ == "native: LightGBM text", front.model_backend_
    return time.perf_counter() - begun


def seconds_of_import() -> float:
    """Importing the package, NumPy included, in a new interpreter."""
    code = "import time; t = time.perf_counter(); import sogar; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    """Prints the medians as a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sogar", type=Path, required=True, help="the command line's binary, a release build"
    )
    parser.add_argument("--runs", type=int, default=7, help="runs of each, taken in turns")
    parser.add_argument("--quick", action="store_true", help="three runs of each")
    options = parser.parse_args()
    table = pd.read_csv(GERMAN / "german.csv")
    texts = [name for name in table.select_dtypes(exclude="number") if name != "credit"]
    table = table.astype(dict.fromkeys(texts, "category"))
    booster = lightgbm.Booster(model_file=str(GERMAN / "model.txt"))
    seconds_of_fit(table, booster)  # the first one pays for what libraries load late
    with tempfile.TemporaryDirectory() as folder:
        pairs = [
            (seconds_of_cli(options.sogar, Path(folder)), seconds_of_fit(table, booster))
            for _ in range(3 if options.quick else options.runs)
        ]
    cli, fit = (statistics.median(times) for times in zip(*pairs, strict=True))
    loading = statistics.median(seconds_of_import() for _ in range(5))
    verdict = "met" if fit <= TARGET * cli else "missed"
    print("| German Credit | command line (s) | fit (s) | ratio | target | import (s) |")
    print("|---|--:|--:|--:|---|--:|")
    figures = [f"{cli:.2f}", f"{fit:.2f}", f"{fit / cli:.2f}", f"{TARGET}, {verdict}", f"{loading:.2f}"]
    print(f"| medians of {len(pairs)} | {' | '.join(figures)} |")


if __name__ == "__main__":
    main()

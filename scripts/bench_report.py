"""Time the first view of a large report in Chromium, and say how large the file is.

Adult by sex with held-out people, trees of depth 4: a front of more than 6,000 points. The first paint is
when the browser shows the first text, ready is when the page's own script has drawn its charts; medians of
several loads.

    python scripts/bench_report.py --paper target/paper --sogar target/release/sogar

Needs Chromium (`scripts/chromium.sh`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

LOADS = 7
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
READY = "document.documentElement.dataset.ready === 'yes'"


def make_report(binary: Path, fold: Path, folder: Path, depth: int) -> tuple[Path, int]:
    """Solves and reports; the report, and how many points it shows."""
    front, report = folder / "front.json", folder / "report.html"
    solve: list[str | Path] = [binary, "solve", fold / "train.csv", "--model", fold / "model.txt"]
    solve += ["--preset", "paper-adult", "--holdout", fold / "test.csv", "-o", front, "--quiet"]
    solve += ["--max-depth", str(depth), "--max-leaves", str(2**depth)]
    subprocess.run(solve, check=True, capture_output=True)
    subprocess.run(
        [binary, "report", front, "--group", "sex", "-o", report, "--quiet"], check=True, capture_output=True
    )
    return report, len(json.loads(front.read_text())["points"])


def first_views(report: Path, browser_path: str) -> tuple[list[float], list[float]]:
    """Seconds to the first paint and until everything is drawn, of several loads, each in a new page."""
    paints, readies = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for _ in range(LOADS):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(report.resolve().as_uri(), wait_until="commit")
            page.wait_for_function(READY)
            readies.append(page.evaluate("performance.now()") / 1000)
            page.wait_for_function(f"({FIRST_PAINT}) !== null")
            paints.append(page.evaluate(FIRST_PAINT) / 1000)
            page.close()
        browser.close()
    return paints, readies


def main() -> None:
    """Prints one row of a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paper", type=Path, required=True, help="the folder with the benchmark's models")
    parser.add_argument("--sogar", type=Path, required=True, help="the binary, a release build")
    parser.add_argument("--quick", action="store_true", help="trees of depth 2: fewer points")
    given = parser.parse_args()
    browser_path = os.environ.get("SOGAR_CHROMIUM") or shutil.which("chromium")
    if browser_path is None:
        print("THE REPORT WAS NOT TIMED: there is no Chromium (scripts/chromium.sh installs it).")
        return
    with tempfile.TemporaryDirectory() as name:
        fold = given.paper / "adult" / "fold1"
        report, points = make_report(given.sogar, fold, Path(name), 2 if given.quick else 4)
        paints, readies = first_views(report, browser_path)
        size = report.stat().st_size / 1e6
    print("| report | points | size (MB) | first paint (s) | ready (s) |\n|---|--:|--:|--:|--:|")
    paint, ready = statistics.median(paints), statistics.median(readies)
    print(f"| adult by sex, held-out people | {points:,} | {size:.2f} | {paint:.2f} | {ready:.2f} |")


if __name__ == "__main__":
    main()

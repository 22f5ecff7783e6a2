"""Time the studio in Chromium: a click to a new front, a mark on a large table, and tasks while dragging.

German Credit at depth 3: somebody forbids a piece of advice, until the new front and its price are drawn.
Then a generated table of 20,000 people whose search is stopped by a time limit: a mark until its consequences
are shown, and the slider of the report dragged from end to end in 200 steps.

    python scripts/bench_studio.py --sogar target/release/sogar

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
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from playwright.sync_api import FrameLocator, Page, sync_playwright

GERMAN = Path(__file__).resolve().parents[1] / "examples" / "german"
CLICKS = 7
STEPS = 200
READY = "() => document.documentElement.dataset.ready === 'yes'"
SEARCHED = "(runs) => Number(document.documentElement.dataset.runs) >= runs"
PROBLEM = "document.documentElement.dataset.problem"
WATCH_TASKS = """() => {
    window.tasks = [];
    const note = (list) => list.getEntries().forEach(({ duration }) => window.tasks.push(duration));
    new PerformanceObserver(note).observe({ entryTypes: ['longtask'] });
}"""


def people_table(folder: Path, hurdle: float = 1.4) -> list[str | Path]:
    """Writes 20,000 people with odd names and their model; a higher hurdle turns more of them down."""
    draw = np.random.default_rng(7)
    rows = 20_000
    table = pd.DataFrame(
        {
            "income": draw.gamma(4.0, 900.0, rows).round(0),
            "debt": draw.gamma(2.0, 2000.0, rows).round(0),
            "years_here": draw.integers(0, 30, rows),
            "age": draw.integers(18, 80, rows),
            "sex": draw.choice(["female", "male"], rows),
            "<img src=x onerror=alert(1)>": draw.choice(["<script>alert(2)</script>", "b", "c"], rows),
            "region": draw.choice(["north", "south", "east", "west"], rows),
        }
    )
    score = (
        table["income"] / 1800
        - table["debt"] / 2500
        + table["years_here"] / 15
        + (table["region"] == "west")
        + draw.normal(0, 0.5, rows)
    )
    table["approved"] = np.where(score > hurdle, "yes", "no")
    features = table.drop(columns="approved")
    text = features.select_dtypes(exclude="number").columns
    # LightGBM refuses some letters in the names of columns, so the model knows its columns by position.
    encoded = features.astype(dict.fromkeys(text, "category"))
    encoded.columns = pd.Index([f"Column_{i}" for i in range(features.shape[1])])
    model = lightgbm.LGBMClassifier(n_estimators=20, num_leaves=8, n_jobs=1, random_state=0, verbose=-1)
    model.fit(encoded, table["approved"] == "yes")
    model.booster_.save_model(folder / "model.txt")
    table.to_csv(folder / "people.csv", index=False)
    return [folder / "people.csv", "--model", folder / "model.txt"]


@contextmanager
def studio(binary: Path, chromium: str, *arguments: str | Path) -> Iterator[tuple[Page, int]]:
    """A page of a studio that runs, and its process."""
    command = [binary, "studio", *arguments, "--no-browser", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, sync_playwright() as driver:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(900_000)
        page.goto(address)
        page.wait_for_function(READY)
        yield page, process.pid
        browser.close()
        process.terminate()


def changed(page: Page, act: Callable[[], object]) -> float:
    """Seconds until a change of the settings is shown."""
    before = page.evaluate(PROBLEM)
    start = time.perf_counter()
    act()
    page.wait_for_function(f"(before) => {PROBLEM} !== before", arg=before)
    return time.perf_counter() - start


def processor(process: int) -> float:
    """Seconds that the threads of a process have computed, on Linux: they say what a busy machine hides."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def opened_report(page: Page) -> FrameLocator:
    """The report of the latest run, ready."""
    page.locator("#tab-explore").click()
    # Until it has loaded, the frame still has the report of the run before.
    page.locator("iframe.report:not([inert])").wait_for()
    report = page.frame_locator("iframe.report")
    report.locator("html[data-ready=yes]").wait_for()
    return report


def forbidden_advice(page: Page, process: int) -> list[tuple[float, float]]:
    """Seconds from a click that forbids advice to the new front and its price, and of the processor."""
    page.locator("#solve").click()
    page.wait_for_function(SEARCHED, arg=1)
    found = []
    for runs in range(2, 2 + CLICKS):
        advice = opened_report(page).locator(".leaf .what-if")
        advice.nth(runs % advice.count()).click()
        # The choices of the question before may still be there, hidden.
        choices = page.locator("#what-if[open] .choices button")
        choices.first.wait_for()
        choice = choices.nth(runs % choices.count())
        start, before = time.perf_counter(), processor(process)
        choice.click()
        page.wait_for_function(SEARCHED, arg=runs)
        page.locator("#price .price").wait_for()
        found.append((time.perf_counter() - start, processor(process) - before))
        changed(page, page.locator("#undo").click)
    return found


def dragged(page: Page) -> tuple[int, float, float]:
    """Points of the front, and the longest tasks of report and page in milliseconds while dragging."""
    report = opened_report(page)
    page.wait_for_timeout(2000)
    frame = next(frame for frame in page.frames if "/explore" in frame.url)
    frame.evaluate(WATCH_TASKS)
    page.evaluate(WATCH_TASKS)
    slider = report.locator("#slider")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, middle)
    page.mouse.down()
    for step in range(STEPS):
        page.mouse.move(box["x"] + 8 + (box["width"] - 16) * step / (STEPS - 1), middle)
    page.mouse.up()
    page.wait_for_timeout(500)
    count = int(slider.get_attribute("max") or 0) + 1
    assert int(frame.evaluate("document.documentElement.dataset.point")) > 0.9 * count, "it was dragged"
    longest = [max([0.0, *at.evaluate("window.tasks")]) for at in (frame, page)]
    return count, longest[0], longest[1]


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sogar", type=Path, required=True, help="the binary, a release build")
    parser.add_argument("--seconds", type=int, default=120, help="time limit of the search on 20,000 people")
    given = parser.parse_args()
    chromium = os.environ.get("SOGAR_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("THE STUDIO WAS NOT TIMED: there is no Chromium (scripts/chromium.sh installs it).")
        return
    files: list[str | Path] = [GERMAN / "german.csv", "--model", GERMAN / "model.txt"]
    with studio(given.sogar, chromium, *files, "--config", GERMAN / "sogar.toml") as (page, process):
        clicks = forbidden_advice(page, process)
    print("| | median | longest |\n|---|--:|--:|")
    for what, times in zip(("", ", on the processor"), zip(*clicks, strict=True), strict=True):
        row = f"| German, depth 3: a click to the new front{what} (s)"
        print(f"{row} | {statistics.median(times):.2f} | {max(times):.2f} |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arguments = people_table(folder, hurdle=4.5)
        (folder / "sogar.toml").write_text(
            '[data]\nlabel = "approved"\ndesired = ["yes"]\n[cost]\nkind = "logshift"\n'
            f"[limits]\nmax_depth = 5\nmin_leaf = 12\ntime_limit = {given.seconds}\n"
        )
        with studio(given.sogar, chromium, *arguments, "--config", folder / "sogar.toml") as (page, _):
            marks = [
                changed(page, partial(page.select_option, "#mode-2", mode)) for mode in ("fixed", "free") * 4
            ]
            print(f"| 20,000 people: a mark (s) | {statistics.median(marks):.2f} | {max(marks):.2f} |")
            page.locator("#solve").click()
            page.wait_for_function(SEARCHED, arg=1)
            count, report, around = dragged(page)
    print(f"| {count:,} summaries: longest task of the report while dragging (ms) | | {report:.0f} |")
    print(f"| … of the page around it (ms) | | {around:.0f} |")


if __name__ == "__main__":
    main()

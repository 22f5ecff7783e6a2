"""Take the pictures of docs/STUDIO.md: columns, a question about a piece of advice, and the front after it.

    .venv/bin/python scripts/studio_pictures.py target/release/sogar docs/figures

Needs Chromium (`scripts/chromium.sh`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

GERMAN = Path(__file__).resolve().parents[1] / "examples" / "german"
WIDTH, HEIGHT = 1000, 640
SEARCHED = "(runs) => Number(document.documentElement.dataset.runs) >= runs"


def take(page: Page, folder: Path) -> None:
    """Goes through the studio as a reader does."""

    def picture(name: str) -> None:
        page.wait_for_timeout(300)
        page.screenshot(path=folder / f"studio-{name}.png")

    page.wait_for_function("() => document.documentElement.dataset.ready === 'yes'")
    page.locator("#columns > li").first.scroll_into_view_if_needed()
    page.evaluate("document.querySelector('.bars-legend').scrollIntoView()")
    page.mouse.wheel(0, -80)
    picture("table")
    page.locator("#solve").click()
    page.wait_for_function(SEARCHED, arg=1, timeout=300_000)
    page.locator("#tab-explore").click()
    page.locator("iframe.report:not([inert])").wait_for(timeout=120_000)
    report = page.frame_locator("iframe.report")
    report.locator("html[data-ready=yes]").wait_for(timeout=120_000)
    advice = report.locator(".leaf .what-if").first
    advice.scroll_into_view_if_needed()
    advice.click()
    picture("what-if")
    page.locator("#what-if .choices button").first.click()
    page.wait_for_function(SEARCHED, arg=2, timeout=300_000)
    page.locator("#price .price").wait_for()
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT + 260})
    page.wait_for_timeout(600)  # the buttons rest for a moment after a search
    picture("search")


def main(binary: Path, folder: Path) -> None:
    """Starts the studio on the German example, and ends it."""
    files: list[str | Path] = [GERMAN / "german.csv", "--model", GERMAN / "model.txt"]
    files += ["--config", GERMAN / "sogar.toml"]
    with subprocess.Popen(
        [binary, "studio", *files, "--no-browser", "--json"], stdout=subprocess.PIPE, text=True
    ) as studio:
        assert studio.stdout is not None
        address = json.loads(studio.stdout.readline())["address"]
        chromium = os.environ.get("SOGAR_CHROMIUM") or shutil.which("chromium")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto(address)
            take(page, folder)
            browser.close()
        studio.terminate()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))

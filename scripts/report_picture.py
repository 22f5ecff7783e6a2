"""Take the README's picture of a report: the trade-off and the chosen summary.

    make demo && .venv/bin/python scripts/report_picture.py demo-out/report.html docs/report.png

Needs Chromium (`scripts/chromium.sh`). It looks best with the fonts Inter and TeX Gyre Pagella installed.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH = 1100


def take(report: Path, picture: Path) -> None:
    """Opens the report and takes what lies between the slider and the end of the tree."""
    browser_path = os.environ.get("SOGAR_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(report.resolve().as_uri())
        page.wait_for_function("document.documentElement.dataset.ready === 'yes'")
        page.locator("#front-chart svg").first.wait_for()
        page.evaluate(
            "document.querySelectorAll('.as-table, #summary .tools').forEach((part) => part.remove())"
        )
        top, end = page.locator(".control").bounding_box(), page.locator("#tree-panel").bounding_box()
        if top is None or end is None:
            raise SystemExit(f"{report} is not a report of sogar")
        height = end["y"] + end["height"] - top["y"] + 24
        page.screenshot(
            path=picture, full_page=True, clip={"x": 0, "y": top["y"], "width": WIDTH, "height": height}
        )
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    take(Path(sys.argv[1]), Path(sys.argv[2]))

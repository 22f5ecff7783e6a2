"""Reports in a real browser: Debian's Chromium without a window, driven by Playwright."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import lightgbm
import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright
from running import DATA, GERMAN, Sogar, ending_with, skip

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

FLAGS = ["--no-sandbox", "--disable-gpu"]

Json = dict[str, Any]
Open = Callable[..., "Opened"]


@dataclass
class Report:
    """A report, the front that it shows and the groupings that it was asked for."""

    page: Path
    front_file: Path
    front: Json
    groups: tuple[str, ...]

    @property
    def some_points(self) -> list[int]:
        """Twenty points spread over the front, its ends among them."""
        return sorted({int(point) for point in np.linspace(0, len(self.front["points"]) - 1, 20)})


@dataclass
class Opened:
    """A report in a browser, with what went wrong in it."""

    page: Page
    report: Report
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def choose(self, point: int) -> None:
        """Moves the slider as a reader does: the value changes, and an input event tells of it."""
        self.page.locator("#slider").evaluate(
            """(slider, point) => {
                slider.value = point;
                slider.dispatchEvent(new Event('input', { bubbles: true }));
            }""",
            str(point),
        )
        self.page.wait_for_function(
            "(point) => document.documentElement.dataset.point === point", arg=str(point)
        )

    @property
    def point(self) -> int:
        """The chosen point."""
        return int(self.page.evaluate("document.documentElement.dataset.point"))

    def saved(self, button: str) -> str:
        """What a download button gives."""
        self.page.wait_for_timeout(150)  # Chromium drops downloads beyond ten a second
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name=button, exact=True).click()
        return Path(download.value.path()).read_text(encoding="utf-8")

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that match."""
        return self.page.locator(selector).all_inner_texts()


def data_of(page: Path) -> Json:
    """The data that a report carries."""
    text = page.read_text(encoding="utf-8")
    start = text.index(">", text.index('<script id="data"')) + 1
    found: Json = json.loads(text[start : text.index("</script>", start)])
    return found


@pytest.fixture(scope="session")
def sogar() -> Sogar:
    """Runs the binary and answers with its standard output."""
    return ending_with(0)


def chromium() -> str:
    """The program of the browser; tests that need it are skipped where there is none."""
    wanted = os.environ.get("SOGAR_CHROMIUM")
    path = wanted or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        skip(
            "browser",
            "no Chromium: `scripts/chromium.sh` installs Debian's, or set SOGAR_CHROMIUM to a browser",
        )
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, one for all tests."""
    path = chromium()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


def new_page(browser: Browser, width: int, height: int, *, dark: bool) -> Page:
    """A page in a context of its own."""
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    return browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme).new_page()


@pytest.fixture
def scriptless(browser: Browser, tmp_path: Path) -> Iterator[BrowserContext]:
    """A browser whose owner blocked scripts in its settings.

    Playwright's `java_script_enabled=False` is not enough: a sandboxed frame has a process of its own, and
    its scripts may run before the setting reaches it.
    """
    settings = tmp_path / "profile" / "Default" / "Preferences"
    settings.parent.mkdir(parents=True)
    blocked = {"profile": {"default_content_setting_values": {"javascript": 2}}}
    settings.write_text(json.dumps(blocked), encoding="utf-8")
    profile = browser.browser_type.launch_persistent_context(
        settings.parents[1],
        executable_path=chromium(),
        args=FLAGS,
        viewport={"width": 900, "height": 900},
    )
    yield profile
    profile.close()


def listen(page: Page, requests: list[str], complaints: list[str]) -> None:
    """Keeps what a page asks for, and what goes wrong on it."""

    def hear(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: requests.append(request.url))


@pytest.fixture
def open_report(browser: Browser) -> Iterator[Open]:
    """Opens a report from disk; whatever it asks for or complains about is kept."""
    contexts = []

    def run(report: Report, *, width: int = 1280, height: int = 900, dark: bool = False) -> Opened:
        page = new_page(browser, width, height, dark=dark)
        contexts.append(page.context)
        opened = Opened(page, report)
        listen(page, opened.requests, opened.complaints)
        page.goto(report.page.as_uri())
        page.wait_for_function("document.documentElement.dataset.ready === 'yes'")
        return opened

    yield run
    for context in contexts:
        context.close()


def make_report(sogar: Sogar, folder: Path, solve: list[str | Path], groups: tuple[str, ...]) -> Report:
    """Solves, and writes the report."""
    front, page = folder / "front.json", folder / "report.html"
    sogar("solve", *solve, "-o", front, "--quiet")
    sogar("report", front, *(part for group in groups for part in ("--group", group)), "-o", page, "--quiet")
    return Report(page, front, json.loads(front.read_text()), groups)


@pytest.fixture(scope="session")
def german(sogar: Sogar, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The German example, with a fifth of its people as held-out people."""
    folder = tmp_path_factory.mktemp("german")
    lines = (GERMAN / "german.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    others = folder / "others.csv"
    others.write_text("".join([lines[0], *lines[1::5]]), encoding="utf-8")
    solve: list[str | Path] = [GERMAN / "german.csv", "--model", GERMAN / "model.txt", "--holdout", others]
    solve += ["--config", GERMAN / "sogar.toml"]
    return make_report(sogar, folder, solve, ("status_sex", "age<=25"))


@pytest.fixture(scope="session")
def adult(sogar: Sogar, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A part of Adult, with actions of at most two edits: the front of some thousand people in seconds."""
    table_file = DATA / "adult_train.csv"
    if not table_file.exists():
        skip("data", f"{table_file} does not exist: set SOGAR_DATA to the folder with the data sets")
    folder = tmp_path_factory.mktemp("adult")
    table = pd.read_csv(table_file, skipinitialspace=True).drop(columns="fnlwgt").iloc[:6000]
    features = table.drop(columns="income")
    text = features.select_dtypes(exclude="number").columns
    encoded = features.astype(dict.fromkeys(text, "category"))
    model = lightgbm.LGBMClassifier(n_estimators=20, num_leaves=8, n_jobs=1, random_state=0, verbose=-1)
    model.fit(encoded, table["income"] == ">50K")
    model.booster_.save_model(folder / "model.txt")
    table.to_csv(folder / "adult.csv", index=False)
    solve: list[str | Path] = [folder / "adult.csv", "--model", folder / "model.txt", "--label", "income"]
    solve += ["--desired", ">50K", "--max-edits", "2", "--min-leaf", "300"]
    solve += [part for name in ("age", "sex", "race", "native-country") for part in ("--immutable", name)]
    return make_report(sogar, folder, solve, ("sex", "sex*race"))


@pytest.fixture(params=["german", "adult"])
def report(request: pytest.FixtureRequest) -> Report:
    """Each of the real reports."""
    found: Report = request.getfixturevalue(request.param)
    return found

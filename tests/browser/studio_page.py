"""The studio in a real browser: the command is started, its page opened, and what goes wrong is kept."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from bench_studio import people_table
from playwright.sync_api import Browser, FrameLocator, Page
from report_page import Json, listen, new_page
from running import the_binary


@dataclass
class Studio:
    """A studio that runs, and its page."""

    process: subprocess.Popen[str]
    address: str
    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @property
    def state(self) -> Json:
        """What the server says now."""
        found: Json = self.page.evaluate("async () => (await fetch('state?after=0')).json()")
        return found

    @property
    def problem(self) -> Json:
        """Columns, settings and counts."""
        found: Json = self.page.evaluate("async () => (await fetch('problem')).json()")
        return found

    @property
    def report(self) -> FrameLocator:
        """The report of the chosen run."""
        return self.page.frame_locator("iframe.report")

    def report_ready(self) -> None:
        """Waits for the report of the chosen run: until it has loaded, the frame has the one before."""
        self.page.locator("iframe.report:not([inert])").wait_for(timeout=120_000)
        self.report.locator("html[data-ready=yes]").wait_for(timeout=120_000)

    def tab(self, name: str) -> None:
        """Opens a step."""
        self.page.locator(f"#tab-{name}").click()

    def column(self, name: str) -> int:
        """The number of a column in the ids of the page."""
        return [column["name"] for column in self.problem["columns"]].index(name)

    def changed(self, act: Callable[[], object]) -> None:
        """Does something that changes the settings, and waits until the page shows that."""
        before = self.page.evaluate("document.documentElement.dataset.problem")
        act()
        self.page.wait_for_function(
            "(before) => document.documentElement.dataset.problem !== before", arg=before
        )

    def searched(self, act: Callable[[], object]) -> Json:
        """Does something that starts a search, and waits for its run."""
        runs = len(self.state["runs"])
        act()
        self.page.wait_for_function(
            "(runs) => Number(document.documentElement.dataset.runs) > runs"
            " && document.documentElement.dataset.searching === 'no'",
            arg=runs,
            timeout=300_000,
        )
        run: Json = self.state["runs"][-1]
        return run

    def saved(self, selector: str) -> bytes:
        """What a link downloads."""
        with self.page.expect_download() as download:
            self.page.locator(selector).click()
        return Path(download.value.path()).read_bytes()

    def ended(self) -> int:
        """Ends the command with Ctrl-C, and gives its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


Start = Callable[..., Studio]


@pytest.fixture
def start(browser: Browser) -> Iterator[Start]:
    """Starts the studio and opens its page; ends both afterwards."""
    started: list[Studio] = []
    contexts = []

    def run(*arguments: str | Path, width: int = 1280, height: int = 900, dark: bool = False) -> Studio:
        process = subprocess.Popen(
            [the_binary(), "studio", "--no-browser", "--json", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert line, process.stderr.read()
        address: str = json.loads(line)["address"]
        page = new_page(browser, width, height, dark=dark)
        contexts.append(page.context)
        page.set_default_timeout(120_000)  # a busy machine is no fault
        studio = Studio(process, address, page)
        started.append(studio)
        listen(page, studio.requests, studio.complaints)
        page.goto(address)
        page.wait_for_function("() => document.documentElement.dataset.ready === 'yes'")
        return studio

    yield run
    for context in contexts:
        context.close()
    for studio in started:
        if studio.process.poll() is None:
            studio.process.kill()
        studio.process.wait()
        for stream in (studio.process.stdout, studio.process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated table of 20,000 people with odd names, and its model, in a folder."""
    folder = tmp_path_factory.mktemp("many")
    people_table(folder)
    return folder

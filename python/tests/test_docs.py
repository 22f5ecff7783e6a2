"""The documentation is true: its examples run, its links lead somewhere, and the reference is up to date."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import sys
from pathlib import Path

import matplotlib as mpl
import pytest
import sogar
from running import ROOT

#: The reference is made of docstrings, which are tested where they stand.
PAGES = sorted(page for page in (ROOT / "docs" / "python").glob("*.md") if page.name != "API.md")
MODULES = [
    module.name
    for module in pkgutil.walk_packages(sogar.__path__, "sogar.")
    if module.name != "sogar._native"
]


def run(test: doctest.DocTest) -> None:
    """Runs examples and fails with all that differed."""
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(test, out=failures.append)
    if runner.failures:
        pytest.fail("".join(failures), pytrace=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    mpl.use("agg")
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    run(test)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    mpl.use("agg")
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        run(test)


def test_links_of_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_reference_is_up_to_date() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        reference = importlib.import_module("python_api").reference()
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    written = (ROOT / "docs" / "python" / "API.md").read_text(encoding="utf-8")
    assert written == reference, "run `make docs`"

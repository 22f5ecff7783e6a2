"""The binary under test and the example's front, solved once."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from recompute import Json, Population, read_table
from running import GERMAN, Sogar, Solve, ending_with, the_binary


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the longest file first: at the end it would run alone, while the other processes are idle."""
    items.sort(key=lambda item: "test_tour.py" not in item.nodeid)


@pytest.fixture(scope="session")
def binary() -> Path:
    """The binary."""
    return the_binary()


@pytest.fixture(scope="session")
def sogar_error() -> Sogar:
    """Runs the binary, which must fail with exit code 2, and answers with its standard error."""
    return ending_with(2)


@pytest.fixture(scope="session")
def sogar() -> Sogar:
    """Runs the binary and answers with its standard output."""
    return ending_with(0)


@pytest.fixture(scope="session")
def solve(sogar: Sogar) -> Solve:
    """Solves a table with the example's model and configuration."""

    def run(table: Path, out: Path, *options: str) -> Path:
        model, config = GERMAN / "model.txt", GERMAN / "sogar.toml"
        sogar("solve", table, "--model", model, "--config", config, "-o", out, "--quiet", *options)
        return out

    return run


@pytest.fixture(scope="session")
def german() -> pd.DataFrame:
    """The German Credit table as text."""
    return read_table(GERMAN / "german.csv")


@pytest.fixture(scope="session")
def front(solve: Solve, tmp_path_factory: pytest.TempPathFactory) -> Json:
    """The front of the German example."""
    out = solve(GERMAN / "german.csv", tmp_path_factory.mktemp("german") / "front.json")
    result: Json = json.loads(out.read_text())
    return result


@pytest.fixture(scope="session")
def people(front: Json, german: pd.DataFrame) -> Population:
    """The affected rows of the German example, ready for recomputation."""
    return Population(front, GERMAN / "model.txt", german)

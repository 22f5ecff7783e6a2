"""The binary under test and the example's front, solved once."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from recompute import Json, Population, read_table

ROOT = Path(__file__).resolve().parents[2]
GERMAN = ROOT / "examples" / "german"

Sogar = Callable[..., str]
Solve = Callable[..., Path]


@pytest.fixture(scope="session")
def binary() -> Path:
    """The binary: `SOGAR_BIN`, else the debug build."""
    binary = Path(os.environ.get("SOGAR_BIN", ROOT / "target" / "debug" / "sogar"))
    if not binary.exists():
        pytest.fail(f"{binary} does not exist: run `cargo build -p sogar-cli` first, or set SOGAR_BIN")
    return binary


@pytest.fixture(scope="session")
def sogar_error(binary: Path) -> Sogar:
    """Runs the binary, which must fail with exit code 2, and answers with its standard error."""

    def run(*arguments: str | Path) -> str:
        done = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 2, f"sogar {' '.join(map(str, arguments))}\n{done.stdout}\n{done.stderr}"
        return done.stderr

    return run


@pytest.fixture(scope="session")
def sogar(binary: Path) -> Sogar:
    """Runs the binary and answers with its standard output."""

    def run(*arguments: str | Path) -> str:
        done = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, f"sogar {' '.join(map(str, arguments))}\n{done.stderr}"
        return done.stdout

    return run


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

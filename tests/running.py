"""Runs the command line under test, for all suites: `SOGAR_BIN`, else the debug build."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[1]

GERMAN = ROOT / "examples" / "german"
DATA = Path(os.environ.get("SOGAR_DATA", ROOT.parent / "shared" / "data"))

Sogar = Callable[..., str]
Solve = Callable[..., Path]


def the_binary() -> Path:
    """The binary, which must have been built."""
    binary = Path(os.environ.get("SOGAR_BIN", ROOT / "target" / "debug" / "sogar"))
    if not binary.exists():
        pytest.fail(f"{binary} does not exist: run `cargo build -p sogar-cli` first, or set SOGAR_BIN")
    return binary


def skip(what: str, why: str) -> NoReturn:
    """Skips a test; `SOGAR_REQUIRE=data,gpu,avx512,browser` turns skips for want of these into failures."""
    if what in os.environ.get("SOGAR_REQUIRE", "").split(","):
        pytest.fail(f"SOGAR_REQUIRE names {what}, but: {why}")
    pytest.skip(why)


def program(binary: Path, command: object) -> Path:
    """The laboratory's binary, which is built beside the other, for its own commands."""
    return binary.with_name("sogar-lab") if command in ("compare", "experiment", "bench") else binary


def ending_with(code: int) -> Sogar:
    """Runs the binary, which must end with this exit code; 0 gives its output, others its errors."""
    binary = the_binary()

    def run(*arguments: str | Path) -> str:
        done = subprocess.run(
            [program(binary, arguments[0]), *arguments],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        said = f"sogar {' '.join(map(str, arguments))}\n{done.stdout if code else ''}\n{done.stderr}"
        assert done.returncode == code, said
        return done.stderr if code else done.stdout

    return run

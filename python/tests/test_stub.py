"""The hand-written stub of the extension module is what the module is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import sogar


def test_the_stub_is_that_of_the_module() -> None:
    folder = str(Path(sogar.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "sogar._native"],
        env={**os.environ, "MYPYPATH": folder, "PYTHONPATH": folder},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout

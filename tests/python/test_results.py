"""Fronts, audits, reports and explanations are the recorded ones: a change of the code changes no result."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from running import ROOT


def test_fixtures_and_the_example_give_the_recorded_results(binary: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "results.py"), "--sogar", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

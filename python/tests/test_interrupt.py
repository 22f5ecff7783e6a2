"""Ctrl-C: honoured soon, with what was found so far; and progress."""

from __future__ import annotations

import _thread
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sogar import Sogar, solve_matrix
from sogar import _progress as progress_module

#: A search that would take minutes.
LONG: dict[str, Any] = {"max_depth": 5, "min_leaf": 2, "max_edits": 3, "bins": 20, "progress": False}


def interrupt_after(seconds: float) -> threading.Timer:
    """Presses Ctrl-C after a while."""
    timer = threading.Timer(seconds, _thread.interrupt_main)
    timer.start()
    return timer


def test_the_partial_front_is_kept(german: pd.DataFrame, booster: Any) -> None:
    estimator = Sogar(**LONG)
    timer = interrupt_after(3.0)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(german, booster)
    timer.cancel()
    assert estimator.status_ == "cancelled"
    assert len(estimator.front_) >= 1
    assert estimator.summary_.cost >= 0
    assert len(estimator.predict(german)) == len(german)


def test_a_callback_is_let_finish(people: pd.DataFrame) -> None:
    calls: list[int] = []

    def slow(rows: pd.DataFrame) -> Any:
        calls.append(len(rows))
        if len(calls) > 6:
            time.sleep(0.3)
        return (rows["income"] - rows["debt"] > 30).to_numpy()

    estimator = Sogar(max_depth=2, max_edits=3, bins=10, batch=500, progress=False)
    timer = interrupt_after(2.0)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(people, slow)
    timer.cancel()


def test_an_interrupt_within_the_function_is_no_error_of_the_model(people: pd.DataFrame) -> None:
    calls: list[int] = []

    def interrupted(rows: pd.DataFrame) -> Any:
        calls.append(len(rows))
        if len(calls) == 8:
            raise KeyboardInterrupt
        return (rows["income"] > 40).to_numpy()

    with pytest.raises(KeyboardInterrupt):
        Sogar(max_depth=1, max_edits=2, bins=5, batch=200, progress=False).fit(people, interrupted)


def test_the_matrix_solver_can_be_interrupted() -> None:
    draw = np.random.default_rng(0)
    splits, flips = draw.random((600, 150)) < 0.5, draw.random((800, 600)) < 0.5
    timer = interrupt_after(0.5)
    with pytest.raises(KeyboardInterrupt):
        solve_matrix(splits, draw.integers(0, 1000, (800, 600)), flips, max_depth=5, progress=False)
    timer.cancel()


def test_other_threads_run_while_the_engine_works(german: pd.DataFrame, booster: Any) -> None:
    ticks: list[float] = []
    over = threading.Event()

    def tick() -> None:
        while not over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    Sogar(max_depth=2, max_edits=2, bins=10, progress=False).fit(german, booster)
    over.set()
    thread.join()
    assert len(ticks) > 3


def test_progress_is_shown_on_request(
    german: pd.DataFrame, booster: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_module, "PATIENCE", 0.0)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    Sogar(max_depth=2, max_edits=2, bins=10, progress=True).fit(german, booster)
    shown = capsys.readouterr().err
    assert "outcomes of all actions" in shown or "search, depth" in shown
    Sogar(max_depth=1, max_edits=1, bins=10, progress=False).fit(german, booster)
    assert capsys.readouterr().err == ""


def test_a_bar_that_fails_ends_the_search(
    german: pd.DataFrame, booster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no bar")

    monkeypatch.setattr(progress_module.Progress, "__call__", broken)
    estimator = Sogar(**LONG)
    with pytest.raises(RuntimeError, match="no bar"):
        estimator.fit(german, booster)
    assert estimator.status_ == "cancelled"


def test_210_fits_keep_memory_flat() -> None:
    code = """
        import gc, numpy as np, sogar
        rows = np.random.default_rng(0).uniform(0, 1, (300, 4))
        def memory():
            gc.collect()
            for line in open("/proc/self/status"):
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        def fit():
            front = sogar.Sogar(max_depth=1, max_edits=1, bins=5, progress=False)
            front.fit(rows, lambda rows: rows.sum(axis=1) > 2)
            front.predict(rows), front.transform(rows), front.to_json()
        def lowest():
            # What an allocator keeps for later comes and goes; what leaks stays.
            found = []
            for _ in range(5):
                for _ in range(10):
                    fit()
                found.append(memory())
            return min(found)
        before = lowest()
        for _ in range(110):
            fit()
        print(lowest() - before)
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("memory is measured with Linux's /proc")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, timeout=300
    )
    assert int(done.stdout) < 8_000, "kilobytes that 160 fits left behind"

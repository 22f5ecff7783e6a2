"""Progress bars for long work: tqdm's if installed (also in notebooks), otherwise a plain line.

A bar appears only for work of more than a second, and by default only on a terminal or in a notebook. The
logger ``sogar`` reports every few seconds in any case (level ``INFO``).
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from types import TracebackType
from typing import Any

LOG = logging.getLogger("sogar")
#: Seconds before a bar appears.
PATIENCE = 1.0
#: Seconds between two lines of the log.
BETWEEN_LINES = 5.0


class Progress:
    """Receives the progress of stages and shows it.

    ``shown=None`` shows bars on terminals and in notebooks, ``True`` everywhere and ``False`` nowhere.

    >>> with Progress(False) as progress:
    ...     progress("search, depth 2", 3, 10, "120 leaf sets")
    """

    def __init__(self, shown: bool | None = None) -> None:
        """Decides whether to show bars."""
        self._shown = _has_audience() if shown is None else bool(shown)
        self._start = self._logged = time.monotonic()
        self._stage = ""
        self._bar: Any = None

    def __call__(self, stage: str, done: int, total: int, remark: str) -> None:
        """Shows the progress of a stage."""
        now = time.monotonic()
        if now - self._logged >= BETWEEN_LINES:
            self._logged = now
            remark_of = f", {remark}" if remark else ""
            LOG.info("%s: %d of %d, %.0f s%s", stage, done, total, now - self._start, remark_of)
        if not self._shown or now - self._start < PATIENCE:
            return
        if stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = _bar(stage, total)
        self._bar.total = total
        self._bar.n = done
        self._bar.set_postfix_str(remark, refresh=False)
        self._bar.refresh()

    def announce(self, text: str) -> None:
        """Something to be said at once."""
        LOG.warning(text)

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.close()
        self._bar, self._stage = None, ""

    def __enter__(self) -> Progress:
        """Begins."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Removes the bar, also after an exception."""
        self.close()


def _has_audience() -> bool:
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and type(found).__name__ == "ZMQInteractiveShell"


def _bar(stage: str, total: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # users need not know that a notebook lacks widgets
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return _PlainBar(stage, total)
        return tqdm(total=total, desc=stage, leave=False, file=sys.stderr)


class _PlainBar:
    """One line that is overwritten at each update."""

    def __init__(self, stage: str, total: int) -> None:
        self.stage, self.total, self.n, self.remark, self.width = stage, total, 0, "", 0

    def set_postfix_str(self, remark: str, refresh: bool = True) -> None:
        self.remark = remark
        if refresh:
            self.refresh()

    def refresh(self) -> None:
        share = self.n / self.total if self.total else 0.0
        bar = "=" * int(30 * share)
        line = f"{self.stage} [{bar:30}] {self.n}/{self.total} {self.remark}"
        sys.stderr.write(f"\r{line:{self.width}}")
        sys.stderr.flush()
        self.width = len(line)

    def close(self) -> None:
        sys.stderr.write(f"\r{'':{self.width}}\r")
        sys.stderr.flush()

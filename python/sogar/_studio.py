"""The studio in Python: a page in the browser, on this computer, for a table and a model."""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from typing import Any

from . import _native
from ._errors import path_of
from ._init import loaded_model
from ._tables import UserTable, in_one_piece


class Studio:
    """A studio that runs in this process; it ends with the process, by `close`, or by the button on its page.

    Attributes:
        address: The address of the page, with its secret token.
    """

    def __init__(self, native: _native.Studio) -> None:
        self._native = native
        self.address: str = native.address
        atexit.register(self.close)

    @property
    def running(self) -> bool:
        """Whether the studio still answers."""
        return self._native.running

    def wait(self) -> None:
        """Waits until the studio is ended on its page, or by Ctrl-C."""
        try:
            self._native.wait()
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Stops a search that is running, and ends the studio."""
        atexit.unregister(self.close)
        self._native.close()

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Studio({self.address!r}, running={self.running})"


def studio(
    X: Any,  # noqa: N803 - as scikit-learn calls it
    model: Any,
    *,
    config: str | os.PathLike[str] | None = None,
    browser: bool = True,
) -> Studio:
    """Opens the studio for a table and a model: `sogar studio` in Python.

    The page is on this computer, and nothing leaves it. There you see the table, say what people can change,
    search, ask "what if nobody were told this", and save ``sogar.toml``, ``front.json`` and the report. The
    function returns at once; `Studio.wait` waits until the studio is ended.

    Args:
        X: A table of any type that `Sogar.fit` takes. It may contain the label, ids and dates.
        model: A fitted classifier, a callable on rows, or the path of a model file.
        config: A ``sogar.toml`` to start from (default: what `init_config` would write).
        browser: Whether to open the page in a browser; otherwise open `Studio.address` yourself.

    Returns:
        The studio that runs.

    >>> import numpy as np, pandas as pd
    >>> people = pd.DataFrame({"age": np.arange(40) % 7 + 20, "income": np.arange(40) % 11})
    >>> with studio(people, lambda rows: rows["income"] > 5, browser=False) as running:
    ...     running.address.startswith("http://127.0.0.1:")
    True
    """
    text, folder = None, ""
    if config is not None:
        text = _native.read_config(path_of(config))
        folder = str(Path(config).parent)
    table = UserTable(in_one_piece(X))
    native = table.native(text or "{}", table.names)
    loaded, classes = loaded_model(model, table, native)
    started = Studio(_native.Studio(native, loaded, config=text, folder=folder, classes=classes))
    if browser:
        started._native.open()
    return started

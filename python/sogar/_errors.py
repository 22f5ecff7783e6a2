"""What can go wrong, as exceptions: the engine's own messages, each with what to do about it.

All of them are `SogarError`. Those about arguments and data are also `ValueError`, as scikit-learn expects
it.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any


class SogarError(Exception):
    """The base of all errors of this package.

    >>> error = DataError("column `age`: `abc` is text, but the feature is a number", "correct the cell")
    >>> print(error)
    column `age`: `abc` is text, but the feature is a number
    help: correct the cell
    >>> isinstance(error, ValueError)
    True
    """

    def __init__(self, message: str, help: str = "") -> None:  # noqa: A002 - as messages call it
        """Keeps the message and the remedy."""
        super().__init__(message, help)
        self.message = message
        self.help = help

    def __str__(self) -> str:
        """The message, and the remedy on a line of its own."""
        return f"{self.message}\nhelp: {self.help}" if self.help else self.message


class ArgumentError(SogarError, ValueError):
    """An argument, or a file that it names."""


class DataError(SogarError, ValueError):
    """A table's contents."""


class ConfigError(SogarError, ValueError):
    """A parameter of the estimator, or a configuration."""


class ModelError(SogarError, ValueError):
    """A model, or one that does not fit the table."""


class PopulationError(SogarError, ValueError):
    """The people who are turned down: nobody, everybody, or too few."""


class TooLargeError(SogarError, MemoryError):
    """The work would not fit into the memory limit, or would ask the model too often; nothing was started."""


class OutputError(SogarError, OSError):
    """A file that could not be written."""


class ResultFileError(SogarError, ValueError):
    """A result that is damaged, or does not belong to the given table or model."""


class CheckpointError(SogarError, ValueError):
    """A checkpoint that is damaged, in use, or of another run."""


class NotFittedError(SogarError, ValueError, AttributeError):
    """Something that only a fitted estimator can do."""


class SogarWarning(UserWarning):
    """Something is not as it should be, though the work goes on."""


_CLASSES: dict[str, type[SogarError]] = {
    "usage": ArgumentError,
    "table": DataError,
    "config": ConfigError,
    "model": ModelError,
    "population": PopulationError,
    "memory": TooLargeError,
    "scorings": TooLargeError,
    "output": OutputError,
    "result_file": ResultFileError,
    "checkpoint": CheckpointError,
}


def of_kind(kind: str, message: str, help: str) -> SogarError:  # noqa: A002 - as messages call it
    """The exception for an error of the engine, in the words of Python: ``min_leaf`` for ``--min-leaf``.

    >>> of_kind("table", "line 3, column `age`: `inf` is not a finite number", "see --missing").message
    'row 3, column `age`: `inf` is not a finite number'
    """
    message = re.sub(
        r"^line (?=\d+, column)", "row ", message
    )  # a table that is no file has rows and no lines
    return _CLASSES.get(kind, SogarError)(_without_flags(message), _without_flags(help))


def _without_flags(text: str) -> str:
    text = re.sub(r"--threads\b", "n_jobs", text)
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda flag: flag[1].replace("-", "_"), text)


def utf8(text: str, what: str, error: type[SogarError] = ArgumentError) -> str:
    r"""The text itself; an error if it has half of a character, which no file and no engine can hold.

    >>> utf8("\ud83d", "the name of a column", DataError)
    Traceback (most recent call last):
    sogar._errors.DataError: the name of a column, `\ud83d`, has half of a character (a lone surrogate)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = text.encode("ascii", "backslashreplace").decode()
        raise error(f"{what}, `{shown}`, has half of a character (a lone surrogate)") from None
    return text


def path_of(path: str | os.PathLike[str]) -> str:
    """A path as text; an error if no file can have that name."""
    text = os.fspath(path)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return utf8(text, "the path")
    return text


def not_fitted(what: Any) -> NotFittedError:
    """The error for an estimator that is not fitted: also scikit-learn's own, if scikit-learn is in use."""
    message = f"this {type(what).__name__} is not fitted yet"
    remedy = "call `fit` with a table and a model first"
    sklearn = sys.modules.get("sklearn.exceptions")
    if sklearn is None:
        return NotFittedError(message, remedy)
    both = type("NotFittedError", (NotFittedError, sklearn.NotFittedError), {"__module__": __name__})
    error: NotFittedError = both(message, remedy)
    return error

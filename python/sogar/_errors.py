"""Exceptions: the engine's messages, each with a remedy.

All of them are `SogarError`. Errors about arguments and data are also `ValueError`, as scikit-learn expects.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self


class SogarError(Exception):
    """The base class of all errors of this package.

    >>> error = DataError("column `age`: `abc` is text, but the feature is a number", "correct the cell")
    >>> print(error)
    column `age`: `abc` is text, but the feature is a number
    help: correct the cell
    >>> isinstance(error, ValueError)
    True
    """

    def __init__(self, message: str, help: str = "") -> None:  # noqa: A002 - the word in messages
        """Keeps the message and the remedy."""
        super().__init__(message, help)
        self.message = message
        self.help = help

    def __str__(self) -> str:
        """The message, and the remedy on a line of its own."""
        return f"{self.message}\nhelp: {self.help}" if self.help else self.message


class ArgumentError(SogarError, ValueError):
    """An argument is wrong, or the file that it names."""


class DataError(SogarError, ValueError):
    """The contents of a table are wrong."""


class ConfigError(SogarError, ValueError):
    """A parameter of the estimator or a configuration is wrong."""


class ModelError(SogarError, ValueError):
    """The model cannot be used, or does not fit the table."""


class PopulationError(SogarError, ValueError):
    """The model turns down nobody, everybody, or too few people."""


class TooLargeError(SogarError, MemoryError):
    """The work would exceed the memory limit or the limit of scorings; nothing was started."""


class OutputError(SogarError, OSError):
    """A file could not be written."""


class ResultFileError(SogarError, ValueError):
    """A result is damaged, or belongs to another table or model."""


class CheckpointError(SogarError, ValueError):
    """A checkpoint is damaged, in use, or from another run."""


class NotFittedError(SogarError, ValueError, AttributeError):
    """The estimator must be fitted first."""


class SogarWarning(UserWarning):
    """Something is wrong, but the work continues."""


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


def of_kind(kind: str, message: str, help: str) -> SogarError:  # noqa: A002 - the word in messages
    """The exception for an error of the engine, with Python's names: ``min_leaf`` for ``--min-leaf``.

    >>> of_kind("table", "line 3, column `age`: `inf` is not a finite number", "see --missing").message
    'row 3, column `age`: `inf` is not a finite number'
    """
    message = re.sub(r"^line (?=\d+, column)", "row ", message)  # a table in memory has rows, not lines
    return _CLASSES.get(kind, SogarError)(without_flags(message), without_flags(help))


def without_flags(text: str) -> str:
    """A text of the command line with Python's names: parameters, and ``None`` for a missing value."""
    text = re.sub(r" \(--[a-z-]+ on the command line\)", "", text)
    text = re.sub(r"--threads\b", "n_jobs", text)
    text = re.sub(r"\bwrite null\b|\bor null\b", lambda words: words[0].replace("null", "None"), text)
    text = re.sub(r"--([a-z]+) (?=[A-Z]{2})", r"\1=", text)
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda flag: flag[1].replace("-", "_"), text)


def utf8(text: str, what: str, error: type[SogarError] = ArgumentError) -> str:
    r"""Returns the text; raises an error if it has a lone surrogate, which UTF-8 cannot encode.

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
    """A path as a string; raises an error if no file can have that name."""
    text = os.fspath(path)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return utf8(text, "the path")
    return text


def not_fitted(what: Any) -> NotFittedError:
    """The error for an unfitted estimator; also scikit-learn's own if scikit-learn is loaded."""
    message = f"this {type(what).__name__} is not fitted yet"
    remedy = "call `fit` with a table and a model first"
    sklearn = sys.modules.get("sklearn.exceptions")
    if sklearn is None:
        return NotFittedError(message, remedy)
    both = type("NotFittedError", (NotFittedError, sklearn.NotFittedError), {"__module__": __name__})
    error: NotFittedError = both(message, remedy)
    return error


class AuditFailedError(ModelError):
    """A condition of `fail_on` holds. `audit` is the whole audit, `verdicts` the result of each condition."""

    def __init__(self, audit: dict[str, Any], verdicts: list[dict[str, Any]]) -> None:
        """Names the conditions."""
        texts = [str(verdict.get("text") or verdict.get("condition")) for verdict in verdicts]
        super().__init__(f"the audit fails: {'; '.join(texts)}")
        self.audit = audit
        self.verdicts = verdicts

    def __reduce__(self) -> tuple[type[Self], tuple[dict[str, Any], list[dict[str, Any]]]]:
        """Supports pickling."""
        return type(self), (self.audit, self.verdicts)


class EvaluationFailedError(ModelError):
    """A condition of `fail_on` holds. `evaluation` is the evaluation, `verdicts` the conditions that hold."""

    def __init__(self, evaluation: dict[str, Any], verdicts: list[dict[str, Any]]) -> None:
        """Names the conditions."""
        texts = [f"{verdict['condition']} ({verdict['value']:.4f})" for verdict in verdicts]
        super().__init__(f"the evaluation fails: {'; '.join(texts)}")
        self.evaluation = evaluation
        self.verdicts = verdicts

    def __reduce__(self) -> tuple[type[Self], tuple[dict[str, Any], list[dict[str, Any]]]]:
        """Supports pickling."""
        return type(self), (self.evaluation, self.verdicts)

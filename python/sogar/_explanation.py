"""One person: an explanation, the letter that it makes, and how a person is given."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import _native
from ._errors import ArgumentError, SogarWarning, path_of, utf8
from ._tables import UserTable, kind_of


class Explanation(Mapping[str, Any]):
    """What a summary means for one person.

    The principal reasons of the model's answer; and apart from them their group, its action, whether that
    works for *them*, and the cheapest change that does.

    A mapping with the fields of ``sogar explain --json``; `print` shows them in words.
    """

    def __init__(self, native: _native.Explanation) -> None:
        """Reads the facts."""
        self._native = native
        self._facts: dict[str, Any] = json.loads(native.json())

    def __getitem__(self, key: str) -> Any:
        """One of the facts."""
        return self._facts[key]

    def __iter__(self) -> Iterator[str]:
        """Names of the facts."""
        return iter(self._facts)

    def __len__(self) -> int:
        """Number of the facts."""
        return len(self._facts)

    def __str__(self) -> str:
        """The facts in words."""
        return "\n".join(f"{title}\n{text}" for title, text in self._native.sections())

    def __repr__(self) -> str:
        """The facts in words."""
        return str(self)

    def _repr_html_(self) -> str:
        from html import escape

        parts = (
            f"<p><b>{escape(title)}</b></p><pre>{escape(text)}</pre>"
            for title, text in self._native.sections()
        )
        return "".join(parts)

    def letter(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        language: str | None = None,
        messages: str | os.PathLike[str] | None = None,
        sender: str | None = None,
        **fields: str | None,
    ) -> str:
        """A letter to the person, one page of HTML to print: the decision, its reasons, and ways to another.

        Args:
            path: A file to write it to as well.
            language: ``"en"`` (default) or ``"de"``.
            messages: The texts in another language: a TOML file as in docs/LETTERS.md.
            sender: Who writes; the field ``from``, which is a word of Python.
            fields: What else it says: `to`, `date`, `subject`, `application_id`, `decision_date`,
                `model_role`, `correct_data`, `human_review`, `review_by`, `contact`, `legal_text`.

        What a notice usually has and the fields lack is a warning. A letter does not make a decision lawful.
        """
        texts = [(name, text) for name, text in {"from": sender, **fields}.items() if text is not None]
        for _, text in texts:
            utf8(text, "a text of the letter")
        page, said = self._native.letter(
            None if path is None else path_of(path),
            texts,
            language,
            None if messages is None else path_of(messages),
        )
        for warning in said:
            warnings.warn(warning, SogarWarning, stacklevel=2)
        return page


def position_of(row: int, rows: int) -> int:
    """A row by its position as in ``iloc``, counted from the start."""
    if not -rows <= row < rows:
        raise ArgumentError(f"the table has no position {row}", f"positions go from 0 to {rows - 1}")
    return row % rows


def positions_of(who: Any, rows: int) -> list[tuple[int, int]] | None:
    """Positions as given and counted from the start; None for a person: a dictionary, a series of values."""
    names = who.index if hasattr(who, "to_dict") else ()
    if isinstance(who, Mapping) or any(isinstance(name, str) for name in names):
        return None
    values = np.atleast_1d(np.asarray(who))
    if values.ndim != 1 or (values.size and not np.issubdtype(values.dtype, np.integer)):
        raise ArgumentError(
            "`X` is neither a table nor a list of positions",
            "give whole numbers, a table, or one person as a dictionary or series",
        )
    return [(int(row), position_of(int(row), rows)) for row in values]


def person_of(row: Any) -> dict[str, Any]:
    """A person as a dictionary of column and value."""
    if kind_of(row) in ("pandas", "polars", "pyarrow"):
        table = UserTable(row)
        if table.rows != 1:
            raise ArgumentError(f"the table must have one row for one person, but it has {table.rows} rows")
        columns = table.native("{}").columns()
        entries = {name: column[0] for name, column in columns.items()}
    elif isinstance(row, Mapping):
        entries = dict(row)
    elif hasattr(row, "to_dict"):
        entries = row.to_dict()
    else:
        raise ArgumentError(
            f"a {type(row).__name__} is not a person",
            "give a row's position, a dictionary, a series (`X.loc[label]`), or a table with one row",
        )
    return plain(entries)


def plain(entries: Mapping[Any, Any]) -> dict[str, Any]:
    """Values as JSON has them; gaps of any kind are null."""
    plain = {
        str(name): value.item() if isinstance(value, np.generic) else value for name, value in entries.items()
    }
    return {name: None if value is None or value != value else value for name, value in plain.items()}

"""What a fitted front means for people: groups of them, one of them, and a page to share."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._columns import column_of
from ._errors import ArgumentError, ModelError, SogarWarning, path_of, utf8
from ._progress import Progress
from ._settings import as_json, class_text
from ._tables import UserTable, in_one_piece, is_dask, kind_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Self

    from ._dask_tables import Workers

#: What true labels are called that are given beside the table.
_LABEL = "(true label)"


class Explanation(Mapping[str, Any]):
    """What a summary means for one person.

    Their group, what is suggested to it, whether that works for *them*, and the cheapest change that does.

    A mapping with the fields of ``sogar explain --json``; printed, it says them in words.
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
        sender: str | None = None,
        to: str | None = None,
        date: str | None = None,
        subject: str | None = None,
    ) -> str:
        """A letter to the person, one page of HTML to be printed; also written to `path`, if it is given."""
        for text in (sender, to, date, subject):
            utf8(text or "", "a text of the letter")
        return self._native.letter(None if path is None else path_of(path), sender, to, date, subject)


def _all_utf8(texts: list[str]) -> None:
    for text in texts:
        utf8(text, "an argument")


class ForPeople:
    """The part of the estimator that is about people."""

    progress: bool | None
    _front: _native.Front
    _point: int
    _problem: _native.Problem | None

    if TYPE_CHECKING:

        def _require_fitted(self) -> _native.Front: ...
        def _require_problem(self, *, everybody: bool = True) -> _native.Problem: ...
        def _position(self, by: str | int) -> int: ...
        def _check_client(self, client: Any) -> None: ...
        def _workers(self, client: Any) -> AbstractContextManager[Workers | None]: ...
        def _seen(self, X: Any) -> tuple[_native.Table, UserTable]: ...  # noqa: N803 - as scikit-learn calls it

    def audit(
        self,
        groups: Any,
        y: Any = None,
        *,
        holdout: Any = None,
        holdout_groups: Any = None,
        holdout_y: Any = None,
        fail_on: str | Sequence[str] = (),
        draws: int | None = None,
        min_group: int | None = None,
        unreachable: bool | None = None,
        client: Any = None,
    ) -> dict[str, Any]:
        """Compares groups along the whole front: is recourse costlier or rarer for some groups?

        Args:
            groups: By what people are grouped: a column of the table (also one that is no feature), several
                as in ``"sex*race"``, a condition such as ``"age<=25"``, or a list of these. Or what the table
                does not have: a series or array with a value for every row, a dictionary or frame of such.
            y: The true labels of the rows, or the name of their column, for true positive rates (default:
                the `label` column).
            holdout: A table of other people, audited too. One of Dask is audited partition by partition, with
                the same result.
            holdout_groups: Groups of its rows, where `groups` are values of the first table's rows.
            holdout_y: True labels of its rows.
            fail_on: Conditions such as ``"gap(invalidity, sex) > 0.05"``; an `AuditFailedError` says which
                of them hold.
            draws: Bootstrap draws for intervals of means over the front (default 1000).
            min_group: Affected people below which nothing is said about a group (default 10).
            unreachable: Whether to look for people whom no action reaches (default: unless the model would
                be asked about every edited row).
            client: A client of ``dask.distributed``, whose workers look at the partitions of `holdout`, and
                for people whom no action reaches.

        Returns:
            The audit as ``sogar audit --json`` prints it: `reference`, `holdout`, `notes`, ….
        """
        if client is not None:
            self._check_client(client)
        problem = self._require_problem()
        names, columns = _beside(groups, y)
        label = _LABEL if _is_values(y) else y
        other_columns = _table_of(
            {**_values(holdout_groups), **({_LABEL: _labels(holdout_y)} if _is_values(holdout_y) else {})}
        )
        conditions = [fail_on] if isinstance(fail_on, str) else list(fail_on)
        _all_utf8([*names, *conditions, *([label] if isinstance(label, str) else [])])
        asked: dict[str, Any] = {
            "columns": columns,
            "label": label,
            "conditions": conditions,
            "draws": draws,
            "min_group": min_group,
            "unreachable": unreachable,
        }
        with Progress(self.progress) as bar:
            if client is None and not is_dask(holdout):
                asked["holdout"] = None if holdout is None else self._seen(holdout)[0]
                asked["holdout_columns"] = other_columns
                found, verdicts = _native.audit(problem, self._front, names, **asked, progress=bar)
            else:
                leader = _native.AuditLeader(problem, self._front, names, **asked)
                found, verdicts = self._led(leader, holdout, other_columns, client, bar)
        audit: dict[str, Any] = json.loads(found)
        for population in (audit["reference"], audit["holdout"]):
            if population and population["agreement"] is not None and population["agreement"] < 0.5:
                for note in audit["notes"]:
                    if "contradict the model" in note:
                        warnings.warn(note, SogarWarning, stacklevel=2)
                break
        holding = [verdict for verdict in json.loads(verdicts) if verdict.get("holds")]
        if holding:
            raise AuditFailedError(audit, holding)
        return audit

    def _led(
        self,
        leader: _native.AuditLeader,
        holdout: Any,
        beside: _native.Table | None,
        client: Any,
        bar: Progress,
    ) -> tuple[str, str]:
        """An audit that workers take part in, or of people in partitions."""
        from ._dask_tables import Partitions, search_reference
        from ._dask_tables import audit as audit_partitions

        problem = self._require_problem()
        with self._workers(client) as workers:
            if workers is not None and leader.searches_reference:
                search_reference(workers, problem, leader, bar)
            if is_dask(holdout):
                audit_partitions(Partitions(holdout, problem, self._front, bar, workers), leader, beside)
                return leader.finish(progress=bar)
        return leader.finish(None if holdout is None else self._seen(holdout)[0], beside, progress=bar)

    def explain(self, row: Any, *, point: int | str | None = None) -> Explanation:
        """What a summary means for one person.

        Args:
            row: The position of a row of the fitted table (the first is 0), or somebody else: a dictionary,
                a series, or a table with one row.
            point: The point of the front, or a criterion as for `select`; the current summary by default.
        """
        problem = self._require_problem()
        chosen = self._point if point is None else self._position(point)
        if isinstance(row, int | np.integer) and not isinstance(row, bool):
            if row < 0:
                raise ArgumentError(f"the table has no row {row}", "rows are counted from 0 here")
            return Explanation(_native.explain(problem, self._front, chosen, row=int(row)))
        return Explanation(_native.explain(problem, self._front, chosen, person=as_json(_person(row))))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        groups: Any = (),
        y: Any = None,
        holdout: Any = None,
        by: str | Sequence[str] = (),
        title: str | None = None,
        min_n: int | None = None,
        include_rows: bool = False,
        unreachable: bool | None = None,
        draws: int | None = None,
    ) -> Path:
        """Writes an interactive report, one HTML file that needs nothing else.

        Args:
            path: The file.
            groups: Groups to compare, as for `audit`.
            y: True labels, as for `audit`.
            holdout: A table of other people.
            by: Criteria of summaries that get a name (default: the usual ones).
            title: The title.
            min_n: Figures about fewer people are left out (default 5).
            include_rows: Whether single people are named by their rows: who does this treats the report as
                the table.
            unreachable: Whether to look for people whom no action reaches and for what individual advice
                would cost.
            draws: Bootstrap draws.

        Returns:
            The path.
        """
        self._require_fitted()
        names, columns = _beside(groups, y)
        by = [by] if isinstance(by, str) else list(by)
        _all_utf8([*names, *by, title or "", *([y] if isinstance(y, str) else [])])
        with_people = bool(names) or holdout is not None or include_rows or bool(unreachable)
        problem = self._require_problem() if with_people or self._problem is not None else None
        with Progress(self.progress) as bar:
            _, texts = _native.report(
                self._front,
                problem,
                path_of(path),
                groups=names,
                by=by,
                columns=columns,
                label=_LABEL if _is_values(y) else y,
                holdout=None if holdout is None else self._seen(holdout)[0],
                title=title,
                min_n=min_n,
                include_rows=include_rows,
                unreachable=unreachable,
                draws=draws,
                progress=bar,
            )
        for text in texts:
            warnings.warn(text, SogarWarning, stacklevel=2)
        return Path(path)

    def plot_disparity(self, groups: Any, ax: Any = None, **options: Any) -> Any:
        """Draws how groups fare along the front, with matplotlib.

        Args:
            groups: An audit, or groups as for `audit`.
            ax: Axes to draw into; new ones by default.
            options: `grouping`, `measure`, `gap`, `holdout`, `names`, see `sogar.plot_disparity`.
        """
        from ._plots import plot_disparity

        audited = isinstance(groups, Mapping) and "reference" in groups
        return plot_disparity(
            groups if audited else self.audit(groups, unreachable=False), self, ax=ax, **options
        )


class AuditFailedError(ModelError):
    """Conditions of an audit hold that must not. `audit` is the whole audit, `verdicts` what was found."""

    def __init__(self, audit: dict[str, Any], verdicts: list[dict[str, Any]]) -> None:
        """Names the conditions."""
        texts = [str(verdict.get("text") or verdict.get("condition")) for verdict in verdicts]
        super().__init__(f"the audit fails: {'; '.join(texts)}")
        self.audit = audit
        self.verdicts = verdicts

    def __reduce__(self) -> tuple[type[Self], tuple[dict[str, Any], list[dict[str, Any]]]]:
        """For copies and other processes."""
        return type(self), (self.audit, self.verdicts)


def _is_values(y: Any) -> bool:
    return y is not None and not isinstance(y, str)


def _labels(y: Any) -> list[str | None]:
    values = np.asarray(in_one_piece(y), dtype=object)
    if values.ndim != 1:
        raise ArgumentError(f"the true labels have {values.ndim} dimensions instead of 1")
    return [None if value is None or value != value else class_text(value) for value in values]


def _beside(groups: Any, y: Any) -> tuple[list[str], _native.Table | None]:
    """Names of groups, and what is known of the rows beside their table."""
    columns = _values(groups)
    names = list(columns) or ([groups] if isinstance(groups, str) else [str(name) for name in groups])
    if _is_values(y):
        columns[_LABEL] = _labels(y)
    return names, _table_of(columns)


def _values(groups: Any) -> dict[str, Any]:
    """Groups that are values of rows rather than names of columns."""
    if groups is None or isinstance(groups, str):
        return {}
    if isinstance(groups, Mapping):
        return {str(name): in_one_piece(values) for name, values in groups.items()}
    groups = in_one_piece(groups)
    if kind_of(groups) in ("pandas", "polars", "pyarrow"):
        table = UserTable(groups)
        return dict(table.native("{}").columns())
    if isinstance(groups, list | tuple) and all(isinstance(name, str) for name in groups):
        return {}
    name = getattr(groups, "name", None)
    return {str(name) if name is not None else "group": groups}


def _table_of(columns: Mapping[str, Any]) -> _native.Table | None:
    if not columns:
        return None
    cells = [column_of(name, values) for name, values in columns.items()]
    return _native.Table.from_columns(list(columns), cells, "{}", "")


def _person(row: Any) -> dict[str, Any]:
    """Somebody as a dictionary of column and value."""
    if kind_of(row) in ("pandas", "polars", "pyarrow"):
        table = UserTable(row)
        if table.rows != 1:
            raise ArgumentError(f"one person is wanted, but the table has {table.rows} rows")
        columns = table.native("{}").columns()
        entries = {name: column[0] for name, column in columns.items()}
    elif isinstance(row, Mapping):
        entries = dict(row)
    elif hasattr(row, "to_dict"):
        entries = row.to_dict()
    else:
        raise ArgumentError(
            f"a {type(row).__name__} is not a person",
            "give a row's position, a dictionary, a series, or a table with one row",
        )
    plain = {
        str(name): value.item() if isinstance(value, np.generic) else value for name, value in entries.items()
    }
    return {
        name: None if isinstance(value, float) and value != value else value for name, value in plain.items()
    }

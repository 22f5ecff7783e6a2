"""What a fitted front means for people: groups, one person, and a report."""

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
from ._frames import Audit, Counterfactuals
from ._progress import Progress
from ._settings import as_json, class_text
from ._tables import UserTable, in_one_piece, is_dask, kind_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Self

    from ._dask_tables import Workers

#: The column name of true labels that are not in the table.
_LABEL = "(true label)"


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


def _all_utf8(texts: list[str]) -> None:
    for text in texts:
        utf8(text, "an argument")


class ForPeople:
    """The estimator's methods about people."""

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
        measures: str | Sequence[str] = (),
        scan: Any = None,
        client: Any = None,
    ) -> Audit:
        """Compares groups along the whole front: is recourse costlier or rarer for some groups?

        Args:
            groups: How people are grouped: a column of the table (even one that is not a feature), several as
                in ``"sex*race"``, a condition such as ``"age<=25"``, or a list of these. Or values that the
                table does not have: a series or array with a value for every row, or a dictionary or frame of
                these.
            y: The true labels of the rows, or the name of their column, for true positive rates (default:
                the `label` column).
            holdout: A table of other people to audit as well. A Dask table is audited partition by partition,
                with the same result.
            holdout_groups: Groups of its rows, if `groups` holds values for the rows of the first table.
            holdout_y: True labels of its rows.
            fail_on: Conditions such as ``"gap(invalidity, sex) > 0.05"`` or ``"gap(loss, sex).low > 0"``; if
                any holds, an `AuditFailedError` lists them.
            draws: Bootstrap draws for intervals of means over the front (default 1000).
            min_group: Smallest number of affected people for a statement about a group (default 10).
            unreachable: Whether to look for people whom no action reaches (default: yes, unless the model
                must score every edited row).
            measures: Further measures: ``"reached(0.2)"``, ``"cost_to_reach(0.5)"``, ``"choices(0.5)"``,
                ``"ks"``.
            scan: Features in which to look for the worst-off subgroups, or a dictionary with `features` and
                any of `max_terms` (3), `measure` (``"invalidity"``), `point` and `permutations` (999).
            client: A client of ``dask.distributed``. Its workers audit the partitions of `holdout` and look
                for people whom no action reaches.

        Returns:
            The audit as ``sogar audit --json`` prints it, a dictionary: `reference`, `holdout`, `notes`, ….
            `print` shows it in words, a notebook as tables; `to_frame()` has a row per group.
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
        further = [measures] if isinstance(measures, str) else list(measures)
        _all_utf8([*names, *conditions, *further, *([label] if isinstance(label, str) else [])])
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
                asked.update(measures=further, scan=_scan(scan))
                found, verdicts = _native.audit(problem, self._front, names, **asked, progress=bar)
            else:
                if further or scan is not None:
                    raise ArgumentError(
                        "further measures and scans need all people in this process",
                        "leave out `client`, and give a held-out table that is not a Dask table",
                    )
                leader = _native.AuditLeader(problem, self._front, names, **asked)
                found, verdicts = self._led(leader, holdout, other_columns, client, bar)
        audit = Audit(json.loads(found))
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
        """An audit with workers, or of a table in partitions."""
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

    def bias_audit(
        self,
        groups: Any,
        *,
        holdout: Any = None,
        holdout_groups: Any = None,
        rate: str = "selection",
        source: str | None = None,
        in_use_since: str | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> dict[str, Any]:
        """The table of a bias audit as New York City's Local Law 144 describes it: rates and impact ratios.

        It is about the model alone, not about recourse, and no statement of compliance.

        Args:
            groups: Categories, as for `audit`. The combination of the first two columns is added.
            holdout: A table of other people; they are audited instead of the fitted table.
            holdout_groups: Groups of its rows, if `groups` holds values for the rows of the fitted table.
            rate: ``"selection"``, or ``"scoring"``: the share with a score above the median.
            source: Where the data come from.
            in_use_since: Since when the tool has been in use.
            path: A file for the table as Markdown.

        Returns:
            The table as ``sogar audit --format bias-audit --json`` prints it.
        """
        if rate not in ("selection", "scoring"):
            raise ArgumentError(f"there is no rate {rate!r}", "use 'selection' or 'scoring'")
        problem = self._require_problem()
        names, columns = _beside(groups, None)
        _all_utf8([*names, source or "", in_use_since or ""])
        found, markdown = _native.bias_audit(
            problem,
            self._front,
            names,
            columns=columns,
            holdout=None if holdout is None else self._seen(holdout)[0],
            holdout_columns=_table_of(_values(holdout_groups)),
            scoring=rate == "scoring",
            source=source,
            in_use_since=in_use_since,
        )
        if path is not None:
            Path(path).write_text(markdown, encoding="utf-8")
        table: dict[str, Any] = json.loads(found)
        return table

    def _guaranteed(
        self, guarantee: str, confidence: float, calibration: Any, groups: Any, calibration_groups: Any
    ) -> tuple[int, dict[str, Any]]:
        """The point that keeps a limit among future people, and how it was found."""
        if calibration is None:
            raise ArgumentError(
                "a guarantee needs people to test it with",
                "give a table that neither search nor training has seen: calibration=X",
            )
        names, columns = _beside(groups, None)
        _all_utf8([guarantee, *names])
        point, found, cautions = _native.guaranteed(
            self._require_problem(),
            self._front,
            self._seen(in_one_piece(calibration))[0],
            guarantee,
            confidence,
            names,
            columns=columns,
            calibration_columns=_table_of(_values(calibration_groups)),
        )
        for caution in cautions:
            warnings.warn(caution, SogarWarning, stacklevel=3)
        return point, json.loads(found)

    def explain(
        self,
        row: Any,
        *,
        point: int | str | None = None,
        reasons: int | None = None,
        codes: str | os.PathLike[str] | None = None,
    ) -> Explanation:
        """What a summary means for one person.

        Args:
            row: The position of a row of the fitted table as in ``iloc`` (the first is 0, the last is -1), or
                another person: a dictionary, a series, or a table with one row.
            point: The point of the front, or a criterion as for `select`; the current summary by default.
            reasons: How many principal reasons to give at most (default 4).
            codes: Codes and texts of reasons: a CSV file with the columns feature, direction, code, text.
        """
        problem = self._require_problem()
        chosen = self._point if point is None else self._position(point)
        if isinstance(row, int | np.integer) and not isinstance(row, bool):
            rows = problem.sizes["rows"]
            if not -rows <= row < rows:
                raise ArgumentError(f"the table has no position {row}", f"positions go from 0 to {rows - 1}")
            who: dict[str, Any] = {"row": int(row) % rows}
        else:
            who = {"person": as_json(_person(row))}
        asked: dict[str, Any] = {"reasons": reasons, "codes": None if codes is None else path_of(codes)}
        return Explanation(_native.explain(problem, self._front, chosen, **who, **asked))

    def counterfactuals(self, X: Any = None, k: int = 3) -> Counterfactuals:  # noqa: N803 - as scikit-learn calls it
        """At most `k` cheapest changes for each person that differ in what they change.

        The first is the cheapest action of all that changes the model's answer. Each further one is the
        cheapest whose set of changed features neither contains nor is contained in that of an earlier one.
        All actions of the fit are tried, so this is exact within them.

        Args:
            X: People: positions of rows of the fitted table, or a table; the people whom the model turns down
                by default.
            k: The largest number of ways per person. People whom the model accepts get none.
        """
        problem = self._require_problem()
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
            raise ArgumentError(f"k={k!r} is not a number of ways", "give a whole number from 1")
        who = np.flatnonzero(self._front.affected_rows()) if X is None else X
        if kind_of(who) in ("pandas", "polars", "pyarrow"):
            table = UserTable(in_one_piece(who))
            columns = table.native("{}").columns()
            people = [
                as_json(_plain({name: column[row] for name, column in columns.items()}))
                for row in range(table.rows)
            ]
            names = list(getattr(who, "index", range(table.rows)))
            asked: dict[str, Any] = {"people": people}
        else:
            rows = problem.sizes["rows"]
            names = [int(row) for row in np.atleast_1d(np.asarray(who, dtype=np.int64))]
            for row in names:
                if not -rows <= row < rows:
                    raise ArgumentError(
                        f"the table has no position {row}", f"positions go from 0 to {rows - 1}"
                    )
            asked = {"rows": [row % rows for row in names]}
        with Progress(self.progress) as bar:
            found = _native.counterfactuals(problem, self._front, int(k), **asked, progress=bar)
        return Counterfactuals(json.loads(found), names)

    def show(self, *, groups: Any = (), height: int = 720, **options: Any) -> Any:
        """Shows the interactive report in a notebook, in a sandboxed frame.

        Where no notebook draws it, `print` gives the current summary as text; the frame holds a static
        document for viewers without scripts.

        Args:
            groups: Groups to compare, as for `audit`.
            height: The height of the frame in pixels.
            options: Further arguments of `report`.
        """
        from ._show import ReportView

        return ReportView(self, groups, height, options)

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
        scan: Any = None,
    ) -> Path:
        """Writes an interactive report, one self-contained HTML file.

        Args:
            path: The file.
            groups: Groups to compare, as for `audit`.
            y: True labels, as for `audit`.
            holdout: A table of other people.
            by: Criteria of the summaries to name (default: the usual ones).
            title: The title.
            min_n: The report leaves out figures about fewer people (default 5).
            include_rows: Whether to name the rows of individual people. Such a report is as confidential as
                the table.
            unreachable: Whether to look for people whom no action reaches, and for the cost of individual
                recourse.
            draws: Bootstrap draws.
            scan: A scan for subgroups, as for `audit`.

        Returns:
            The path.
        """
        self._require_fitted()
        names, columns = _beside(groups, y)
        by = [by] if isinstance(by, str) else list(by)
        _all_utf8([*names, *by, title or "", *([y] if isinstance(y, str) else [])])
        with_people = any((names, holdout is not None, include_rows, unreachable, scan is not None))
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
                scan=_scan(scan),
                progress=bar,
            )
        for text in texts:
            warnings.warn(text, SogarWarning, stacklevel=2)
        return Path(path)

    def plot_disparity(self, groups: Any, ax: Any = None, **options: Any) -> Any:
        """Plots groups along the front with matplotlib.

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


def _scan(
    scan: Any,
) -> tuple[list[str], int | None, str | None, int | None, int | None] | None:
    """A scan's settings: features, or a dictionary with `features` and more."""
    if scan is None:
        return None
    settings = dict(scan) if isinstance(scan, Mapping) else {"features": scan}
    known = ("features", "max_terms", "measure", "point", "permutations")
    for name in settings:
        if name not in known:
            raise ArgumentError(f"a scan has no setting {name!r}", f"use {', '.join(known)}")
    features = settings.get("features", ())
    features = [features] if isinstance(features, str) else [str(name) for name in features]
    _all_utf8(features)
    numbers = (settings.get(name) for name in ("max_terms", "point", "permutations"))
    terms, point, permutations = (None if number is None else int(number) for number in numbers)
    if any(number is not None and number < 0 for number in (terms, point, permutations)):
        raise ArgumentError("a setting of the scan is negative", "give numbers of 0 or more")
    return features, terms, settings.get("measure"), point, permutations


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


def _is_values(y: Any) -> bool:
    return y is not None and not isinstance(y, str)


def _labels(y: Any) -> list[str | None]:
    values = np.asarray(in_one_piece(y), dtype=object)
    if values.ndim != 1:
        raise ArgumentError(f"the true labels have {values.ndim} dimensions instead of 1")
    return [None if value is None or value != value else class_text(value) for value in values]


def _beside(groups: Any, y: Any) -> tuple[list[str], _native.Table | None]:
    """Names of groups, and a table of the values that the user's table does not have."""
    columns = _values(groups)
    names = list(columns) or ([groups] if isinstance(groups, str) else [str(name) for name in groups])
    if _is_values(y):
        columns[_LABEL] = _labels(y)
    return names, _table_of(columns)


def _values(groups: Any) -> dict[str, Any]:
    """Groups that are given as values of rows, not as names of columns."""
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
            "give a row's position, a dictionary, a series, or a table with one row",
        )
    return _plain(entries)


def _plain(entries: Mapping[Any, Any]) -> dict[str, Any]:
    """Values as JSON has them; gaps of any kind are null."""
    plain = {
        str(name): value.item() if isinstance(value, np.generic) else value for name, value in entries.items()
    }
    return {name: None if value is None or value != value else value for name, value in plain.items()}

"""What a fitted front means for people: groups, one person, and a report."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._errors import ArgumentError, AuditFailedError, SogarWarning, path_of, without_flags
from ._explanation import Explanation, person_of, plain, position_of, positions_of
from ._frames import Audit, Counterfactuals, frame_of
from ._groups import LABEL, all_utf8, beside, is_values, labels_of, scan_of, table_of, values_of
from ._progress import Progress
from ._settings import as_json
from ._summary import Summary
from ._tables import UserTable, in_one_piece, is_dask, kind_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ._dask_tables import Workers


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
        names, columns = beside(groups, y)
        label = LABEL if is_values(y) else y
        other_columns = table_of(
            {**values_of(holdout_groups), **({LABEL: labels_of(holdout_y)} if is_values(holdout_y) else {})}
        )
        conditions = [fail_on] if isinstance(fail_on, str) else list(fail_on)
        further = [measures] if isinstance(measures, str) else list(measures)
        all_utf8([*names, *conditions, *further, *([label] if isinstance(label, str) else [])])
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
                asked.update(measures=further, scan=scan_of(scan))
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
        audit["notes"] = [without_flags(note) for note in audit["notes"]]
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
        names, columns = beside(groups, None)
        all_utf8([*names, source or "", in_use_since or ""])
        found, markdown = _native.bias_audit(
            problem,
            self._front,
            names,
            columns=columns,
            holdout=None if holdout is None else self._seen(holdout)[0],
            holdout_columns=table_of(values_of(holdout_groups)),
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
        names, columns = beside(groups, None)
        all_utf8([guarantee, *names])
        point, found, cautions = _native.guaranteed(
            self._require_problem(),
            self._front,
            self._seen(in_one_piece(calibration))[0],
            guarantee,
            confidence,
            names,
            columns=columns,
            calibration_columns=table_of(values_of(calibration_groups)),
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
            who: dict[str, Any] = {"row": position_of(int(row), problem.sizes["rows"])}
        else:
            who = {"person": as_json(person_of(row))}
        if reasons is not None and (not isinstance(reasons, int | np.integer) or reasons < 1):
            raise ArgumentError(f"reasons={reasons!r} is no number of reasons", "give a whole number from 1")
        asked: dict[str, Any] = {"reasons": reasons, "codes": None if codes is None else path_of(codes)}
        return Explanation(_native.explain(problem, self._front, chosen, **who, **asked))

    def counterfactuals(self, X: Any = None, k: int = 3) -> Counterfactuals:  # noqa: N803 - as scikit-learn calls it
        """At most `k` cheapest changes for each person that differ in what they change.

        The first is the cheapest action of all that changes the model's answer. Each further one is the
        cheapest whose set of changed features neither contains nor is contained in that of an earlier one.
        All actions of the fit are tried, so this is exact within them.

        Args:
            X: People: positions of rows of the fitted table, a table, or one person as a dictionary or
                series; the people whom the model turns down by default.
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
                as_json(plain({name: column[row] for name, column in columns.items()}))
                for row in range(table.rows)
            ]
            names = list(getattr(who, "index", range(table.rows)))
            asked: dict[str, Any] = {"people": people}
        elif (positions := positions_of(who, problem.sizes["rows"])) is not None:
            names, asked = [named for named, _ in positions], {"rows": [row for _, row in positions]}
        else:
            names, asked = [getattr(who, "name", 0)], {"people": [as_json(person_of(who))]}
        with Progress(self.progress) as bar:
            found = _native.counterfactuals(problem, self._front, int(k), **asked, progress=bar)
        return Counterfactuals(json.loads(found), names)

    def neighbours(self, point: int | str | None = None, k: int = 3) -> Any:
        """The real people who are nearest to an edited person of each group of a summary.

        Of the people of a group for whom its advice works, the middle one of the table is edited. The
        distance is the mean over the features, from 0 to 1 (docs/SPEC.md, section 11).

        Args:
            point: The point of the front, or a criterion as for `select`; the current summary by default.
            k: The number of real people per group.

        Returns:
            A data frame with the columns ``who``, ``action``, ``row`` (the position of the edited person in
            the fitted table, as in ``iloc``), ``nearest`` (the position of a real person) and ``distance``,
            the nearest first. Groups whose advice works for nobody have no rows.
        """
        problem = self._require_problem()
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
            raise ArgumentError(f"k={k!r} is not a number of people", "give a whole number from 1")
        chosen = self._point if point is None else self._position(point)
        found = json.loads(_native.neighbours(problem, self._front, chosen, int(k)))
        groups = Summary(self._front, chosen).to_frame()
        rows = [
            {
                "who": who,
                "action": action,
                "row": near["row"] - 1,
                "nearest": other["row"] - 1,
                "distance": other["distance"],
            }
            for who, action, near in zip(groups["who"], groups["action"], found, strict=True)
            if near is not None
            for other in near["nearest"]
        ]
        return frame_of(rows, ("who", "action", "row", "nearest", "distance"))

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
        format: str = "interactive",  # noqa: A002 - the command line's word
    ) -> Path:
        """Writes a report, one self-contained file.

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
            format: ``"interactive"`` is a page with scripts, ``"static"`` one without, to print and sign,
                ``"md"`` Markdown.

        Returns:
            The path.
        """
        self._require_fitted()
        if format not in ("interactive", "static", "md"):
            raise ArgumentError(
                f"`{format}` is not a format of a report", 'use "interactive", "static" or "md"'
            )
        names, columns = beside(groups, y)
        by = [by] if isinstance(by, str) else list(by)
        all_utf8([*names, *by, title or "", *([y] if isinstance(y, str) else [])])
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
                label=LABEL if is_values(y) else y,
                holdout=None if holdout is None else self._seen(holdout)[0],
                title=title,
                min_n=min_n,
                include_rows=include_rows,
                unreachable=unreachable,
                draws=draws,
                scan=scan_of(scan),
                kind=format,
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

        return plot_disparity(self._audit_of(groups), self, ax=ax, **options)

    def plot_fairness(self, groups: Any, axes: Any = None, **options: Any) -> Any:
        """Plots cost, loss and gap as one picture: the front coloured by the gap, and the gap along it.

        Args:
            groups: An audit, or groups as for `audit`.
            axes: Two axes to draw into; new ones by default.
            options: `grouping`, `measure`, `limit`, `holdout`, see `sogar.plot_fairness`.
        """
        from ._plots import plot_fairness

        return plot_fairness(self._audit_of(groups), self, axes, **options)

    def _audit_of(self, groups: Any) -> Any:
        """An audit as it is, or the audit of some groups."""
        audited = isinstance(groups, Mapping) and "reference" in groups
        return groups if audited else self.audit(groups, unreachable=False)

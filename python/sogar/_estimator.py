"""The estimator `Sogar`: a table and a model in, the front of recourse summaries out.

It follows scikit-learn's conventions without needing scikit-learn: the constructor only stores its
arguments, `fit` does the work, results end in an underscore.
"""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native, _settings
from ._conventions import Conventions
from ._errors import ArgumentError, SogarWarning, utf8
from ._on_tables import OnTables
from ._people import ForPeople
from ._preparation import Preparation, prepare
from ._progress import Progress
from ._saving import Saving
from ._summary import number_of_people
from ._tables import as_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ._summary import Summary


class Sogar(Conventions, OnTables, ForPeople, Saving):
    """The exact Pareto front of recourse summaries for a classifier.

    The defaults are those of the command line, except `bins`: numbers get finer bins where the data allow it
    (``bins=10`` is what the command line does). Parameters override a configuration (`config`, `preset`): it
    applies to every parameter that has its default value.

    Args:
        max_depth: Largest depth of a tree.
        max_leaves: Largest number of leaves (default: 2^depth).
        min_leaf: Smallest number of affected people in a leaf. If 50 is more than an eighth of them, an
            eighth is used instead.
        max_edits: Largest number of changes in an action (default: 3, or fewer to fit the budget).
        actions: The budget of actions, a number or ``"all"`` (default: 200,000). If the table allows more,
            numbers get fewer sizes of shifts, then actions fewer edits, unless these are set.
        bins: Bins of numbers: a number of them, ``"auto"``, ``"all"`` (every value), ``"quantile:B"`` or a
            list of edges.
        cost: ``"mps"`` (maximum percentile shift), ``"cet"``, ``"logshift"``, ``"l1"``, ``"table"``, or a
            function of a row (a dictionary) and an edit of it (a dictionary with `feature`, `op`, `from`,
            `to`, `text`) that returns a non-negative number.
        immutable: Features that no action changes.
        protected: Features that no action changes and no tree splits on: age, sex, race and the like.
        max_gap: A limit on the gap between groups, such as ``"loss, sex <= 0.05"``: the front of the
            summaries within it, of those that no other summary beats in cost and in the loss of every group.
        minimax: A grouping, such as ``"sex"``: the trade-off of cost and the loss of the group that is worst
            off.
        epsilon: The accuracy of such a front (default: 0, complete): nothing is better by more than this in
            mean cost or in the loss of a group.
        min_plausibility: The share of real people who must be less usual than an edited row, unless it is at
            least as usual as the person's own; 0 shows plausibility and excludes nothing (default: it is not
            computed).
        plausibility: How usual rows are, instead of an isolation forest: a function of rows that returns a
            finite number for each, the larger the more usual, or a fitted detector with
            ``decision_function``.
        directions: Features that may only ``"increase"`` or ``"decrease"``, as a dictionary.
        ranges: Ranges ``(lo, hi)`` that edits of a feature stay within.
        steps: Sizes of shifts, in bins.
        targets: Categories that an edit of a feature may set. For a number: values that an edit raises it
            to, or brings it down to; ``True`` takes edges of bins, ``"quantiles"`` tenths of the people.
        forbid: Transitions ``(from, to)`` of a feature that are not allowed.
        kinds: Kinds of features, if they should not be inferred.
        levels: Levels of ordinal features, lowest first.
        feature_weights: Weights of features in the cost.
        features: All settings of features, as under ``[features]`` in ``sogar.toml``.
        links: Features that move together: dictionaries with `from`, `to` and `factor`. No action moves a
            feature twice.
        rules: Conditions such as ``"years_in_role <= years_at_company"`` that no action may break.
        label: The column with the true label; it is not a feature.
        sample_weight_column: The column that says how many people each row stands for; it is not a feature.
            Held-out tables need it too.
        ignore: Columns that are not features.
        missing: Strings that mean "missing".
        trim: Whether to strip blanks (spaces, tabs, no-break spaces) from cells.
        codes: Numbers that are not amounts, such as ``-9`` for "refused to answer": a list for all numeric
            columns, or a dictionary of lists by feature.
        decimal: The decimal sign of numbers in text: ``"."`` or ``","``.
        classes: Names of the model's classes, in the order of its class indices.
        columns: The table column of each model column, as a dictionary.
        threshold: Decision threshold of a score model (default: the model's own).
        cost_table: A CSV file with the columns `feature`, `from`, `to`, `cost`.
        config: A ``sogar.toml`` (path), or its contents as a dictionary.
        preset: The name of a built-in configuration.
        outcomes_cache: A folder that stores outcomes between runs.
        verify_cache: How many rows of stored outcomes a called model scores again, to verify them (default:
            10,000; 0 trusts them). Models that are read are always verified.
        checkpoint: A folder that stores finished work; a fit that was killed continues from there.
        checkpoint_limit: Largest size of that folder, such as ``"500MB"`` (default: 4 GB).
        sample: Search on a sample of this many affected rows, then evaluate what was found on all of them.
        max_scorings: Raise an error instead of scoring more edited rows than this.
        batch: Largest number of rows in a call of the model.
        outcomes_time_limit: Seconds after which the computation of outcomes stops; only "no change" is known
            then.
        time_limit: Seconds after which the search stops with what it has; outcomes do not count.
        memory_limit: Memory that the run may use, such as ``"4GB"``.
        n_jobs: Threads (default: all cores); the result does not depend on it.
        device: Where the heavy work runs: ``"auto"`` (the default: a GPU where it is faster), ``"cpu"``,
            ``"gpu"`` or ``"gpu:N"``. The result does not depend on it. Without a GPU it runs on the CPU, with
            a warning.
        random_state: Seed of everything random; the search is deterministic.
        progress: Whether to show a progress bar (default: on a terminal and in notebooks).

    Attributes:
        front_: The points of the front, as a frame: cost, loss, invalidity, cost_sum, loss_count, leaves,
            depth.
        status_: ``complete``, ``complete_on_sample``, ``complete_within_epsilon``, ``time_limit`` or
            ``cancelled``.
        fairness_: With `max_gap` or `minimax`: the groups, every vector of cost and the groups' losses that
            no summary dominates, and the positions of the points among them; else None.
        plausibility_: With `min_plausibility`: the measure, its hash, and how usual the people are for whom
            each action and leaf works, before and after it; else None.
        n_affected_: How many people the model turns down: rows, or their weight.
        desired_: The outcomes that people hope for.
        actions_: The actions in use, as a frame: id, text, edits, flipped (how many people it works for).
        feature_names_in_: Names of the table's columns.
        n_features_in_: Their number.
        model_backend_: How the engine uses the model: read, or called.
        notices_: Notices of the engine.

    >>> import numpy as np
    >>> people = np.random.default_rng(0).uniform(0, 100, size=(200, 2))
    >>> granted = lambda rows: rows.sum(axis=1) > 90
    >>> front = Sogar(max_depth=1, max_edits=1, bins=10).fit(people, granted, desired=1)
    >>> front.status_, len(front.front_)
    ('complete', 30)
    """

    def __init__(
        self,
        max_depth: int = 3,
        max_leaves: int | None = None,
        min_leaf: int = 50,
        max_edits: int | None = None,
        bins: int | str | Sequence[float] = "auto",
        cost: str | Callable[[dict[str, Any], dict[str, Any]], float] = "mps",
        *,
        immutable: Sequence[str] = (),
        protected: Sequence[str] = (),
        max_gap: str | None = None,
        minimax: str | None = None,
        epsilon: float | None = None,
        min_plausibility: float | None = None,
        plausibility: Any = None,
        directions: Mapping[str, str] | None = None,
        ranges: Mapping[str, Sequence[float]] | None = None,
        steps: Mapping[str, Sequence[int]] | None = None,
        targets: Mapping[str, bool | str | Sequence[str | float]] | None = None,
        forbid: Mapping[str, Sequence[Sequence[str]]] | None = None,
        kinds: Mapping[str, str] | None = None,
        levels: Mapping[str, Sequence[str]] | None = None,
        feature_weights: Mapping[str, float] | None = None,
        features: Mapping[str, Mapping[str, Any]] | None = None,
        links: Sequence[Mapping[str, Any]] = (),
        rules: Sequence[str] = (),
        label: str | None = None,
        sample_weight_column: str | None = None,
        ignore: Sequence[str] = (),
        missing: Sequence[str] = (),
        trim: bool = False,
        codes: Sequence[float] | Mapping[str, Sequence[float]] = (),
        decimal: str | None = None,
        classes: Sequence[Any] | None = None,
        columns: Mapping[str, str] | None = None,
        threshold: float | None = None,
        cost_table: str | os.PathLike[str] | None = None,
        config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        preset: str | None = None,
        outcomes_cache: str | os.PathLike[str] | None = None,
        verify_cache: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_limit: str | None = None,
        sample: int | None = None,
        actions: int | str | None = None,
        max_scorings: int | None = None,
        batch: int | None = None,
        outcomes_time_limit: float | None = None,
        time_limit: float | None = None,
        memory_limit: str | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        random_state: int | None = 0,
        progress: bool | None = None,
    ) -> None:
        """Stores the parameters; `fit` checks them."""
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_leaf = min_leaf
        self.max_edits = max_edits
        self.bins = bins
        self.cost = cost
        self.immutable = immutable
        self.protected = protected
        self.max_gap = max_gap
        self.minimax = minimax
        self.epsilon = epsilon
        self.min_plausibility = min_plausibility
        self.plausibility = plausibility
        self.directions = directions
        self.ranges = ranges
        self.steps = steps
        self.targets = targets
        self.forbid = forbid
        self.kinds = kinds
        self.levels = levels
        self.feature_weights = feature_weights
        self.features = features
        self.links = links
        self.rules = rules
        self.label = label
        self.sample_weight_column = sample_weight_column
        self.ignore = ignore
        self.missing = missing
        self.trim = trim
        self.codes = codes
        self.decimal = decimal
        self.classes = classes
        self.columns = columns
        self.threshold = threshold
        self.cost_table = cost_table
        self.config = config
        self.preset = preset
        self.outcomes_cache = outcomes_cache
        self.verify_cache = verify_cache
        self.checkpoint = checkpoint
        self.checkpoint_limit = checkpoint_limit
        self.sample = sample
        self.actions = actions
        self.max_scorings = max_scorings
        self.batch = batch
        self.outcomes_time_limit = outcomes_time_limit
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.progress = progress

    # fitting ---------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,  # noqa: N803 - as scikit-learn calls it
        model: Any,
        *,
        desired: Any = None,
        also: Sequence[Any] = (),
        agree: int | str = "all",
        client: Any = None,
        attach: bool = False,
    ) -> Sogar:
        """Finds the front for the people in a table whom a model turns down.

        Args:
            X: A pandas, polars or pyarrow table, an array, the path of a CSV or Parquet file, or a Dask
                table.
            model: A fitted classifier, any callable on rows, or the path of a model file.
            desired: The label, or labels, that people hope for. The default is the one with a positive name,
                such as ``"approved"`` or ``"good"``; for classes 0 and 1 it is 1, with a warning; other names
                are an error.
            also: Further models, such as retrained ones. `model` is the deployed one and decides who is
                turned down; an action works for a person only if it and enough of all models accept.
            agree: How many of all models must accept, `model` among them: a number, or ``"all"``.
            client: A client of ``dask.distributed``, whose workers do the work. The result is the same.
            attach: Whether a pickle of the estimator contains table and model, so that it can explain people
                when it is loaded again. Such a pickle is as confidential as the table.

        Returns:
            The estimator itself. After Ctrl-C it has what was found so far, as `status_` says, and the
            exception is raised again.
        """
        if client is not None:
            self._check_client(client)
            for name in ("checkpoint", "outcomes_cache", "max_gap", "minimax", "plausibility"):
                if getattr(self, name) is not None:
                    raise ArgumentError(f"`{name}` and `client` cannot be combined", "leave one of them out")
        made_of = self._prepare(X, model, desired, client=client, also=also, agree=agree)
        problem = made_of.problem
        for text in problem.warnings(self.config is not None or self.preset is not None):
            warnings.warn(text, SogarWarning, stacklevel=2)
        with Progress(self.progress) as bar:
            if client is None:
                front, texts, interrupt = problem.solve(bar)
            else:
                from ._dask import Fit

                recipe = made_of.recipe(problem, everybody=False)
                front, texts, interrupt = Fit(problem, recipe, client, bar).solve()
        self._keep(front, made_of)
        self._attached = (X, model) if attach else None
        for text in texts:
            warnings.warn(text, SogarWarning, stacklevel=2)
        if interrupt is not None:
            raise interrupt
        if self.status_ in ("time_limit", "cancelled"):
            gap = front.certified_gap
            text = (
                f"; certified gap {100 * gap:.1f} % (0 % would prove it complete)" if gap is not None else ""
            )
            warnings.warn(
                f"stopped early ({self.status_}): the front may lack points{text}", SogarWarning, stacklevel=2
            )
        return self

    def _prepare(self, X: Any, model: Any, desired: Any, **others: Any) -> Preparation:  # noqa: N803
        defaults = _settings.defaults_of(type(self))
        return prepare(self.get_params(), defaults, X, model, desired, **others)

    def _keep(
        self,
        front: _native.Front,
        made_of: Preparation | None,
    ) -> None:
        """Stores a front in this estimator, and what it was made of."""
        table = None if made_of is None else made_of.table
        self._made_of = made_of
        self._problem = None if made_of is None else made_of.problem
        about = json.loads(front.about())
        self._front = front
        self._point = front.select("invalidity")
        self._kind = table.kind if table is not None else ""
        self.status_ = front.status
        weight = about["weight"]
        affected = about["population"]["affected"]
        self.n_affected_ = (
            affected if weight is None else number_of_people(weight["affected"], weight["unit"])
        )
        self.fairness_ = about["fairness"]
        self.plausibility_ = about["plausibility"]
        self.desired_ = list(about["population"]["desired"])
        self.classes_ = np.asarray(about["population"]["classes"], dtype=object)
        self.model_backend_ = "" if made_of is None else made_of.model_backend
        self.notices_ = [] if made_of is None else list(made_of.notices)
        names = table.names if table is not None else _column_names(about["features"])
        self._named = table.named if table is not None else True
        self.feature_names_in_ = np.asarray(names, dtype=object)
        self.n_features_in_ = len(names)

    def _require_problem(self, *, everybody: bool = True) -> _native.Problem:
        """The problem of the fit, with all people in memory unless the affected rows are enough."""
        self._require_fitted()
        if self._problem is None:
            raise ArgumentError(
                "this estimator was loaded without its model and table",
                "call `attach(X, model)` with those of the fit; `fit(..., attach=True)` pickles them too",
            )
        return self._problem.everybody() if everybody else self._problem

    # results ---------------------------------------------------------------------------------------------

    @property
    def front_(self) -> Any:
        """The points of the front as a frame, the cheapest first."""
        return as_frame(self._require_fitted().points(), self._kind)

    @property
    def actions_(self) -> Any:
        """The actions in use as a frame."""
        actions = json.loads(self._require_fitted().actions())
        columns = {key: [action[key] for action in actions] for key in ("id", "text", "flipped")}
        return as_frame({**columns, "edits": [len(action["edits"]) for action in actions]}, self._kind)

    def select(
        self,
        by: str | int | None = None,
        *,
        guarantee: str | None = None,
        confidence: float = 0.95,
        calibration: Any = None,
        groups: Any = (),
        calibration_groups: Any = None,
    ) -> Summary:
        """Chooses a point of the front and makes it the current one.

        `predict`, `transform` and `score` use the current one.

        Args:
            by: ``"invalidity"`` (the lowest sum of cost and loss; default), ``"knee"``, ``"cost<=0.2"``,
                ``"loss<=0.1"``, ``"weight=2"``, ``"gap(invalidity, sex)<=0.05"``, or the number of a point
                (0 is the cheapest; -1 the last).
            guarantee: Instead of `by`, a limit for future people, such as ``"loss<=0.1"``: the cheapest
                summary that keeps it with the given confidence, although the front was searched. (For
                ``"cost<=0.2"``: the one with the lowest loss.)
            confidence: How sure the guarantee must be, between 0 and 1.
            calibration: A table of people whom neither search nor training has seen.
            groups: Groups that must all meet the guarantee, as for `audit`.
            calibration_groups: Groups of the rows of `calibration`, if `groups` holds values of rows.

        Returns:
            The summary at that point. After a guarantee, its `guarantee` says how it was found.
        """
        if guarantee is None:
            given = {
                "confidence": confidence != 0.95,
                "calibration": calibration is not None,
                "groups": not (isinstance(groups, tuple) and not groups),
                "calibration_groups": calibration_groups is not None,
            }
            for name in (name for name, is_given in given.items() if is_given):
                raise ArgumentError(f"{name} belongs to a guarantee", 'give one: guarantee="loss<=0.1"')
            by = "invalidity" if by is None else by
            self._point = self._position(by)
            return self._summary(by if isinstance(by, str) else "")
        if by is not None:
            raise ArgumentError("a point is chosen by a criterion or by a guarantee", "give only one of them")
        self._point, found = self._guaranteed(guarantee, confidence, calibration, groups, calibration_groups)
        summary = self._summary(f"guarantee {guarantee}")
        summary.guarantee = found
        return summary

    def _position(self, by: str | int) -> int:
        """The number of the point that a criterion chooses."""
        front = self._require_fitted()
        if isinstance(by, str):
            utf8(by, "the criterion")
            if _native.is_gap(by):
                return _native.select_by_gap(self._require_problem(), front, by)
            return front.select(by)
        if isinstance(by, bool) or not isinstance(by, int | np.integer):
            raise ArgumentError(
                f"a {type(by).__name__} does not choose a point", "give a criterion or the number of a point"
            )
        point = int(by) + (len(front) if by < 0 else 0)
        if not 0 <= point < len(front):
            raise ArgumentError(
                f"the front has no point {by}",
                f"points are numbered 0 to {len(front) - 1}, the cheapest first",
            )
        return point

    def _summary(self, by: str) -> Summary:
        from ._summary import Summary

        return Summary(self._require_fitted(), self._point, by)

    @property
    def summary_(self) -> Summary:
        """The current summary (after `fit`: the one with the lowest invalidity)."""
        return self._summary("")

    # plots -----------------------------------------------------------------------------------------------

    def plot_front(self, ax: Any = None, **options: Any) -> Any:
        """Draws the front with matplotlib: mean cost against the share of people for whom a summary works."""
        from ._plots import plot_front

        self._require_fitted()
        return plot_front(self, ax=ax, **options)

    def plot_tree(self, ax: Any = None, **options: Any) -> Any:
        """Draws the current summary's tree with matplotlib."""
        from ._plots import plot_tree

        self._require_fitted()
        return plot_tree(self, ax=ax, **options)

    def _repr_html_(self) -> str:
        """The current summary, for notebooks."""
        if not hasattr(self, "_front"):
            from html import escape

            return f"<pre>{escape(repr(self))}</pre>"
        return self.summary_._repr_html_()


def _column_names(features: list[dict[str, Any]]) -> list[str]:
    names: list[str] = []
    for feature in features:
        columns = feature["columns"]
        names.extend([columns["one"]] if "one" in columns else filter(None, columns["onehot"]))
    return names

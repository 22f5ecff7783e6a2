"""The estimator `Sogar`: a table and a model in, the front of recourse summaries out.

It follows scikit-learn's conventions without needing scikit-learn: the constructor only stores its
arguments, `fit` does the work, results end in an underscore.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native, _settings
from ._conventions import Conventions
from ._errors import (
    ArgumentError,
    DataError,
    EvaluationFailedError,
    ModelError,
    ResultFileError,
    SogarWarning,
    path_of,
    utf8,
)
from ._people import ForPeople
from ._progress import Progress
from ._summary import number_of_people
from ._tables import UserTable, as_frame, in_one_piece, is_dask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from ._dask_tables import RemoteTable, Workers
    from ._models import Adapted
    from ._summary import Summary

#: Notices of the engine.
LOG = logging.getLogger("sogar")

Array = np.ndarray[Any, Any]


class Sogar(Conventions, ForPeople):
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
        bins: Bins of numbers: a number of them, ``"auto"``, ``"quantile:B"`` or a list of edges.
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
                such as ``"approved"`` or ``"yes"``; for classes 0 and 1 it is 1, with a warning; other names
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
            for name in ("checkpoint", "outcomes_cache", "max_gap", "minimax"):
                if getattr(self, name) is not None:
                    raise ArgumentError(f"`{name}` and `client` cannot be combined", "leave one of them out")
        problem, table, about = self._prepare(X, model, desired, client, also, agree)
        for text in problem.warnings(self.config is not None or self.preset is not None):
            warnings.warn(text, SogarWarning, stacklevel=2)
        with Progress(self.progress) as bar:
            if client is None:
                front, texts, interrupt = problem.solve(bar)
            else:
                from ._dask import Fit

                recipe = self._recipe(problem, everybody=False)
                front, texts, interrupt = Fit(problem, recipe, client, bar).solve()
        self._keep(front, table, **about)
        self._problem = problem
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

    def _check_client(self, client: Any) -> None:
        from ._dask import is_client

        if not is_client(client):
            raise ArgumentError(
                f"a {type(client).__name__} is not a Dask client", "give a `dask.distributed.Client`"
            )

    def _prepare(
        self,
        X: Any,  # noqa: N803 - as scikit-learn calls it
        model: Any,
        desired: Any,
        client: Any = None,
        also: Sequence[Any] = (),
        agree: int | str = "all",
    ) -> tuple[_native.Problem, UserTable, dict[str, Any]]:
        """Prepares the problem from table, model and configuration.

        Keeps only the affected rows of a Parquet table, or of a Dask table with a client, if the model needs
        no others.
        """
        config, folder = _settings.configuration(self.get_params(), _settings.defaults_of(type(self)))
        remote = _remote(X, model, client)
        table = remote.header if remote is not None else UserTable(in_one_piece(X))
        _settings.with_order(config, table.ordered)
        _native.check_config(_settings.as_json(config))
        native: _native.Table | None = None
        # Groups need every row here.
        stay = _is_model_file(model) and table.kind == "path" and "fairness" not in config
        if remote is None and not (stay and _native.is_parquet(table.data)):
            native = table.native(_settings.as_json(config), config.get("data", {}).get("ignore", ()))
        adapted = None
        if _is_model_file(model):
            loaded, how = _model_file(model, config)
            model_backend = f"native: {loaded.info['format']}"
            names = loaded.info["class_names"]
        else:
            adapted = self._adapted(model, table, native, config)
            names = list(adapted.class_names)
            if names:
                _settings.with_classes(config, names, desired)
            try:
                loaded = adapted.build(native, _settings.as_json(config))
            except ModelError:
                if remote is None:
                    raise
                return self._prepare(
                    in_one_piece(X), model, desired, client, also, agree
                )  # it has to be asked
            model_backend = adapted.model_backend
            how = adapted.recipe
        if agree != "all":
            config.setdefault("model", {})["agree"] = agree
        if also:
            others = [self._other(one, table, native, config) for one in also]
            loaded = loaded.with_also([other for other, _ in others])
            how = ("several", how, *(recipe for _, recipe in others))
        names = names or [str(number) for number in range(loaded.info["classes"])]
        _settings.with_classes(config, names, desired)
        text = _settings.as_json(config)
        function = self.cost if callable(self.cost) else None
        cache = None if self.outcomes_cache is None else path_of(self.outcomes_cache)
        kept = None if self.checkpoint is None else path_of(self.checkpoint)
        settings = (loaded, text, folder, function, cache, kept, self.checkpoint_limit, self.verify_cache)
        if native is not None:
            problem = _native.Problem(native, *settings)
        elif remote is not None:
            remote.config = text
            problem = _native.Problem.of_partitions(remote, len(remote.parts), *settings)
            table.rows = problem.sizes["rows"]
            remote.release()
        else:
            problem = _native.Problem.of_file(table.data, *settings)
            table.names, table.rows = problem.columns, problem.sizes["rows"]
        made_of = next(one for one in (native, remote, table.data) if one is not None)
        self._made_of = (made_of, how, text, folder, function)
        notices = [*(adapted.notices if adapted is not None else ()), *problem.notices]
        for notice in notices:
            LOG.info(notice)
        LOG.info("model: %s", model_backend)
        if problem.long_run is not None:
            LOG.warning(problem.long_run)
        return problem, table, {"model_backend": model_backend, "notices": notices}

    def _recipe(self, problem: _native.Problem, *, everybody: bool = True) -> Any:
        """How another process builds the problem of this one, with all rows if they are needed.

        A model that is called needs the table in the process that calls it.
        """
        from ._dask import recipe_of

        table, how, text, folder, function = self._made_of
        how = _shipped(how)
        asked = any(one[0] == "asked" for one in (how[1:] if how[0] == "several" else (how,)))
        if not everybody and not asked:
            table = None
        elif isinstance(table, str):
            table = _native.Table.read(table, text)
        elif not isinstance(table, _native.Table):
            table = table.gathered()
        return recipe_of(problem, table, how, text, folder, function)

    def _other(
        self, model: Any, table: UserTable, native: _native.Table | None, config: dict[str, Any]
    ) -> tuple[_native.Model, tuple[Any, ...]]:
        """A further model, and how another process builds it."""
        if _is_model_file(model):
            return _model_file(model, config)
        adapted = self._adapted(model, table, native, config)
        return adapted.build(native, _settings.as_json(config)), adapted.recipe

    def _adapted(
        self, model: Any, table: UserTable, native: _native.Table | None, config: dict[str, Any]
    ) -> Adapted:
        """A model object, and how to read or call it."""
        from ._models import adapt

        data = config.get("data", {})
        aside = {data.get("label"), data.get("weight"), *data.get("ignore", ())}
        return adapt(
            model,
            rows_for(model, table, native),
            columns=table.names,
            features=[name for name in table.names if name not in aside],
            threshold=config.get("model", {}).get("threshold"),
            classes=self.classes,
            batch=self.batch,
            trim=bool(data.get("trim")),
        )

    def _keep(
        self,
        front: _native.Front,
        table: UserTable | None,
        model_backend: str = "",
        notices: Sequence[str] = (),
    ) -> None:
        """Stores a front in this estimator."""
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
        self.desired_ = list(about["population"]["desired"])
        self.classes_ = np.asarray(about["population"]["classes"], dtype=object)
        self.model_backend_ = model_backend
        self.notices_ = list(notices)
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
            if calibration is not None:
                raise ArgumentError("calibration rows test a guarantee", 'give one: guarantee="loss<=0.1"')
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

    def predict(self, X: Any) -> Array:  # noqa: N803
        """The ids of the actions that the current summary recommends, one per row.

        Rows that are not turned down get 0, "no change".
        """
        problem = self._require_problem(everybody=False)
        positions = problem.assign(self._front, self._point, self._seen(X)[0])
        ids = np.array([action["id"] for action in json.loads(self._front.actions())] + [0], dtype=np.int64)
        return ids[positions]

    def transform(self, X: Any) -> Any:  # noqa: N803
        """The rows after the recommended changes, in the same type of table.

        Rows that are not turned down stay unchanged.
        """
        problem = self._require_problem(everybody=False)
        native, table = self._seen(X)
        edited = table.edited(problem.edited(self._front, self._point, native))
        return _in_kind(edited, self._wanted_output(), table)

    def fit_transform(self, X: Any, model: Any, *, desired: Any = None) -> Any:  # noqa: N803
        """Fits, then transforms the table with the summary of lowest invalidity."""
        return self.fit(X, model, desired=desired).transform(X)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002, N803 - as scikit-learn calls it
        """How well the current summary does on a table: 1 - invalidity, so that higher is better."""
        points = self._evaluation(X)["points"]
        return 1.0 - float(points[self._point]["invalidity"])

    def evaluate(
        self,
        X: Any,  # noqa: N803
        *,
        fail_on: str | Sequence[str] = (),
        point: int | str | None = None,
        client: Any = None,
    ) -> Any:
        """Evaluates the whole front on other people: a frame with cost, loss and invalidity of each point.

        It uses the bins, ranges and percentiles of the reference table. A Dask table is evaluated partition
        by partition, by the workers of `client` if given. `evaluation_` has the rest: `rows`, `affected`,
        `mean_distance`, `sd_distance`, and the leaves with their intervals.

        `works_low` and `works_high` are the 95 % interval of the share for whom a point works; those of
        `band` hold for all points at once, so a point may be chosen after looking at them. `cost_low` and
        `cost_high` are the 95 % interval of the mean cost.

        Args:
            X: The table of other people.
            fail_on: Conditions such as ``"loss > band"`` (more than chance allows) or ``"loss > 0.1"``; if
                any holds, an `EvaluationFailedError` lists them. The level is 5 % per call.
            point: The point that they are about: a number or a criterion as for `select`; the current
                summary by default.
            client: A client of ``dask.distributed``.
        """
        self._require_fitted()
        if client is not None:
            self._check_client(client)
        conditions = [fail_on] if isinstance(fail_on, str) else list(fail_on)
        chosen = self._point if point is None else self._position(point)
        found = self._evaluation(X, client)
        if conditions:
            verdicts = json.loads(
                _native.judge_evaluation(self._require_fitted(), json.dumps(found), conditions, chosen)
            )
            holding = [verdict for verdict in verdicts if verdict["holds"]]
            if holding:
                raise EvaluationFailedError(found, holding)
        self.evaluation_ = {key: value for key, value in found.items() if key != "points"}
        keys = ("cost", "loss", "invalidity", "cost_sum", "loss_count")
        columns = {key: np.array([point[key] for point in found["points"]]) for key in keys}
        for name in ("works", "band", "cost"):
            for end in ("low", "high"):
                values = [interval[name][end] for interval in found["intervals"]]
                columns[f"{name}_{end}"] = np.array(values, dtype=np.float64)
        return as_frame(columns, self._kind)

    def _evaluation(self, X: Any, client: Any = None) -> dict[str, Any]:  # noqa: N803
        problem = self._require_problem(everybody=False)
        if is_dask(X):
            from ._dask_tables import Partitions, evaluate

            with Progress(self.progress) as bar, self._workers(client) as workers:
                return evaluate(Partitions(X, problem, self._front, bar, workers))
        notices, found = problem.evaluate(self._front, self._seen(X)[0])
        for notice in notices:
            LOG.info(notice)
        result: dict[str, Any] = json.loads(found)
        return result

    def _workers(self, client: Any) -> AbstractContextManager[Workers | None]:
        """The workers of a client, if there is one and they can get the model."""
        if client is None:
            return nullcontext()
        from ._dask import ships
        from ._dask_tables import Workers

        recipe = self._recipe(self._require_problem())
        return Workers(client, recipe, self._front) if ships(recipe.model) else nullcontext()

    def _seen(self, X: Any) -> tuple[_native.Table, UserTable]:  # noqa: N803
        """Reads another table, which needs the columns that `fit` saw."""
        named = self._named
        table = UserTable(in_one_piece(X), names=list(self.feature_names_in_))
        name, wanted = type(self).__name__, self.n_features_in_
        if not table.named:
            if table.data.shape[1] != wanted:
                raise DataError(
                    f"X has {table.data.shape[1]} features, but {name} is expecting {wanted} features"
                )
            if named:
                warnings.warn(
                    f"X does not have valid feature names, but {name} was fitted with feature names",
                    SogarWarning,
                    stacklevel=3,
                )
        elif not named:
            if len(table.names) != wanted:
                raise DataError(
                    f"X has {len(table.names)} features, but {name} is expecting {wanted} features"
                )
            raise DataError(
                f"X has feature names, but {name} was fitted without feature names",
                "give an array: `X.to_numpy()`",
            )
        config = json.loads(self._front.about())["config"]
        return table.native(json.dumps(config), config["data"].get("ignore", ())), table

    # saving ----------------------------------------------------------------------------------------------

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The front as a result file of the command line: returned as text, or written atomically."""
        front = self._require_fitted()
        if path is None:
            return front.to_bytes().decode()
        front.write(path_of(path))
        return None

    @classmethod
    def from_json(cls, source: str | bytes | os.PathLike[str], X: Any = None, model: Any = None) -> Sogar:  # noqa: N803
        """A fitted estimator from any result file (its path or its text).

        The file contains neither table nor model. Pass both to use `predict`, `transform`, `evaluate` and the
        like.
        """
        if isinstance(source, bytes):
            front = _native.Front.from_bytes(source)
        elif isinstance(source, str) and source.lstrip()[:1] == "{":
            front = _native.Front.from_bytes(utf8(source, "the result").encode())
        else:
            front = _native.Front.read(path_of(source))
        estimator = cls(config=json.loads(front.about())["config"])
        estimator._keep(front, None)
        estimator._problem = None
        return estimator if model is None else estimator.attach(X, model)

    def attach(self, X: Any, model: Any, *, also: Sequence[Any] = ()) -> Sogar:  # noqa: N803
        """Attaches table and model, and further models, to a loaded front. They must be those of the fit."""
        front = self._require_fitted()
        about = json.loads(front.about())
        other = type(self)(config=about["config"], batch=self.batch, n_jobs=self.n_jobs, classes=self.classes)
        if callable(self.cost):
            other.cost = self.cost
        hoped = about["population"]["desired"]
        desired = None if all(name.isdigit() for name in hoped) else hoped
        agree = about["config"].get("model", {}).get("agree", "all")
        problem, table, details = other._prepare(X, model, desired, None, also, agree)
        hashes = problem.hashes
        theirs = " ".join(model["hash"] for model in about["also"])
        of_fit = (
            ("table", about["table"]["hash"]),
            ("model", about["model"]["hash"]),
            ("list of further models", theirs),
        )
        for what, mine in of_fit:
            if hashes[what] != mine:
                raise ResultFileError(
                    f"this is not the {what} of the fit", f"give the original {what}, or fit again"
                )
        point = self._point
        self._keep(front, table, **details)
        self._problem, self._point = problem, point
        return self

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


def rows_for(model: Any, table: UserTable, native: _native.Table | None) -> Any:
    """The table as a model object gets it; ``None`` if this process has none that it can take."""
    from ._models._boosters import is_booster

    if native is None:
        return None
    if table.kind in ("path", "arrow"):
        # Boosters need the categories that they were trained on, which a file does not have.
        return None if is_booster(model) else as_frame(native.columns())
    return table.data


def _remote(data: Any, model: Any, client: Any) -> RemoteTable | None:
    """A table of Dask that stays with its workers, if the model needs none of its rows to be read."""
    from ._models._boosters import is_booster

    if client is None or not is_dask(data) or not (_is_model_file(model) or is_booster(model)):
        return None
    from ._dask_tables import RemoteTable

    return RemoteTable(data, client)


def _model_file(model: Any, config: Mapping[str, Any]) -> tuple[_native.Model, tuple[Any, ...]]:
    """A model in a file or in bytes, and how another process reads it."""
    threshold = config.get("model", {}).get("threshold")
    if isinstance(model, bytes):
        return _native.Model.from_bytes(model, "model", threshold), ("bytes", model, "model", threshold)
    return _native.Model.load(path_of(model), threshold), ("file", path_of(model), threshold)


def _shipped(how: tuple[Any, ...]) -> tuple[Any, ...]:
    """How another process builds a model, with the bytes of files."""
    if how[0] == "several":
        return ("several", *(_shipped(one) for one in how[1:]))
    return ("bytes", Path(how[1]).read_bytes(), how[1], how[2]) if how[0] == "file" else how


def _is_model_file(model: Any) -> bool:
    """Whether the engine reads this model itself: a path, or the bytes of a file."""
    return isinstance(model, str | os.PathLike | bytes)


def _column_names(features: list[dict[str, Any]]) -> list[str]:
    names: list[str] = []
    for feature in features:
        columns = feature["columns"]
        names.extend([columns["one"]] if "one" in columns else filter(None, columns["onehot"]))
    return names


def _in_kind(edited: Any, wanted: str, table: UserTable) -> Any:
    """An edited table in the requested type."""
    if wanted == "default" or wanted == table.kind or (wanted == "pandas" and table.kind == "path"):
        return edited
    if table.kind == "numpy":
        return as_frame({name: edited[:, at] for at, name in enumerate(table.names)}, wanted)
    if wanted == "pandas":
        return edited.to_pandas()
    import polars

    return polars.from_pandas(edited) if table.kind in ("pandas", "path") else polars.from_arrow(edited)

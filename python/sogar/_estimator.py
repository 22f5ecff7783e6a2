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
from ._errors import ArgumentError, DataError, ResultFileError, SogarWarning, path_of, utf8
from ._people import ForPeople
from ._progress import Progress
from ._summary import number_of_people
from ._tables import UserTable, as_frame, in_one_piece, is_dask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from ._dask_tables import Workers
    from ._models import Adapted
    from ._summary import Summary

#: Notices of the engine, for whoever listens.
LOG = logging.getLogger("sogar")

Array = np.ndarray[Any, Any]


class Sogar(Conventions, ForPeople):
    """The exact Pareto front of recourse summaries for a classifier.

    The defaults are those of the command line, but for `bins`: numbers are cut finer where the data allow
    it (``bins=10`` is what the command line does). A configuration (`config`, `preset`) lies below the
    parameters: what a parameter leaves at its default comes from it.

    Args:
        max_depth: Largest depth of a tree.
        max_leaves: Largest number of leaves (default: 2^depth).
        min_leaf: Fewest affected people in a leaf. Where 50 is more than an eighth of them, an eighth is
            taken instead.
        max_edits: Most changes in an action (default: 3, or fewer for the budget of actions).
        actions: The budget of actions, a number or ``"all"`` (default: 200,000): where the table allows more,
            numbers have fewer sizes of shifts, then actions fewer edits, unless they are set.
        bins: Bins of numbers: a number of them, ``"auto"``, ``"quantile:B"`` or a list of edges.
        cost: ``"mps"`` (maximum percentile shift), ``"cet"``, ``"logshift"``, ``"l1"``, ``"table"``, or a
            function of a row (a dictionary) and an edit of it (a dictionary with `feature`, `op`, `from`,
            `to`, `text`) that gives a number from 0 on.
        immutable: Features that no action changes.
        protected: Features that no action changes and no tree splits on: age, sex, race and the like.
        directions: Features that may only ``"increase"`` or ``"decrease"``, as a dictionary.
        ranges: Ranges ``(lo, hi)`` that edits of a feature stay within.
        steps: Sizes of shifts, in bins.
        targets: Categories that an edit of a feature may lead to.
        forbid: Transitions ``(from, to)`` of a feature that are not allowed.
        kinds: Kinds of features where they should not be inferred.
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
        missing: Texts that mean "missing".
        trim: Whether blanks (spaces, tabs, no-break spaces) around the texts of cells are removed.
        codes: Numbers that are no amounts, such as ``-9`` for "refused to answer": a list for all numeric
            columns, or a dictionary of lists by feature.
        decimal: The decimal sign of numbers in text: ``"."`` or ``","``.
        classes: Names of the model's classes, in the order of its class indices.
        columns: Model columns by hand: a dictionary of model column and table column.
        threshold: Decision threshold of a score model (default: the model's own).
        cost_table: A CSV file with the columns `feature`, `from`, `to`, `cost`.
        config: A ``sogar.toml`` (path), or its contents as a dictionary.
        preset: The name of a ready configuration.
        outcomes_cache: A folder in which outcomes are kept between runs.
        verify_cache: Rows about which a model that has to be asked is asked again, to verify outcomes that
            were kept (default: 10,000; 0 believes them). Models that are read are always verified.
        checkpoint: A folder in which what is finished is kept; a fit that was killed goes on from there.
        checkpoint_limit: Most that it may take, such as ``"500MB"`` (default: 4 GB).
        sample: Search on a sample of this many affected rows, then evaluate what was found on all of them.
        max_scorings: Refuse to ask a model about more edited rows than this.
        batch: Most rows in a call of a model that is asked.
        outcomes_time_limit: Seconds after which the computation of outcomes is given up; then "no change"
            is all that is known.
        time_limit: Seconds after which the search stops with what it has; outcomes are not counted.
        memory_limit: Memory that the run may use, such as ``"4GB"``.
        n_jobs: Threads (default: all cores); the result does not depend on it.
        device: Where the heavy work is done: ``"auto"`` (the default: a GPU where it is faster), ``"cpu"``,
            ``"gpu"`` or ``"gpu:N"``. The result does not depend on it; without a GPU the CPU does the work,
            with a warning.
        random_state: Seed of everything random; the search is not.
        progress: Whether to show a progress bar (default: on a terminal and in notebooks).

    Attributes:
        front_: The points of the front, as a frame: cost, loss, invalidity, cost_sum, loss_count, leaves,
            depth.
        status_: ``complete``, ``complete_on_sample``, ``time_limit`` or ``cancelled``.
        n_affected_: How many people the model turns down: rows, or their weight.
        desired_: The outcomes that people hope for.
        actions_: The actions in use, as a frame: id, text, edits, flipped (how many people it works for).
        feature_names_in_: Names of the table's columns.
        n_features_in_: Their number.
        model_backend_: How the model took part: read by the engine, or asked.
        notices_: What the engine had to say.

    >>> import numpy as np
    >>> people = np.random.default_rng(0).uniform(0, 100, size=(200, 2))
    >>> granted = lambda rows: rows.sum(axis=1) > 90
    >>> front = Sogar(max_depth=1, max_edits=1, bins=10).fit(people, granted, desired=1)
    >>> front.status_, len(front.front_)
    ('complete', 34)
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
        directions: Mapping[str, str] | None = None,
        ranges: Mapping[str, Sequence[float]] | None = None,
        steps: Mapping[str, Sequence[int]] | None = None,
        targets: Mapping[str, Sequence[str]] | None = None,
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
        """Stores the parameters; `fit` looks at them."""
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_leaf = min_leaf
        self.max_edits = max_edits
        self.bins = bins
        self.cost = cost
        self.immutable = immutable
        self.protected = protected
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

    def fit(self, X: Any, model: Any, *, desired: Any = None, client: Any = None) -> Sogar:  # noqa: N803 - as scikit-learn calls it
        """Finds the front for the people in a table whom a model turns down.

        Args:
            X: A pandas, polars or pyarrow table, an array, the path of a CSV or Parquet file, or a table of
                Dask.
            model: A fitted classifier, any callable on rows, or the path of a model file.
            desired: The label, or labels, that people hope for. By default the one with a good name, such as
                ``"approved"`` or ``"yes"``; of 0 and 1 it is 1, with a warning; other texts are an error.
            client: A client of ``dask.distributed``, whose workers do the work. The result is the same.

        Returns:
            The estimator itself. After Ctrl-C it has what was found so far, as `status_` says, and the
            exception goes on.
        """
        if client is not None:
            self._check_client(client)
            for name in ("checkpoint", "outcomes_cache"):
                if getattr(self, name) is not None:
                    raise ArgumentError(f"`{name}` and `client` do not go together", "leave one of them out")
        problem, table, about = self._prepare(X, model, desired, rows_in_file=client is None)
        for text in problem.warnings(self.config is not None or self.preset is not None):
            warnings.warn(text, SogarWarning, stacklevel=2)
        with Progress(self.progress) as bar:
            if client is None:
                front, texts, interrupt = problem.solve(bar)
            else:
                from ._dask import Fit

                front, texts, interrupt = Fit(problem, self._recipe(problem), client, bar).solve()
        self._keep(front, table, **about)
        self._problem = problem
        for text in texts:
            warnings.warn(text, SogarWarning, stacklevel=2)
        if interrupt is not None:
            raise interrupt
        if self.status_ not in ("complete", "complete_on_sample"):
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
                f"a {type(client).__name__} is no client of Dask", "give a `dask.distributed.Client`"
            )

    def _prepare(
        self,
        X: Any,  # noqa: N803
        model: Any,
        desired: Any,
        *,
        rows_in_file: bool = True,
    ) -> tuple[_native.Problem, UserTable, dict[str, Any]]:
        """Brings table, model and configuration together.

        Of a Parquet table only the affected rows are kept, if the model needs no more of it and others may
        stay in the file.
        """
        config, folder = _settings.configuration(self.get_params(), _settings.defaults_of(type(self)))
        table = UserTable(in_one_piece(X))
        _settings.with_order(config, table.ordered)
        _native.check_config(_settings.as_json(config))
        native: _native.Table | None = None
        stay = rows_in_file and _is_model_file(model) and table.kind == "path"
        if not (stay and _native.is_parquet(table.data)):
            native = table.native(_settings.as_json(config), config.get("data", {}).get("ignore", ()))
        threshold = config.get("model", {}).get("threshold")
        adapted = None
        if native is None or _is_model_file(model):
            if isinstance(model, bytes):
                loaded = _native.Model.from_bytes(model, "model", threshold)
                how: tuple[Any, ...] = ("bytes", model, "model", threshold)
            else:
                loaded = _native.Model.load(path_of(model), threshold)
                how = ("file", path_of(model), threshold)
            model_backend = f"native: {loaded.info['format']}"
            names = loaded.info["class_names"]
        else:
            adapted = self._adapted(model, table, native, config)
            names = list(adapted.class_names)
            if names:
                _settings.with_classes(config, names, desired)
            loaded = adapted.build(native, _settings.as_json(config))
            model_backend = adapted.model_backend
            how = adapted.recipe
        names = names or [str(number) for number in range(loaded.info["classes"])]
        _settings.with_classes(config, names, desired)
        text = _settings.as_json(config)
        function = self.cost if callable(self.cost) else None
        cache = None if self.outcomes_cache is None else path_of(self.outcomes_cache)
        kept = None if self.checkpoint is None else path_of(self.checkpoint)
        settings = (loaded, text, folder, function, cache, kept, self.checkpoint_limit, self.verify_cache)
        if native is None:
            problem = _native.Problem.of_file(table.data, *settings)
            table.names, table.rows = problem.columns, problem.sizes["rows"]
        else:
            problem = _native.Problem(native, *settings)
        self._made_of = (table.data if native is None else native, how, text, folder, function)
        notices = [*(adapted.notices if adapted is not None else ()), *problem.notices]
        for notice in notices:
            LOG.info(notice)
        LOG.info("model: %s", model_backend)
        if problem.long_run is not None:
            LOG.warning(problem.long_run)
        return problem, table, {"model_backend": model_backend, "notices": notices}

    def _recipe(self, problem: _native.Problem) -> Any:
        """How another process makes the problem that this one has."""
        from ._dask import recipe_of

        native, how, text, folder, function = self._made_of
        if isinstance(native, str):
            native = _native.Table.read(native, text)
        if how[0] == "file":
            how = ("bytes", Path(how[1]).read_bytes(), how[1], how[2])
        return recipe_of(problem, native, how, text, folder, function)

    def _adapted(
        self, model: Any, table: UserTable, native: _native.Table, config: dict[str, Any]
    ) -> Adapted:
        """A model object, and how it is read or asked."""
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
        """Makes a front this estimator's own."""
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
        self.desired_ = list(about["population"]["desired"])
        self.classes_ = np.asarray(about["population"]["classes"], dtype=object)
        self.model_backend_ = model_backend
        self.notices_ = list(notices)
        names = table.names if table is not None else _column_names(about["features"])
        self._named = table.named if table is not None else True
        self.feature_names_in_ = np.asarray(names, dtype=object)
        self.n_features_in_ = len(names)

    def _require_problem(self, *, everybody: bool = True) -> _native.Problem:
        """The problem of the fit, with everybody in memory unless the affected rows are enough."""
        self._require_fitted()
        if self._problem is None:
            raise ArgumentError(
                "this estimator was loaded without its model, which is never part of what is saved",
                "bring them together again: `attach(X, model)` with the table and the model of the fit",
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

    def select(self, by: str | int = "invalidity") -> Summary:
        """Chooses a point of the front and makes it the current one.

        `predict`, `transform` and `score` use the current one.

        Args:
            by: ``"invalidity"`` (the lowest sum of cost and loss), ``"knee"``, ``"cost<=0.2"``,
                ``"loss<=0.1"``, ``"weight=2"``, ``"gap(invalidity, sex)<=0.05"``, or the number of a point
                (0 is the cheapest; -1 the last).

        Returns:
            The summary at that point.
        """
        self._point = self._position(by)
        return self._summary(by if isinstance(by, str) else "")

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
                f"a {type(by).__name__} chooses no point", "give a criterion or the number of a point"
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
        """The ids of the actions that the current summary advises, row by row.

        Rows that are not turned down get 0, the action that changes nothing.
        """
        problem = self._require_problem(everybody=False)
        positions = problem.assign(self._front, self._point, self._seen(X)[0])
        ids = np.array([action["id"] for action in json.loads(self._front.actions())] + [0], dtype=np.int64)
        return ids[positions]

    def transform(self, X: Any) -> Any:  # noqa: N803
        """The rows after the advised changes, in the kind of table that came in.

        Rows that are not turned down stay as they are.
        """
        problem = self._require_problem(everybody=False)
        native, table = self._seen(X)
        edited = table.edited(problem.edited(self._front, self._point, native))
        return _in_kind(edited, self._wanted_output(), table)

    def fit_transform(self, X: Any, model: Any, *, desired: Any = None) -> Any:  # noqa: N803
        """Fits, and gives the table after the changes that the summary with the lowest invalidity advises."""
        return self.fit(X, model, desired=desired).transform(X)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002, N803 - as scikit-learn calls it
        """How well the current summary does on a table: 1 - invalidity, so that higher is better."""
        points = self._evaluation(X)["points"]
        return 1.0 - float(points[self._point]["invalidity"])

    def evaluate(self, X: Any, *, client: Any = None) -> Any:  # noqa: N803
        """The whole front on other people, as a frame: the points' cost, loss and invalidity there.

        The reference table's bins, ranges and percentiles are used. A table of Dask is evaluated partition by
        partition, by the workers of `client` if there is one. `evaluation_` has the rest: `rows`,
        `affected`, `mean_distance` and `sd_distance`.
        """
        if client is not None:
            self._check_client(client)
        found = self._evaluation(X, client)
        self.evaluation_ = {key: value for key, value in found.items() if key != "points"}
        keys = ("cost", "loss", "invalidity", "cost_sum", "loss_count")
        return as_frame(
            {key: np.array([point[key] for point in found["points"]]) for key in keys}, self._kind
        )

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
        """The workers of a client, if there is one and the model can go to them."""
        if client is None:
            return nullcontext()
        from ._dask import ships
        from ._dask_tables import Workers

        recipe = self._recipe(self._require_problem())
        return Workers(client, recipe, self._front) if ships(recipe.model) else nullcontext()

    def _seen(self, X: Any) -> tuple[_native.Table, UserTable]:  # noqa: N803
        """Another table, with the columns that `fit` saw."""
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
        """The front as the command line's result file: as text, or written to a file, whole or not at all."""
        front = self._require_fitted()
        if path is None:
            return front.to_bytes().decode()
        front.write(path_of(path))
        return None

    @classmethod
    def from_json(cls, source: str | bytes | os.PathLike[str], X: Any = None, model: Any = None) -> Sogar:  # noqa: N803
        """A fitted estimator from a result file (its path, or its text) of any origin.

        The file has neither table nor model. Give both to go on with `predict`, `transform`, `evaluate` and
        the like.
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

    def attach(self, X: Any, model: Any) -> Sogar:  # noqa: N803
        """Brings a loaded front together with its table and model again, which must be those of the fit."""
        front = self._require_fitted()
        about = json.loads(front.about())
        other = type(self)(config=about["config"], batch=self.batch, n_jobs=self.n_jobs, classes=self.classes)
        if callable(self.cost):
            other.cost = self.cost
        hoped = about["population"]["desired"]
        desired = None if all(name.isdigit() for name in hoped) else hoped
        problem, table, details = other._prepare(X, model, desired)
        hashes = problem.hashes
        for what, mine in (("table", about["table"]["hash"]), ("model", about["model"]["hash"])):
            if hashes[what] != mine:
                raise ResultFileError(
                    f"this is not the {what} of the fit", f"give the original {what}, or fit anew"
                )
        point = self._point
        self._keep(front, table, **details)
        self._problem, self._point = problem, point
        return self

    # pictures --------------------------------------------------------------------------------------------

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
        """The current summary for notebooks."""
        if not hasattr(self, "_front"):
            from html import escape

            return f"<pre>{escape(repr(self))}</pre>"
        return self.summary_._repr_html_()


def rows_for(model: Any, table: UserTable, native: _native.Table) -> Any:
    """The table as a model object is shown it; ``None`` where there is only a file that it could not take."""
    from ._models._boosters import is_booster

    if table.kind in ("path", "arrow"):
        # Boosters want the categories that they were trained on, which a file does not have.
        return None if is_booster(model) else as_frame(native.columns())
    return table.data


def _is_model_file(model: Any) -> bool:
    """Whether the engine reads this model by itself: a path, or a file's bytes."""
    return isinstance(model, str | os.PathLike | bytes)


def _column_names(features: list[dict[str, Any]]) -> list[str]:
    names: list[str] = []
    for feature in features:
        columns = feature["columns"]
        names.extend([columns["one"]] if "one" in columns else filter(None, columns["onehot"]))
    return names


def _in_kind(edited: Any, wanted: str, table: UserTable) -> Any:
    """An edited table in the kind that was asked for."""
    if wanted == "default" or wanted == table.kind or (wanted == "pandas" and table.kind == "path"):
        return edited
    if table.kind == "numpy":
        return as_frame({name: edited[:, at] for at, name in enumerate(table.names)}, wanted)
    if wanted == "pandas":
        return edited.to_pandas()
    import polars

    return polars.from_pandas(edited) if table.kind in ("pandas", "path") else polars.from_arrow(edited)

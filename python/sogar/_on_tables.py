"""A fitted front applied to tables: actions of people, edited rows, evaluations on other people."""

from __future__ import annotations

import json
import logging
import warnings
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._errors import ArgumentError, DataError, EvaluationFailedError, SogarWarning
from ._progress import Progress
from ._tables import UserTable, as_frame, in_one_piece, is_dask, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    from ._dask_tables import Workers
    from ._preparation import Preparation

#: Notices of the engine.
LOG = logging.getLogger("sogar")

Array = np.ndarray[Any, Any]


class OnTables:
    """The estimator's methods on tables of people."""

    progress: bool | None
    feature_names_in_: Array
    n_features_in_: int
    _front: _native.Front
    _made_of: Preparation | None
    _kind: str
    _named: bool
    _point: int

    if TYPE_CHECKING:

        def fit(self, X: Any, model: Any, *, desired: Any = None) -> Self: ...  # noqa: N803 - as scikit-learn calls it
        def _position(self, by: str | int) -> int: ...
        def _require_fitted(self) -> _native.Front: ...
        def _require_problem(self, *, everybody: bool = True) -> _native.Problem: ...
        def _wanted_output(self) -> str: ...

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

        problem = self._require_problem()
        assert self._made_of is not None  # there is a problem
        recipe = self._made_of.recipe(problem)
        return Workers(client, recipe, self._front) if ships(recipe.model) else nullcontext()

    def _seen(self, X: Any) -> tuple[_native.Table, UserTable]:  # noqa: N803
        """Reads another table, which needs the columns that `fit` saw."""
        named = self._named
        table = UserTable(rows_of(in_one_piece(X)), names=list(self.feature_names_in_))
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

    def _check_client(self, client: Any) -> None:
        from ._dask import is_client

        if not is_client(client):
            raise ArgumentError(
                f"a {type(client).__name__} is not a Dask client", "give a `dask.distributed.Client`"
            )


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

"""A table, a model and parameters made into a problem, and how another process makes the same one."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native, _settings
from ._errors import ModelError, path_of
from ._tables import UserTable, as_frame, in_one_piece, is_dask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ._dask_tables import RemoteTable
    from ._models import Adapted

#: Notices of the engine.
LOG = logging.getLogger("sogar")


@dataclass
class Preparation:
    """A problem, and what it was made of."""

    problem: _native.Problem
    table: UserTable
    #: How the engine uses the model, for users.
    model_backend: str
    notices: list[str]
    #: The rows: a table in this process, one of Dask, or the path of a Parquet file.
    rows: _native.Table | RemoteTable | str
    #: How another process builds the model: a keyword and its arguments.
    model: tuple[Any, ...]
    config: str
    folder: str
    cost: Callable[..., float] | None

    def recipe(self, problem: _native.Problem, *, everybody: bool = True) -> Any:
        """How another process builds a problem of these parts, with all rows if they are needed.

        A black-box model needs the table in the process that calls it.
        """
        from ._dask import recipe_of

        how = _shipped(self.model)
        called = any(one[0] == "black box" for one in (how[1:] if how[0] == "several" else (how,)))
        rows: _native.Table | None = None
        if everybody or called:
            rows = self._all_rows()
        return recipe_of(problem, rows, how, self.config, self.folder, self.cost)

    def _all_rows(self) -> _native.Table:
        if isinstance(self.rows, str):
            return _native.Table.read(self.rows, self.config)
        return self.rows if isinstance(self.rows, _native.Table) else self.rows.gathered()


def prepare(
    params: Mapping[str, Any],
    defaults: Mapping[str, Any],
    data: Any,
    model: Any,
    desired: Any,
    *,
    client: Any = None,
    also: Sequence[Any] = (),
    agree: int | str = "all",
) -> Preparation:
    """Prepares the problem from table, model and the estimator's parameters.

    Keeps only the affected rows of a Parquet table, or of a Dask table with a client, if the model needs no
    others.
    """
    config, folder = _settings.configuration(params, defaults)
    remote = _remote(data, model, client)
    table = remote.header if remote is not None else UserTable(in_one_piece(data))
    _settings.with_order(config, table.ordered)
    _native.check_config(_settings.as_json(config))
    native: _native.Table | None = None
    # Groups need every row here.
    stay = is_model_file(model) and table.kind == "path" and "fairness" not in config
    if remote is None and not (stay and _native.is_parquet(table.data)):
        native = table.native(_settings.as_json(config), config.get("data", {}).get("ignore", ()))
    models = _Models(table, native, config, params)
    adapted = None
    if is_model_file(model):
        loaded, how = _model_file(model, config)
        model_backend = f"native: {loaded.info['format']}"
        names = loaded.info["class_names"]
    else:
        adapted = models.adapted(model)
        names = list(adapted.class_names)
        if names:
            _settings.with_classes(config, names, desired)
        try:
            loaded = adapted.build(native, _settings.as_json(config))
        except ModelError:
            if remote is None:
                raise
            # Only as a black box, which needs all rows here.
            return prepare(
                params,
                defaults,
                in_one_piece(data),
                model,
                desired,
                client=client,
                also=also,
                agree=agree,
            )
        model_backend = adapted.model_backend
        how = adapted.recipe
    if agree != "all":
        config.setdefault("model", {})["agree"] = agree
    if also:
        others = [models.other(one) for one in also]
        loaded = loaded.with_also([other for other, _ in others])
        how = ("several", how, *(recipe for _, recipe in others))
    if params["plausibility"] is not None:
        loaded = loaded.with_plausibility(models.measure(params["plausibility"]))
    names = names or [str(number) for number in range(loaded.info["classes"])]
    _settings.with_classes(config, names, desired)
    text = _settings.as_json(config)
    function = params["cost"] if callable(params["cost"]) else None
    cache, checkpoint = params["outcomes_cache"], params["checkpoint"]
    settings: _native._Settings = {
        "config": text,
        "folder": folder,
        "cost": function,
        "outcomes_cache": None if cache is None else path_of(cache),
        "checkpoint": None if checkpoint is None else path_of(checkpoint),
        "checkpoint_limit": params["checkpoint_limit"],
        "verify_cache": params["verify_cache"],
    }
    problem = _problem(native, remote, table, loaded, settings)
    notices = [*(adapted.notices if adapted is not None else ()), *problem.notices]
    for notice in notices:
        LOG.info(notice)
    LOG.info("model: %s", model_backend)
    if problem.long_run is not None:
        LOG.warning(problem.long_run)
    rows = next(one for one in (native, remote, table.data) if one is not None)
    return Preparation(problem, table, model_backend, notices, rows, how, text, folder, function)


def _problem(
    native: _native.Table | None,
    remote: RemoteTable | None,
    table: UserTable,
    model: _native.Model,
    settings: _native._Settings,
) -> _native.Problem:
    """The problem of the rows, wherever they are."""
    if native is not None:
        return _native.Problem(native, model, settings)
    if remote is None:
        problem = _native.Problem.of_file(table.data, model, settings)
        table.names, table.rows = problem.columns, problem.sizes["rows"]
        return problem
    remote.config = settings["config"]
    problem = _native.Problem.of_partitions(remote, len(remote.parts), model, settings)
    table.rows = problem.sizes["rows"]
    remote.release()
    return problem


@dataclass
class _Models:
    """Reads model objects for a table."""

    table: UserTable
    native: _native.Table | None
    config: dict[str, Any]
    params: Mapping[str, Any]

    def other(self, model: Any) -> tuple[_native.Model, tuple[Any, ...]]:
        """A further model, and how another process builds it."""
        if is_model_file(model):
            return _model_file(model, self.config)
        adapted = self.adapted(model)
        return adapted.build(self.native, _settings.as_json(self.config), by_name=True), adapted.recipe

    def measure(self, function: Any) -> _native.Model:
        """A function, or an object with ``decision_function``, that says how usual rows are."""
        return self.adapted(function, threshold=0.0).called(self.native, _settings.as_json(self.config))

    def adapted(self, model: Any, threshold: float | None = None) -> Adapted:
        """A model object, and how to read or call it."""
        from ._models import adapt

        data, names = self.config.get("data", {}), self.table.names
        aside = {data.get("label"), data.get("weight"), *data.get("ignore", ())}
        return adapt(
            model,
            rows_for(model, self.table, self.native),
            columns=names,
            features=[name for name in names if name not in aside],
            threshold=self.config.get("model", {}).get("threshold") if threshold is None else threshold,
            classes=self.params["classes"] if threshold is None else None,
            batch=self.params["batch"],
            trim=bool(data.get("trim")),
        )


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

    if client is None or not is_dask(data) or not (is_model_file(model) or is_booster(model)):
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


def is_model_file(model: Any) -> bool:
    """Whether the engine reads this model itself: a path, or the bytes of a file."""
    return isinstance(model, str | os.PathLike | bytes)

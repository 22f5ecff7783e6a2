"""From a model object to the engine's model: read if possible, otherwise called."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import ModelError, SogarError, SogarWarning
from .._tables import UserTable
from . import _layers, _trees
from ._black_box import SAMPLE, BlackBox, name_of
from ._boosters import Scorer, booster_bytes, is_booster
from ._cells import Array
from ._rows import Rows
from ._structure import Prepared, read_preparation
from ._transformers import NotReadableError
from ._trees import Spec

if TYPE_CHECKING:
    from .._native import Model, Table

#: Number of rows, mixed from those of the table, on which to compare the two.
MIXED = 500
#: Rows in a call of a model.
BATCH = 16_384


def adapt(
    model: Any,
    X: Any,  # noqa: N803 - as scikit-learn calls it
    *,
    columns: Sequence[str],
    features: Sequence[str] | None = None,
    threshold: float | None = None,
    classes: Sequence[Any] | None = None,
    batch: int | None = None,
    trim: bool = False,
) -> Adapted:
    """Adapts a model for a table.

    Args:
        model: A fitted classifier, or any callable.
        X: The table as the user gave it, or ``None`` if there is only a file.
        columns: The names of its columns, in order.
        features: Those that are neither label nor ignored; all of them by default.
        threshold: Class 1 is above this score; ``None`` for the model's own decision.
        classes: All labels that the model may return, if it does not list them itself.
        batch: Largest number of rows in a call of the model.
        trim: Whether the engine strips blanks from the table's strings.
    """
    rows = Rows(X, columns, features, trim=trim)
    return Adapted(unwrapped(model), rows, threshold, classes, batch or BATCH)


def unwrapped(model: Any) -> Any:
    """The model inside a parameter search, or inside a pipeline of one step."""
    while True:
        inner = getattr(model, "best_estimator_", None)
        if inner is None and type(model).__name__ == "FrozenEstimator":
            inner = model.estimator
        if inner is None:
            return model
        model = inner


class Adapted:
    """A model for a table. `model_backend` says whether it is read or called."""

    def __init__(
        self, model: Any, rows: Rows, threshold: float | None, classes: Sequence[Any] | None, batch: int
    ) -> None:
        """Finds out what the model returns for the table; see `adapt`."""
        self.model = model
        self.rows = rows
        self.threshold = threshold
        self.batch = batch
        self.name = name_of(model)
        #: Notices for the user.
        self.notices: list[str] = []
        _check_kind(model, threshold)
        wanted = _wanted_columns(model, rows)
        if wanted is not None:
            rows.arrange(wanted)
        else:
            _check_count(model, rows)
        self._booster = booster_bytes(model)
        self._black_box = BlackBox(Scorer(model, rows) if self._booster else model, threshold, classes)
        self._black_box.name = self.name
        self._how = f"predict of {self.name}" if self._booster else self._black_box.how
        self._black_box.how = self._how
        if len(rows):
            self._black_box.learn(rows.sample(min(SAMPLE, batch)))
            for block in rows.blocks(batch):
                self._black_box.widen(block)
            self._black_box.check_apart()
        self.model_backend = f"callback: {self._how}"
        self._spec: Spec | None = None
        self._known: Array | None = None
        self._closed: list[str] = []
        #: How another process builds the engine's model: a keyword and its arguments.
        self.recipe: tuple[Any, ...] = ("black box", self)
        self._read()

    @property
    def class_names(self) -> list[str]:
        """The names of the classes, in the order of class numbers; empty if they are just 0, 1, …."""
        if is_booster(self.model):
            return []
        return self._black_box.class_names

    def labels(self, table: Any) -> Array:
        """The object's own class numbers for rows."""
        return self._black_box.labels(table)

    def _own_labels(self) -> Array:
        """The object's own class numbers for the table's rows, computed once."""
        if self._known is None:
            parts = [self.labels(block) for block in self.rows.blocks(self.batch)]
            self._known = np.concatenate(parts).astype(np.int64)
        return self._known

    def _read(self) -> None:
        """Reads the structure of the model, if possible."""
        try:
            if self._booster is not None:
                self.model_backend = f"native: {self._booster[1]}"
                return
            steps, final = _parts(self.model)
            data = booster_bytes(final)
            if data is None and not _is_known(final):
                return
            if not len(self.rows):
                raise NotReadableError("there is no table to read its preparation with")
            last, extra = None, None
            if type(final).__name__ == "HistGradientBoostingClassifier":
                extra = _trees.hist_rearrangement(final)
                last = final._preprocessor.transform if extra is not None else None
            prepared = read_preparation(self.rows, steps, last, extra)
            self._spec = self._spec_of(final, prepared, data)
            self._closed = prepared.closed()
            behind = f" behind {_named(steps)}" if steps else ""
            self.model_backend = f"native: {self._spec['format']}{behind}"
        except NotReadableError as reason:
            self.notices.append(f"{self.name} is called on rows instead of being read: {reason}")
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as reason:
            # Another release of the library may store its parts elsewhere; the object can still be called.
            self.notices.append(f"{self.name} is called on rows, because it could not be read: {reason!r}")

    def _spec_of(self, final: Any, prepared: Prepared, data: tuple[bytes, str] | None) -> Spec:
        if data is not None:
            return _trees.library_spec(prepared, data[0], self.threshold, self.name, data[1])
        if type(final).__name__ in _trees.READERS:
            return _trees.trees_spec(final, prepared, self.threshold)
        return _layers.layers_spec(final, prepared, self.threshold)

    def build(self, table: Table | None, config: str, *, by_name: bool = False) -> Model:
        """The engine's model for a table of the engine, with the configuration in JSON.

        A model that was read must agree with the object on every row. Otherwise the object is called, with a
        warning. With `by_name`, a model that wants other columns is refused instead.
        """
        native: Model | None = None
        if self._booster is not None or self._spec is not None:
            try:
                self._check_ranges(config)
                native = self._native()
                self._compare(native, table, config)
                self.recipe = self._parts_of_native()
            except (_DifferentError, SogarError) as reason:
                # A model that predicts numbers needs a threshold, read or called.
                if not len(self.rows) or (self.threshold is None and "threshold" in str(reason)):
                    raise
                if by_name and "a column that the table does not have" in str(reason):
                    raise
                native = None
                text = f"{self.name} is called on rows, which is slower: {reason}"
                warnings.warn(SogarWarning(text), stacklevel=4)
        if native is None:
            native = self._callback(table, config)
        return native

    def _check_ranges(self, config: str) -> None:
        """Edits must not lead to numbers that the model's encoder refuses: the outcome would be undefined."""
        settings = json.loads(config).get("features", {})
        for name in self._closed:
            own = settings.get(name, {})
            if own.get("range") is not None or own.get("kind") == "real":
                raise _DifferentError(f"its encoder refuses numbers that edits of `{name}` may lead to")

    def _parts_of_native(self) -> tuple[Any, ...]:
        if self._booster is not None:
            return ("bytes", self._booster[0], self.name, self.threshold)
        spec = self._spec or {}
        return ("layers" if "layers" in spec else "trees", spec)

    def _native(self) -> Model:
        from .._native import Model

        makers: dict[str, Any] = {
            "bytes": Model.from_bytes,
            "layers": Model.from_layers,
            "trees": Model.from_trees,
        }
        kind, *parts = self._parts_of_native()
        native: Model = makers[kind](*parts)
        return native

    def _compare(self, native: Model, table: Table | None, config: str) -> None:
        """Compares predictions of the engine and the object: on every row, and on rows mixed from them."""
        if table is None or not len(self.rows):
            return
        self._compare_rows(native, self.rows, table, config)
        if self._booster is not None:
            return  # the library's own format, which the engine evaluates as the library does
        mixed = self.rows.mixed(MIXED)
        try:
            other = UserTable(mixed.table, self.rows.columns).native(config)
            self._compare_rows(native, mixed, other, config)
        except SogarError:
            # The configuration may not fit mixed rows (for example one-hot columns that it declares).
            return

    def _compare_rows(self, native: Model, rows: Rows, table: Table, config: str) -> None:
        theirs = self._own_labels() if rows is self.rows else self.labels(rows.own())
        ours, _ = native.predict(table, config)
        differing = np.flatnonzero(ours != theirs)
        if len(differing):
            row = int(differing[0])
            raise _DifferentError(
                f"{self.model_backend} predicts class {ours[row]} for row {row + 1}, but {self._how} gives "
                f"class {theirs[row]} ({len(differing)} of {len(ours)} rows differ)"
            )

    def called(self, table: Table | None, config: str) -> Model:
        """The engine's model that calls the object, even if it could be read."""
        return self._callback(table, config)

    def _callback(self, table: Table | None, config: str) -> Model:
        from .._native import Model

        if table is None or not len(self.rows):
            raise ModelError(
                f"{self.name} must be called on rows, which needs a data frame or an array",
                "read the file with pandas or polars and pass that, or save the model to a file",
            )
        self._black_box.check_repeatable(self.rows.sample(min(SAMPLE, self.batch)))
        self.model_backend = f"callback: {self._how}"
        black_box, rows = self._black_box, self.rows
        shown: dict[str, Any] = {}

        def answer(block: Array) -> Array:
            return black_box.values(rows.block(shown["columns"], shown["categories"], block))

        scores = black_box.answers == "scores"
        threshold = self.threshold
        if scores and black_box.class_count == 2 and threshold is None:
            threshold = 0.5
        native = Model.from_function(
            answer,
            table,
            config,
            answers=black_box.answers,
            classes=black_box.class_count,
            threshold=threshold if scores else None,
            batch=self.batch,
            identity=self._identity(),
            name=self.name,
            description=self._how,
        )
        shown.update(native.info)
        return native

    def _identity(self) -> bytes:
        """The identity of an opaque model: its name, and its predictions for the table."""
        said = hashlib.sha256(self._own_labels().tobytes()).hexdigest()
        return f"python\0{self._how}\0{self.threshold}\0{said}".encode()


class _DifferentError(Exception):
    """The engine and the object disagree."""


def _is_known(model: Any) -> bool:
    """Whether this exact scikit-learn class can be read; subclasses may do something else."""
    name = type(model).__name__
    known = name in _trees.READERS or name in _layers.READERS
    return known and type(model).__module__.startswith("sklearn.")


def _named(steps: list[Any]) -> str:
    names = [type(step).__name__ for step in steps if step not in (None, "passthrough")]
    return ", ".join(names) or "nothing"


def _parts(model: Any) -> tuple[list[Any], Any]:
    """The fitted transformers of a pipeline, and its classifier."""
    steps: list[Any] = []
    while type(model).__name__ == "Pipeline" and type(model).__module__.startswith("sklearn."):
        steps += [part for _, part in model.steps[:-1]]
        model = unwrapped(model.steps[-1][1])
    return steps, model


def _wanted_columns(model: Any, rows: Rows) -> list[str] | None:
    """The column names that a scikit-learn model was fitted with, if the table has names too."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or rows.kind == "numpy":
        return None
    wanted = [str(name) for name in names]
    known = {name.strip() for name in rows.names}
    # LightGBM rewrites names; the engine handles that.
    if not type(model).__module__.startswith("sklearn.") and not known.issuperset(wanted):
        return None
    return wanted


def _check_kind(model: Any, threshold: float | None) -> None:
    """Refuses models that predict numbers, unless a threshold turns these into classes."""
    tags = getattr(model, "__sklearn_tags__", None)
    kind = getattr(tags(), "estimator_type", None) if callable(tags) and not isinstance(model, type) else None
    if kind in ("regressor", "clusterer", "outlier_detector") and threshold is None:
        raise ModelError(
            f"{name_of(model)} is a {kind}, which does not predict classes",
            "set `threshold`: people above it are class 1",
        )


def _check_count(model: Any, rows: Rows) -> None:
    wanted = getattr(model, "n_features_in_", None)
    if isinstance(wanted, int | np.integer) and wanted != len(rows.names):
        raise ModelError(
            f"the model was fitted with {wanted} columns, but the table has {len(rows.names)} features",
            "fit with the columns that the model was trained on; name the label and columns to ignore",
        )

"""Calls a model object on rows and interprets what it returns.

A callable does not say what it returns. So it is called on a few rows of the table first, and the answers
show what they are: class labels, scores of class 1, or a score for each class. Anything else (a wrong number
of values, NaN, another shape) is an error with the object's name in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import ModelError
from ._cells import Array

#: Scores above this are class 1 unless the user says otherwise.
DEFAULT_THRESHOLD = 0.5
#: More distinct numbers than this are scores rather than classes.
MOST_CLASSES = 20
#: Rows for the first call, and for calling twice.
SAMPLE = 200


def name_of(model: Any) -> str:
    """The name of a model in messages: its class, or the name of a function."""
    if isinstance(model, type) or not hasattr(model, "__name__"):
        return type(model).__name__
    return f"function {model.__name__}"


class BlackBox:
    """A model object to call, with the meaning of its answers.

    >>> black_box = BlackBox(lambda rows: rows[:, 0] > 2)
    >>> black_box.learn(np.array([[1.0], [3.0]]))
    >>> black_box.answers, black_box.class_names
    ('labels', ['0', '1'])
    >>> black_box.labels(np.array([[3.0]]))
    array([1])
    """

    def __init__(
        self, model: Any, threshold: float | None = None, classes: Sequence[Any] | None = None
    ) -> None:
        """Chooses how to call the model; `classes` lists all labels that it may return."""
        self.model = model
        self.name = name_of(model)
        self.threshold = threshold
        self.answers = ""
        own = getattr(model, "classes_", None)
        self.classes: list[Any] | None = list(classes) if classes is not None else None
        if self.classes is None and own is not None and np.ndim(own) == 1:
            self.classes = list(own)
        self._function, self.how = self._choose()

    def _choose(self) -> tuple[Any, str]:
        model = self.model
        if isinstance(model, type):
            raise ModelError(
                f"{model.__name__} is a class, not a model",
                f"make one and fit it: `{model.__name__}().fit(…)`",
            )
        proba = getattr(model, "predict_proba", None)
        predict = getattr(model, "predict", None)
        if self.threshold is not None and callable(proba):
            return proba, f"predict_proba of {self.name}"
        if self.threshold is not None and callable(getattr(model, "decision_function", None)):
            return model.decision_function, f"decision_function of {self.name}"
        if callable(predict):
            return predict, f"predict of {self.name}"
        if callable(proba):
            return proba, f"predict_proba of {self.name}"
        if callable(model):
            return model, self.name
        raise ModelError(
            f"a {type(model).__name__} is not a model: it has neither predict nor predict_proba",
            "give a fitted classifier, a function of rows, or the path of a model file",
        )

    @property
    def class_names(self) -> list[str]:
        """The names of the classes, in order; empty if they have no names."""
        if self.answers == "scores" and self.classes is None:
            return []
        return [_class_text(name) for name in self.classes or []]

    @property
    def class_count(self) -> int:
        """Number of classes."""
        return max(2, len(self.classes or ()))

    def learn(self, rows: Any) -> None:
        """Calls the model on some rows of the table and determines the kind of its answers."""
        raw = self._call(rows)
        count = len(raw)
        if raw.ndim == 2 and raw.shape[1] > 1:
            # The larger of two scores wins: that is a label. With a threshold the second score counts.
            self.answers = "labels" if raw.shape[1] == 2 and self.threshold is None else "scores"
            if self.classes is None:
                self.classes = list(range(raw.shape[1]))
            elif len(self.classes) != raw.shape[1]:
                raise self._wrong_width(raw.shape[1])
            if self.threshold is not None and raw.shape[1] != 2:
                raise ModelError(f"a threshold needs two classes, but {self.name} has {raw.shape[1]}")
            return
        flat = raw.reshape(count)
        if self.threshold is not None or _is_score(flat, self.classes):
            if flat.dtype.kind not in "fiub":
                raise ModelError(
                    f"{self.name} gives labels, but a threshold needs scores", "leave the threshold out"
                )
            self.answers = "scores"
            return
        self.answers = "labels"
        if self.classes is None:
            found = sorted(set(flat.tolist()))
            if flat.dtype.kind in "iuf" and len(found) > MOST_CLASSES:
                raise ModelError(
                    f"{self.name} gives {len(found)} different numbers to {count} rows",
                    "if these are scores, set `threshold`: people above it are class 1",
                )
            if set(found) <= {0, 1}:
                found = [0, 1]
            self.classes = found

    def widen(self, rows: Any) -> None:
        """Learns further labels from more rows, which the sample of `learn` may have lacked."""
        if self.answers != "labels" or hasattr(self.model, "classes_"):
            return
        raw = self._call(rows)
        if raw.ndim == 1:
            self.classes = sorted(set(raw.tolist()) | set(self.classes or ()))

    def check_apart(self) -> None:
        """Refuses a model with the same answer for every row."""
        if self.answers == "labels" and self.classes is not None and len(self.classes) < 2:
            raise ModelError(
                f"{self.name} predicts {_class_text(self.classes[0])} for every row",
                "there is no recourse against a constant model; check its columns",
            )

    def labels(self, rows: Any) -> Array:
        """The class of each row, as a position in `classes`."""
        values = self.values(rows)
        if self.answers == "labels":
            return values
        if values.ndim == 2:
            return np.asarray(np.argmax(values, axis=1), dtype=np.int64)
        threshold = DEFAULT_THRESHOLD if self.threshold is None else self.threshold
        return (values > threshold).astype(np.int64)

    def values(self, rows: Any) -> Array:
        """Answers in the engine's form: positions of classes (integers), or scores (floats)."""
        raw = self._call(rows)
        columns = raw.shape[1] if raw.ndim == 2 else 1
        if self.answers == "labels" and columns == 1:
            return self._positions(raw.reshape(len(raw)))
        try:
            scores = np.ascontiguousarray(raw, dtype=np.float64)
        except (TypeError, ValueError):
            raise ModelError(f"{self.name} gave {_shown(raw.ravel()[0])} for a score") from None
        if np.isnan(scores).any():
            row = int(np.argwhere(np.isnan(scores))[0][0])
            raise ModelError(f"{self.name} gave NaN for a score (row {row + 1} of {len(scores)} in one call)")
        if columns not in (1, self.class_count):
            raise self._wrong_width(columns)
        if self.answers == "labels":
            return np.asarray(np.argmax(scores, axis=1), dtype=np.int64)
        if columns == 2:
            return np.ascontiguousarray(scores[:, 1])
        return scores.reshape(len(scores)) if columns == 1 else scores

    def check_repeatable(self, rows: Any) -> None:
        """Calls the model twice on the same rows: the search needs a deterministic model."""
        first, second = self.labels(rows), self.labels(rows)
        differing = int((first != second).sum())
        if differing:
            raise ModelError(
                f"{self.name} is not deterministic: called again on {len(first)} rows, "
                f"it changed {differing} answers",
                "turn off its random parts (dropout, sampling), or fix its seed",
            )

    def _wrong_width(self, columns: int) -> ModelError:
        return ModelError(
            f"{self.how} gave {columns} scores per row, but there are {self.class_count} classes"
        )

    def _positions(self, labels: Array) -> Array:
        classes = self.classes or []
        place = {_plain(name): position for position, name in enumerate(classes)}
        found, inverse = np.unique(labels, return_inverse=True) if labels.dtype != object else _unique(labels)
        positions = np.empty(len(found), dtype=np.int64)
        for index, label in enumerate(found):
            position = place.get(_plain(label))
            if position is None:
                known = ", ".join(_class_text(name) for name in classes[:10])
                raise ModelError(
                    f"{self.name} gave the label {_shown(label)}, which is none of its classes ({known})",
                    "name all classes: `classes=[…]`; or set `threshold`, if these are scores",
                )
            positions[index] = position
        return positions[inverse.reshape(len(labels))]

    def _call(self, rows: Any) -> Array:
        count = len(rows)
        try:
            answer = self._function(rows)
            if hasattr(answer, "detach"):  # a tensor with gradients
                answer = answer.detach()
            answer = np.asarray(answer)
        except Exception as cause:
            text = str(cause) if len(str(cause)) <= 500 else f"{str(cause)[:500]}…"
            raise ModelError(f"{self.how} raised {type(cause).__name__}: {text}") from cause
        if answer.ndim == 0 or len(answer) != count or answer.ndim > 2:
            got = "a single value" if answer.ndim == 0 else f"{len(answer)} answers"
            if answer.ndim > 2:
                got = f"an array of {answer.ndim} dimensions"
            raise ModelError(
                f"{self.how} gave {got} for {count} rows",
                "it must return one answer per row, in order",
            )
        return answer


def _is_score(values: Array, classes: list[Any] | None) -> bool:
    """Whether numbers are scores rather than labels: fractions, and not the names of classes."""
    if values.dtype.kind != "f" or (
        classes is not None and {_plain(v) for v in values} <= {_plain(c) for c in classes}
    ):
        return False
    return not np.isin(values, [0.0, 1.0]).all()


def _plain(label: Any) -> Any:
    """A key under which labels are equal if Python says so: 1, 1.0 and True; strings stay strings."""
    return label.item() if isinstance(label, np.generic) else label


def _class_text(name: Any) -> str:
    name = _plain(name)
    if isinstance(name, bool):
        return str(int(name))
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def _shown(value: Any) -> str:
    text = repr(_plain(value))
    return text if len(text) <= 60 else f"{text[:60]}…"


def _unique(labels: Array) -> tuple[list[Any], Array]:
    place: dict[Any, int] = {}
    inverse = np.array([place.setdefault(_plain(label), len(place)) for label in labels], dtype=np.intp)
    return list(place), inverse

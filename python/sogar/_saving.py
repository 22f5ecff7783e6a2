"""Fronts as result files, and table and model attached to a front that was read from one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import ResultFileError, path_of, utf8

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import Self

    from ._preparation import Preparation


class Saving:
    """The estimator's methods about result files."""

    batch: int | None
    classes: Sequence[Any] | None
    cost: str | Callable[[dict[str, Any], dict[str, Any]], float]
    n_jobs: int | None
    plausibility: Any
    _point: int

    if TYPE_CHECKING:

        def __init__(self, **params: Any) -> None: ...
        def _keep(self, front: _native.Front, made_of: Preparation | None) -> None: ...
        def _prepare(self, X: Any, model: Any, desired: Any, **others: Any) -> Preparation: ...  # noqa: N803
        def _require_fitted(self) -> _native.Front: ...

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The front as a result file of the command line: returned as text, or written atomically."""
        front = self._require_fitted()
        if path is None:
            return front.to_bytes().decode()
        front.write(path_of(path))
        return None

    @classmethod
    def from_json(cls, source: str | bytes | os.PathLike[str], X: Any = None, model: Any = None) -> Self:  # noqa: N803
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
        return estimator if model is None else estimator.attach(X, model)

    def attach(self, X: Any, model: Any, *, also: Sequence[Any] = ()) -> Self:  # noqa: N803
        """Attaches table and model, and further models, to a loaded front. They must be those of the fit."""
        front = self._require_fitted()
        about = json.loads(front.about())
        other = type(self)(config=about["config"], batch=self.batch, n_jobs=self.n_jobs, classes=self.classes)
        if callable(self.cost):
            other.cost = self.cost
        other.plausibility = self.plausibility
        hoped = about["population"]["desired"]
        desired = None if all(name.isdigit() for name in hoped) else hoped
        agree = about["config"].get("model", {}).get("agree", "all")
        made_of = other._prepare(X, model, desired, also=also, agree=agree)
        hashes = made_of.problem.hashes
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
        self._keep(front, made_of)
        self._point = point
        return self

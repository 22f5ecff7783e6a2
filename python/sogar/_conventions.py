"""scikit-learn's conventions without a dependency on it: parameters, output, state."""

from __future__ import annotations

import inspect
import json
import sys
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _native, _settings
from ._errors import ArgumentError, not_fitted

if TYPE_CHECKING:
    from typing import Self

Array = np.ndarray[Any, Any]
#: Never saved with an estimator: what holds the model (saved itself after ``fit(..., attach=True)``).
_NOT_KEPT = ("_problem", "_front", "_made_of")


class Conventions:
    """Methods that every estimator has."""

    feature_names_in_: Array
    _front: _native.Front
    _problem: _native.Problem | None
    _output: str

    @classmethod
    def _parameters(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - parameters are no estimators
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Self:
        """Sets parameters by name and returns the estimator."""
        known = self._parameters()
        for name in params:
            if name not in known:
                raise ArgumentError(
                    f"`{name}` is not a parameter of {type(self).__name__}",
                    f"known names: {', '.join(known)}",
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` was called."""
        return hasattr(self, "_front")

    def __sklearn_tags__(self) -> Any:
        """The tags that scikit-learn expects of an estimator."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(categorical=True, string=True, allow_nan=True),
        )

    def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self:
        """Chooses the type of table that `transform` returns; ``"default"`` is the type of its input."""
        if transform not in (None, "default", "pandas", "polars"):
            raise ArgumentError(
                f"transform={transform!r} is not possible", 'choose "default", "pandas" or "polars"'
            )
        if transform is not None:
            self._output = transform
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Array:  # noqa: ARG002 - columns stay as they are
        """Names of the columns that `transform` returns: those of the table."""
        self._require_fitted()
        return np.asarray(self.feature_names_in_, dtype=object)

    def __repr__(self) -> str:
        """The estimator with its non-default parameters, and the outcome that it was fitted for."""
        defaults = _settings.defaults_of(type(self))
        said = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if not _settings._same(value, defaults[name])
        ]
        text = f"{type(self).__name__}({', '.join(said)})"
        if not hasattr(self, "_front"):
            return text
        return f"{text}  # {json.loads(self._front.summary(0))['outcome']['text']}"

    def __getstate__(self) -> dict[str, Any]:
        """The parameters and the fitted front; table and model only after ``fit(..., attach=True)``."""
        state = {name: value for name, value in self.__dict__.items() if name not in _NOT_KEPT}
        if hasattr(self, "_front"):
            state["_front"] = self._front.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Reads the front back, checking every reference in it."""
        self.__dict__.update(state)
        if "_front" in state:
            self._front = _native.Front.from_bytes(state["_front"])
            self._problem = None
            attached = state.get("_attached")
            if attached is not None:
                self.attach(*attached)  # type: ignore[attr-defined] # of the estimator

    def _wanted_output(self) -> str:
        wanted = getattr(self, "_output", "default")
        sklearn = sys.modules.get("sklearn")
        if wanted == "default" and sklearn is not None:
            wanted = sklearn.get_config().get("transform_output", "default")
        return str(wanted)

    def _require_fitted(self) -> _native.Front:
        if not hasattr(self, "_front"):
            raise not_fitted(self)
        return self._front

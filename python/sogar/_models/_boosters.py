"""LightGBM and XGBoost: passed in their own serialisation, which the engine reads."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ._rows import Rows


def booster_bytes(model: Any) -> tuple[bytes, str] | None:
    """The serialised model and the format's name; ``None`` for other objects."""
    lightgbm, xgboost = sys.modules.get("lightgbm"), sys.modules.get("xgboost")
    if lightgbm is not None:
        if isinstance(model, lightgbm.LGBMModel):
            model = model.booster_
        if isinstance(model, lightgbm.Booster):
            # As `predict` does: up to the best iteration where training was stopped early.
            return model.model_to_string().encode(), "LightGBM text"
    if xgboost is not None:
        if isinstance(model, xgboost.XGBModel):
            # The classifier's own file includes what the classifier adds to its booster.
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "model.ubj"
                model.save_model(path)
                return path.read_bytes(), "XGBoost UBJSON"
        if isinstance(model, xgboost.Booster):
            return bytes(model.save_raw("ubj")), "XGBoost UBJSON"
    return None


def is_booster(model: Any) -> bool:
    """Whether this is a low-level object of LightGBM or XGBoost, whose `predict` returns scores."""
    lightgbm, xgboost = sys.modules.get("lightgbm"), sys.modules.get("xgboost")
    return (lightgbm is not None and isinstance(model, lightgbm.Booster)) or (
        xgboost is not None and isinstance(model, xgboost.Booster)
    )


class Scorer:
    """Calls a booster on the user's own table.

    LightGBM takes string columns only as pandas categories, and XGBoost's low-level object only its own
    matrix. The classifiers built on them take tables as they are.
    """

    def __init__(self, model: Any, rows: Rows) -> None:
        """Stores the model and the columns that it knows."""
        self.model = model
        self.rows = rows
        self.__name__ = type(model).__name__
        own = getattr(model, "classes_", None)
        if own is not None:
            self.classes_ = own

    def __call__(self, rows: Any) -> Any:
        """Scores of a booster, labels of a classifier."""
        rows = categorised(rows, self.rows.kind)
        xgboost = sys.modules.get("xgboost")
        if xgboost is not None and isinstance(self.model, xgboost.Booster):
            categorical = any(str(dtype) == "category" for dtype in getattr(rows, "dtypes", ()))
            names = self.model.feature_names if not hasattr(rows, "columns") else None
            return self.model.predict(
                xgboost.DMatrix(rows, feature_names=names, enable_categorical=categorical)
            )
        return self.model.predict(rows)

    def predict_proba(self, rows: Any) -> Any:
        """Probabilities, for use with a threshold."""
        if not hasattr(self.model, "predict_proba"):
            return self(rows)
        return self.model.predict_proba(categorised(rows, self.rows.kind))


def categorised(rows: Any, kind: str) -> Any:
    """Converts string columns to pandas categories, which boosters take."""
    if kind != "pandas":
        if kind == "polars" and any(
            dtype.__class__.__name__ in {"String", "Categorical", "Enum"} for dtype in rows.dtypes
        ):
            return categorised(rows.to_pandas(), "pandas")
        return rows.to_pandas() if kind == "pyarrow" else rows
    texts = [name for name, dtype in rows.dtypes.items() if dtype.kind in "OUST" and str(dtype) != "category"]
    texts = [name for name in texts if not _is_numeric(rows[name])]
    return rows.astype(dict.fromkeys(texts, "category")) if texts else rows


def _is_numeric(column: Any) -> bool:
    values = np.asarray(column)
    return values.dtype.kind in "fiub"

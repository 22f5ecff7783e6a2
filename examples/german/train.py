"""Train the example's classifier: LightGBM, 100 trees of 16 leaves, on the German Credit table.

Text columns are given as pandas categoricals, so that LightGBM splits them natively and `model.txt` carries
their categories. Run it from anywhere; it reads `german.csv` and writes `model.txt` beside itself.

    pip install lightgbm==4.7.0 pandas scikit-learn
    python examples/german/train.py
"""

from __future__ import annotations

from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
LABEL = "credit"


def load_features(table: pd.DataFrame) -> pd.DataFrame:
    """All columns but the label; text becomes categorical, its categories in byte order."""
    features = table.drop(columns=LABEL)
    text = features.select_dtypes(exclude="number").columns
    return features.astype(dict.fromkeys(text, "category"))


def main() -> None:
    """Trains on the whole table and writes the model as LightGBM's text format."""
    table = pd.read_csv(HERE / "german.csv", keep_default_na=False)
    features = load_features(table)
    target = (table[LABEL] == "good").astype(int)
    model = lightgbm.LGBMClassifier(
        n_estimators=100,
        num_leaves=16,
        class_weight="balanced",
        random_state=0,
        deterministic=True,
        force_col_wise=True,
        n_jobs=1,
        verbose=-1,
    )
    model.fit(features, target)
    model.booster_.save_model(HERE / "model.txt")
    approved = int(np.sum(model.predict(features)))
    print(f"model.txt written: {len(table)} rows, {approved} approved, {len(table) - approved} turned down")


if __name__ == "__main__":
    main()

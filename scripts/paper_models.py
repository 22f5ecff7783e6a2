"""Train the LightGBM models of the published protocol and of the readable tables, one per data set and fold.

Writes ``OUT/<dataset>/fold<k>/{train.csv,test.csv,model.txt}``: the rows of the table (label included, text
unchanged) and the model that was trained on them. The protocol is ``StratifiedKFold(10)`` without shuffling
and ``LGBMClassifier(n_estimators=100, num_leaves=16, class_weight="balanced")``; Adult is one-hot encoded
(108 columns), the other three tables come in the numeric / one-hot encoding of the CET authors. The data sets
``readable-…`` are the same four as people know them, with text as pandas categoricals and the same settings;
they belong to the presets without ``paper-``.

The tables are looked for in ``--data``, else in the directory that ``SOGAR_DATA`` names.

    SOGAR_DATA=path/to/data python scripts/paper_models.py --out paper-models --folds 1
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

FOLDS = 10

# LightGBM refuses these characters in column names and turns blanks into underscores by itself.
FORBIDDEN = str.maketrans(dict.fromkeys('",:[]{} ', "_"))


@dataclass(frozen=True)
class DataSet:
    """A table of the protocol and what is known of its first fold."""

    file: str
    label: str
    positive: str
    """The label's value that the model calls class 1."""
    adverse_class: int
    """The class that is turned down."""
    affected: tuple[int, int] | None
    """Rows turned down in fold 1, train and test, where they were published."""
    encode: Callable[[pd.DataFrame], pd.DataFrame]
    ignored: tuple[str, ...] = ()
    """Columns that are no features: ids and constants."""

    def features(self, table: pd.DataFrame) -> pd.DataFrame:
        """What the model sees of a table of text."""
        return self.encode(table.drop(columns=[self.label, *self.ignored]))


def numbers(features: pd.DataFrame) -> pd.DataFrame:
    """An encoded table is numeric as it stands; only its names have to please LightGBM."""
    return pd.DataFrame(
        {name.translate(FORBIDDEN): pd.to_numeric(features[name]) for name in features.columns}
    )


def one_hot(features: pd.DataFrame) -> pd.DataFrame:
    """Numbers first, then ``feature_level`` columns of the text features, levels in byte order."""
    plain, dummies = {}, {}
    for name in features.columns:
        column = features[name]
        try:
            plain[name] = pd.to_numeric(column)
        except ValueError:
            for level in sorted(column.unique()):
                dummies[f"{name}_{level}".translate(FORBIDDEN)] = (column == level).astype(np.int8)
    return pd.DataFrame({**plain, **dummies})


def categories(features: pd.DataFrame) -> pd.DataFrame:
    """Numbers as they are; text as categoricals, their categories in byte order."""
    columns: dict[str, Any] = {}
    for name in features.columns:
        try:
            columns[name] = pd.to_numeric(features[name])
        except ValueError:
            columns[name] = features[name].astype("category")
    return pd.DataFrame(columns)


CONSTANTS = ("EmployeeNumber", "EmployeeCount", "Over18", "StandardHours")

DATA_SETS = {
    "adult": DataSet("adult_train.csv", "income", ">50K", 0, (19_199, 2_120), one_hot),
    "german": DataSet("cet/cet_german.csv", "GoodCustomer", "1", 1, (321, 39), numbers),
    "attrition": DataSet("cet/cet_attrition.csv", "Attrition", "1", 1, (229, 19), numbers),
    "bank": DataSet("cet/cet_bank.csv", "subscribe", "1", 1, (3_199, 360), numbers),
    "readable-german": DataSet("german.csv", "credit", "good", 0, None, categories),
    "readable-attrition": DataSet("attrition.csv", "Attrition", "Yes", 1, None, categories, CONSTANTS),
    "readable-bank": DataSet("bank.csv", "y", "yes", 0, None, categories),
    "readable-adult": DataSet("adult_train.csv", "income", ">50K", 0, None, categories),
}


def write_rows(lines: list[str], rows: np.ndarray, path: Path) -> None:
    """Writes the header and the chosen rows exactly as they stand in the original file."""
    chosen = [lines[0], *(lines[1 + row] for row in rows)]
    path.write_text("\n".join(chosen) + "\n", encoding="utf-8", newline="")


def train_fold(name: str, fold: int, data: Path, out: Path) -> bool:
    """Trains one model; says whether its affected counts are those of the protocol (where they are known)."""
    spec = DATA_SETS[name]
    path = data / spec.file
    lines = path.read_text(encoding="utf-8").splitlines()
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if len(lines) != len(table) + 1:
        raise SystemExit(f"{path}: a quoted line break; rows cannot be copied line by line")
    features = spec.features(table)
    target = (table[spec.label] == spec.positive).to_numpy().astype(int)

    splits = StratifiedKFold(FOLDS).split(features, target)
    train, test = list(splits)[fold - 1]
    model = lightgbm.LGBMClassifier(
        n_estimators=100,
        num_leaves=16,
        class_weight="balanced",
        n_jobs=1,
        verbose=-1,
    )
    model.fit(features.iloc[train], target[train])

    folder = out / name / f"fold{fold}"
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(lines, train, folder / "train.csv")
    write_rows(lines, test, folder / "test.csv")
    model.booster_.save_model(folder / "model.txt")

    labels = np.asarray(model.predict(features))
    adverse = labels == spec.adverse_class
    counts = int(adverse[train].sum()), int(adverse[test].sum())
    accuracy = [float(np.mean(labels[rows] == target[rows])) for rows in (train, test)]
    verdict = ""
    matches = True
    if fold == 1 and spec.affected is not None:
        matches = counts == spec.affected
        verdict = "as published" if matches else f"EXPECTED {spec.affected[0]}/{spec.affected[1]}"
    print(
        f"{name:<18} fold {fold:>2}  columns {features.shape[1]:>3}  affected {counts[0]}/{counts[1]}"
        f"  accuracy {accuracy[0]:.3f}/{accuracy[1]:.3f}  {verdict}".rstrip()
    )
    return matches


def fold_list(text: str) -> list[int]:
    """Reads ``1``, ``1,3`` or ``1-10``."""
    folds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        folds.extend(range(int(first), int(last or first) + 1))
    if not folds or any(not 1 <= fold <= FOLDS for fold in folds):
        raise argparse.ArgumentTypeError(f"folds are numbered 1 to {FOLDS}")
    return folds


def main() -> int:
    """Trains what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="directory to write to")
    parser.add_argument("--data", type=Path, help="directory of the tables (default: $SOGAR_DATA)")
    parser.add_argument("--folds", type=fold_list, default=[1], help="e.g. 1, 1,3 or 1-10 (default: 1)")
    parser.add_argument("datasets", nargs="*", choices=[*DATA_SETS, []], help="default: all of them")
    args = parser.parse_args()

    data = args.data or (Path(os.environ["SOGAR_DATA"]) if "SOGAR_DATA" in os.environ else None)
    if data is None or not data.is_dir():
        parser.error("no data: give --data or set SOGAR_DATA to the directory of the tables")
    matches = [
        train_fold(name, fold, data, args.out) for name in (args.datasets or DATA_SETS) for fold in args.folds
    ]
    return 0 if all(matches) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Generate tables and train models for the benchmark: numbers, categories, ties.

Writes ``OUT/<name>/{table.csv,sogar.toml,prices.csv}``, and ``model.txt`` (LightGBM) or ``model.json``
(XGBoost). The models turn about a third of the rows down; the smallest group has a twentieth of them. Prices
are for ``--cost table``. What exists already and was made by the same version of this file is kept.

    python scripts/bench_tables.py --out target/generated
"""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import dataclass
from pathlib import Path

import lightgbm
import numpy as np
import numpy.typing as npt
import pandas as pd
import xgboost


@dataclass(frozen=True)
class Shape:
    """A table: features, people, and the model."""

    numbers: int
    categories: int = 0
    levels: int = 0
    people: int = 5000
    """About how many are turned down."""
    distinct: int = 0
    """Distinct values of a number, 0 for as many as there are."""
    model: str = "lightgbm"


SHAPES = {
    "numeric12": Shape(12),
    "numeric12-large": Shape(12, people=20000),
    "numeric24": Shape(24),
    "numeric24-large": Shape(24, people=20000),
    "numeric12-xgboost": Shape(12, model="xgboost"),
    "mixed": Shape(7, 9, 5),
    "mixed-xgboost": Shape(7, 9, 5, model="xgboost"),
    "categories": Shape(1, 14, 12),
    "ties": Shape(10, 2, 3, distinct=5),
    "small": Shape(4, 12, 5, people=330),
}


def draw(shape: Shape, random: np.random.Generator) -> pd.DataFrame:
    """The table. Features have a common factor, as those of people do."""
    rows = 3 * shape.people
    common = random.normal(size=rows)
    table = pd.DataFrame()
    for i in range(shape.numbers):
        values = 0.5 * common + 0.85 * random.normal(size=rows)
        if shape.distinct:
            edges = np.quantile(values, np.linspace(0, 1, shape.distinct + 1)[1:-1])
            table[f"x{i}"] = np.searchsorted(edges, values)
        else:
            table[f"x{i}"] = (50 + 20 * values).round(1)
    for i in range(shape.categories):
        # The first levels are the most frequent ones.
        levels = random.random(rows) * (0.4 + 0.6 * random.random(rows)) * shape.levels
        table[f"c{i}"] = [f"level{int(level)}" for level in levels]
    return table


def accepted(table: pd.DataFrame, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Labels: effects of features with thresholds and levels, interactions, noise."""
    score = np.zeros(len(table))
    above = {}
    for name, column in ((str(name), table[name]) for name in table):
        if name.startswith("x"):
            strength, sign = 0.2 + random.random() ** 2, random.choice([-1, 1])
            score += strength * sign * (column - column.mean()) / column.std()
            above[name] = column > column.quantile(random.uniform(0.3, 0.7))
        else:
            effects = {level: random.normal(scale=0.8) for level in sorted(set(column))}
            score += column.map(effects)
            above[name] = column.map(effects) > 0
    names = list(above)
    for _ in range(2 * len(names)):
        a, b = random.choice(len(names), 2, replace=False)
        score += random.normal(scale=0.7) * (above[names[a]] & above[names[b]])
    score += random.normal(scale=0.5, size=len(table))
    return (score > np.quantile(score, 1 / 3)).astype(np.int64)


def train(shape: Shape, table: pd.DataFrame, labels: npt.NDArray[np.int64], folder: Path) -> None:
    """The model, on pandas categoricals."""
    text = table.astype({name: "category" for name in table.columns if name.startswith("c")})
    if shape.model == "lightgbm":
        settings = {"objective": "binary", "num_leaves": 16, "verbose": -1, "seed": 1, "num_threads": 2}
        lightgbm.train(settings, lightgbm.Dataset(text, labels), 100).save_model(folder / "model.txt")
    else:
        data = xgboost.DMatrix(text, labels, enable_categorical=True)
        settings = {"objective": "binary:logistic", "max_depth": 4, "seed": 1, "nthread": 2}
        xgboost.train(settings, data, 100).save_model(folder / "model.json")


def prices(table: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """A price for every feature, and for categories one for every level that is set."""
    lines = []
    for name, column in ((str(name), table[name]) for name in table):
        if name.startswith("x"):
            lines.append((name, "*", "*", round(random.uniform(0.1, 2), 3)))
        else:
            lines += [(name, "*", level, round(random.uniform(0.1, 2), 3)) for level in sorted(set(column))]
    return pd.DataFrame(lines, columns=["feature", "from", "to", "cost"])


def main() -> None:
    """Generates what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="directory for the tables")
    parser.add_argument("names", nargs="*", choices=[[], *SHAPES], help="shapes [default: all]")
    arguments = parser.parse_args()
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    for name in arguments.names or SHAPES:
        shape, folder = SHAPES[name], arguments.out / name
        made = folder / "made-by"
        if made.is_file() and made.read_text() == version:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        random = np.random.default_rng([shape.numbers, shape.categories, shape.people, shape.distinct])
        table = draw(shape, random)
        train(shape, table, accepted(table, random), folder)
        table.to_csv(folder / "table.csv", index=False)
        prices(table, random).to_csv(folder / "prices.csv", index=False)
        config = f'[data]\ndesired = ["1"]\n\n[limits]\nactions = "all"\nmin_leaf = {shape.people // 20}\n'
        (folder / "sogar.toml").write_text(config)
        made.write_text(version)
        print(f"{name}: {len(table)} rows, {table.shape[1]} features", flush=True)


if __name__ == "__main__":
    main()

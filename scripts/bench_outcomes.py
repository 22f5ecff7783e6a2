"""Time sogar's outcomes beside the library's own batch prediction, on the same cells and in the same run.

A cell is an affected row under an action. sogar finds the outcomes of all cells at once; the library is given
the edited rows of a sample of them, encoded and in memory, on as many threads, and only its ``predict`` is
timed. The sample is drawn from the actions that a shallow front uses, since the result file spells those out
and says whom they flip: so every sampled outcome is also compared with what the library says.

LightGBM and XGBoost with the published settings (100 trees of 16 leaves, 100 trees of depth 6), classes
balanced, on German and Adult.

    python scripts/bench_outcomes.py --paper target/paper --sogar target/release/sogar
"""

from __future__ import annotations

import argparse
import base64
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt
import pandas as pd
import xgboost
from paper_models import DATA_SETS, DataSet
from sklearn.utils.class_weight import compute_sample_weight

Json = dict[str, Any]
Matrix = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
Predict = Callable[[Matrix], Labels]

NAMES = ("german", "adult")
TARGET = 100
"""How many times as fast as the library the outcomes should be."""
HEADER = """\
| data set | model | cells | sogar (s) | cells/s | sampled | library's cells/s | ratio | differing |
|---|---|--:|--:|--:|--:|--:|--:|--:|"""
DEPTH = 2
"""Of the shallow front whose actions are sampled."""


@dataclass(frozen=True)
class Setting:
    """How much is measured."""

    sogar: Path
    threads: int
    runs: int
    cells: int


@dataclass(frozen=True)
class Line:
    """What was measured for one table and one library."""

    name: str
    library: str
    cells: int
    seconds: float
    sampled: int
    library_seconds: float
    differing: int

    @property
    def ratio(self) -> float:
        """Cells a second of sogar for one of the library's."""
        return (self.cells / self.seconds) / (self.sampled / self.library_seconds)

    def markdown(self) -> str:
        """A row of the table."""
        ours, theirs = self.cells / self.seconds, self.sampled / self.library_seconds
        return (
            f"| {self.name} | {self.library} | {self.cells:,} | {self.seconds:.2f} | {ours / 1e6:.1f} · 10⁶ "
            f"| {self.sampled:,} | {theirs / 1e6:.3f} · 10⁶ | {self.ratio:.0f} | {self.differing} |"
        )


def read_text(path: Path) -> pd.DataFrame:
    """A table as text, nothing interpreted."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def bits(text: str, length: int) -> npt.NDArray[np.bool_]:
    """A set of rows as the result file spells it."""
    packed = np.frombuffer(base64.b64decode(text), dtype=np.uint8)
    return np.unpackbits(packed, bitorder="little")[:length].astype(np.bool_)


def shifted(column: pd.Series[str], edit: Json) -> list[str]:
    """Numbers moved within a range, never against the direction; whole numbers stay whole."""
    before = pd.to_numeric(column).to_numpy(dtype=np.float64)
    by = float(edit["by"])
    after = np.clip(before + by, float(edit["lo"]), float(edit["hi"]))
    after = np.where(after < before if by > 0 else after > before, before, after)
    return [f"{value:.17g}" for value in after]


def new_level(level: str, edit: Json, levels: list[str]) -> str:
    """The level that an edit leads to."""
    match edit["op"]:
        case "set":
            return level if level in edit.get("not_from", []) else str(edit["to"])
        case "swap":
            return str(edit["to"]) if level == edit["from"] else level
        case "flip":
            return levels[1 - levels.index(level)]
        case other:
            raise NotImplementedError(f"edit `{other}`")


def apply_edit(rows: pd.DataFrame, feature: Json, edit: Json) -> None:
    """Edits rows of the table in place."""
    if edit.get("followers"):
        raise NotImplementedError("linked features")
    columns = feature["columns"]
    if edit["op"] == "shift":
        rows[columns["one"]] = shifted(rows[columns["one"]], edit)
        return
    levels = [str(level) for level in feature["levels"]]
    if "one" in columns:
        name = columns["one"]
        rows[name] = [new_level(level, edit, levels) for level in rows[name]]
        return
    names = columns["onehot"]
    hot = pd.DataFrame({name: pd.to_numeric(rows[name]) for name in names}).to_numpy().argmax(axis=1)
    after = [levels.index(new_level(levels[position], edit, levels)) for position in hot]
    for position, name in enumerate(names):
        rows[name] = ["1" if chosen == position else "0" for chosen in after]


def sampled_cells(
    front: Json, table: pd.DataFrame, spec: DataSet, cells: int
) -> tuple[Matrix, npt.NDArray[np.bool_]]:
    """Edited rows as the model sees them, and whether sogar says that they are flipped."""
    affected = np.flatnonzero(bits(front["population"]["affected_rows"], front["population"]["rows"]))
    actions = [action for action in front["actions"] if action["edits"]]
    features = {feature["name"]: feature for feature in front["features"]}
    draw = np.random.default_rng(0)
    each = min(len(affected), -(-cells // len(actions)))
    parts, flips = [], []
    for action in actions:
        chosen = np.sort(draw.choice(len(affected), size=each, replace=False))
        rows = table.iloc[affected[chosen]].copy()
        for edit in action["edits"]:
            apply_edit(rows, features[edit["feature"]], edit)
        parts.append(rows)
        flips.append(bits(action["flips"], len(affected))[chosen])
    # Encoded together with the whole table, so that every category has its column.
    together = pd.concat([table, *parts], ignore_index=True)
    encoded = spec.features(together).iloc[len(table) :]
    return np.ascontiguousarray(encoded.to_numpy(dtype=np.float64)), np.concatenate(flips)


def solved(table: Path, model: Path, name: str, setting: Setting) -> tuple[Json, float]:
    """A shallow front, and the median of the seconds that outcomes took."""
    seconds = []
    front: Json = {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "front.json"
        for _ in range(setting.runs):
            command = [setting.sogar, "solve", table, "--model", model, "--preset", f"paper-{name}"]
            command += ["--max-depth", str(DEPTH), "--threads", str(setting.threads), "-o", out, "--quiet"]
            subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
            front = json.loads(out.read_text(encoding="utf-8"))
            seconds.append(float(front["run"]["seconds_outcomes"]))
    return front, statistics.median(seconds)


def lightgbm_model(folder: Path, threads: int) -> tuple[Path, Predict]:
    """The model that is there, and its own prediction."""
    path = folder / "model.txt"
    booster = lightgbm.Booster(model_file=path)

    def predict(rows: Matrix) -> Labels:
        scores = np.asarray(booster.predict(rows, num_threads=threads))
        return (scores > 0.5).astype(np.int64)

    return path, predict


def xgboost_model(folder: Path, spec: DataSet, table: pd.DataFrame, threads: int) -> tuple[Path, Predict]:
    """A model trained now (kept beside the other one), and its own prediction."""
    features = spec.features(table)
    features.columns = features.columns.str.replace("<", "_")  # which XGBoost refuses in names
    target = (table[spec.label] == spec.positive).to_numpy().astype(int)
    classifier = xgboost.XGBClassifier(n_estimators=100, max_depth=6, n_jobs=threads)
    classifier.fit(features, target, sample_weight=compute_sample_weight("balanced", target))
    path = folder / "xgboost.json"
    booster = classifier.get_booster()
    booster.save_model(path)

    def predict(rows: Matrix) -> Labels:
        scores = np.asarray(booster.inplace_predict(rows, validate_features=False))
        return (scores > 0.5).astype(np.int64)

    return path, predict


def compare(name: str, library: str, folder: Path, setting: Setting) -> Line:
    """One table and one library."""
    spec = DATA_SETS[name]
    table = read_text(folder / "train.csv")
    if library == "LightGBM":
        model, predict = lightgbm_model(folder, setting.threads)
    else:
        model, predict = xgboost_model(folder, spec, table, setting.threads)
    front, seconds = solved(folder / "train.csv", model, name, setting)
    rows, flips = sampled_cells(front, table, spec, setting.cells)
    labels = predict(rows)  # also warms up
    times = []
    for _ in range(setting.runs):
        start = time.perf_counter()
        predict(rows)
        times.append(time.perf_counter() - start)
    return Line(
        name=name,
        library=library,
        cells=front["population"]["affected"] * front["counts"]["actions"],
        seconds=seconds,
        sampled=len(rows),
        library_seconds=min(times),
        differing=int(np.sum((labels != spec.adverse_class) != flips)),
    )


def main() -> int:
    """Measures what is there and prints a Markdown table; the exit code tells whether targets are met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paper", type=Path, required=True, help="directory that paper_models.py wrote")
    parser.add_argument("--sogar", type=Path, required=True, help="the program, built with optimisation")
    parser.add_argument("--threads", type=int, default=2, help="for both sides (default: 2)")
    parser.add_argument("--quick", action="store_true", help="German only, one run, and no target")
    args = parser.parse_args()
    quick = bool(args.quick)
    setting = Setting(
        sogar=args.sogar.resolve(),
        threads=args.threads,
        runs=1 if quick else 3,
        cells=20_000 if quick else 200_000,
    )
    lines = []
    for name in NAMES[:1] if quick else NAMES:
        folder = args.paper / name / "fold1"
        if not (folder / "model.txt").is_file():
            print(f"SKIPPED: {name}, there is no {folder}/model.txt", file=sys.stderr)
            continue
        for library in ("LightGBM", "XGBoost"):
            print(f"outcomes, {name}, {library} …", file=sys.stderr)
            lines.append(compare(name, library, folder, setting))
    print(HEADER)
    for line in lines:
        print(line.markdown())
    print()
    wrong = [line for line in lines if line.differing]
    slow = [] if quick else [line for line in lines if line.ratio < TARGET]
    for line in wrong:
        print(f"{line.name}, {line.library}: OUTCOMES DIFFER FROM THE LIBRARY'S.", file=sys.stderr)
    for line in slow:
        print(f"{line.name}, {line.library}: below {TARGET} times the library's rate.", file=sys.stderr)
    return 1 if wrong or slow else 0


if __name__ == "__main__":
    sys.exit(main())

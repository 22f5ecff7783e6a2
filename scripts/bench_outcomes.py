"""Time sogar's outcomes beside the library's own batch prediction, on the same cells and in the same run.

A cell is an affected row under an action. sogar computes the outcomes of all cells at once; the library gets
the edited rows of a sample of them, encoded and in memory, on as many threads, and only its ``predict`` is
timed. The sample comes from the actions that a shallow front uses, because the result file describes those
and lists whom they flip: so every sampled outcome is also compared with the library's.

LightGBM, XGBoost and the dense network with the published settings, as ``paper_models.py`` made them. The
network is run by ONNX Runtime, whose sums are rounded otherwise: labels are compared where its score is
at least ``BAND`` away from the threshold. Networks are timed once only: the whole of Adult takes minutes.

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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt
import onnxruntime
import pandas as pd
import xgboost
from paper_models import DATA_SETS, DataSet

Json = dict[str, Any]
Matrix = npt.NDArray[np.float64]
Scores = npt.NDArray[np.float64]
Predict = Callable[[Matrix], Scores]

NAMES = ("german", "attrition", "bank", "adult")
TARGET = 100
"""How many times as fast as the library's the outcomes of trees should be, on `TARGET_NAMES`."""
TARGET_NAMES = ("german", "adult")
BAND = 1e-4
"""Distance from the threshold within which two ways to run a network may disagree."""
HEADER = """\
| data set | model | cells | sogar (s) | cells/s | sampled | library's | ratio | differing | too close |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"""
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
    within_band: int
    """Sampled cells so close to the threshold that they were not compared."""

    @property
    def ratio(self) -> float:
        """Cells a second of sogar for one of the library's."""
        return (self.cells / self.seconds) / (self.sampled / self.library_seconds)

    def markdown(self) -> str:
        """A row of the table."""
        ours, theirs = self.cells / self.seconds, self.sampled / self.library_seconds
        return (
            f"| {self.name} | {self.library} | {self.cells:,} | {self.seconds:.2f} | {ours / 1e6:.1f} · 10⁶ "
            f"| {self.sampled:,} | {theirs / 1e6:.3f} · 10⁶ | {self.ratio:.0f} "
            f"| {self.differing} | {self.within_band} |"
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


def lightgbm_model(path: Path, threads: int) -> Predict:
    """The library's own prediction."""
    booster = lightgbm.Booster(model_file=path)
    return lambda rows: np.asarray(booster.predict(rows, num_threads=threads))


def xgboost_model(path: Path, threads: int) -> Predict:
    """The library's own prediction."""
    booster = xgboost.Booster({"nthread": threads}, model_file=path)
    return lambda rows: np.asarray(booster.inplace_predict(rows, validate_features=False))


def network_model(path: Path, threads: int) -> Predict:
    """ONNX Runtime's prediction."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [feature.name for feature in session.get_inputs()]  # one column each

    def predict(rows: Matrix) -> Scores:
        columns = np.ascontiguousarray(rows.T.astype(np.float32))[:, :, np.newaxis]
        scores = session.run(None, dict(zip(names, columns, strict=True)))[0]
        return np.asarray(scores, dtype=np.float64).ravel()

    return predict


LIBRARIES = {
    "LightGBM": ("model.txt", lightgbm_model),
    "XGBoost": ("model.xgb.json", xgboost_model),
    "network": ("model.onnx", network_model),
}


def compare(name: str, library: str, folder: Path, setting: Setting) -> Line:
    """One table and one library."""
    spec = DATA_SETS[name]
    table = read_text(folder / "train.csv")
    file, load = LIBRARIES[library]
    predict = load(folder / file, setting.threads)
    front, seconds = solved(folder / "train.csv", folder / file, name, setting)
    rows, flips = sampled_cells(front, table, spec, setting.cells)
    scores = predict(rows)  # also warms up
    times = []
    for _ in range(setting.runs):
        start = time.perf_counter()
        predict(rows)
        times.append(time.perf_counter() - start)
    accepted = (scores > 0.5) == (spec.adverse_class == 0)
    clear = np.abs(scores - 0.5) > BAND if library == "network" else np.ones(len(rows), dtype=np.bool_)
    return Line(
        name=name,
        library=library,
        cells=front["population"]["affected"] * front["counts"]["actions"],
        seconds=seconds,
        sampled=len(rows),
        library_seconds=min(times),
        differing=int(np.sum((accepted != flips) & clear)),
        within_band=int(np.sum(~clear)),
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
        for library, (file, _) in LIBRARIES.items():
            if not (folder / file).is_file():
                print(f"SKIPPED: {name}, {library}: there is no {folder / file}", file=sys.stderr)
                continue
            print(f"outcomes, {name}, {library} …", file=sys.stderr)
            once = replace(setting, runs=1) if library == "network" else setting
            lines.append(compare(name, library, folder, once))
    print(HEADER)
    for line in lines:
        print(line.markdown())
    print()
    wrong = [line for line in lines if line.differing]
    trees = [line for line in lines if line.library != "network" and line.name in TARGET_NAMES]
    slow = [] if quick else [line for line in trees if line.ratio < TARGET]
    for line in wrong:
        print(f"{line.name}, {line.library}: OUTCOMES DIFFER FROM THE LIBRARY'S.", file=sys.stderr)
    for line in slow:
        print(f"{line.name}, {line.library}: below {TARGET} times the library's rate.", file=sys.stderr)
    return 1 if wrong or slow else 0


if __name__ == "__main__":
    sys.exit(main())

"""A second opinion on a front: every tree applied again to the raw table, scored by LightGBM itself.

Written from the definitions (edits, maximum percentile shift, loss) and sharing no code with the engine, so
that the same mistake would have to be made twice. It reads the table as text, knows nothing of the search,
and supports what the examples use: plain columns (no one-hot groups or rules), links, the default cost, a
two-class model.

Costs are whole numbers of rows of the reference table: divided by its size they are shares of the population.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt
import pandas as pd

Json = dict[str, Any]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Column = npt.NDArray[Any]

NUMERIC = {"integer", "real", "numeric"}
# Pairs of values with an order of their own, smaller first; all others follow their bytes.
BINARY_ORDER = (("0", "1"), ("false", "true"), ("no", "yes"))


def bits(text: str, length: int) -> Bools:
    """Unpacks a base64 bitset, lowest bit first."""
    packed = np.frombuffer(base64.b64decode(text), dtype=np.uint8)
    return np.unpackbits(packed, bitorder="little")[:length].astype(np.bool_)


def read_table(path: Path) -> pd.DataFrame:
    """The table as text, nothing interpreted."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def as_text(value: Any) -> str:
    """A category as the table spells it (a result file may hold a number)."""
    return value if isinstance(value, str) else f"{value:g}"


class Feature:
    """One column of the table and its distribution over the reference rows."""

    def __init__(self, spec: Json, reference: pd.Series[str]) -> None:
        """Takes the kind from the result file and everything else from the reference rows."""
        if spec["columns"] != {"one": spec["name"]}:
            raise NotImplementedError(
                f"{spec['name']}: only plain columns are supported, not {spec['columns']}"
            )
        self.name: str = spec["name"]
        self.kind: str = spec["kind"]
        self.levels: list[str] = []
        self.codes = np.array(spec.get("codes", []), dtype=np.float64)
        if self.kind == "ordinal":
            self.levels = [as_text(level) for level in spec["levels"]]
        elif self.kind == "binary":
            self.levels = self._binary_levels(reference)
        column = self.parse(reference)
        if self.kind == "categorical":
            values, counts = np.unique(column, return_counts=True)
            self.share = dict(zip(values.tolist(), counts.tolist(), strict=True))
        else:
            self.sorted = np.sort(column[~np.isnan(column) & ~self.coded(column)])

    def coded(self, column: Column) -> Bools:
        """Rows whose number is no amount but a special code."""
        if self.kind not in NUMERIC:
            return np.zeros(len(column), dtype=np.bool_)
        return np.asarray(np.isin(column, self.codes), dtype=np.bool_)

    @staticmethod
    def _binary_levels(reference: pd.Series[str]) -> list[str]:
        found = sorted(set(reference), key=lambda value: value.encode())
        if len(found) != 2:
            raise ValueError(f"a binary feature has two values, not {found}")
        for pair in BINARY_ORDER:
            if tuple(value.lower() for value in found) in (pair, pair[::-1]):
                return sorted(found, key=lambda value: pair.index(value.lower()))
        return found

    def parse(self, texts: pd.Series[str]) -> Column:
        """Text to what edits work on: numbers, positions of levels, or the text itself."""
        if self.kind in NUMERIC:
            return np.array([float(text) if text else np.nan for text in texts], dtype=np.float64)
        if self.levels:
            position = {level: float(index) for index, level in enumerate(self.levels)}
            return np.array([position[text] for text in texts], dtype=np.float64)
        return texts.to_numpy(dtype=object)

    def position(self, value: Any) -> float:
        """A level's place in the order, or a number as it is."""
        return float(self.levels.index(as_text(value))) if self.levels else float(value)

    def spell(self, column: Column) -> list[str] | Column:
        """Back to what the table would hold."""
        return [self.levels[int(index)] for index in column] if self.levels else column

    def test(self, column: Column, split: Json) -> Bools:
        """Rows that pass a split test; a missing number passes none, a special code only its own."""
        if split["test"] == "<=":
            return np.asarray(column <= self.position(split["value"]), dtype=np.bool_) & ~self.coded(column)
        if split["test"] == "=" and self.kind in NUMERIC:
            return np.asarray(column == float(split["value"]), dtype=np.bool_) & self.coded(column)
        if split["test"] == "=":
            wanted = self.position(split["value"]) if self.levels else as_text(split["value"])
            return np.asarray(column == wanted, dtype=np.bool_)
        raise NotImplementedError(f"split test {split['test']}")

    def edited(self, column: Column, edit: Json) -> Column:
        """The column after an edit."""
        match edit["op"]:
            case "shift":
                moved = self._shifted(
                    column, float(edit["by"]), self.bound(edit["lo"]), self.bound(edit["hi"])
                )
                return np.where(self.coded(column) | self.coded(moved), column, moved)
            case "at_least" | "at_most" as op if self.kind in NUMERIC:
                moved = (np.maximum if op == "at_least" else np.minimum)(column, float(edit["to"]))
                return np.where(self.coded(column), column, moved)
            case "set":
                forbidden = [self._value(source) for source in edit.get("not_from") or []]
                return np.where(np.isin(column, forbidden), column, self._value(edit["to"]))
            case "swap":
                return np.where(column == self._value(edit["from"]), self._value(edit["to"]), column)
            case "flip" if self.kind == "binary":
                return 1.0 - column
            case other:
                raise NotImplementedError(f"edit {other} of a {self.kind} feature")

    def bound(self, value: Any) -> float:
        """An end of a range, given as a number, a level's position or a level's name."""
        return self.position(value) if isinstance(value, str) else float(value)

    def _value(self, value: Any) -> float | str:
        return self.position(value) if self.levels else as_text(value)

    @staticmethod
    def _shifted(column: Column, by: float, low: float, high: float) -> Column:
        moved = np.clip(column + by, low, high)
        against = moved < column if by > 0 else moved > column
        return np.where(against, column, moved)

    def moved(self, column: Column, by: Column, low: float, high: float) -> Column:
        """The column of a feature that follows another by so much in each row."""
        there = np.clip(column + by, low, high)
        against = ((by > 0) & (there < column)) | ((by < 0) & (there > column)) | (by == 0)
        there = np.where(against, column, there)
        return there if self.kind == "real" else np.floor(there + 0.5)

    def cost(self, before: Column, after: Column) -> Ints:
        """Reference rows passed between two values (maximum percentile shift of one feature)."""
        if self.kind == "categorical":
            moves = zip(before, after, strict=True)
            return np.array(
                [0 if u == v else max(self.share.get(u, 0), self.share.get(v, 0)) for u, v in moves],
                dtype=np.int64,
            )
        rank_before = np.searchsorted(self.sorted, before, side="right")
        rank_after = np.searchsorted(self.sorted, after, side="right")
        passed: Ints = np.abs(rank_after - rank_before).astype(np.int64)
        passed[np.isnan(before)] = 0
        return passed


class Classifier:
    """LightGBM's own predictions of edited rows."""

    def __init__(self, path: Path, front: Json) -> None:
        """Loads the model and notes which of its classes are hoped for."""
        self.booster = lightgbm.Booster(model_file=path)
        names = [as_text(name) for name in front["population"]["classes"]]
        desired = {as_text(name) for name in front["population"]["desired"]}
        if len(names) != 2:
            raise NotImplementedError("only models with two classes are supported")
        self.hoped = np.array([name in desired for name in names])

    def approves(self, rows: pd.DataFrame) -> Bools:
        """Whether each row gets a desired label; text columns take the model's own categories in order."""
        columns = self.booster.feature_name()
        categories = iter(self.booster.pandas_categorical or [])
        frame: dict[str, Any] = {}
        for name in columns:
            try:
                frame[name] = pd.to_numeric(rows[name])
            except ValueError:
                known = next(categories)
                unknown = set(rows[name]) - set(known)
                if unknown:
                    raise ValueError(f"{name}: the model does not know {sorted(unknown)}") from None
                frame[name] = pd.Categorical(rows[name], categories=known)
        scores = np.asarray(self.booster.predict(pd.DataFrame(frame), num_threads=1))
        return np.asarray(self.hoped[(scores > 0.5).astype(int)], dtype=np.bool_)


@dataclass(frozen=True)
class Leaf:
    """A leaf of a point's tree and the affected rows that reach it."""

    node: Json
    rows: Bools
    depth: int


@dataclass(frozen=True)
class Outcome:
    """What one action does to every affected row."""

    cost: Ints
    flipped: Bools
    changed: list[Bools]
    """For each edit, the rows that it changes."""


class Population:
    """The affected rows of a table, seen through a front's features, splits and actions."""

    def __init__(
        self, front: Json, model: Path, reference: pd.DataFrame, table: pd.DataFrame | None = None
    ) -> None:
        """Takes distributions from `reference` and the people from `table` (default: the reference)."""
        config = front["config"]
        if config.get("rules") or front["cost"]["kind"] != "mps":
            raise NotImplementedError("rules and other costs than mps are not supported")
        self.links: list[Json] = config.get("links", [])
        self.ranges: dict[str, Any] = {
            name: settings["range"]
            for name, settings in config.get("features", {}).items()
            if settings.get("range")
        }
        self.front = front
        self.table = reference if table is None else table
        self.features = {spec["name"]: Feature(spec, reference[spec["name"]]) for spec in front["features"]}
        self.classifier = Classifier(model, front)
        self.affected: Bools = ~self.classifier.approves(self.table)
        people = self.table[self.affected].reset_index(drop=True)
        self.columns = {name: feature.parse(people[name]) for name, feature in self.features.items()}
        self.people = people
        self.size = len(people)
        self._outcomes: dict[int, Outcome] = {}

    def outcome(self, action: int) -> Outcome:
        """Applies an action of the front to every affected row."""
        if action not in self._outcomes:
            self._outcomes[action] = self._apply(self.front["actions"][action]["edits"])
        return self._outcomes[action]

    def _apply(self, edits: list[Json]) -> Outcome:
        cost = np.zeros(self.size, dtype=np.int64)
        edited = self.people.copy()
        changed = []
        touched: set[str] = set()
        for edit in edits:
            feature = self.features[edit["feature"]]
            before = self.columns[feature.name]
            after = feature.edited(before, edit)
            cost = np.maximum(cost, feature.cost(before, after))
            same = (before == after) | ((before != before) & (after != after))
            changed.append(~np.asarray(same, dtype=np.bool_))
            moves = {feature.name: after}
            for link in self.links:
                if link["from"] == feature.name:
                    follower = self.features[link["to"]]
                    start = self.columns[follower.name]
                    low, high = self.ranges.get(follower.name, (follower.sorted[0], follower.sorted[-1]))
                    by = np.nan_to_num(link.get("factor", 1.0) * (after - before))
                    moved = follower.moved(start, by, low, high)
                    cost = np.maximum(cost, follower.cost(start, moved))
                    moves[follower.name] = moved
            for name, column in moves.items():
                if name in touched:
                    raise ValueError(f"an action moves {name} twice")
                touched.add(name)
                edited[name] = self.features[name].spell(column)
        return Outcome(cost, self.classifier.approves(edited), changed)

    def passes(self, split: int) -> Bools:
        """Affected rows for which a split test of the front is true."""
        test = self.front["splits"][split]
        return self.features[test["feature"]].test(self.columns[test["feature"]], test)

    def leaves(self, tree: Json) -> list[Leaf]:
        """The leaves of a tree from left to right."""
        return list(self._walk(tree, np.ones(self.size, dtype=np.bool_), 0))

    def _walk(self, node: Json, rows: Bools, depth: int) -> Iterator[Leaf]:
        if "split" in node:
            passed = self.passes(node["split"])
            yield from self._walk(node["left"], rows & passed, depth + 1)
            yield from self._walk(node["right"], rows & ~passed, depth + 1)
        else:
            yield Leaf(node, rows, depth)

    def sums(self, tree: Json) -> tuple[int, int]:
        """Total cost and number of people left behind under a tree."""
        cost = loss = 0
        for leaf in self.leaves(tree):
            outcome = self.outcome(leaf.node["action"])
            cost += int(outcome.cost[leaf.rows].sum())
            loss += int((~outcome.flipped[leaf.rows]).sum())
        return cost, loss


def differences(population: Population, points: list[Json], trees: list[Json]) -> list[str]:
    """Points whose sums are not what their trees give, each with what was found; empty when all agree."""
    found = []
    for index, (point, tree) in enumerate(zip(points, trees, strict=True)):
        claimed = point["cost_sum"], point["loss_count"]
        actual = population.sums(tree)
        if claimed != actual:
            found.append(f"point {index}: file says {claimed}, recomputed {actual}")
    return found

"""The exact solver by itself: for researchers, and for comparing solvers."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._errors import ArgumentError, DataError, path_of
from ._settings import _threads

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class MatrixLeaf:
    """A leaf: all its rows get one action, a row of the matrices, or ``None`` for "no change"."""

    action: int | None


@dataclass(frozen=True)
class MatrixSplit:
    """An inner node: rows with ``splits[row, split]`` go left, the others right."""

    split: int
    left: MatrixTree
    right: MatrixTree


MatrixTree = MatrixLeaf | MatrixSplit


@dataclass(frozen=True)
class MatrixPoint:
    """A point of the front: total cost (in units of the grid), rows not flipped, and a tree."""

    cost_sum: int
    loss_count: int
    tree: MatrixTree


@dataclass(frozen=True)
class MatrixFront:
    """What `solve_matrix` found.

    `points` is sorted by ascending cost and descending loss. `status` is ``complete`` only if the search
    covered every tree within the limits, otherwise ``time_limit`` or ``cancelled``. Every point is attained
    by its tree in any case. No tree lies below the pairs (cost, loss) of `bound`. A cost of 1 is `1 / grid`
    units.
    """

    points: list[MatrixPoint]
    status: str
    bound: list[tuple[int, int]]
    grid: float | None = None

    def __len__(self) -> int:
        """Number of points."""
        return len(self.points)

    def __iter__(self) -> Iterator[MatrixPoint]:
        """The points, cheapest first."""
        return iter(self.points)


def solve_matrix(
    splits: Any,
    cost: Any,
    flips: Any,
    *,
    actions: Any = None,
    combine: str = "max",
    max_depth: int = 3,
    max_leaves: int | None = None,
    min_leaf: int = 1,
    weights: Any = None,
    grid: float | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> MatrixFront:
    """Finds the exact Pareto front of trees for given splits, costs and flips.

    Args:
        splits: Which of the n rows pass each of F tests; booleans, n by F.
        cost: What each of A actions costs each row; non-negative whole numbers, A by n. Floats need `grid`.
            With `actions`, what each of E edits costs each row, E by n.
        flips: Whether an action works for a row; booleans, A by n.
        actions: The edits of each action, A by k, ascending, padded with -1. Shorter actions come first,
            those of one length in lexicographic order, and every prefix of an action is an action too. An
            action without edits may come first.
        combine: How the costs of an action's edits combine: ``"max"`` or ``"sum"``.
        max_depth: Largest depth of a tree.
        max_leaves: Largest number of leaves (default: 2^depth).
        min_leaf: Smallest number of rows in a leaf; with weights, the smallest weight.
        weights: How often each row counts, in costs, losses and leaves; n positive whole numbers (default:
            once each). A row of weight 3 is three equal rows.
        grid: Floating-point costs must be multiples of this, so that sums stay exact.
        time_limit: Seconds after which the search stops with what it has.
        n_jobs: Threads (default: all cores); the result does not depend on it.
        progress: Whether to show a bar (default: on a terminal and in notebooks).

    Returns:
        The front. The action that changes nothing, costs nothing and flips nobody is always available without
        being listed; trees call it ``None``.

    >>> front = solve_matrix([[True], [True], [False]], [[1, 1, 4]], [[True, True, True]], max_depth=1)
    >>> [(point.cost_sum, point.loss_count) for point in front]
    [(0, 3), (2, 1), (6, 0)]
    >>> front.points[1].tree
    MatrixSplit(split=0, left=MatrixLeaf(action=0), right=MatrixLeaf(action=None))
    """
    from ._progress import Progress

    passes, flipped = _booleans(splits, "splits"), _booleans(flips, "flips")
    units = _units(cost, grid)
    rows = passes.shape[0]
    for name, matrix in (("cost", units), ("flips", flipped)):
        if matrix.shape[1] != rows:
            raise ArgumentError(
                f"`{name}` has {matrix.shape[1]} columns, but `splits` has {rows} rows",
                "`splits` is rows by tests; `cost` and `flips` are actions by rows",
            )
    if combine not in ("max", "sum"):
        raise ArgumentError(f"combine is {combine!r}", 'give "max" or "sum"')
    lists, first = _actions(actions, units, flipped)
    if lists is None and units.shape != flipped.shape:
        raise ArgumentError(f"`cost` has {units.shape[0]} actions, but `flips` has {flipped.shape[0]}")
    depth = _whole(max_depth, "max_depth", 0, 10)
    most = 2**depth if max_leaves is None else _whole(max_leaves, "max_leaves", 1, 2**31)
    if time_limit is not None and not (np.isfinite(time_limit) and time_limit >= 0):
        raise ArgumentError(f"time_limit is {time_limit!r}", "give a number of seconds from 0 on")
    with Progress(progress) as bar:
        status, costs, losses, trees, bound, interrupt = _native.solve_matrix(
            passes,
            units,
            flipped[first:],
            lists,
            str(combine) == "sum",
            max_depth=depth,
            max_leaves=min(most, 2**depth),
            min_leaf=_whole(min_leaf, "min_leaf", 1, 2**31),
            time_limit=time_limit,
            threads=_threads(n_jobs) or 0,
            weights=None if weights is None else _weights(weights, rows),
            progress=bar,
        )
    if interrupt is not None:
        raise interrupt
    points = [
        MatrixPoint(int(total), int(loss), _tree(tree, first))
        for total, loss, tree in zip(costs, losses, trees, strict=True)
    ]
    return MatrixFront(points, status, bound, grid)


def read_problem(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a file of ``sogar problem export`` as arguments for `solve_matrix`.

    Costs are in units; the file's ``unit`` is the number of units in a cost of 1.

    ```python
    front = sogar.solve_matrix(**sogar.read_problem("problem.npz"))
    ```
    """
    names = (
        "splits",
        "cost",
        "flips",
        "actions",
        "combine",
        "max_depth",
        "max_leaves",
        "min_leaf",
        "weights",
    )
    try:
        with np.load(path_of(path), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in names if name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile) as cause:
        raise DataError(f"{path}: {cause}", "give a file that `sogar problem export` wrote") from None
    missing = [name for name in names[:-1] if name not in arrays]
    if missing:
        raise DataError(
            f"{path}: has no array `{missing[0]}`", "give a file that `sogar problem export` wrote"
        )
    return {name: array.item() if array.ndim == 0 else array for name, array in arrays.items()}


def _actions(actions: Any, cost: Array, flips: Array) -> tuple[Array | None, int]:
    """The lists of edits without a leading empty one, and the number of those removed (0 or 1)."""
    if actions is None:
        return None, 0
    lists = _matrix(actions, "actions")
    if lists.dtype.kind not in "iu":
        raise ArgumentError(f"`actions` has values of type {lists.dtype}, which are not whole numbers")
    if len(lists) != len(flips):
        raise ArgumentError(f"`actions` has {len(lists)} rows, but `flips` has {len(flips)}")
    if lists.size and (lists.min() < -1 or lists.max() >= len(cost)):
        raise ArgumentError(f"`actions` has numbers other than -1 and the indices of the {len(cost)} edits")
    first = int(len(lists) > 0 and bool((lists[0] == -1).all()))
    if first and flips[0].any():
        raise ArgumentError("the first action has no edits, so it must not flip any row")
    return np.ascontiguousarray(lists[first:].astype(np.int64)), first


def _tree(node: Any, first: int) -> MatrixTree:
    if isinstance(node, int):
        return MatrixLeaf(None if node < 0 else node + first)
    return MatrixSplit(node[0], _tree(node[1], first), _tree(node[2], first))


def _matrix(values: Any, name: str) -> Array:
    try:
        matrix = np.asarray(values)
    except ValueError:
        raise ArgumentError(f"the rows of `{name}` differ in length") from None
    if matrix.ndim != 2:
        raise ArgumentError(f"`{name}` has {matrix.ndim} dimensions instead of 2")
    return matrix


def _booleans(values: Any, name: str) -> Array:
    matrix = _matrix(values, name)
    if matrix.dtype != np.bool_:
        if matrix.dtype.kind not in "iuf" or not np.isin(matrix, (0, 1)).all():
            raise ArgumentError(f"`{name}` has values other than true and false")
        matrix = matrix.astype(np.bool_)
    return np.ascontiguousarray(matrix)


def _units(cost: Any, grid: float | None) -> Array:
    matrix = _matrix(cost, "cost")
    if matrix.dtype.kind not in "iufb":
        raise ArgumentError(f"`cost` has values of type {matrix.dtype}, which are not numbers")
    if matrix.dtype.kind == "f" and not np.isfinite(matrix).all():
        raise ArgumentError("`cost` has values that are infinite or not a number")
    if grid is not None:
        if not (np.isfinite(grid) and grid > 0):
            raise ArgumentError(f"grid is {grid!r}", "give a positive number such as 0.01")
        units = np.rint(matrix / grid)
        off = np.abs(units * grid - matrix) > 1e-9 * np.maximum(np.abs(matrix), grid)
        if off.any():
            action, row = (int(i) for i in np.argwhere(off)[0])
            raise ArgumentError(
                f"cost[{action}, {row}] is {matrix[action, row]}, which is not a multiple of the grid {grid}",
                "round the costs, or choose a finer grid",
            )
    else:
        units = matrix
        if matrix.dtype.kind == "f" and not (matrix == np.rint(matrix)).all():
            raise ArgumentError(
                "`cost` has fractions", "set their grid, such as `grid=0.01`, or give whole numbers"
            )
    if units.size and (units.min() < 0 or units.max() > 2**32 - 1):
        raise ArgumentError(
            "`cost` has values below 0 or beyond 2^32 - 1 units", "scale the costs, or choose a coarser grid"
        )
    return np.ascontiguousarray(units.astype(np.uint32))


def _weights(weights: Any, rows: int) -> list[int]:
    given = np.asarray(weights)
    if given.shape != (rows,):
        raise ArgumentError(f"`weights` has the shape {given.shape}, but `splits` has {rows} rows")
    if given.dtype.kind not in "iuf" or not (given == np.rint(given)).all() or not (given >= 1).all():
        raise ArgumentError("`weights` has values that are not positive whole numbers")
    if given.sum(dtype=float) > 2**32 - 3:
        raise ArgumentError("`weights` add up to more than 2^32 - 3", "divide them all by the same number")
    return [int(weight) for weight in given]


def _whole(value: Any, name: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ArgumentError(f"{name} is {value!r}", f"give a whole number from {low} to {high}")
    return int(value)

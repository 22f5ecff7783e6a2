"""What workers of Dask do in a fit or an evaluation: functions of bytes, each of which may run anywhere.

A task depends on its arguments alone, so that it can be repeated on another worker. What is dear to make, the
prepared problem and the search with what it has learned, is kept in the process between tasks; a worker that
lacks it makes it anew from the same arguments.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _native
from ._errors import ModelError

#: Problems and searches that a process keeps, the newest last.
_KEPT: OrderedDict[str, Any] = OrderedDict()
#: How many of them.
MOST_KEPT = 4
_LOCK = threading.RLock()


@dataclass(frozen=True)
class Recipe:
    """How a worker makes the problem that the client has."""

    token: str
    table: tuple[Any, ...]
    model: tuple[Any, ...]
    config: str
    folder: str
    cost: Callable[..., float] | None
    identity: str


@dataclass
class Search:
    """A search that has learned leaves from others."""

    native: _native.WorkerSearch
    learned: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)


def _keeping(key: str, make: Callable[[], Any]) -> Any:
    """What is kept under a key; made once, whoever asks first."""
    with _LOCK:
        if key not in _KEPT:
            _KEPT[key] = make()
        _KEPT.move_to_end(key)
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
        return _KEPT[key]


def said(what: bytes) -> Any:
    """What the client has said."""
    import cloudpickle

    return cloudpickle.loads(what)


def stop(token: str) -> None:
    """Ends the tasks of a fit that run in this process. Runs beside them, so it waits for nobody."""
    search = _KEPT.get(f"search {token}")
    if search is not None:
        search.native.cancel()


def forget(token: str) -> None:
    """Frees what a fit has left in this process. Runs beside tasks, so it waits for nobody."""
    for key in [key for key in list(_KEPT) if token in key]:
        _KEPT.pop(key, None)


def model_of(recipe: tuple[Any, ...], table: _native.Table, config: str) -> _native.Model:
    """The engine's model: read from bytes or from parts, or asked."""
    kind, *parts = recipe
    if kind == "bytes":
        return _native.Model.from_bytes(*parts)
    if kind == "trees":
        return _native.Model.from_trees(*parts)
    if kind == "layers":
        return _native.Model.from_layers(*parts)
    model: _native.Model = parts[0]._callback(table, config)
    return model


def problem_of(recipe: Recipe, proven: bool = True) -> _native.Problem:
    """The problem that the client has; `proven` to be the same as far as outcomes go."""

    def make() -> _native.Problem:
        table = _native.Table.from_state(*recipe.table)
        model = model_of(recipe.model, table, recipe.config)
        problem = _native.Problem(table, model, recipe.config, recipe.folder, recipe.cost)
        if proven and _native.outcomes_identity(problem) != recipe.identity:
            raise ModelError(
                "a worker does not see what the client sees: table, model or predictions differ",
                "give all workers the same version of sogar and of the model's library",
            )
        return problem

    problem: _native.Problem = _keeping(f"problem {recipe.token} {hash(recipe.config)}", make)
    return problem


def outcomes(recipe: Recipe, start: int, stop: int) -> bytes:
    """Whom each action flips among some affected people; the last 8 bytes are a count for the record."""
    found, settled = _native.outcomes_block(problem_of(recipe), start, stop)
    return found + settled.to_bytes(8, "little")


def _threads() -> int:
    """Threads of this worker: that many tasks run here at a time."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except (ValueError, AttributeError):
        return 1


def search_of(token: str, skeleton: bytes, blocks: Sequence[bytes], memory: int) -> Search:
    """The search on a problem whose outcomes come in blocks."""

    def make() -> Search:
        flips = [block[:-8] for block in blocks]
        return Search(_native.WorkerSearch(skeleton, flips, _threads(), memory))

    search: Search = _keeping(f"search {token}", make)
    return search


def root(token: str, skeleton: bytes, blocks: Sequence[bytes], memory: int) -> tuple[bytes, int]:
    """The front of everybody as one leaf, and how many cuts of everybody there are."""
    return search_of(token, skeleton, blocks, memory).native.root()


def leaves(
    token: str,
    skeleton: bytes,
    blocks: Sequence[bytes],
    memory: int,
    cuts: tuple[int, int],
    share: tuple[int, int],
) -> bytes:
    """The fronts of leaves below some cuts."""
    return search_of(token, skeleton, blocks, memory).native.leaves(*cuts, *share)


def cuts(
    token: str,
    skeleton: bytes,
    blocks: Sequence[bytes],
    memory: int,
    chosen: tuple[int, int],
    names: Sequence[str],
    known: Sequence[bytes],
) -> list[bytes]:
    """Solves some cuts, with leaves (by name) that were evaluated before."""
    search = search_of(token, skeleton, blocks, memory)
    with search.lock:
        for name, found in zip(names, known, strict=True):
            if name not in search.learned:
                search.native.learn(found)
                search.learned.add(name)
    return search.native.cuts(*chosen)


def flips(skeleton: bytes, blocks: Sequence[bytes], ids: list[int]) -> tuple[bytes, int]:
    """Whom some actions flip, and how many outcomes the model itself had to settle."""
    found = _native.flips_of(skeleton, [block[:-8] for block in blocks], ids)
    return found, sum(int.from_bytes(block[-8:], "little") for block in blocks)


def cheapest(skeleton: bytes, block: bytes, start: int, stop: int) -> bytes:
    """What the cheapest action that works costs some people, whose outcomes are given."""
    return _native.cheapest_block(skeleton, block[:-8], start, stop)


def everybody(recipe: Recipe, start: int, stop: int, ids: list[int]) -> tuple[bytes, int]:
    """Whom a few actions flip among some affected people, sampled or not; and a count for the record."""
    return _native.everybody_block(problem_of(recipe), start, stop, ids)


def columns_of(part: Any, names: Sequence[Any]) -> Any:
    """Some columns of a part of a table."""
    return part[list(names)]


def native_table(part: Any, config: str) -> _native.Table | None:
    """The engine's table of a part of one; `None` without rows."""
    return user_table(part, config) if len(part) else None


def user_table(data: Any, config: str) -> _native.Table:
    """The engine's table of a user's."""
    from ._tables import UserTable

    return UserTable(data).native(config, json.loads(config)["data"].get("ignore", ()))


def looked_at(
    recipe: Recipe, task: Callable[..., Any], front: bytes, part: Any, config: str, argument: Any
) -> Any:
    """What a task finds in a part of a table."""
    problem = problem_of(recipe, proven=False)
    read = _keeping(f"front {recipe.token}", lambda: _native.Front.from_bytes(front))
    return task(problem, read, native_table(part, config), argument)


#: Rows, how many of them are turned down, what these count, and what each point costs and loses there.
Sums = tuple[int, int, int, list[tuple[int, int]]]


def evaluated(
    problem: _native.Problem, front: _native.Front, table: _native.Table | None, unit: tuple[int | None]
) -> Sums:
    """What every point of a front costs and loses on a part of a table, with the unit of weights."""
    if table is None:
        return 0, 0, 0, [(0, 0)] * len(front)
    return _native.evaluate_part(problem, front, table, *unit)


def audited(
    problem: _native.Problem, front: _native.Front, table: _native.Table | None, places: bytes
) -> bytes:
    """What the people of a part of a table cost and lose along a front; `places` tells their groups."""
    return b"" if table is None else _native.audit_part(problem, front, table, places)


def out_of_reach(
    problem: _native.Problem, _front: _native.Front, table: _native.Table | None, _: tuple[()]
) -> bytes:
    """Who is out of reach in a part of a table."""
    return b"" if table is None else _native.reach_part(problem, table)


def out_of_reach_here(recipe: Recipe, start: int, stop: int) -> bytes:
    """Who is out of reach among some affected people of the fitted table."""
    return _native.reach_block(problem_of(recipe, proven=False), start, stop)

"""Tasks of Dask workers in a fit or an evaluation: functions of bytes that may run anywhere.

A task depends only on its arguments, so another worker can repeat it. The process caches what is expensive to
build between tasks: the prepared problem, and the search with what it has learned. A worker without them
builds them from the same arguments.
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

#: Problems and searches that a process caches, the newest last.
_KEPT: OrderedDict[str, Any] = OrderedDict()
#: Size of this cache.
MOST_KEPT = 4
_LOCK = threading.RLock()


@dataclass(frozen=True)
class Recipe:
    """How a worker builds the client's problem."""

    token: str
    #: The whole table; `None` where `task` is enough.
    table: tuple[Any, ...] | None
    model: tuple[Any, ...]
    config: str
    folder: str
    cost: Callable[..., float] | None
    identity: str
    #: The affected people and what can be done to them, for a model that every process can read.
    task: bytes | None = None


@dataclass
class Search:
    """A search that has learned leaves from other workers."""

    native: _native.WorkerSearch
    learned: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)


def _keeping(key: str, make: Callable[[], Any]) -> Any:
    """The cached value of a key; the first caller makes it."""
    with _LOCK:
        if key not in _KEPT:
            _KEPT[key] = make()
        _KEPT.move_to_end(key)
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
        return _KEPT[key]


def said(what: bytes) -> Any:
    """Returns what the client sent."""
    import cloudpickle

    return cloudpickle.loads(what)


def stop(token: str) -> None:
    """Ends the tasks of a fit in this process. Runs beside them, so it never waits."""
    search = _KEPT.get(f"search {token}")
    if search is not None:
        search.native.cancel()


def forget(token: str) -> None:
    """Frees what a fit left in this process. Runs beside tasks, so it never waits."""
    for key in [key for key in list(_KEPT) if token in key]:
        _KEPT.pop(key, None)


def model_of(recipe: tuple[Any, ...], table: _native.Table | None, config: str) -> _native.Model:
    """The engine's model: read from bytes or from parts, or called, which needs the table."""
    kind, *parts = recipe
    if kind == "several":
        first, *others = (model_of(one, table, config) for one in parts)
        return first.with_also(others)
    if kind == "bytes":
        return _native.Model.from_bytes(*parts)
    if kind == "trees":
        return _native.Model.from_trees(*parts)
    if kind == "layers":
        return _native.Model.from_layers(*parts)
    model: _native.Model = parts[0]._callback(table, config)
    return model


def problem_of(recipe: Recipe, proven: bool = True) -> _native.Problem:
    """The client's problem; `proven` checks that its outcomes would be the same."""

    def make() -> _native.Problem:
        table = _native.Table.from_state(*(recipe.table or ()))
        model = model_of(recipe.model, table, recipe.config)
        problem = _native.Problem(
            table, model, {"config": recipe.config, "folder": recipe.folder, "cost": recipe.cost}
        )
        if proven and _native.outcomes_identity(problem) != recipe.identity:
            raise ModelError(
                "a worker does not see what the client sees: table, model or predictions differ",
                "give all workers the same version of sogar and of the model's library",
            )
        return problem

    problem: _native.Problem = _keeping(f"problem {recipe.token} {hash(recipe.config)}", make)
    return problem


def task_of(recipe: Recipe, task: bytes) -> _native.OutcomeTask:
    """The client's problem as far as outcomes go, with this process's own model."""

    def make() -> _native.OutcomeTask:
        return _native.OutcomeTask(task, model_of(recipe.model, None, recipe.config))

    made: _native.OutcomeTask = _keeping(f"task {recipe.token}", make)
    return made


def outcomes(recipe: Recipe, start: int, stop: int) -> bytes:
    """Whom each action flips among some affected people; the last 8 bytes count settled outcomes."""
    if recipe.task is not None:
        found, settled = task_of(recipe, recipe.task).of_block(start, stop)
    else:
        found, settled = _native.outcomes_block(problem_of(recipe), start, stop)
    return found + settled.to_bytes(8, "little")


def _threads() -> int:
    """Threads of this worker: the number of tasks that it runs at once."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except (ValueError, AttributeError):
        return 1


def search_of(token: str, skeleton: bytes, blocks: Sequence[bytes], memory: int) -> Search:
    """The search on a problem, with its outcomes in blocks."""

    def make() -> Search:
        flips = [block[:-8] for block in blocks]
        return Search(_native.WorkerSearch(skeleton, flips, _threads(), memory))

    search: Search = _keeping(f"search {token}", make)
    return search


def root(token: str, skeleton: bytes, blocks: Sequence[bytes], memory: int) -> tuple[bytes, int]:
    """The front of the root as one leaf, and the number of cuts of the root."""
    return search_of(token, skeleton, blocks, memory).native.root()


def leaves(
    token: str,
    skeleton: bytes,
    blocks: Sequence[bytes],
    memory: int,
    cuts: tuple[int, int],
    share: tuple[int, int],
) -> bytes:
    """The fronts of the leaves below some cuts."""
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
    """Solves some cuts, given leaves (by name) that were evaluated before."""
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
    """The cost of the cheapest action that works, for each of some people, from their outcomes."""
    return _native.cheapest_block(skeleton, block[:-8], start, stop)


def everybody(recipe: Recipe, start: int, stop: int, ids: list[int]) -> tuple[bytes, int]:
    """Whom a few actions flip among some affected people, sampled or not; and a count of settled outcomes."""
    if recipe.task is not None:
        return task_of(recipe, recipe.task).on_everybody(start, stop, ids)
    return _native.everybody_block(problem_of(recipe), start, stop, ids)


def columns_of(part: Any, names: Sequence[Any]) -> Any:
    """Selects columns of a part of a table."""
    return part[list(names)]


def columns_at(part: Any, positions: Sequence[int]) -> Any:
    """The columns of a part of a table at some positions."""
    return part.iloc[:, list(positions)]


def native_table(part: Any, config: str) -> _native.Table | None:
    """The engine's table for a part of a table; `None` if it has no rows."""
    return user_table(part, config) if len(part) else None


def user_table(data: Any, config: str) -> _native.Table:
    """The engine's table for a user's table."""
    from ._tables import UserTable

    return UserTable(data).native(config, json.loads(config)["data"].get("ignore", ()))


def looked_at(
    recipe: Recipe, task: Callable[..., Any], front: bytes, part: Any, config: str, argument: Any
) -> Any:
    """Runs a task on a part of a table."""
    problem = problem_of(recipe, proven=False)
    read = _keeping(f"front {recipe.token}", lambda: _native.Front.from_bytes(front))
    return task(problem, read, native_table(part, config), argument)


#: Rows, affected rows, the weight of these, and sums of each point, which add up over parts.
Sums = tuple[int, int, int, list[list[int]]]


def evaluated(
    problem: _native.Problem, front: _native.Front, table: _native.Table | None, unit: tuple[int | None]
) -> Sums:
    """The sums of every point of a front on a part of a table, in the given unit of weight."""
    if table is None:
        return 0, 0, 0, []
    return _native.evaluate_part(problem, front, table, *unit)


def audited(
    problem: _native.Problem, front: _native.Front, table: _native.Table | None, places: bytes
) -> bytes:
    """Cost and loss of the people in a part of a table along a front; `places` gives their groups."""
    return b"" if table is None else _native.audit_part(problem, front, table, places)


def out_of_reach(
    problem: _native.Problem, _front: _native.Front, table: _native.Table | None, _: tuple[()]
) -> bytes:
    """Who is out of reach in a part of a table."""
    return b"" if table is None else _native.reach_part(problem, table)


def out_of_reach_here(recipe: Recipe, start: int, stop: int) -> bytes:
    """Who is out of reach among some affected people of the fitted table."""
    return _native.reach_block(problem_of(recipe, proven=False), start, stop)

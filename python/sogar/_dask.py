"""Fits on a Dask cluster: many processes, and the same result to the byte.

A fit has three stages. First, workers compute outcomes in blocks of rows. Second, they evaluate the leaves of
all trees, each once, in shares. Third, they solve the cuts of the root, with all leaves known. If the search
ran on a sample, a last stage tries the few actions in use on all people, again in blocks. The client only
plans and merges finished cuts: the outcomes, which are large, go from worker to worker. Every task is a
function of its arguments, so Dask handles scheduling, retries and lost workers.

Task names on the dashboard: ``sogar-outcomes-…``, ``sogar-leaves-…``, ``sogar-cuts-…``,
``sogar-everybody-…``, ``sogar-bound-…``.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _dask_tasks as tasks
from . import _native
from ._errors import ArgumentError, SogarError, TooLargeError

if TYPE_CHECKING:
    from distributed import Client, Future

LOG = logging.getLogger("sogar")

#: How often Dask retries a task whose worker was lost.
RETRIES = 3
#: Tasks of a stage for each thread of the cluster, so that no thread waits long for the last one.
TASKS_EACH = 6

Bar = Callable[[str, int, int, str], None]
Solved = tuple[_native.Front, list[str], BaseException | None]


class _Stopped(Exception):  # noqa: N818 - no error
    """The time limit has passed."""


@dataclass
class _Found:
    """What a fit knows at its end."""

    status: str
    #: Whether it knows any action besides "no change".
    known: bool = False
    ids: list[int] = field(default_factory=lambda: [0])
    flips: list[bytes] = field(default_factory=list)
    settled: int = 0
    #: For the bound of a stopped fit.
    cheapest: list[bytes] | None = None
    interrupt: BaseException | None = None


def is_client(client: Any) -> bool:
    """Whether this is a client of `dask.distributed`."""
    return hasattr(client, "scatter") and hasattr(client, "submit") and hasattr(client, "nthreads")


def shared(client: Client, what: Any, name: str) -> Future:
    """Data for all workers that survives the loss of any of them.

    Scattered data is lost with the workers that hold it, and Dask makes no spare copies. The result of a task
    is computed again, so the data is wrapped in a task that returns it.
    """
    import cloudpickle
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):  # meant to be large
        future: Future = client.submit(
            tasks.said, cloudpickle.dumps(what), key=f"sogar-{name}", retries=RETRIES, pure=True, priority=20
        )
    return future


def ships(model: tuple[Any, ...]) -> bool:
    """Whether a model can go to other processes; logs a warning if it cannot."""
    if model[0] == "several":
        return all(ships(one) for one in model[1:])
    if model[0] != "black box":
        return True
    import cloudpickle

    try:
        cloudpickle.loads(cloudpickle.dumps(model))
    except Exception as reason:  # a user's object may raise anything
        LOG.warning("the model can't be sent to workers, so the client computes the outcomes")
        LOG.info("the model stays on the client: %r", reason)
        return False
    return True


def recipe_of(
    problem: _native.Problem,
    table: _native.Table | None,
    model: tuple[Any, ...],
    config: str,
    folder: str,
    cost: Callable[..., float] | None,
) -> tasks.Recipe:
    """How a worker builds this problem, or computes its outcomes without the table; one thread per task."""
    settings = json.loads(config)
    settings.setdefault("limits", {})["threads"] = 1
    return tasks.Recipe(
        token=uuid.uuid4().hex[:12],
        table=None if table is None else table.state(),
        model=model,
        config=json.dumps(settings),
        folder=folder,
        cost=cost,
        identity=_native.outcomes_identity(problem),
        task=_native.outcome_task(problem) if table is None else None,
    )


class Fit:
    """One fit on a cluster."""

    def __init__(
        self,
        problem: _native.Problem,
        recipe: tasks.Recipe,
        client: Client,
        bar: Bar,
    ) -> None:
        """Inspects the cluster; raises an error if its workers lack the memory."""
        self.problem, self.client, self.bar = problem, client, bar
        settings = json.loads(recipe.config)
        #: Time spent in each stage, in seconds.
        self.limits = [settings["limits"].get(name) for name in ("outcomes_time_limit", "time_limit")]
        settings.pop("cost", None)  # outcomes do not depend on it, and its files may exist only on the client
        self.recipe = tasks.Recipe(
            **{**vars(recipe), "config": json.dumps(settings), "cost": None, "token": uuid.uuid4().hex[:12]}
        )
        self.token = self.recipe.token
        self.slots = sum(client.nthreads().values())
        if not self.slots:
            raise ArgumentError("the client has no workers", "start some, or leave `client` out")
        self.memory = self._room()
        self.futures: list[Future] = []
        self.merger: _native.FrontMerger | None = None
        self.blocks: list[Future] = []
        self.ranges: list[tuple[int, int]] = []
        self.skeleton: Future | None = None
        #: The recipe on the workers; none if the model stays on the client.
        self.shared: Future | None = None

    def _room(self) -> int:
        """Bytes that a worker can use as a cache; raises an error if the problem does not fit."""
        sizes = self.problem.sizes
        flips = sizes["actions"] * (-(-sizes["searched"] // 64)) * 8
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        given = [worker["memory_limit"] for worker in workers if worker["memory_limit"]]
        if not given:
            return 2**62
        # The blocks as they arrive, and a copy in the order of the search.
        needed, least = int(2.5 * flips) + 200_000_000, min(given)
        if needed > least:
            raise TooLargeError(
                f"the outcomes of {sizes['actions']} actions on {sizes['searched']} people need about "
                f"{needed / 1e9:.1f} GB on every worker, but a worker has {least / 1e9:.1f} GB",
                "give workers more memory (`memory_limit`, or fewer of them on a machine), or make the "
                "problem smaller: max_edits, steps, immutable, sample",
            )
        return int(least - needed) // 2 + 100_000_000

    def submit(self, function: Callable[..., Any], *arguments: Any, name: str, **options: Any) -> Future:
        """Submits a task under a readable name."""
        key = f"sogar-{name}-{self.token}"
        future: Future = self.client.submit(
            function, *arguments, key=key, retries=RETRIES, pure=True, **options
        )
        self.futures.append(future)
        return future

    def finished(self, futures: Sequence[Future], deadline: float | None) -> Iterator[Future]:
        """Yields futures as they finish and raises their errors."""
        from distributed import as_completed

        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            for future in as_completed(futures, timeout=left):
                if future.status == "cancelled":
                    raise SogarError("the fit was cancelled by another client of the cluster")
                if future.status == "error":
                    future.result()
                yield future
        except TimeoutError:
            raise _Stopped from None

    def solve(self) -> Solved:
        """Runs all stages; returns what it has if stopped."""
        start = time.monotonic()
        outcomes_end = search_start = None
        status = "complete"
        interrupt: BaseException | None = None
        try:
            try:
                skeleton = _native.problem_skeleton(self.problem)
                self.skeleton = shared(self.client, skeleton, f"skeleton-{self.token}")
                self._outcomes(None if self.limits[0] is None else start + self.limits[0])
                outcomes_end = search_start = time.monotonic()
                self._search(skeleton, None if self.limits[1] is None else search_start + self.limits[1])
            except _Stopped:
                status = "time_limit"
            except KeyboardInterrupt as pressed:
                status, interrupt = "cancelled", pressed
            if status != "complete":
                self._cancel()
                with suppress(Exception):  # lost workers have stopped already
                    self.client.run(tasks.stop, self.token)
            search_end = time.monotonic()
            found = self._found(status)
            interrupt = interrupt or found.interrupt
            now = time.monotonic()
            front = _native.gathered(
                self.problem,
                self.merger if found.known else None,
                found.ids,
                found.flips,
                settled=found.settled,
                status=found.status,
                seconds_outcomes=(outcomes_end or now) - start,
                seconds_search=search_end - (search_start or search_end),
                cheapest=found.cheapest,
            )
            return front, [], interrupt
        finally:
            self._cancel()
            with suppress(Exception):  # a lost worker has nothing to free
                self.client.run(tasks.forget, self.token)

    def _found(self, status: str) -> _Found:
        """Collects what the result needs from the workers that hold the outcomes."""
        if self.merger is None:
            return _Found(status)
        ids = self.merger.finish()
        sampled = self.problem.sizes["searched"] < self.problem.sizes["affected"]
        if sampled and status == "cancelled":
            return _Found(status)  # after a cancel, do not wait for all people
        cheapest = None
        if status != "complete":
            bounds = [
                self.submit(tasks.cheapest, self.skeleton, block, *rows, name=f"bound-{number}", priority=10)
                for number, (rows, block) in enumerate(zip(self.ranges, self.blocks, strict=True))
            ]
            cheapest = [bound.result() for bound in bounds]
        if sampled:
            return self._everybody(status, ids, cheapest)
        flips, settled = self.submit(
            tasks.flips, self.skeleton, self.blocks, ids, name="flips", priority=10
        ).result()
        return _Found(status, True, ids, [flips], settled, cheapest)

    def _everybody(self, status: str, ids: list[int], cheapest: list[bytes] | None) -> _Found:
        """After a search on a sample: what the actions in use do for all affected people."""
        ranges = self._ranges(self.problem.sizes["affected"])
        limit = self.limits[0]
        deadline = None if limit is None else time.monotonic() + limit
        label = "outcomes for everybody"
        blocks: list[tuple[bytes, int]] = []
        try:
            if self.shared is None:
                for done, rows in enumerate(ranges):
                    if deadline is not None and time.monotonic() > deadline:
                        raise _Stopped
                    self.bar(f"{label}, by the client", done, len(ranges), "")
                    blocks.append(_native.everybody_block(self.problem, *rows, ids))
            else:
                futures = [
                    self.submit(tasks.everybody, self.shared, *rows, ids, name=f"everybody-{number}")
                    for number, rows in enumerate(ranges)
                ]
                for done, _ in enumerate(self.finished(futures, deadline), 1):
                    self.bar(label, done, len(ranges), "")
                blocks = [future.result() for future in futures]
        except _Stopped:
            return _Found("time_limit")
        except KeyboardInterrupt as pressed:
            return _Found("cancelled", interrupt=pressed)
        settled = sum(count for _, count in blocks)
        return _Found(status, True, ids, [flips for flips, _ in blocks], settled, cheapest)

    def _cancel(self) -> None:
        """Cancels unfinished tasks."""
        open_tasks = [future for future in self.futures if not future.done()]
        if open_tasks:
            self.client.cancel(open_tasks, force=True)

    def _ranges(self, rows: int) -> list[tuple[int, int]]:
        """Blocks of rows, one per task."""
        each = -(-rows // (TASKS_EACH * self.slots))
        step = -(-each // 64) * 64
        return [(start, min(start + step, rows)) for start in range(0, rows, step)]

    def _outcomes(self, deadline: float | None) -> None:
        """Computes outcomes in blocks of rows, which stay on their workers."""
        ranges = self.ranges = self._ranges(self.problem.sizes["searched"])
        if ships(self.recipe.model):
            self.shared = shared(self.client, self.recipe, f"recipe-{self.token}")
            self.blocks = [
                self.submit(tasks.outcomes, self.shared, *block, name=f"outcomes-{number}")
                for number, block in enumerate(ranges)
            ]
            for done, _ in enumerate(self.finished(self.blocks, deadline), 1):
                self.bar("outcomes of all actions", done, len(ranges), "")
            return
        found = []
        for done, (start, stop) in enumerate(ranges):
            if deadline is not None and time.monotonic() > deadline:
                raise _Stopped
            self.bar("outcomes of all actions, by the client", done, len(ranges), "")
            block, settled = _native.outcomes_block(self.problem, start, stop)
            found.append(block + settled.to_bytes(8, "little"))
        self.blocks = [
            shared(self.client, block, f"outcomes-{number}-{self.token}")
            for number, block in enumerate(found)
        ]

    def _search(self, skeleton: bytes, deadline: float | None) -> None:
        """Evaluates the leaves, each once, then solves the cuts, which share them."""
        common = (self.token, self.skeleton, self.blocks, self.memory)
        first = self.submit(tasks.root, *common, name="root")
        whole, count = first.result()
        self.merger = _native.FrontMerger(skeleton, whole)
        leaf_tasks = []
        for start, stop, part, of in leaf_shares(count, TASKS_EACH * self.slots):
            name = f"leaves-{start}-{part}"
            future = self.submit(tasks.leaves, *common, (start, stop), (part, of), name=name, priority=5)
            leaf_tasks.append((start, name, future))
        step = max(1, -(-count // (TASKS_EACH * self.slots)))
        cut_tasks: dict[Future, int] = {}
        for start in range(0, count, step):
            stop = min(start + step, count)
            # A leaf belongs to the first of its splits.
            needed = [(name, future) for first_cut, name, future in leaf_tasks if first_cut < stop]
            names, known = [name for name, _ in needed], [future for _, future in needed]
            future = self.submit(tasks.cuts, *common, (start, stop), names, known, name=f"cuts-{start}")
            cut_tasks[future] = stop - start
        leaves_done = cuts_done = points = 0
        for future in self.finished([*(future for _, _, future in leaf_tasks), *cut_tasks], deadline):
            if future in cut_tasks:
                for cut in future.result():
                    points = self.merger.add(cut)
                cuts_done += cut_tasks[future]
            else:
                leaves_done += 1
            remark = f"{points} points so far" if points else ""
            if leaves_done < len(leaf_tasks):
                self.bar("search: leaves", leaves_done, len(leaf_tasks), remark)
            else:
                self.bar("search: cuts", cuts_done, count, remark)


def leaf_shares(count: int, wanted: int) -> list[tuple[int, int, int, int]]:
    """Divides the leaves below `count` cuts into about equal shares: first cut, last, part, parts.

    Early cuts have more leaves below them than late ones, because a leaf belongs to its first split.

    >>> leaf_shares(4, 3)
    [(0, 1, 0, 2), (0, 1, 1, 2), (1, 3, 0, 1), (3, 4, 0, 1)]
    """
    work = [(count - cut) ** 2 for cut in range(count)]
    each = max(1.0, sum(work) / max(1, wanted))
    shares: list[tuple[int, int, int, int]] = []
    start, gathered_work = 0, 0
    for cut, own in enumerate(work):
        if own > each and start == cut:
            parts = -(-own // int(each))
            shares += [(cut, cut + 1, part, parts) for part in range(parts)]
            start = cut + 1
            continue
        gathered_work += own
        if gathered_work >= each or cut == count - 1:
            shares.append((start, cut + 1, 0, 1))
            start, gathered_work = cut + 1, 0
    return shares

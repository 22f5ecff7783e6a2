"""Evaluates and audits a front on a Dask table, partition by partition.

No process holds the whole table. Every process returns sums of whole numbers, which add up to those of the
whole table. Two things depend on a whole column: the groups that it forms, and the decimals of weights. Only
that column is gathered; the rows are processed where their partition is.

With a client, its workers do this (on the dashboard: ``sogar-evaluate-…``, ``sogar-audit-…``,
``sogar-reach-…``). Otherwise this process does, with one partition in memory at a time.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, cast

from . import _dask_tasks as tasks
from . import _native
from ._dask import RETRIES, TASKS_EACH, shared
from ._errors import DataError, PopulationError
from ._tables import UserTable

if TYPE_CHECKING:
    from typing import Self

    from distributed import Client, Future

    from ._dask import Bar


class Workers:
    """Workers of a client that hold the problem and the front until the end of a `with` block."""

    def __init__(self, client: Client, recipe: tasks.Recipe, front: _native.Front) -> None:
        """Sends them both."""
        self.client, self.token = client, recipe.token
        token = uuid.uuid4().hex[:12]
        self.recipe = shared(client, recipe, f"recipe-{token}")
        self.front = shared(client, front.to_bytes(), f"front-{token}")
        self.slots = max(1, sum(client.nthreads().values()))

    def __enter__(self) -> Self:
        """Returns the workers, ready for tasks."""
        return self

    def __exit__(self, *_: object) -> None:
        """Frees their memory."""
        with suppress(Exception):  # a lost worker has nothing to free
            self.client.run(tasks.forget, self.token)

    def submit(self, name: str, number: int, function: Callable[..., Any], *arguments: Any) -> Future:
        """Submits a task under a readable name."""
        key = f"sogar-{name}-{number}-{uuid.uuid4().hex[:12]}"
        return self.client.submit(function, self.recipe, *arguments, key=key, retries=RETRIES)

    def answers(self, futures: Sequence[Future | None], name: str, bar: Bar) -> Iterator[Any]:
        """The results of tasks, in order; `None` where there is no task."""
        waiting = list(futures)
        try:
            for done in range(len(waiting)):
                future = waiting[done]
                yield None if future is None else future.result()
                waiting[done] = None
                bar(name, done + 1, len(waiting), "")
        finally:
            self.client.cancel([future for future in waiting if future is not None], force=True)


class RemoteTable:
    """A table of Dask for a fit. Its partitions stay with the workers; the engine looks at one at a time."""

    def __init__(self, data: Any, client: Client) -> None:
        """Has the partitions computed, and kept by the workers until `release`."""
        self.data, self.client = data, client
        #: The table without rows: names, and orders of categories.
        self.header = UserTable(data._meta)
        self.config = ""
        # Once: every look fetches all partitions, and Dask may cut a table anew wherever it can optimise.
        self.parts: list[Future] = client.compute(data.to_delayed(), retries=RETRIES)

    def fetch(self, number: int, names: list[str] | None) -> _native.Table | None:
        """Some columns of a partition as the engine's table, all by default; `None` without rows."""
        part = self.parts[number]
        if names is not None:
            at = [self.header.names.index(name) for name in names]
            key = f"sogar-columns-{number}-{uuid.uuid4().hex[:12]}"
            part = self.client.submit(tasks.columns_at, part, at, key=key, retries=RETRIES)
        try:
            return tasks.native_table(part.result(), self.config)
        except DataError as error:
            # Its row is that of the partition.
            raise DataError(f"partition {number}: {error.message}", error.help) from None

    def gathered(self) -> _native.Table:
        """The whole table, for those who need everybody."""
        return tasks.user_table(self.data.compute(), self.config)

    def release(self) -> None:
        """The workers may forget the partitions."""
        self.parts = []


class Partitions:
    """A Dask table, and what processes its partitions: workers, or this process."""

    def __init__(
        self, data: Any, problem: _native.Problem, front: _native.Front, bar: Bar, workers: Workers | None
    ) -> None:
        """Stores its arguments; computes nothing yet."""
        self.problem, self.front, self.bar, self.workers = problem, front, bar, workers
        self.config: str = json.dumps(json.loads(front.about())["config"])
        self.columns = list(data.columns)
        # Only once: Dask may partition a table differently each time it optimises.
        self.parts: list[Any] = data.to_delayed()

    def gathered(self, names: Sequence[str]) -> tuple[_native.Table, list[int]]:
        """Those of the named columns that the table has, whole, and the number of rows of each partition."""
        from dask import delayed
        from dask.dataframe.dispatch import concat

        token, known = uuid.uuid4().hex[:12], [name for name in self.columns if str(name) in names]
        chosen = [
            delayed(tasks.columns_of)(part, known, dask_key_name=f"sogar-columns-{number}-{token}")
            for number, part in enumerate(self.parts)
        ]
        if self.workers is not None:
            found = self.workers.client.compute(chosen, sync=True)
        else:
            found = [columns.compute() for columns in chosen]
        return tasks.user_table(concat(found), self.config), [len(columns) for columns in found]

    def each(self, name: str, task: Callable[..., Any], arguments: Sequence[Any]) -> Iterator[Any]:
        """Runs a task on each partition; returns results in order, `None` where the argument is `None`.

        The task gets the problem, the front, the engine's table of the partition (`None` if it has no rows),
        and its argument.
        """
        if self.workers is not None:
            yield from self.workers.answers(self._submitted(name, task, arguments), name, self.bar)
            return
        for done, (part, argument) in enumerate(zip(self.parts, arguments, strict=True), 1):
            found = None
            if argument is not None:
                table = tasks.native_table(part.compute(), self.config)
                found = task(self.problem, self.front, table, argument)
            yield found
            self.bar(name, done, len(self.parts), "")

    def _submitted(
        self, name: str, task: Callable[..., Any], arguments: Sequence[Any]
    ) -> list[Future | None]:
        """Submits the tasks of all partitions. Only a task holds its partition, which is freed afterwards."""
        workers = cast("Workers", self.workers)
        wanted = [argument is not None for argument in arguments]
        chosen = [part for part, want in zip(self.parts, wanted, strict=True) if want]
        parts = iter(workers.client.compute(chosen))
        return [
            None
            if argument is None
            else workers.submit(
                name, number, tasks.looked_at, task, workers.front, next(parts), self.config, argument
            )
            for number, argument in enumerate(arguments)
        ]


def evaluate(partitions: Partitions) -> dict[str, Any]:
    """The evaluation of every point of the front, added up from exact sums."""
    front, column = partitions.front, json.loads(partitions.config)["data"].get("weight")
    unit = weight = None
    if column:
        table, _ = partitions.gathered([column])
        unit, total = _native.weights_of(table, column)
        weight = (column, unit, total)
    rows = affected = people = 0
    sums: list[list[int]] = [[] for _ in range(len(front))]
    of_each = [(unit,)] * len(partitions.parts)
    for found in partitions.each("evaluate", tasks.evaluated, of_each):
        rows, affected, people = rows + found[0], affected + found[1], people + found[2]
        if found[3]:
            sums = [
                [a + b for a, b in zip_longest(*pair, fillvalue=0)]
                for pair in zip(sums, found[3], strict=True)
            ]
    if not affected:
        raise PopulationError(
            "the model turns nobody down in this table",
            "the summaries need affected people; give another table",
        )
    result: dict[str, Any] = json.loads(_native.evaluation_of(front, rows, affected, people, sums, weight))
    return result


def audit(partitions: Partitions, leader: _native.AuditLeader, beside: _native.Table | None) -> None:
    """Gives the leader of an audit what it needs to know about these people."""
    table, rows = partitions.gathered(leader.columns())
    leader.see(table, beside)
    places: list[bytes | None] = []
    start = 0
    for count in rows:
        places.append(leader.places(start, start + count) if count else None)
        start += count
    for count, found in zip(rows, partitions.each("audit", tasks.audited, places), strict=True):
        leader.add(count, found or b"")
    if leader.is_searched():
        searched = [None if count == 0 else () for count in rows]
        for found in partitions.each("reach", tasks.out_of_reach, searched):
            leader.add_reach(found or b"")


def search_reference(
    workers: Workers, problem: _native.Problem, leader: _native.AuditLeader, bar: Bar
) -> None:
    """Tells the leader of an audit who in the fitted table is out of reach."""
    people = problem.sizes["affected"]
    step = -(-people // (TASKS_EACH * workers.slots))
    blocks = [(start, min(start + step, people)) for start in range(0, people, step)]
    futures = [
        workers.submit("reach-reference", number, tasks.out_of_reach_here, *block)
        for number, block in enumerate(blocks)
    ]
    for (start, stop), found in zip(blocks, workers.answers(futures, "out of reach", bar), strict=True):
        leader.add_reference(stop - start, found)

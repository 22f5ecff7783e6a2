"""A front on people whose table is one of Dask: evaluated and audited partition by partition.

Nobody has the table in one piece. Sums of whole numbers are added up, whoever found them, so the result is
that of the whole table. What depends on a whole column, the groups that it makes and the decimals of weights,
is found from that column alone, which is gathered; people are looked at where their partition is.

With a client its workers do that (on the dashboard: ``sogar-evaluate-…``, ``sogar-audit-…``,
``sogar-reach-…``); else this process does, with one partition in memory at a time.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from . import _dask_tasks as tasks
from . import _native
from ._dask import RETRIES, TASKS_EACH, shared
from ._errors import PopulationError

if TYPE_CHECKING:
    from typing import Self

    from distributed import Client, Future

    from ._dask import Bar


class Workers:
    """Workers of a client who know the problem and the front, until the end of a `with` block."""

    def __init__(self, client: Client, recipe: tasks.Recipe, front: _native.Front) -> None:
        """Tells them."""
        self.client, self.token = client, recipe.token
        token = uuid.uuid4().hex[:12]
        self.recipe = shared(client, recipe, f"recipe-{token}")
        self.front = shared(client, front.to_bytes(), f"front-{token}")
        self.slots = max(1, sum(client.nthreads().values()))

    def __enter__(self) -> Self:
        """They are ready."""
        return self

    def __exit__(self, *_: object) -> None:
        """They may forget."""
        with suppress(Exception):  # a worker that is gone has nothing left to free
            self.client.run(tasks.forget, self.token)

    def submit(self, name: str, number: int, function: Callable[..., Any], *arguments: Any) -> Future:
        """A task with a name that people can read."""
        key = f"sogar-{name}-{number}-{uuid.uuid4().hex[:12]}"
        return self.client.submit(function, self.recipe, *arguments, key=key, retries=RETRIES)

    def answers(self, futures: Sequence[Future | None], name: str, bar: Bar) -> Iterator[Any]:
        """What tasks found, in their order; `None` where there is none."""
        waiting = list(futures)
        try:
            for done in range(len(waiting)):
                future = waiting[done]
                yield None if future is None else future.result()
                waiting[done] = None
                bar(name, done + 1, len(waiting), "")
        finally:
            self.client.cancel([future for future in waiting if future is not None], force=True)


class Partitions:
    """A table of Dask, and whoever looks at its partitions: workers, or this process."""

    def __init__(
        self, data: Any, problem: _native.Problem, front: _native.Front, bar: Bar, workers: Workers | None
    ) -> None:
        """Looks at nothing yet."""
        self.problem, self.front, self.bar, self.workers = problem, front, bar, workers
        self.config: str = json.dumps(json.loads(front.about())["config"])
        self.columns = list(data.columns)
        # Once: Dask may cut a table anew wherever it has something to optimise.
        self.parts: list[Any] = data.to_delayed()

    def gathered(self, names: Sequence[str]) -> tuple[_native.Table, list[int]]:
        """Some columns of the whole table, as far as it has them, and how many rows each partition has."""
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
        """What a task finds in each partition, in their order; `None` where its argument is `None`.

        The task is called with the problem, the front, the engine's table of the partition (`None` if it has
        no rows), and its argument.
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
        """The tasks of all partitions. They alone hold on to one, which is gone when they are done."""
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
    """What every point of the front costs and loses: exact sums, which are added up."""
    front, column = partitions.front, json.loads(partitions.config)["data"].get("weight")
    unit = weight = None
    if column:
        table, _ = partitions.gathered([column])
        unit, total = _native.weights_of(table, column)
        weight = (column, unit, total)
    rows = affected = people = 0
    sums = [(0, 0)] * len(front)
    of_each = [(unit,)] * len(partitions.parts)
    for found in partitions.each("evaluate", tasks.evaluated, of_each):
        rows, affected, people = rows + found[0], affected + found[1], people + found[2]
        sums = [(cost + a, loss + b) for (cost, loss), (a, b) in zip(sums, found[3], strict=True)]
    if not affected:
        raise PopulationError(
            "the model turns nobody down in this table",
            "there is nobody to evaluate the summaries on; give another table",
        )
    result: dict[str, Any] = json.loads(_native.evaluation_of(front, rows, affected, people, sums, weight))
    return result


def audit(partitions: Partitions, leader: _native.AuditLeader, beside: _native.Table | None) -> None:
    """Tells the leader of an audit what it needs to know about these people."""
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
    """Tells the leader of an audit who of the fitted table is out of reach."""
    people = problem.sizes["affected"]
    step = -(-people // (TASKS_EACH * workers.slots))
    blocks = [(start, min(start + step, people)) for start in range(0, people, step)]
    futures = [
        workers.submit("reach-reference", number, tasks.out_of_reach_here, *block)
        for number, block in enumerate(blocks)
    ]
    for (start, stop), found in zip(blocks, workers.answers(futures, "out of reach", bar), strict=True):
        leader.add_reference(stop - start, found)

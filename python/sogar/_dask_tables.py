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
from ._errors import PopulationError

if TYPE_CHECKING:
    from distributed import Client, Future

    from ._dask import Bar


class Partitions:
    """A table of Dask, a front, and whoever looks at the partitions."""

    def __init__(self, data: Any, problem: _native.Problem, front: _native.Front, bar: Bar) -> None:
        """This process looks at them, unless workers are hired."""
        self.data, self.problem, self.front, self.bar = data, problem, front, bar
        self.config: str = json.dumps(json.loads(front.about())["config"])
        self.client: Client | None = None
        self.recipe: tasks.Recipe | None = None

    def hire(self, client: Client, recipe: tasks.Recipe) -> None:
        """Lets workers do it, if the model can go to them."""
        from ._dask import ships

        if ships(recipe.model):
            self.client, self.recipe = client, recipe

    @property
    def settings(self) -> dict[str, Any]:
        """What the configuration says of tables."""
        found: dict[str, Any] = json.loads(self.config)["data"]
        return found

    def gathered(self, names: Sequence[str]) -> tuple[_native.Table, list[int]]:
        """Some columns of the whole table, as far as it has them, and how many rows each partition has."""
        some = self.data[[name for name in self.data.columns if str(name) in names]]
        wanted = [some, some.map_partitions(len)]
        if self.client is not None:
            columns, rows = self.client.compute(wanted, sync=True)
        else:
            import dask

            columns, rows = dask.compute(*wanted)
        return tasks.user_table(columns, self.config), [int(count) for count in rows]

    def each(self, name: str, task: Callable[..., Any], arguments: Sequence[Any]) -> Iterator[Any]:
        """What a task finds in each partition, in their order; `None` where its argument is `None`.

        The task is called with the problem, the front, the engine's table of the partition (`None` if it has
        no rows), and its argument.
        """
        delayed = self.data.to_delayed()
        if self.client is None or self.recipe is None:
            for done, (part, argument) in enumerate(zip(delayed, arguments, strict=True), 1):
                found = None
                if argument is not None:
                    table = tasks.native_table(part.compute(), self.config)
                    found = task(self.problem, self.front, table, argument)
                yield found
                self.bar(name, done, len(delayed), "")
            return
        futures = self._submitted(name, task, delayed, arguments)
        try:
            for done in range(len(futures)):
                future = futures[done]
                yield None if future is None else future.result()
                futures[done] = None
                self.bar(name, done + 1, len(futures), "")
        finally:
            self.client.cancel([future for future in futures if future is not None], force=True)
            with suppress(Exception):  # a worker that is gone has nothing left to free
                self.client.run(tasks.forget, self.recipe.token)

    def _submitted(
        self, name: str, task: Callable[..., Any], delayed: Sequence[Any], arguments: Sequence[Any]
    ) -> list[Future | None]:
        """The tasks of all partitions. They alone hold on to one, which is gone when they are done."""
        from ._dask import RETRIES

        client, token = cast("Client", self.client), uuid.uuid4().hex[:12]
        recipe = client.scatter(self.recipe, broadcast=True, hash=False)
        front = client.scatter(self.front.to_bytes(), broadcast=True, hash=False)
        wanted = [argument is not None for argument in arguments]
        parts = iter(client.compute([part for part, want in zip(delayed, wanted, strict=True) if want]))
        return [
            client.submit(
                tasks.looked_at,
                task,
                recipe,
                front,
                next(parts),
                self.config,
                argument,
                key=f"sogar-{name}-{number}-{token}",
                retries=RETRIES,
            )
            if argument is not None
            else None
            for number, argument in enumerate(arguments)
        ]


def evaluate(partitions: Partitions) -> dict[str, Any]:
    """What every point of the front costs and loses: exact sums, which are added up."""
    front, column = partitions.front, partitions.settings.get("weight")
    unit = weight = None
    if column:
        table, _ = partitions.gathered([column])
        unit, total = _native.weights_of(table, column)
        weight = (column, unit, total)
    rows = affected = people = 0
    sums = [(0, 0)] * len(front)
    of_each = [(unit,)] * partitions.data.npartitions
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


def audit(
    partitions: Partitions, leader: _native.DividedAudit, beside: _native.Table | None
) -> tuple[str, str]:
    """The audit of these people, and what became of the conditions, as JSON."""
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
    return leader.finish(partitions.bar)

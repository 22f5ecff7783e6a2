"""One summary: a point of the front with its tree, to read, plot and save.

A `Summary` is plain data without table or model, so it can be pickled, compared and sent elsewhere.
"""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._native import Front

Json = dict[str, Any]


class Summary:
    """A recourse summary: a small tree that groups people, with one recommended action at each leaf.

    `Sogar.select` returns one. `print` shows the tree; a notebook shows a table of groups.

    Attributes:
        point: Its number on the front; 0 is the cheapest.
        by: The criterion that chose it, such as ``"invalidity"``; empty if it was chosen by number.
        cost: Mean cost over the affected people.
        loss: Share of the affected people for whom it does not work.
        invalidity: The sum of the two.
        cost_sum: Total cost in whole units.
        loss_count: Number of people for whom it does not work.
        leaves: Number of groups.
        depth: Number of splits on the longest path to a group.
        affected: Number of affected people.
        person: How much one person counts in `affected`, `loss_count`, ``rows`` and ``flipped``: 1, or a
            power of ten if the weights of rows have decimals.
        points: Number of points of the front.
        desired: The outcomes that people hope for.
        people: Number of people in the table.
        have: How many of them have a desired outcome.
        rules: One dictionary per group: ``if`` (a list of tests), ``who`` (the same in words), ``action``
            (``id``, ``text``, ``edits``), ``rows``, ``flipped`` and ``cost_sum``, as in
            ``sogar show --json``.
        tree: The tree as nested dictionaries: ``split``, ``question`` (the same in words), ``left``,
            ``right``, or a leaf's ``action``, ``rows``, ``flipped`` and ``cost_sum``.
        outcome: The outcome that people hope for, how many have it, and how many do not, in a sentence.
        unit: Units in a cost of 1: a leaf's mean cost is ``cost_sum / unit / rows``.
        holdout: How it does on the held-out people of the front, with 95 % intervals; `None` without any.
        guarantee: How it was chosen by a guarantee, as in ``sogar select --guarantee --json``; else `None`.
    """

    def __init__(self, front: Front, point: int, by: str = "") -> None:
        """The summary at a point of a front."""
        about, said = json.loads(front.about()), json.loads(front.summary(point))
        self.point: int = said["point"]
        self.by = by
        self.cost: float = said["cost"]
        self.loss: float = said["loss"]
        self.invalidity: float = said["invalidity"]
        self.cost_sum: int = said["cost_sum"]
        self.loss_count: int = said["loss_count"]
        self.leaves: int = said["leaves"]
        self.depth: int = said["depth"]
        self.rules: list[Json] = said["rules"]
        weight = about["weight"] or {"affected": about["population"]["affected"], "unit": 1}
        self.affected: int = weight["affected"]
        self.person: int = weight["unit"]
        self.points = len(front)
        self.desired: list[str] = said["outcome"]["desired"]
        self.people: int | float = said["outcome"]["people"]
        self.have: int | float = said["outcome"]["have"]
        self.outcome: str = said["outcome"]["text"]
        self.tree: Json = json.loads(front.tree_json(point))
        self.unit: int = about["cost"]["unit"]
        self.holdout: Json | None = said.get("holdout")
        self.guarantee: Json | None = None
        self._held_out = front.plausibility_text(point) + front.held_out_text(point)
        self._texts = {
            "tree": front.tree_text(point),
            "rules": front.rules_text(point),
            "dot": front.dot(point),
        }

    def __eq__(self, other: object) -> bool:
        """Whether both are the same point of the same front, by any criterion."""
        same = {"by": "", "guarantee": None}
        return isinstance(other, Summary) and {**vars(self), **same} == {**vars(other), **same}

    def __hash__(self) -> int:
        """Hashes what the summary achieves."""
        return hash((self.point, self.cost_sum, self.loss_count, self._texts["tree"]))

    @property
    def works(self) -> float:
        """Share of the affected people for whom it works: ``1 - loss``."""
        return (self.affected - self.loss_count) / self.affected

    @property
    def headline(self) -> str:
        """What it achieves, in a sentence."""
        groups = "1 group" if self.leaves == 1 else f"{self.leaves} groups"
        return (
            f"Point {self.point} of {self.points}: works for {100 * self.works:.1f} % "
            f"at a mean cost of {self.cost:.3f} "
            f"(invalidity {self.invalidity:.3f}), {groups}"
        )

    def __str__(self) -> str:
        """The headline, the outcome, the tree, and how it does on held-out people."""
        return f"{self.headline}\n{self.outcome}\n{self._texts['tree']}{self._held_out}".rstrip()

    def __repr__(self) -> str:
        """Short, for lists and debuggers."""
        return f"<Summary {self.headline}. {self.outcome}>"

    def to_text(self, format: str = "tree") -> str:  # noqa: A002 - the command line's word
        """The summary as text: ``"tree"``, ``"rules"`` (sentences) or ``"dot"`` (Graphviz)."""
        if format not in self._texts:
            from ._errors import ArgumentError

            raise ArgumentError(f"`{format}` is not a format of a summary", 'use "tree", "rules" or "dot"')
        return self._texts[format]

    def to_dict(self) -> Json:
        """What ``sogar show --json`` prints."""
        names = ("point", "cost", "loss", "invalidity", "cost_sum", "loss_count", "leaves", "depth", "rules")
        outcome = {"desired": self.desired, "have": self.have, "people": self.people, "text": self.outcome}
        found = {"outcome": outcome, **{name: getattr(self, name) for name in names}}
        return found if self.holdout is None else {**found, "holdout": self.holdout}

    def to_frame(self) -> Any:
        """One row per group, as a pandas data frame: who, what to change, and how well that works."""
        from ._frames import frame_of

        rows = []
        for rule in self.rules:
            people, flipped = rule["rows"], rule["flipped"]
            rows.append(
                {
                    "who": plain_text(" and ".join(rule["who"])) or "Everybody",
                    "action": plain_text(rule["action"]["text"]),
                    "people": number_of_people(people, self.person),
                    "works_for": number_of_people(flipped, self.person),
                    "mean_cost": rule["cost_sum"] / self.unit / people if people else 0.0,
                }
            )
        return frame_of(rows, ("who", "action", "people", "works_for", "mean_cost"))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the tree with matplotlib; see `Sogar.plot_tree`."""
        from ._plots import plot_tree

        return plot_tree(self, ax)

    def _repr_html_(self) -> str:
        """A table of groups for notebooks. Every text from the table or the model is escaped."""
        return summary_html(self)


def number_of_people(units: int, person: int) -> int | float:
    """Converts units of weight to a number of people, an integer if it is whole.

    >>> number_of_people(12, 1), number_of_people(125, 10)
    (12, 12.5)
    """
    return units // person if units % person == 0 else units / person


def plain_text(text: str) -> str:
    """A sentence without the marks around names of columns, which are for terminals.

    >>> plain_text("`age` is at least 41")
    'age is at least 41'
    """
    return text.replace("`", "")


#: Styles of cells in the HTML table: numbers right, words left.
CELL = {
    "left": "text-align:left;vertical-align:top;padding:.25em .6em;white-space:normal;overflow-wrap:anywhere",
    "right": "text-align:right;vertical-align:top;padding:.25em .6em;white-space:nowrap",
}
BAR = "display:inline-block;width:5em;height:.6em;background:#8884;border-radius:.3em;vertical-align:middle"
FILLED = "display:block;height:100%;background:#2a7f9e;border-radius:.3em"


def share_bar(share: float) -> str:
    """A small bar for a share, in HTML."""
    return f'<span style="{BAR}"><span style="{FILLED};width:{100 * share:.1f}%"></span></span>'


def summary_html(summary: Summary) -> str:
    """A summary as an HTML table: who, what to change, and how well that works."""
    rows = []
    for rule in summary.rules:
        who = "<br>".join(html.escape(plain_text(text)) for text in rule["who"]) or "Everybody"
        what = (
            html.escape(plain_text(_native.visible(rule["action"]["text"])))
            if rule["action"]["edits"]
            else "<i>no change</i>"
        )
        people, flipped = rule["rows"], rule["flipped"]
        share = flipped / people if people else 0.0
        cost = rule["cost_sum"] / summary.unit / people if people else 0.0
        rows.append(
            f'<tr><td style="{CELL["left"]};min-width:12em">{who}</td>'
            f'<td style="{CELL["left"]};max-width:36em">{what}</td>'
            f'<td style="{CELL["right"]}">{number_of_people(people, summary.person)}</td>'
            f'<td style="{CELL["left"]};white-space:nowrap">{share_bar(share)} {100 * share:.0f} %</td>'
            f'<td style="{CELL["right"]}">{cost:.3f}</td></tr>'
        )
    names = {
        "who": "left",
        "what to change": "left",
        "people": "right",
        "works for": "left",
        "mean cost": "right",
    }
    head = "".join(f'<th scope="col" style="{CELL[side]}">{name}</th>' for name, side in names.items())
    return (
        f"<div><p><b>{html.escape(summary.headline)}</b><br>{html.escape(summary.outcome)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )

"""Plots with matplotlib: a front, groups along a front, cost, loss and gap, and a summary as a tree.

Each function draws into the given axes, or into new ones, and returns the axes, so that users can set titles
and sizes and save files. Matplotlib is imported on the first call.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import ArgumentError, SogarError
from ._summary import Summary, number_of_people, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colours that colour-blind readers can tell apart, in print and on screens.
COLOURS = ("#0f6b8c", "#d1495b", "#b8860b", "#4a7c59", "#7b5ea7", "#5b5b5b", "#e08e45", "#2f4858")
MEASURES = {"cost": "mean cost", "loss": "loss", "invalidity": "invalidity"}
#: Longest name in a legend, in characters.
LONGEST_NAME = 40


def new_axes(ax: Axes | None, size: tuple[float, float] = (6.4, 4.2)) -> Axes:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise SogarError("figures need matplotlib", "install it: pip install 'sogar[plots]'") from None
    return plt.subplots(figsize=size, layout="constrained")[1]


def _columns(points: Any) -> Mapping[str, Any]:
    """The columns of a fitted estimator's front, of a frame, or of a dictionary."""
    return points.front_ if hasattr(points, "front_") else points  # type: ignore[no-any-return]


def plot_front(
    points: Any,
    ax: Axes | None = None,
    *,
    y: str = "loss",
    chosen: int | Sequence[int] | None = None,
    holdout: Mapping[str, Any] | None = None,
    label: str = "front",
) -> Axes:
    """Plots the trade-off: mean cost on the x-axis, the share of people without recourse on the y-axis.

    Args:
        points: A fitted `Sogar`, or columns ``cost`` and ``loss``, such as its `front_`.
        ax: Axes to draw into; new ones by default.
        y: ``"loss"``, or ``"works"`` for the share of people for whom a summary works.
        chosen: Numbers of points to mark; by default the current point of a fitted `Sogar`.
        holdout: The same columns on held-out people, as a second line.
        label: The name of the front in the legend.

    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> axes = plot_front({"cost": [0.0, 0.2, 0.5], "loss": [1.0, 0.3, 0.0]}, chosen=1)
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('mean cost of the recommended changes', 'people without recourse (loss)')
    """
    if y not in ("loss", "works"):
        raise ArgumentError(f'y is "loss" or "works", not `{y}`')
    if chosen is None and hasattr(points, "summary_"):
        chosen = points.summary_.point
    points = _columns(points)
    ax = new_axes(ax)

    def upwards(columns: Mapping[str, Any]) -> Any:
        loss = np.asarray(columns["loss"], dtype=float)
        return 1.0 - loss if y == "works" else loss

    cost, share = np.asarray(points["cost"], dtype=float), upwards(points)
    # Between two points, the cheaper one is the best available: a front is a staircase.
    ax.plot(cost, share, drawstyle="steps-post", color=COLOURS[0], linewidth=1.6, label=label)
    ax.plot(cost, share, linestyle="none", marker=".", markersize=4, color=COLOURS[0])
    if holdout is not None:
        other = np.asarray(holdout["cost"], dtype=float)
        ax.plot(
            other,
            upwards(holdout),
            linestyle="none",
            marker=".",
            markersize=4,
            color=COLOURS[1],
            label="held-out people",
        )
    marked = [] if chosen is None else [chosen] if isinstance(chosen, int | np.integer) else list(chosen)
    below = -14 if y == "works" else 8
    for number in marked:
        at = (cost[number], share[number])
        ring: dict[str, Any] = {
            "marker": "o",
            "markersize": 9,
            "markerfacecolor": "none",
            "markeredgewidth": 2,
        }
        ax.plot(*at, color=COLOURS[2], zorder=4, **ring)
        ax.annotate(
            f"point {number}", at, xytext=(10, below), textcoords="offset points", color=COLOURS[2], zorder=4
        )
    ax.set_xlabel("mean cost of the recommended changes")
    ax.set_ylabel("people without recourse (loss)" if y == "loss" else "people for whom it works")
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlim(left=0.0)
    _quiet(ax)
    if holdout is not None:
        ax.legend(frameon=False)
    return ax


def plot_disparity(
    audit: Mapping[str, Any],
    points: Any,
    ax: Axes | None = None,
    *,
    grouping: str | None = None,
    measure: str = "invalidity",
    across: str = "cost",
    gap: bool = True,
    holdout: bool = False,
    names: Sequence[str] | None = None,
) -> Axes:
    """Plots groups along the front.

    Args:
        audit: The dictionary that `Sogar.audit` returns.
        points: The front, as for `plot_front`.
        ax: Axes to draw into; new ones by default.
        grouping: The grouping's name, such as ``"sex"``; the first one by default.
        measure: ``"cost"``, ``"loss"``, ``"invalidity"``, ``"cost_of_success"``, or a further measure of the
            audit, such as ``"reached(0.2)"``.
        across: The x-axis: mean cost (``"cost"``), or numbers of points (``"point"``) if many are cheap.
        gap: Whether to plot each group's gap to everyone else with its interval, or the groups' values.
        holdout: Whether to plot held-out people instead of the reference table.
        names: The groups to draw; all with enough people by default.
    """
    if across not in ("cost", "point"):
        raise ArgumentError(f'across is "cost" or "point", not `{across}`')
    groups, shown = _audited(audit, grouping, holdout)
    if names is not None:
        known = {group["group"] for group in shown}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ArgumentError(
                f"there is no group `{unknown[0]}` with enough people",
                f"groups are {', '.join(sorted(known))}",
            )
        shown = [group for group in shown if group["group"] in names]
    lines = [_along(group, measure) for group in shown]
    title = MEASURES.get(measure, measure)
    ax = new_axes(ax)
    place = np.asarray(_columns(points)["cost"], dtype=float)
    if across == "point":
        place = np.arange(len(place))
    beside = "gap to all others"
    if gap:
        ax.axhline(0.0, color="#888888", linewidth=0.8)
        if len(shown) == 2 and len(groups["groups"]) == 2:
            # With two groups, each gap is the negative of the other.
            beside = f"{_short(_called(shown[0]))} minus {_short(_called(shown[1]))}"
            shown = shown[:1]
    width = 1.6 if len(place) < 500 else 0.8
    for number, group in enumerate(shown):
        along, colour = lines[number], COLOURS[number % len(COLOURS)]
        name = f"{_short(_called(group))} (n = {group['affected']})"
        ax.plot(place, along["gap" if gap else "values"], color=colour, linewidth=width, label=name)
        if gap:
            ax.fill_between(place, along["low"], along["high"], color=colour, alpha=0.2, linewidth=0)
    ax.set_xlabel("mean cost over all people" if across == "cost" else "point of the front")
    ax.set_ylabel(f"{title}: {beside}" if gap else title, parse_math=False)
    ax.set_title(_short(groups.get("shown") or groups["name"]), parse_math=False)
    if len(shown) > 1 or not gap:
        for text in ax.legend(frameon=False).get_texts():
            text.set_parse_math(False)
    _quiet(ax)
    return ax


def plot_fairness(
    audit: Mapping[str, Any],
    points: Any,
    axes: Sequence[Axes] | None = None,
    *,
    grouping: str | None = None,
    measure: str = "loss",
    limit: float | None = None,
    holdout: bool = False,
) -> tuple[Axes, Axes]:
    """Plots cost, loss and gap as one picture: the front coloured by the gap, and the gap along the front.

    The gap of a point is the largest distance of a group from everyone else, in either direction.

    Args:
        audit: The dictionary that `Sogar.audit` returns.
        points: The front, as for `plot_front`.
        axes: Two axes to draw into, for the front and for the gap; new ones by default.
        grouping: The grouping's name, such as ``"sex"``; the first one by default.
        measure: As for `plot_disparity`.
        limit: A limit on the gap: points beyond it are grey.
        holdout: Whether to take the gap on held-out people instead of the reference table.
    """
    groups, shown = _audited(audit, grouping, holdout)
    gaps = np.nanmax([np.abs(np.asarray(_along(group, measure)["gap"], float)) for group in shown], axis=0)
    columns = _columns(points)
    cost, loss = (np.asarray(columns[name], dtype=float) for name in ("cost", "loss"))
    if axes is None:
        new_axes(None)  # says what to install
        import matplotlib.pyplot as plt

        plt.close()
        axes = plt.subplots(
            2, 1, sharex=True, height_ratios=(3, 2), figsize=(6.4, 5.6), layout="constrained"
        )[1]
    upper, lower = axes
    within = np.ones(len(gaps), dtype=bool) if limit is None else gaps <= limit
    lower.plot(cost, gaps, color="#888888", linewidth=0.6, zorder=1)
    for ax, heights in ((upper, loss), (lower, gaps)):
        ax.scatter(cost[~within], heights[~within], s=8, color="#bbbbbb", zorder=2)
        drawn = ax.scatter(
            cost[within],
            heights[within],
            c=gaps[within],
            s=14,
            cmap="viridis",
            vmin=0.0,
            vmax=gaps.max(),
            zorder=3,
        )
        ax.set_xlim(left=0.0)
        _quiet(ax)
    if limit is not None:
        lower.axhline(limit, color=COLOURS[1], linestyle="--", linewidth=1.0)
    title = MEASURES.get(measure, measure)
    upper.figure.colorbar(drawn, ax=list(axes), label=f"gap of {title}")
    upper.set_ylabel("people without recourse (loss)")
    upper.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    upper.set_ylim(-0.02, 1.02)
    upper.set_title(_short(groups.get("shown") or groups["name"]), parse_math=False)
    lower.set_ylabel(f"gap of {title}", parse_math=False)
    lower.set_ylim(bottom=0.0)
    lower.set_xlabel("mean cost over all people")
    return upper, lower


def _audited(
    audit: Mapping[str, Any], grouping: str | None, holdout: bool
) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    """A grouping of an audit, and its groups that are large enough."""
    population = audit["holdout"] if holdout else audit["reference"]
    if population is None:
        raise ArgumentError("the audit has no held-out people", "audit with a held-out table first")
    groups = _groups(population["groupings"], grouping)
    shown = [group for group in groups["groups"] if group["enough"] and group["measures"]]
    if not shown:
        raise ArgumentError(f"no group of `{groups['name']}` has enough people to say anything about")
    return groups, shown


def _called(group: Mapping[str, Any]) -> str:
    """A group's name for readers."""
    return str(group.get("shown") or group["group"])


def _along(group: Mapping[str, Any], measure: str) -> dict[str, Any]:
    """A group's measure at every point; NaN where it is undefined or infinite."""
    if measure in MEASURES:
        return dict(group["measures"][measure])
    for found in group.get("further", ()):
        if found["measure"] == measure:
            lists = ("values", "gap", "low", "high")
            return {name: np.asarray(found[name], dtype=float) for name in lists}
    known = [*MEASURES, *(found["measure"] for found in group.get("further", ()))]
    raise ArgumentError(
        f"`{measure}` is not a measure of this audit",
        f"use {', '.join(known)}, or audit with measures=[{measure!r}]",
    )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _groups(groupings: Sequence[Mapping[str, Any]], name: str | None) -> Mapping[str, Any]:
    if not groupings:
        raise ArgumentError("the audit has no groups", "audit with groups, such as `audit(['sex'])`")
    if name is None:
        return groupings[0]
    for grouping in groupings:
        if grouping["name"] == name:
            return grouping
    known = ", ".join(grouping["name"] for grouping in groupings)
    raise ArgumentError(f"the audit has no grouping `{name}`", f"it has {known}")


def plot_tree(summary: Any, ax: Axes | None = None, *, width: int = 26) -> Axes:
    """Plots a summary as a tree: splits as boxes, leaves with what to change and how well it works.

    Args:
        summary: The result of `Sogar.select`, or a fitted `Sogar` for its current summary.
        ax: Axes to draw into; new ones, large enough for the tree, by default.
        width: Characters in a line of a box at most. Where there is little room, such as in a subplot, leaves
            have numbers, and their texts stand below the tree, so that letters stay readable.
    """
    summary = getattr(summary, "summary_", summary)
    tree = _Layout(summary, width)
    ax = new_axes(ax, (max(6.4, 2.3 * summary.leaves), 1.2 + tree.height * 0.17))
    place = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    tree, size = _fitted(summary, width, 72 * place.width, 72 * place.height)
    ax.set_axis_off()
    ax.set_xlim(-0.5, summary.leaves - 0.5)
    # A unit is a line of text. In a tall place the tree stays at the top.
    ax.set_ylim(0.5 - max(tree.height + 1, 72 * place.height / (LINE * size)), 0.5)
    # Names are shown verbatim: a dollar sign does not start a formula.
    words: dict[str, Any] = {"ha": "center", "parse_math": False}
    plain = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    for (x, y), (child_x, child_y), answer in tree.lines:
        # The line starts inside the box, which covers it.
        ax.plot([x, child_x], [y + 0.5, child_y - 0.5], color="#888888", linewidth=1.0, zorder=1)
        middle = ((x + child_x) / 2, (y + child_y) / 2)
        ax.text(
            *middle, answer, va="center", fontsize=0.94 * size, color="#555555", zorder=2, bbox=plain, **words
        )
    for x, y, text, leaf in tree.boxes:
        face = "#e6f1f5" if leaf else "#ffffff"
        box = {"boxstyle": "round,pad=0.4", "facecolor": face, "edgecolor": COLOURS[0], "linewidth": 1.0}
        ax.text(x, y, text, va="top", fontsize=size, zorder=3, color="#1a1a1a", bbox=box, **words)
    if tree.key:
        words["ha"] = "left"
        told = "\n".join(tree.key)
        ax.text(-0.5, tree.key_top, told, va="top", fontsize=size, linespacing=1.1, color="#1a1a1a", **words)
    large = 10.0 if size >= READABLE else 8.5
    across = max(30, int(72 * place.width / (LETTER * large)))
    ax.set_title("\n".join(textwrap.wrap(summary.headline, across)), fontsize=large)
    return ax


#: The height of a line, and the width of a letter, as multiples of the size of letters.
LINE, LETTER = 1.25, 0.57
#: In the key below a tree, lines are long and close: the height of one, and the mean width of a letter.
KEY_LINE, KEY_LETTER = 0.88, 0.56

#: The name of a value that is long: its first words, and the rest. No number is cut.
LONG_VALUE = re.compile(r"“([^”]{10,16}) [^”]{8,}”")


#: Letters of this size are read with ease; below it, leaves have numbers instead of texts.
READABLE = 7.0


def _fitted(summary: Summary, width: int, wide: float, high: float) -> tuple[_Layout, float]:
    """The layout with the largest letters that fit into a place, and their size in points."""

    def size(tree: _Layout) -> float:
        # A question stands above two leaves or more. Beside it are other questions, or numbers.
        places = 2 if tree.numbered else 1
        across = places * wide / summary.leaves / (LETTER * tree.longest + 1.2)
        return min(8.5, across, high / (LINE * (tree.height + 1)), wide / (KEY_LETTER * tree.key_width or 1))

    layouts = [_Layout(summary, letters) for letters in range(width, min(width, 9), -1)]
    best = max(layouts or [_Layout(summary, width)], key=size)
    if size(best) < READABLE:
        keys = range(50, 130, 4)
        numbered = [_Layout(summary, letters, key) for letters in range(14, 30, 2) for key in keys]
        best = max([best, *numbered], key=size)
    return best, max(2.0, size(best))


class _Layout:
    """The layout of a tree: leaves side by side, each split above its branches.

    With a `key`, leaves are numbers, and their texts are lines of so many letters below the tree.
    """

    def __init__(self, summary: Summary, width: int, key: int = 0) -> None:
        self.unit = summary.unit
        self.person = summary.person
        self.width = width
        self.numbered = key > 0
        self.key_width = key
        self.key: list[str] = []
        self.boxes: list[tuple[float, float, str, bool]] = []
        self.lines: list[tuple[tuple[float, float], tuple[float, float], str]] = []
        self.height = 0.0
        self.longest = 1
        self._places = 0
        levels: dict[int, int] = {}
        self._measure(summary.tree, 0, levels)
        tops = [0.0]
        for level in sorted(levels):
            tops.append(tops[-1] - levels[level] - (2.2 if self.numbered else 3.0))
        self._tops = tops
        self._place(summary.tree, 0)
        self.key_top = -self.height - 1.3
        if self.key:
            self.height += 1.3 + KEY_LINE * len(self.key)

    def _text(self, node: Mapping[str, Any]) -> str:
        if "split" in node:
            return self._wrapped(self._cut(f"{node['question']}?"))
        if self.numbered:
            return str(self._places + 1)
        return self._wrapped("\n".join(self._advice(node)))

    def _advice(self, node: Mapping[str, Any]) -> list[str]:
        """What a leaf advises, and how well that works."""
        people = number_of_people(node["rows"], self.person)
        flipped = number_of_people(node["flipped"], self.person)
        if not node["action"]["edits"]:
            return ["No change", f"{people} people"]
        cost = node["cost_sum"] / self.unit / max(node["rows"], 1)
        return [node["action"]["text"], f"works for {flipped} of {people},", f"mean cost {cost:.2f}"]

    def _cut(self, text: str) -> str:
        """A text; where room is short, with the beginnings of long names of values."""
        return LONG_VALUE.sub(r"“\1 …”", text) if self.numbered else text

    def _wrapped(self, text: str) -> str:
        words = plain_text(text)
        # Names are broken inside of words only if nothing else helps.
        breaks = any(len(word) > 30 for word in words.split())
        lines = [
            line
            for part in words.split("\n")
            for line in textwrap.wrap(part, self.width, break_long_words=breaks) or [""]
        ]
        self.longest = max(self.longest, *map(len, lines))
        return "\n".join(lines if len(lines) <= 20 else [*lines[:19], "…"])

    def _measure(self, node: Mapping[str, Any], level: int, levels: dict[int, int]) -> None:
        lines = self._text(node).count("\n") + 1
        levels[level] = max(levels.get(level, 0), lines)
        for side in ("left", "right"):
            if side in node:
                self._measure(node[side], level + 1, levels)

    def _place(self, node: Mapping[str, Any], level: int) -> tuple[float, float]:
        text, top = self._text(node), self._tops[level]
        bottom = top - (text.count("\n") + 1)
        self.height = max(self.height, -bottom)
        if "split" not in node:
            x = float(self._places)
            self._places += 1
            if self.numbered:
                what, *how = self._advice(node)
                how = [part.replace("works for ", "").replace("mean ", "") for part in how]
                # How well it works stays on one line.
                works = " ".join(how).replace(" ", "\N{NO-BREAK SPACE}")
                told = plain_text(self._cut(f"{self._places}  {what} ({works})"))
                self.key += textwrap.wrap(
                    told, self.key_width, subsequent_indent="    ", max_lines=6, placeholder=" …"
                )
        else:
            children = [self._place(node[side], level + 1) for side in ("left", "right")]
            x = (children[0][0] + children[1][0]) / 2
            for child, answer in zip(children, ("yes", "no"), strict=True):
                self.lines.append(((x, bottom - 0.3), child, answer))
        self.boxes.append((x, top, text, "split" not in node))
        return x, top


def _quiet(ax: Axes) -> None:
    """Removes clutter around the data."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(visible=True, color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)

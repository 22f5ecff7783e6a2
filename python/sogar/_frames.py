"""Results as pandas data frames, and audits and counterfactuals as text and HTML.

Frames need pandas, which is imported only here.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any

from . import _native
from ._errors import ArgumentError

Json = dict[str, Any]


def frame_of(rows: list[Json], columns: Sequence[str]) -> Any:
    """Rows as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError:
        raise ArgumentError("a frame is a pandas data frame", "install pandas") from None
    return pd.DataFrame(rows, columns=list(columns))


def table_html(caption: str, columns: Sequence[str], rows: list[list[str]]) -> str:
    """A small table; every text is escaped."""
    cell = "text-align:left;vertical-align:top;padding:.25em .6em"
    head = "".join(f'<th scope="col" style="{cell}">{html.escape(name)}</th>' for name in columns)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{cell}">{html.escape(_native.visible(text))}</td>' for text in row)
        + "</tr>"
        for row in rows
    )
    return (
        f'<table><caption style="text-align:left"><b>{html.escape(_native.visible(caption))}</b></caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


#: The columns of an audit's frame.
AUDIT_COLUMNS = (
    "population",
    "grouping",
    "group",
    "rows",
    "affected",
    "adverse_rate",
    "selection_rate",
    "tpr",
    "unreachable",
    "mean_gap_invalidity",
    "mean_gap_low",
    "mean_gap_high",
    "share_worse",
)


#: The columns of an audit that is printed.
SHOWN_COLUMNS = ("group", "turned down", "adverse rate", "gap in invalidity (95 % interval)")


class Audit(dict[str, Any]):
    """An audit: the dictionary of ``sogar audit --json``, which prints as text and shows as a table."""

    def rows(self) -> list[Json]:
        """One row per group: its sizes and rates, and its gap in invalidity over the whole front."""
        found = []
        for population in ("reference", "holdout"):
            for grouping in (self.get(population) or {}).get("groupings", []):
                for group in grouping["groups"]:
                    gap = (group.get("measures") or {}).get("invalidity") or {}
                    out = group.get("unreachable")
                    found.append(
                        {
                            "population": population,
                            "grouping": grouping["name"],
                            "shown": grouping.get("shown") or grouping["name"],
                            "called": group.get("shown") or group["group"],
                            **{name: group.get(name) for name in AUDIT_COLUMNS[2:8]},
                            "unreachable": out.get("count") if isinstance(out, dict) else out,
                            "mean_gap_invalidity": gap.get("mean_gap"),
                            **{name: gap.get(name) for name in AUDIT_COLUMNS[10:]},
                        }
                    )
        return found

    def to_frame(self) -> Any:
        """One row per group, as a pandas data frame."""
        return frame_of(self.rows(), AUDIT_COLUMNS)

    def __str__(self) -> str:
        """Groups in words: how many are turned down, and how their recourse differs."""
        lines: list[str] = []
        for title, rows in self._tables():
            cells = [list(SHOWN_COLUMNS), *rows]
            wide = [max(len(row[column]) for row in cells) for column in range(len(SHOWN_COLUMNS))]
            lines.append(title)
            for row in cells:
                padded = (cell.ljust(width) for cell, width in zip(row, wide, strict=True))
                lines.append("  " + "   ".join(padded).rstrip())
        lines += [f"Note: {note}" for note in self.get("notes", [])]
        return "\n".join(_native.visible(line) for line in lines)

    def _repr_html_(self) -> str:
        tables = (table_html(title, SHOWN_COLUMNS, rows) for title, rows in self._tables())
        return f"<div>{''.join(tables)}</div>"

    def _tables(self) -> Iterator[tuple[str, list[list[str]]]]:
        """The groups of each grouping as cells, with a title."""
        titles = {(row["population"], row["grouping"]): row["shown"] for row in self.rows()}
        for title, shown in titles.items():
            where = ", held-out people" if title[0] == "holdout" else ""
            rows = [_cells(row) for row in self.rows() if (row["population"], row["grouping"]) == title]
            yield f"By {shown}{where}", rows


def _cells(row: Json) -> list[str]:
    gap = row["mean_gap_invalidity"]
    told = (
        "too few people for a statement"
        if gap is None
        else f"{gap:+.3f} ({row['mean_gap_low']:+.3f} to {row['mean_gap_high']:+.3f})"
    )
    rate = "n/a" if row["adverse_rate"] is None else f"{100 * row['adverse_rate']:.1f} %"
    return [str(row["called"]), f"{row['affected']:,} of {row['rows']:,}", rate, told]


#: The columns of the frame of counterfactuals.
WAY_COLUMNS = ("row", "way", "feature", "from", "to", "cost", "label", "score")


class Counterfactuals(Sequence[list[Json]]):
    """The cheapest ways of several people, person by person, each as `cheapest` of an explanation."""

    def __init__(self, people: list[list[Json]], rows: list[Any]) -> None:
        """`rows` are the people's names: positions, or the index of their table."""
        self._people, self._rows = people, rows

    def __getitem__(self, person: Any) -> Any:
        """The ways of one person, the cheapest first."""
        return self._people[person]

    def __len__(self) -> int:
        """The number of people."""
        return len(self._people)

    def __iter__(self) -> Iterator[list[Json]]:
        """The ways of each person."""
        return iter(self._people)

    def rows(self) -> list[Json]:
        """One row per person, way and changed feature."""
        return [
            {
                "row": name,
                "way": number,
                "feature": change["feature"],
                "from": change["from"],
                "to": change["to"],
                "cost": way["cost"],
                "label": way["label"],
                "score": way["score"],
            }
            for name, ways in zip(self._rows, self._people, strict=True)
            for number, way in enumerate(ways, start=1)
            for change in way["changes"]
            if change["changes"]
        ]

    def to_frame(self) -> Any:
        """One row per person, way and changed feature, as a pandas data frame."""
        return frame_of(self.rows(), WAY_COLUMNS)

    def __repr__(self) -> str:
        """How many people have a way."""
        some = sum(bool(ways) for ways in self._people)
        people = "1 person" if len(self) == 1 else f"{len(self)} people"
        return f"<Counterfactuals of {people}, {some} of whom {'has' if some == 1 else 'have'} a way>"

    def _repr_html_(self) -> str:
        shown = self.rows()[:100]
        cells = [
            [
                str(row["row"]),
                str(row["way"]),
                row["feature"],
                str(row["from"]),
                str(row["to"]),
                f"{row['cost']:.3f}",
            ]
            for row in shown
        ]
        return table_html(repr(self).strip("<>"), WAY_COLUMNS[:6], cells)

"""Summaries and figures: what people read, print, pickle and draw."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import sogar
from sogar._plots import plot_disparity, plot_fairness, plot_front
from test_models_black_box import fitted
from test_models_native import people

mpl.use("agg")
import matplotlib.pyplot as plt

HOSTILE = [
    "</script><script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "‮reversed",
    "x" * 10_000,
    "$\\frac{1}{2}$",
    "🙂 & <b>",
]


@pytest.fixture(scope="module")
def front() -> sogar.Sogar:
    """A front over tables with odd names."""
    frame, _ = people(200)
    frame = frame.rename(columns={"job": HOSTILE[0]})
    frame["city"] = frame["city"].map(dict(zip(frame["city"].unique(), HOSTILE, strict=False)))
    cities = frame["city"].unique()

    def model(rows: pd.DataFrame) -> Any:
        return rows["income"].to_numpy() / 20_000 + rows["city"].isin(cities[:2]).to_numpy() > 1.4

    return fitted(max_depth=2, min_leaf=15).fit(frame, model)


@pytest.fixture(autouse=True)
def _close_figures() -> Any:
    yield
    plt.close("all")


def test_the_words_of_a_summary(front: sogar.Sogar) -> None:
    summary = front.select("invalidity")
    assert str(summary).startswith(f"Point {summary.point} of {len(front.front_)}: works for ")
    assert summary.headline in repr(summary)
    assert summary.works == pytest.approx(1 - summary.loss)
    assert "Everybody" in summary.to_text()
    assert summary.to_text("dot").startswith("digraph")
    assert "•" in summary.to_text("rules")
    with pytest.raises(ValueError, match="not a format"):
        summary.to_text("pdf")
    assert sum(rule["rows"] for rule in summary.rules) == summary.affected == front.n_affected_
    assert sum(rule["rows"] - rule["flipped"] for rule in summary.rules) == summary.loss_count
    json.dumps(summary.to_dict())


def test_a_summary_is_data(front: sogar.Sogar) -> None:
    summary = front.select(3)
    again = pickle.loads(pickle.dumps(summary))
    assert again == summary
    assert hash(again) == hash(summary)
    assert again != front.select(4)
    assert str(again) == str(summary)


def test_html_shows_names_literally(front: sogar.Sogar) -> None:
    for point in range(len(front.front_)):
        page = front.select(point)._repr_html_()
        assert "<script" not in page
        assert "<b>" not in page.replace("<b>Point", "")
        assert page.count("<tr>") == front.summary_.leaves + 1
    assert front._repr_html_() == front.summary_._repr_html_()


def test_groups_are_named_in_words_once_per_feature(front: sogar.Sogar) -> None:
    for point in range(len(front.front_)):
        for rule in front.select(point).rules:
            tested = {test["feature"] for test in rule["if"]}
            assert len(rule["who"]) == len(tested)


def test_figures_take_and_give_axes(front: sogar.Sogar, tmp_path: Path) -> None:
    figure, axes = plt.subplots()
    assert front.plot_front(ax=axes) is axes
    assert front.plot_front(y="works").figure is not figure
    assert front.plot_tree().figure is not figure
    for point in range(len(front.front_)):
        summary = front.select(point)
        axes.clear()
        drawn = summary.plot(axes)
        texts = [text.get_text() for text in drawn.texts]
        # Where texts are too long for the boxes, leaves have numbers.
        leaves = [
            text for text in texts if text.startswith("No change") or "works for" in text or text.isdigit()
        ]
        assert len(leaves) == summary.leaves
    figure.savefig(tmp_path / "tree.png")
    figure.savefig(tmp_path / "tree.svg")
    front.plot_front(holdout=front.front_)
    plt.savefig(tmp_path / "front.png")
    with pytest.raises(ValueError, match="y is"):
        front.plot_front(y="cost")


def test_the_front_is_drawn_as_it_is(front: sogar.Sogar) -> None:
    frame = pd.DataFrame(front.front_)
    axes = plot_front(frame, chosen=[0, 2], holdout={"cost": [0.1], "loss": [0.5]})
    line = axes.get_lines()[0]
    np.testing.assert_array_equal(line.get_xdata(), frame["cost"])
    np.testing.assert_array_equal(line.get_ydata(), frame["loss"])
    assert [text.get_text() for text in axes.texts] == ["point 0", "point 2"]


def audit() -> dict[str, Any]:
    """An audit of two points and two groups that are large enough."""
    along = {"values": [0.5, 0.4], "gap": [0.1, 0.0], "low": [0.0, -0.1], "high": [0.2, 0.1]}
    groups = [
        {
            "group": name,
            "enough": name != "c",
            "affected": 30,
            "measures": {"invalidity": along, "cost": along},
        }
        for name in "abc"
    ]
    groups[2]["measures"] = None
    return {"reference": {"groupings": [{"name": "sex", "groups": groups}]}, "holdout": None}


def test_groups_along_the_front() -> None:
    front = {"cost": [0.1, 0.2]}
    axes = plot_disparity(audit(), front, measure="cost")
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["a (n = 30)", "b (n = 30)"]
    assert axes.get_ylabel() == "mean cost: gap to all others"
    assert plot_disparity(audit(), front, axes, gap=False, names=["b"]) is axes
    two = audit()
    two["reference"]["groupings"][0]["groups"].pop()
    axes = plot_disparity(two, front, across="point")
    assert axes.get_ylabel() == "invalidity: a minus b"
    assert len(axes.get_lines()) == 2
    two["reference"]["groupings"][0]["groups"][0]["group"] = HOSTILE[3] + HOSTILE[4]
    plot_disparity(two, front, gap=False).figure.canvas.draw()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"measure": "size"}, "not a measure"),
        ({"across": "size"}, "across is"),
        ({"grouping": "race"}, "no grouping `race`"),
        ({"names": ["c"]}, "no group `c` with enough people"),
        ({"holdout": True}, "no held-out people"),
    ]
    for options, message in wrong:
        with pytest.raises(ValueError, match=message):
            plot_disparity(audit(), {"cost": [0.1, 0.2]}, **options)


def test_cost_loss_and_gap_are_one_picture() -> None:
    front = {"cost": [0.1, 0.2], "loss": [0.9, 0.5]}
    upper, lower = plot_fairness(audit(), front, measure="cost", limit=0.05)
    gaps = lower.get_lines()[0]
    np.testing.assert_array_equal(gaps.get_ydata(), [0.1, 0.0])
    beyond, within = (np.asarray(dots.get_offsets()) for dots in upper.collections)
    assert beyond.tolist() == [[0.1, 0.9]]
    assert within.tolist() == [[0.2, 0.5]]
    assert plot_fairness(audit(), front, (upper, lower), measure="invalidity")[0] is upper
    upper.figure.canvas.draw()
    with pytest.raises(ValueError, match="no held-out people"):
        plot_fairness(audit(), front, holdout=True)
    with pytest.raises(ValueError, match="not a measure"):
        plot_fairness(audit(), front, measure="size")


def test_no_name_steers_a_terminal() -> None:
    """Control characters and marks of direction are spelled out wherever people read."""
    odd = "\x1b[2J\x9b\u202e\r\nerror: forged"
    frame, _ = people(200)
    frame = frame.rename(columns={"income": f"income{odd}"})
    frame["city"] = frame["city"] + odd

    def model(rows: pd.DataFrame) -> Any:
        return rows[f"income{odd}"].to_numpy() > 30_000

    front = fitted(max_depth=2, min_leaf=15).fit(frame, model)
    summary = front.select("invalidity")
    texts = [str(summary), repr(summary), summary.to_text("rules"), summary.to_text("dot")]
    texts += [summary._repr_html_(), str(front.explain(0)), front.explain(0)._repr_html_(), *front.notices_]
    with pytest.raises(sogar.SogarError) as refused:
        sogar.Sogar(immutable=[odd]).fit(frame, model)
    for text in [*texts, str(refused.value)]:
        assert not set("\x1b\x9b\u202e\r") & set(text), text
        assert "\nerror" not in text

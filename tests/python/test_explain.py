"""Explanations of single people, held against LightGBM's own predictions; and figures as XML."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from recompute import Classifier, Feature, Json, bits
from running import GERMAN, Sogar

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def front_file(front: Json, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The front of the German example on disk."""
    path = tmp_path_factory.mktemp("explain") / "front.json"
    path.write_text(json.dumps(front))
    return path


@pytest.fixture(scope="module")
def affected(front: Json) -> list[int]:
    """Some people that the model turns down, by their position in the table."""
    rows = bits(front["population"]["affected_rows"], front["population"]["rows"])
    return [int(row) for row in rows.nonzero()[0][::60]]


def explained(sogar: Sogar, front_file: Path, *arguments: str) -> Json:
    """What `sogar explain --json` says."""
    result: Json = json.loads(sogar("explain", front_file, "--json", "--quiet", *arguments))
    return result


def after(german: pd.DataFrame, row: int, advice: Json) -> pd.DataFrame:
    """A person after an action, as the table would write them."""
    person = german.iloc[[row]].copy()
    for change in advice["changes"]:
        assert str(change["from"]) == person[change["feature"]].iloc[0] or float(change["from"]) == float(
            person[change["feature"]].iloc[0]
        )
        to = change["to"]
        person[change["feature"]] = to if isinstance(to, str) else f"{to:g}"
    return person


def cost(front: Json, german: pd.DataFrame, row: int, advice: Json) -> int:
    """The maximum percentile shift of an action for one person, in rows of the table."""
    person, edited = german.iloc[[row]], after(german, row, advice)
    shifts = [0]
    for spec in front["features"]:
        feature = Feature(spec, german[spec["name"]])
        before, then = feature.parse(person[spec["name"]]), feature.parse(edited[spec["name"]])
        shifts.append(int(feature.cost(before, then)[0]))
    return max(shifts)


def test_advice_does_what_it_says(
    sogar: Sogar, front_file: Path, front: Json, german: pd.DataFrame, affected: list[int]
) -> None:
    """LightGBM itself agrees on every outcome, and the costs are those of the definition."""
    model = Classifier(GERMAN / "model.txt", front)
    for row in affected:
        told = explained(sogar, front_file, "--row", str(row + 1))
        assert told["person"]["row"] == row + 1
        assert not told["decision"]["desired"]
        for advice in [told["suggestion"], told["cheapest"]]:
            if advice is None:
                continue
            assert advice["works"] == bool(model.approves(after(german, row, advice))[0])
            assert advice["cost_units"] == cost(front, german, row, advice)
        best = told["cheapest"]
        if told["suggestion"]["works"]:
            assert best["works"]
            assert best["cost_units"] <= told["suggestion"]["cost_units"]
        immutable = {value["feature"] for value in told["person"]["values"] if value["immutable"]}
        assert {"age", "status_sex"} <= immutable
        assert best is None or not immutable & {change["feature"] for change in best["changes"]}


def test_a_person_written_down_is_explained_like_their_row(
    sogar: Sogar, front_file: Path, german: pd.DataFrame, affected: list[int], tmp_path: Path
) -> None:
    """A JSON file with a row's values gives the row's explanation."""
    row = affected[0]
    person = tmp_path / "somebody.json"
    person.write_text(json.dumps(german.iloc[row].to_dict()))
    told = explained(sogar, front_file, "--person", str(person))
    same = explained(sogar, front_file, "--row", str(row + 1))
    for part in ["decision", "group", "suggestion", "cheapest", "immutable"]:
        assert told[part] == same[part], part


def test_figures_are_well_formed_and_show_every_point(
    sogar: Sogar, front_file: Path, front: Json, tmp_path: Path
) -> None:
    """Figures parse as XML, and a front's dots are its points."""
    names = ["front", "tree", "timeouts"]
    for name in names:
        ElementTree.fromstring(sogar("plot", name, front_file))
    picture = ElementTree.fromstring(sogar("plot", "front", front_file))
    dots = [
        path.attrib["d"]
        for path in picture.iter(f"{SVG}path")
        if path.attrib.get("stroke-linecap") == "round" and path.attrib["d"].endswith("h0")
    ]
    assert len(dots) == 1
    assert dots[0].count("M") == pytest.approx(len(front["points"]), abs=5)
    groups = tmp_path / "groups.svg"
    sogar("plot", "disparity", front_file, "--group", "telephone", "-o", groups)
    texts = [element.text or "" for element in ElementTree.parse(groups).iter(f"{SVG}text")]
    assert any("telephone = " in text for text in texts)


def test_two_models_are_compared(sogar: Sogar, front_file: Path, front: Json, tmp_path: Path) -> None:
    """Another threshold turns other people down; the counts are those of the two files."""
    other = tmp_path / "other.json"
    sogar(
        "solve",
        GERMAN / "german.csv",
        "--model",
        GERMAN / "model.txt",
        "--config",
        GERMAN / "sogar.toml",
        "--threshold",
        "0.6",
        "--max-depth",
        "1",
        "-o",
        other,
        "--quiet",
    )
    told = json.loads(sogar("diff", front_file, other, "--json"))
    second = json.loads(other.read_text())
    rows = front["population"]["rows"]
    a = bits(front["population"]["affected_rows"], rows)
    b = bits(second["population"]["affected_rows"], rows)
    assert told["people"] == {
        "both": int((a & b).sum()),
        "only_a": int((a & ~b).sum()),
        "only_b": int((~a & b).sum()),
        "neither": int((~a & ~b).sum()),
    }
    assert {setting["key"] for setting in told["settings"]} == {"limits.max_depth", "model.threshold"}
    for at in told["front"]["at"]:
        for name, points in [("a", front["points"]), ("b", second["points"])]:
            assert at[name] == min(point["loss"] for point in points if point["cost"] <= at["cost"])

"""Audit, explanation and report: as the command line has them, and with values that no table has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from running import GERMAN
from sogar import ArgumentError, AuditFailedError, DataError, Sogar, SogarWarning

Cli = Callable[..., str]
TABLE, MODEL = GERMAN / "german.csv", str(GERMAN / "model.txt")


@pytest.fixture(scope="module")
def front() -> Sogar:
    """The German example with one edit an action."""
    return Sogar(config=GERMAN / "sogar.toml", max_edits=1, progress=False).fit(TABLE, MODEL)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """The same table as a frame."""
    return pd.read_csv(TABLE)


@pytest.fixture(scope="module")
def file(front: Sogar, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The front as a file."""
    path = tmp_path_factory.mktemp("front") / "front.json"
    front.to_json(path)
    return path


def test_an_audit_is_that_of_the_command_line(front: Sogar, file: Path, run_cli: Cli) -> None:
    ours = front.audit(["status_sex", "age<=25", "status_sex*foreign_worker"], draws=200)
    flags = ["--group", "status_sex", "--group", "age<=25", "--group", "status_sex*foreign_worker"]
    theirs = json.loads(run_cli("audit", file, *flags, "--draws", "200", "--json"))
    assert {key: theirs[key] for key in ours} == ours


def test_values_beside_the_table_group_as_its_columns_do(front: Sogar, rows: pd.DataFrame) -> None:
    named = front.audit("status_sex", draws=0)["reference"]["groupings"][0]
    column = rows["status_sex"]
    for groups in (
        column,
        {"status_sex": column.to_numpy()},
        column.to_frame(),
        pl.from_pandas(column.to_frame()),
        {"status_sex": column.tolist()},
    ):
        assert front.audit(groups, draws=0)["reference"]["groupings"][0] == named
    assert front.audit(column.to_numpy(), draws=0)["reference"]["groupings"][0]["name"] == "group"
    mixed = front.audit({"old": rows["age"] > 40}, draws=0)["reference"]["groupings"][0]
    assert [group["group"] for group in mixed["groups"]] == ["false", "true"]
    with pytest.raises(ArgumentError, match="there are 3 of them, but the table has 1000 rows"):
        front.audit({"sex": ["f", "m", "f"]})
    with pytest.raises(ValueError, match="status_sx"):
        front.audit("status_sx")


def test_true_labels_give_true_positive_rates(front: Sogar, rows: pd.DataFrame) -> None:
    by_name = front.audit("status_sex", y="credit", draws=0)["reference"]["groupings"][0]
    by_value = front.audit("status_sex", y=rows["credit"], draws=0)["reference"]["groupings"][0]
    assert by_name["tpr_gap"] is not None
    assert by_name == by_value


def test_other_people_are_audited_too(front: Sogar, rows: pd.DataFrame) -> None:
    others = rows.sample(300, random_state=0)
    audit = front.audit("status_sex", holdout=others, draws=0)
    assert audit["holdout"]["rows"] == 300
    beside = front.audit(
        {"sex": rows["status_sex"]},
        y=rows["credit"],
        holdout=others,
        holdout_groups={"sex": others["status_sex"]},
        holdout_y=others["credit"],
        draws=0,
    )
    there = beside["holdout"]["groupings"][0]
    same = ("affected", "adverse_rate", "measures")
    for ours, theirs in zip(there["groups"], audit["holdout"]["groupings"][0]["groups"], strict=True):
        assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}
    assert there["tpr_gap"] is not None


def test_conditions_that_hold_are_an_exception(front: Sogar) -> None:
    assert front.audit("status_sex", fail_on="gap(invalidity, status_sex) > 0.9", draws=0)
    with pytest.raises(AuditFailedError, match=r"gap\(invalidity, status_sex\) > 0") as caught:
        front.audit("status_sex", fail_on=["gap(invalidity, status_sex) > 0"], draws=0)
    assert caught.value.audit["points"] == len(front.front_)
    assert caught.value.verdicts[0]["holds"]


def test_a_point_is_chosen_by_a_gap(front: Sogar, file: Path, run_cli: Cli) -> None:
    by = "gap(invalidity, status_sex)<=0.05"
    theirs = json.loads(run_cli("select", file, "--by", by, "--json"))["picks"][0]
    assert front.select(by).point == theirs["point"]
    front.select()


def test_one_person_is_explained_as_on_the_command_line(
    front: Sogar, file: Path, rows: pd.DataFrame, run_cli: Cli, tmp_path: Path
) -> None:
    front.select()
    position = int(np.flatnonzero(front.predict(TABLE))[0])
    ours = front.explain(position)
    theirs = json.loads(run_cli("explain", file, "--row", str(position + 1), "--json"))
    assert dict(ours) == theirs
    assert str(ours).splitlines()[0] in run_cli("explain", file, "--row", str(position + 1))
    person = rows.iloc[position]
    for somebody in (person, person.to_dict(), rows.iloc[[position]], pl.from_pandas(rows.iloc[[position]])):
        assert front.explain(somebody)["suggestion"] == ours["suggestion"]
    assert front.explain(position, point=0)["point"] != ours["point"]
    with pytest.warns(SogarWarning) as told:
        letter = ours.letter(tmp_path / "letter.html", to="You & <3")
    assert any("whom to contact" in str(warning.message) for warning in told)
    assert "You &amp; &lt;3" in letter
    assert (tmp_path / "letter.html").read_text(encoding="utf-8") == letter


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (1000, "the table has no position 1000"),
        (-1001, "the table has no position -1001"),
        ({"age": 3}, "the person lacks"),
        ("somebody", "a str is not a person"),
        (3.5, "a float is not a person"),
    ],
)
def test_people_who_are_none_are_refused(front: Sogar, row: Any, message: str) -> None:
    with pytest.raises((ArgumentError, DataError)) as caught:
        front.explain(row)
    assert message in str(caught.value)


def test_a_report_is_written_with_and_without_people(front: Sogar, tmp_path: Path) -> None:
    path = front.report(
        tmp_path / "report.html", groups=["status_sex"], title="A <title>", by=["knee"], draws=50
    )
    page = path.read_text(encoding="utf-8")
    assert "A &lt;title&gt;" in page
    assert "status_sex" in page
    alone = Sogar.from_json(front.to_json() or "")
    assert alone.report(tmp_path / "alone.html").stat().st_size > 10_000
    with pytest.raises(ArgumentError, match="loaded without its model"):
        alone.report(tmp_path / "people.html", groups=["status_sex"])
    assert not (tmp_path / "people.html").exists()
    with pytest.raises(OSError, match="no folder"):
        front.report(tmp_path / "no folder" / "report.html")


def test_scans_measures_and_bias_audits_are_those_of_the_command_line(
    front: Sogar, file: Path, run_cli: Cli, tmp_path: Path
) -> None:
    scan = {"features": ["housing", "job"], "max_terms": 2, "measure": "loss", "permutations": 49}
    found = front.audit("housing", measures=["reached(0.2)", "ks"], scan=scan, draws=0)
    flags = ["--scan", "housing,job", "--max-terms", "2", "--scan-measure", "loss", "--permutations", "49"]
    flags += ["--group", "housing", "--measure", "reached(0.2)", "--measure", "ks", "--draws", "0"]
    said = json.loads(run_cli("audit", file, *flags, "--json"))
    assert found["scan"] == said["scan"]
    assert found["reference"] == said["reference"]
    table = front.bias_audit(["housing", "job"], source="UCI", path=tmp_path / "bias.md")
    assert [part["name"] for part in table["tables"]] == [
        "housing",
        "job",
        "housing\N{MULTIPLICATION SIGN}job",
    ]
    assert "UCI" in (tmp_path / "bias.md").read_text(encoding="utf-8")
    page = front.report(tmp_path / "report.html", groups="housing", scan=scan, draws=0)
    assert '"scan":{"features":["housing","job"]' in page.read_text(encoding="utf-8")


def test_bad_settings_of_scans_are_refused(front: Sogar) -> None:
    with pytest.raises(ArgumentError, match="no setting 'depth'"):
        front.audit("housing", scan={"features": ["job"], "depth": 2})
    with pytest.raises(ArgumentError, match="negative"):
        front.audit("housing", scan={"features": ["job"], "max_terms": -1})
    with pytest.raises(ArgumentError, match="no rate"):
        front.bias_audit("housing", rate="hiring")
    with pytest.raises(ArgumentError, match="there is no column or feature"):
        front.audit("housing", scan="jobb")


def test_a_report_can_be_filed(front: Sogar, file: Path, run_cli: Cli, tmp_path: Path) -> None:
    for kind in ("static", "md"):
        ours = front.report(tmp_path / f"ours.{kind}", groups=["status_sex"], draws=50, format=kind)
        flags = [
            "--group",
            "status_sex",
            "--draws",
            "50",
            "--format",
            kind,
            "-o",
            tmp_path / f"theirs.{kind}",
        ]
        run_cli("report", file, *flags)
        found, wanted = (path.read_text(encoding="utf-8") for path in (ours, tmp_path / f"theirs.{kind}"))
        assert "<script" not in found
        table = "| female : divorced/separated/married | 310 |" if kind == "md" else ">Sign-off</h2>"
        assert table in found
        assert found.count("marital status and sex") == wanted.count("marital status and sex") > 0
    with pytest.raises(ArgumentError, match="`pdf` is not a format of a report"):
        front.report(tmp_path / "report.pdf", format="pdf")
    assert not (tmp_path / "report.pdf").exists()


def test_errors_of_explanations_speak_python(front: Sogar) -> None:
    for none in (0, -1, 2.5):
        with pytest.raises(ArgumentError, match="is no number of reasons"):
            front.explain(1, reasons=none)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="messages=FILE"):
        front.explain(int(np.flatnonzero(front.predict(TABLE))[0])).letter(language="fr")

"""A table that nobody has prepared: what is asked, what is warned of, what is left alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sogar
from sklearn.linear_model import LogisticRegression
from sogar import ConfigError, OutputError, Sogar, SogarWarning

SMALL: dict[str, Any] = {"max_depth": 1, "max_edits": 1, "bins": 5, "progress": False}


@pytest.fixture
def strangers() -> pd.DataFrame:
    """People with an id, an age and a label among their columns."""
    draw = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "customer_id": draw.permutation(5000)[:300],
            "age": draw.integers(18, 70, 300),
            "income": draw.integers(10, 90, 300),
            "signup": [f"2021-03-{row % 28 + 1:02}" for row in range(300)],
        }
    )
    table["repaid_in_time"] = np.where(table["income"] + draw.normal(0, 5, 300) > 45, 1, 0)
    return table


def granted(rows: pd.DataFrame) -> Any:
    return (rows["income"] > 45).to_numpy()


def texts_of(fit: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(warning.message) for warning in caught if warning.category is SogarWarning]


def test_what_nobody_has_decided_is_warned_of(strangers: pd.DataFrame) -> None:
    people = strangers[["age", "income"]]
    texts = texts_of(lambda: Sogar(**SMALL).fit(people, granted))
    assert len(texts) == 2
    assert "nothing says which outcome people hope for: `1` is assumed" in texts[0]
    assert 'Say desired="1" if that is right, and desired="0" if `0` is the good outcome' in texts[0]
    assert 'protected=["age"] stops that' in texts[1]
    assert texts_of(lambda: Sogar(**SMALL, protected=["age"]).fit(people, granted, desired=1)) == []
    meant = {"age": {"protected": False}}
    assert texts_of(lambda: Sogar(**SMALL, features=meant).fit(people, granted, desired=1)) == []


def test_a_protected_feature_is_neither_changed_nor_split_on(strangers: pd.DataFrame) -> None:
    people = strangers[["age", "income"]]
    front = Sogar(**SMALL, protected=["age"]).fit(
        people, lambda rows: rows["age"] + rows["income"] > 80, desired=1
    )
    assert "age" not in " ".join(front.actions_["text"])
    assert all("age" not in str(front.select(point).rules) for point in range(len(front.front_)))
    with pytest.raises(ConfigError, match="neither changed nor split on, but direction is set"):
        Sogar(**SMALL, protected=["age"], directions={"age": "increase"}).fit(people, granted, desired=1)


def test_text_classes_raise_a_question_unless_one_has_a_good_name(strangers: pd.DataFrame) -> None:
    people = strangers[["income"]]

    def model(no: str, yes: str) -> Callable[[pd.DataFrame], Any]:
        return lambda rows: np.where(granted(rows), yes, no)

    with pytest.raises(ConfigError, match="nothing says which of them people hope for") as caught:
        Sogar(**SMALL).fit(people, model("low", "up"))
    assert "`low`, `up`" in str(caught.value)
    assert "command line" not in str(caught.value)
    assert Sogar(**SMALL).fit(people, model("low", "up"), desired="up").desired_ == ["up"]
    with pytest.raises(ConfigError, match="nothing says which of them people hope for"):
        Sogar(**SMALL).fit(people, model("no", "yes"))
    for no, yes in [("rejected", "approved"), ("bad", "good")]:
        assert Sogar(**SMALL).fit(people, model(no, yes)).desired_ == [yes]


def test_results_name_the_outcome(strangers: pd.DataFrame) -> None:
    front = Sogar(**SMALL).fit(strangers[["income"]], granted, desired=1)
    have = int(granted(strangers).sum())
    said = f"People hope for `1`: {have} of 300 have it, {300 - have} are turned down"
    assert said in repr(front)
    assert said in repr(front.summary_)
    assert said in str(front.summary_)
    assert said in front.summary_._repr_html_()
    assert eval(repr(front), {"Sogar": Sogar}).get_params() == front.get_params()


def test_ids_and_dates_are_left_alone(strangers: pd.DataFrame) -> None:
    people = strangers.drop(columns=["repaid_in_time", "age"])
    front = Sogar(**SMALL).fit(people, granted, desired=1)
    assert any("`customer_id` looks like an id" in notice for notice in front.notices_)
    assert any("`signup` looks like a date" in notice for notice in front.notices_)
    assert {edit["feature"] for rule in front.summary_.rules for edit in rule["action"]["edits"]} <= {
        "income"
    }
    asked = Sogar(**SMALL, features={"customer_id": {"split": True}}).fit(people, granted, desired=1)
    assert any("`customer_id` looks like an id: it is not changed" in notice for notice in asked.notices_)


@pytest.mark.parametrize("kind", ["pandas", "zoned", "objects", "polars", "polars zoned", "pyarrow"])
def test_dates_of_every_library_are_left_alone(strangers: pd.DataFrame, kind: str) -> None:
    people = strangers[["income"]]
    days = pd.Series(pd.date_range("2021-03-01", periods=len(people), freq="36h"))
    if kind.endswith("zoned"):
        days = days.dt.tz_localize("Europe/Paris", ambiguous="NaT")
    table: Any = people.assign(opened=days.dt.date if kind == "objects" else days)
    if kind.startswith("polars"):
        table = pl.from_pandas(table)
    if kind == "pyarrow":
        table = pa.Table.from_pandas(table)

    def rich(rows: Any) -> Any:
        return np.asarray(rows["income"]) > 45

    front = Sogar(**SMALL).fit(table, rich, desired=1)
    assert any("`opened` looks like a date" in notice for notice in front.notices_)
    plain = Sogar(**SMALL).fit(people, rich, desired=1)
    costs = [np.asarray(estimator.front_["cost_sum"]).tolist() for estimator in (front, plain)]
    assert costs[0] == costs[1]
    assert len(front.transform(table)) == len(people)


@pytest.mark.parametrize("names", [[0, 1], ["bad", "good"], ["up", "down"]])
def test_a_label_left_among_the_features_is_known_by_its_values(
    strangers: pd.DataFrame, names: list[Any]
) -> None:
    model = LogisticRegression().fit(strangers[["age", "income"]], strangers["repaid_in_time"])
    flags = np.random.default_rng(1).integers(0, 2, len(strangers))
    people = strangers.drop(columns="repaid_in_time")
    people = people.assign(tag=[names[kept] for kept in strangers["repaid_in_time"]], other=flags)
    front = Sogar(**SMALL, protected=["age"]).fit(people, model, desired=1)
    assert any("`tag` looks like the label" in notice for notice in front.notices_)
    assert not any("`other` looks like" in notice for notice in front.notices_)
    assert all(test["feature"] != "tag" for rule in front.summary_.rules for test in rule["if"])


def test_values_that_look_like_codes_are_pointed_out_until_somebody_decides(strangers: pd.DataFrame) -> None:
    people = strangers[["income"]].copy()
    people.loc[:20, "income"] = -9

    def said(features: dict[str, Any]) -> list[str]:
        front = Sogar(**SMALL, features=features).fit(people, granted, desired=1)
        return [notice for notice in front.notices_ if "looks like a special code" in notice]

    assert said({}) == [
        "the value -9 of `income` looks like a special code, not an amount: `codes = [-9]` keeps advice "
        "away from it, `codes = []` says that it is an amount"
    ]
    assert said({"income": {"codes": [-9]}}) == []
    assert said({"income": {"codes": []}}) == []


def test_a_starting_file_asks_and_then_works(strangers: pd.DataFrame, tmp_path: Path) -> None:
    model = LogisticRegression().fit(strangers[["age", "income"]], strangers["repaid_in_time"])
    path = tmp_path / "sogar.toml"
    text = sogar.init_config(strangers, model, path=path)
    assert path.read_text(encoding="utf-8") == text
    assert 'label = "repaid_in_time"  # a guess: the model says the same in ' in text
    assert "protected = true  # a person's age" in text
    for name in ("customer_id", "signup"):
        assert f'  "{name}",  # ' in text
    assert 'desired = ["1"]  # a guess from the name: ' in text
    texts = texts_of(lambda: Sogar(config=path, progress=False).fit(strangers, model))
    assert texts == []
    with pytest.raises(OutputError, match="exists already"):
        sogar.init_config(strangers, model, path=path)
    turned = strangers.rename(columns={"repaid_in_time": "defaulted"})
    asking = sogar.init_config(turned, model)
    assert '# desired = ["0"]  # ' in asking
    assert '# desired = ["1"]  # ' in asking
    assert "`defaulted` sounds like something that nobody hopes for" in asking


def test_labels_that_contradict_the_model_are_warned_of(strangers: pd.DataFrame, tmp_path: Path) -> None:
    people = strangers[["age", "income"]]
    front = Sogar(**SMALL, protected=["age"]).fit(people, granted, desired=1)
    wrong = 1 - strangers["repaid_in_time"]
    groups = pd.Series(np.arange(300) % 2, name="half")
    with pytest.warns(SogarWarning, match="The true labels contradict the model"):
        audit = front.audit(groups, wrong)
    assert audit["reference"]["agreement"] < 0.5
    with pytest.warns(SogarWarning, match="The true labels contradict the model"):
        front.report(tmp_path / "report.html", groups=groups, y=wrong)
    assert texts_of(lambda: front.audit(groups, strangers["repaid_in_time"])) == []

"""Principal reasons, letters, counterfactuals, and results where people work."""

from __future__ import annotations

import io
import itertools
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import sogar
import xgboost
from sklearn.ensemble import RandomForestClassifier
from sogar import ArgumentError, Sogar, SogarWarning, _native
from sogar._models import adapt
from sogar._tables import UserTable

PEOPLE = 10_000


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(7)
    rows = draw.normal(size=(PEOPLE, 8)).round(2)
    rows[draw.uniform(size=rows.shape) < 0.05] = np.nan
    filled = np.nan_to_num(rows)
    labels = filled[:, 0] + filled[:, 1] * filled[:, 2] - filled[:, 3] ** 2 + draw.normal(size=PEOPLE) > 0
    return rows, labels.astype(int)


def _lightgbm(rows: np.ndarray, labels: np.ndarray) -> tuple[Any, bytes, str]:
    booster = lightgbm.train(
        {"objective": "binary", "verbose": -1, "num_leaves": 31, "num_threads": 2},
        lightgbm.Dataset(rows, labels),
        num_boost_round=30,
    )
    return booster, booster.model_to_string().encode(), "model.txt"


def _xgboost(rows: np.ndarray, labels: np.ndarray) -> tuple[Any, bytes, str]:
    booster = xgboost.train(
        {"objective": "binary:logistic", "max_depth": 5, "nthread": 2}, xgboost.DMatrix(rows, labels), 20
    )
    return booster, bytes(booster.save_raw("json")), "model.json"


@pytest.mark.parametrize("trained", [_lightgbm, _xgboost], ids=["lightgbm", "xgboost"])
def test_contributions_are_those_of_shap_and_of_the_library(
    data: tuple[np.ndarray, np.ndarray], trained: Any
) -> None:
    rows, labels = data
    booster, written, name = trained(rows, labels)
    found = _native.Model.from_bytes(written, name).contributions(rows)
    assert np.abs(found[:, :-1] - _shap(booster, rows)).max() < 1e-6
    if trained is _lightgbm:
        assert np.abs(found - booster.predict(rows, pred_contrib=True)).max() < 1e-6
    else:
        # XGBoost adds in single precision.
        wanted = booster.predict(xgboost.DMatrix(rows), pred_contribs=True)
        assert np.abs(found - wanted).max() < 2e-6


def _shap(model: Any, rows: np.ndarray) -> np.ndarray:
    """Path-dependent values by shap's own code, which hands boosters to their libraries otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shap's own, about the libraries that it imports
        from shap import TreeExplainer

        explainer = TreeExplainer(model, feature_perturbation="tree_path_dependent")
        explainer.model.model_type = "internal"
        return np.asarray(explainer.shap_values(rows, check_additivity=False))


def test_contributions_to_a_forest_are_those_of_shap(data: tuple[np.ndarray, np.ndarray]) -> None:
    rows, labels = data
    rows = np.nan_to_num(rows)
    table = pd.DataFrame(rows, columns=list("abcdefgh"))
    forest = RandomForestClassifier(10, max_depth=6, random_state=0, n_jobs=2).fit(table, labels)
    adapted = adapt(forest, table, columns=list(table.columns))
    assert adapted.model_backend.startswith("native: ")
    found = adapted.build(UserTable(table).native("{}"), "{}").contributions(rows, 1)
    wanted = _shap(forest, rows)
    assert found.shape == (PEOPLE, 9)
    assert np.abs(found[:, :-1] - wanted[:, :, 1]).max() < 1e-6


def test_contributions_to_a_forest_are_those_of_the_definition(data: tuple[np.ndarray, np.ndarray]) -> None:
    rows, labels = data
    rows = np.nan_to_num(rows)
    table = pd.DataFrame(rows, columns=list("abcdefgh"))
    forest = RandomForestClassifier(20, max_depth=6, random_state=0, n_jobs=2).fit(table, labels)
    front = Sogar(max_depth=1, max_edits=1, bins=4).fit(table[:400], forest, desired=1)
    told = front.explain(int(np.flatnonzero(front._front.affected_rows())[0]))
    assert {reason["method"] for reason in told["reasons"]} == {"treeshap_path_dependent"}
    row = rows[told["person"]["row"] - 1]
    values = _by_definition(forest, row)
    for reason in told["reasons"]:
        # The margin of class 0 over class 1.
        assert reason["contribution"] == pytest.approx(values["abcdefgh".index(reason["feature"])], abs=1e-9)


@pytest.mark.parametrize("objective", ["binary:logistic", "binary:logitraw"])
def test_scores_are_probabilities_where_the_model_has_them(
    data: tuple[np.ndarray, np.ndarray], objective: str, tmp_path: Path
) -> None:
    rows, labels = data
    booster = xgboost.train({"objective": objective, "max_depth": 3}, xgboost.DMatrix(rows, labels), 10)
    booster.save_model(tmp_path / "model.json")
    front = Sogar(max_depth=1, max_edits=1, bins=4).fit(rows[:400], tmp_path / "model.json")
    position = int(np.flatnonzero(front._front.affected_rows())[0])
    told = front.explain(position)
    score = float(booster.predict(xgboost.DMatrix(rows[[position]]))[0])
    probable = objective == "binary:logistic"
    assert told["decision"]["score_is_probability"] == probable
    assert told["decision"]["score"] == pytest.approx(score, abs=1e-6)
    wanted = (
        f"the probability of 1 at {100 * score:.1f}" if probable else f"Its score is {score:.4f}".rstrip("0")
    )
    assert wanted in str(told)
    assert ("above 50 % it says 1" if probable else "above 0 it says 1") in str(told)


def _by_definition(forest: Any, row: np.ndarray) -> np.ndarray:
    """Shapley values over all sets of columns."""
    from itertools import combinations
    from math import factorial

    count = len(row)

    def expected(known: frozenset[int]) -> float:
        def below(tree: Any, node: int) -> float:
            left, right = tree.children_left[node], tree.children_right[node]
            if left < 0:
                return float(tree.value[node][0][0] - tree.value[node][0][1])
            if tree.feature[node] in known:
                went = np.float32(row[tree.feature[node]]) <= tree.threshold[node]
                return below(tree, left if went else right)
            share = tree.weighted_n_node_samples[left] / tree.weighted_n_node_samples[node]
            return float(share * below(tree, left) + (1 - share) * below(tree, right))

        return sum(below(tree.tree_, 0) for tree in forest.estimators_) / len(forest.estimators_)

    memo = {
        frozenset(known): expected(frozenset(known))
        for size in range(count + 1)
        for known in combinations(range(count), size)
    }
    return np.array(
        [
            sum(
                factorial(len(known))
                * factorial(count - len(known) - 1)
                / factorial(count)
                * (memo[known | {column}] - value)
                for known, value in memo.items()
                if column not in known
            )
            for column in range(count)
        ]
    )


@pytest.fixture(scope="module")
def fitted() -> tuple[pd.DataFrame, Any, Sogar]:
    draw = np.random.default_rng(3)
    people = pd.DataFrame(
        {
            "income": draw.integers(10, 90, 300) * 50,
            "debts": draw.integers(0, 6, 300),
            "job": draw.choice(["clerk", "nurse", "none"], 300),
        }
    )
    score = people["income"] / 1000 - people["debts"] / 3 + (people["job"] != "none")
    model = lightgbm.LGBMClassifier(n_estimators=10, min_child_samples=5, verbose=-1).fit(
        people.astype({"job": "category"}), np.where(score > 2.2, "granted", "refused")
    )
    front = Sogar(
        max_depth=2, max_edits=2, features={"income": {"display": "monthly income", "unit": "€"}}
    ).fit(people, model, desired="granted", attach=True)
    return people, model, front


def test_positions_are_those_of_pandas(fitted: tuple[pd.DataFrame, Any, Sogar]) -> None:
    people, _, front = fitted
    assert front.explain(-1)["person"]["row"] == 300
    assert dict(front.explain(people.iloc[5])) | {"person": 0} == dict(front.explain(5)) | {"person": 0}
    with pytest.raises(ArgumentError, match="no position 300"):
        front.explain(300)
    with pytest.raises(ArgumentError, match="no position -301"):
        front.explain(-301)


def test_a_series_is_one_row(fitted: tuple[pd.DataFrame, Any, Sogar]) -> None:
    people, _, front = fitted
    turned_down = int(np.flatnonzero(front._front.affected_rows())[0])
    for position in (0, turned_down):
        row, table = people.iloc[position], people.iloc[[position]]
        assert list(front.predict(row)) == list(front.predict(table))
        assert list(front.transform(row).iloc[0]) == list(front.transform(table).iloc[0])
    with pytest.raises(sogar.DataError, match="neither a table nor a row of one"):
        front.predict(people["income"])


def test_a_letter_says_what_it_lacks_and_refuses_what_it_does_not_know(
    fitted: tuple[pd.DataFrame, Any, Sogar], tmp_path: Path
) -> None:
    _people, _, front = fitted
    refused = int(np.flatnonzero(front._front.affected_rows())[0])
    told = front.explain(refused)
    with pytest.warns(SogarWarning) as lacking:
        page = told.letter(tmp_path / "letter.html", subject="your loan")
    assert any("whom to contact" in str(warning.message) for warning in lacking)
    assert page == (tmp_path / "letter.html").read_text(encoding="utf-8")
    assert "monthly income" in page.lower() or "income" not in page
    fields = dict.fromkeys(("model_role", "human_review", "review_by", "contact"), "x")
    german = told.letter(language="de", **fields)
    assert 'lang="de"' in german
    assert "(low)" not in german
    assert "(niedrig)" in german or "(hoch)" in german or "job" in german
    with pytest.raises(sogar.SogarError, match="`contct` is not a field"):
        told.letter(contct="x")
    with pytest.raises(sogar.SogarError, match="markup"):
        told.letter(**fields | {"contact": "<b>us</b>"})
    accepted = int(np.flatnonzero(~front._front.affected_rows())[0])
    with pytest.raises(sogar.SogarError, match="no adverse decision"):
        front.explain(accepted).letter(tmp_path / "other.html", **fields)
    assert not (tmp_path / "other.html").exists()
    codes = tmp_path / "codes.csv"
    codes.write_text("feature,direction,code,text\nincome,low,R1,Income too low\n", encoding="utf-8")
    coded = front.explain(refused, codes=codes)
    assert {reason["code"] for reason in coded["reasons"] if reason["feature"] == "income"} <= {"R1", None}


def test_counterfactuals_flip_with_the_model_itself(fitted: tuple[pd.DataFrame, Any, Sogar]) -> None:
    people, model, front = fitted
    rows = np.flatnonzero(front._front.affected_rows())[:40]
    found = front.counterfactuals(people.iloc[rows], k=2)
    assert len(found) == 40
    frame = found.to_frame()
    for (row, _), changes in frame.groupby(["row", "way"]):
        edited = people.loc[[row]].copy()
        for change in changes.itertuples():
            edited[change.feature] = [change.to]
        edited["job"] = pd.Categorical(edited["job"], categories=sorted(set(people["job"])))
        assert model.predict(edited)[0] == "granted"
    assert [ways and ways[0]["cost"] for ways in found] == [
        (front.explain(int(row))["cheapest"] or {}).get("cost", []) for row in rows
    ]
    assert "Counterfactuals of 40 people" in repr(found)
    assert "<table>" in found._repr_html_()
    assert front.counterfactuals([int(np.flatnonzero(~front._front.affected_rows())[0])])[0] == []
    with pytest.raises(ArgumentError, match="not a number of ways"):
        front.counterfactuals(k=0)
    for nobody in ("abc", [0.5], [True]):
        with pytest.raises(ArgumentError, match="neither a table nor a list of positions"):
            front.counterfactuals(nobody)
    # A series is one person, as for `explain`.
    person = people.iloc[rows[0]]
    assert front.counterfactuals(person, k=2)[0] == front.counterfactuals(dict(person), k=2)[0] == found[0]


def test_frames_text_and_html_of_audits_and_summaries(fitted: tuple[pd.DataFrame, Any, Sogar]) -> None:
    _, _, front = fitted
    audit = front.audit(["job"], unreachable=False, draws=20)
    frame = audit.to_frame()
    assert list(frame["group"]) == ["clerk", "none", "nurse"]
    assert frame["rows"].sum() == 300
    assert json.dumps(audit)
    assert "By job\n  group   turned down" in str(audit)
    assert "--label" not in str(audit)
    assert "<table>" in audit._repr_html_()
    summary = front.select("invalidity")
    assert summary.to_frame()["people"].sum() == front.n_affected_


def test_a_pickle_with_its_model_explains_people(fitted: tuple[pd.DataFrame, Any, Sogar]) -> None:
    _, _, front = fitted
    again = pickle.loads(pickle.dumps(front))
    refused = int(np.flatnonzero(front._front.affected_rows())[0])
    assert dict(again.explain(refused)) == dict(front.explain(refused))


def test_the_notebook_view_is_a_sandboxed_frame(fitted: tuple[pd.DataFrame, Any, Sogar]) -> None:
    _, _, front = fitted
    view = front.show(groups=["job"], draws=20, unreachable=False)
    page = view._repr_html_()
    assert page.startswith("<iframe")
    assert 'sandbox="allow-scripts allow-downloads"' in page
    assert "&lt;script" in page
    assert "<script" not in page
    assert "Everybody" in repr(view)


def test_data_sets_have_licences(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    german = sogar.datasets.load_german()
    assert german.X.shape == (1000, 20)
    assert german.licence == "CC BY 4.0"
    assert german.frame.shape == (1000, 21)
    (tmp_path / "bank.csv").write_text("age,y\n30,yes\n40,no\n", encoding="utf-8")
    monkeypatch.setenv("SOGAR_DATA", str(tmp_path))
    assert list(sogar.datasets.load_bank().y) == ["yes", "no"]
    monkeypatch.setenv("SOGAR_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("SOGAR_CACHE", str(tmp_path / "nowhere"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(ArgumentError, match="sogar data fetch attrition"):
        sogar.datasets.load_attrition()


def _german() -> Sogar:
    example = Path(__file__).parents[2] / "examples" / "german"
    table, model, settings = (example / name for name in ("german.csv", "model.txt", "sogar.toml"))
    return Sogar(config=settings).fit(table, str(model))


def test_printed_audits_have_display_names_and_frames_the_names_of_columns() -> None:
    import matplotlib.pyplot as plt

    front = _german()
    audit = front.audit(["age>=40"], draws=0, unreachable=False)
    assert "By age >= 40 years" in str(audit)
    assert "age < 40 years" in str(audit)
    assert "age >= 40" in set(audit.to_frame()["group"])
    axis = sogar.plot_disparity(audit, front.front_, grouping="age>=40", gap=False)
    legend = axis.get_legend()
    assert legend is not None
    assert any(text.get_text().startswith("age >= 40 years") for text in legend.get_texts())
    plt.close("all")


@pytest.mark.parametrize("size", [(10, 8), (8, 6)])
def test_a_tree_fits_into_a_subplot(size: tuple[int, int]) -> None:
    import matplotlib.pyplot as plt

    front = _german()
    summary = next(front.select(point) for point in range(270, 0, -1) if front.select(point).leaves == 6)
    figure, axes = plt.subplots(2, 2, figsize=size)
    axis = summary.plot(ax=axes[0, 1])
    figure.savefig(io.BytesIO(), format="png")
    # Leaves have numbers, and their texts stand below the tree.
    numbers = [text.get_text() for text in axis.texts if text.get_text().isdigit()]
    assert sorted(numbers) == list("123456")
    key = axis.texts[-1].get_text()
    assert all(f"{number}  " in key for number in numbers)
    assert key.count("cost\N{NO-BREAK SPACE}0.") == 6
    # Long names of values are cut between words.
    assert "“... >= 200 DM / …”" in key
    # Letters that can be read, inside of the subplot, and no box on another.
    answers = ("yes", "no")
    written = [text for text in axis.texts if text.get_text() not in answers]
    assert min(float(text.get_fontsize()) for text in written) >= 0.55 * size[0]
    place = axis.get_window_extent()
    boxes = [text.get_window_extent() for text in written]
    assert all(place.y0 - 2 <= box.y0 and box.y1 <= place.y1 + 2 for box in boxes)
    assert all(place.x0 - 2 <= box.x0 and box.x1 <= place.x1 + 2 for box in boxes)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    plt.close(figure)

"""`Sogar` as an estimator: scikit-learn's conventions one by one, and what a fitted one can do."""

from __future__ import annotations

import json
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from sogar import (
    ArgumentError,
    ConfigError,
    DataError,
    ModelError,
    PopulationError,
    ResultFileError,
    Sogar,
    SogarWarning,
)

Decide = Callable[[Any], Any]
SMALL: dict[str, Any] = {"max_depth": 1, "max_edits": 1, "bins": 5, "progress": False}


@pytest.fixture
def fitted(people: pd.DataFrame, decide: Decide) -> Sogar:
    """An estimator that is fitted to the small example."""
    return Sogar(**SMALL).fit(people, decide)


# Parameters ----------------------------------------------------------------------


def test_the_constructor_only_stores() -> None:
    immutable = ["age"]
    anything: Any = "no number at all"
    estimator = Sogar(max_depth=anything, immutable=immutable)
    assert estimator.max_depth is anything
    assert estimator.immutable is immutable
    assert [name for name in vars(estimator) if name.endswith("_")] == []


def test_parameters_are_read_and_set_by_name() -> None:
    estimator = Sogar(max_depth=2)
    params = estimator.get_params()
    assert params["max_depth"] == 2
    assert (params["min_leaf"], params["max_edits"], params["bins"], params["cost"]) == (
        50,
        None,
        "auto",
        "mps",
    )
    assert estimator.set_params(max_depth=1, immutable=["sex"]) is estimator
    assert (estimator.max_depth, estimator.immutable) == (1, ["sex"])
    with pytest.raises(ValueError, match="`depth` is not a parameter"):
        estimator.set_params(depth=3)


def test_clone_copies_parameters_and_nothing_else(fitted: Sogar) -> None:
    fitted.set_params(directions={"income": "increase"}, immutable=("city",))
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "status_")


def test_repr_names_what_is_not_a_default() -> None:
    assert repr(Sogar()) == "Sogar()"
    assert repr(Sogar(max_depth=2, immutable=["age"])) == "Sogar(immutable=['age'], max_depth=2)"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_depth": -1}, "-1"),
        ({"max_depth": 11}, "max_depth"),
        ({"max_depth": 2.5}, "2.5"),
        ({"min_leaf": 100_000}, "min_leaf is 100000"),
        ({"cost": "cheap"}, '"cheap" is not possible here'),
        ({"bins": "many"}, "bins"),
        ({"bins": 0}, "bins"),
        ({"immutable": ["incom"]}, "did you mean `income`"),
        ({"immutable": 3}, "`immutable` must be a list"),
        ({"directions": ["income"]}, "`directions` must be a dictionary"),
        ({"directions": {"income": "up"}}, '"up" is not possible here'),
        ({"features": {"income": {"imutable": True}}}, "did you mean `immutable`"),
        ({"ranges": {"debt": (float("nan"), 1)}}, "not a number"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"random_state": "x"}, "random_state is 'x'"),
        ({"preset": "nothing"}, "nothing"),
        ({"preset": "paper-german", "config": {}}, "both `config` and `preset`"),
        ({"config": {"limit": {}}}, "did you mean `limits`"),
        ({"config": "no-such.toml"}, "no such file"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"memory_limit": "a lot"}, "a lot"),
        ({"device": "cuda"}, "`cuda` is not a device"),
        ({"kinds": {"city": "integer"}}, "row 1, column `city`: `Rome` is not a number"),
        ({"rules": ["income <= wealth"]}, "wealth"),
        ({"label": "class"}, "there is no column `class`"),
    ],
)
def test_wrong_parameters_are_value_errors_with_a_remedy(
    people: pd.DataFrame, decide: Decide, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is looked at below
        Sogar(**{**SMALL, **params}).fit(people, decide)
    assert message in str(caught.value)


# Fitting -------------------------------------------------------------------------


def test_fit_gives_itself_and_attributes(fitted: Sogar, people: pd.DataFrame, decide: Decide) -> None:
    assert fitted.status_ == "complete"
    assert fitted.n_affected_ == int((~decide(people)).sum())
    assert fitted.feature_names_in_.tolist() == list(people.columns)
    assert fitted.n_features_in_ == 5
    assert fitted.model_backend_ == "callback: function decide"
    front = fitted.front_
    assert isinstance(front, pd.DataFrame)
    assert front["cost"].is_monotonic_increasing
    assert front["loss"].is_monotonic_decreasing
    np.testing.assert_allclose(front["cost"] + front["loss"], front["invalidity"])
    assert fitted.actions_["text"].tolist()[0] == "No change"
    assert set(fitted.actions_) == {"id", "text", "flipped", "edits"}


def test_fit_twice_gives_the_same_and_leaves_inputs_alone(people: pd.DataFrame, decide: Decide) -> None:
    before = people.copy(deep=True)
    estimator = Sogar(**SMALL)
    first = outside_run(estimator.fit(people, decide))
    assert outside_run(estimator.fit(people, decide)) == first
    estimator.transform(people)
    pd.testing.assert_frame_equal(people, before)


def test_a_fit_that_fails_leaves_the_earlier_one(fitted: Sogar, people: pd.DataFrame) -> None:
    before = fitted.to_json()
    with pytest.raises(PopulationError, match="turns nobody down"):
        fitted.fit(people, lambda rows: np.where(np.arange(len(rows)) >= 0, 0.9, 0.1))
    assert fitted.to_json() == before


def test_frames_of_all_kinds_give_the_same_front(people: pd.DataFrame) -> None:
    numbers = people[["income", "debt"]]

    def decide(rows: Any) -> Any:
        array = (
            rows.to_numpy()
            if hasattr(rows, "to_numpy")
            else np.column_stack([rows[name] for name in rows.column_names])
        )
        return array[:, 0] - array[:, 1] > 30

    tables: dict[str, Any] = {
        "pandas": numbers,
        "polars": pl.from_pandas(numbers),
        "pyarrow": pa.Table.from_pandas(numbers),
    }
    fronts = {}
    for kind, table in tables.items():
        estimator = Sogar(**SMALL).fit(table, decide)
        assert type(estimator.front_).__module__.split(".")[0] == kind
        assert type(estimator.transform(table)) is type(table)
        fronts[kind] = points(estimator)
    array = numbers.to_numpy()
    estimator = Sogar(**SMALL).fit(array, lambda rows: rows[:, 0] - rows[:, 1] > 30)
    assert isinstance(estimator.transform(array), np.ndarray)
    assert fronts["pandas"] == fronts["polars"] == fronts["pyarrow"] == points(estimator)


def test_ordered_categories_become_ordinals(people: pd.DataFrame, decide: Decide, fitted: Sogar) -> None:
    features = json.loads(fitted.to_json() or "")["features"]
    kinds = {feature["name"]: (feature["kind"], feature.get("levels")) for feature in features}
    assert kinds["grade"] == ("ordinal", ["low", "mid", "high"])
    assert kinds["city"] == ("categorical", ["Lima", "Oslo", "Rome"])
    assert kinds["owner"] == ("binary", ["false", "true"])
    enum = pl.from_pandas(people).with_columns(pl.col("grade").cast(pl.Enum(["low", "mid", "high"])))
    other = Sogar(**SMALL).fit(
        enum, lambda rows: decide(rows.to_pandas().astype({"grade": people["grade"].dtype}))
    )
    assert points(other) == points(fitted)


def test_a_configuration_lies_below_the_parameters(
    people: pd.DataFrame, decide: Decide, tmp_path: Path
) -> None:
    file = tmp_path / "sogar.toml"
    file.write_text(
        "[limits]\nmax_depth = 2\nmax_edits = 1\n[features.city]\nimmutable = true\n", encoding="utf-8"
    )
    estimator = Sogar(config=file, max_depth=1, immutable=["grade"], progress=False).fit(people, decide)
    config = json.loads(estimator.to_json() or "")["config"]
    assert config["limits"] == {"max_depth": 1, "max_edits": 1}
    assert config["bins"] == 10, "where there is a configuration, its defaults count"
    assert {
        name: setting["immutable"] for name, setting in config["features"].items() if "immutable" in setting
    } == {
        "city": True,
        "grade": True,
    }


def test_desired_names_a_class(people: pd.DataFrame, decide: Decide) -> None:
    def words(rows: pd.DataFrame) -> Any:
        return np.where(decide(rows), "granted", "denied")

    granted = Sogar(**SMALL).fit(people, words, desired="granted")
    assert points(granted) == points(Sogar(**SMALL).fit(people, decide))
    assert granted.classes_.tolist() == ["denied", "granted"]
    denied = Sogar(**SMALL).fit(people, words, desired=["denied"])
    assert denied.n_affected_ == len(people) - granted.n_affected_
    with pytest.raises(ConfigError, match=r"`refused` is not in model\.classes"):
        Sogar(**SMALL).fit(people, words, desired="refused")


def test_a_sample_is_searched_and_everybody_evaluated(german: pd.DataFrame, booster: Any) -> None:
    estimator = Sogar(max_depth=1, max_edits=2, sample=150, progress=False).fit(german, booster)
    assert estimator.status_ == "complete_on_sample"


def test_a_time_limit_gives_a_partial_front_with_a_warning(german: pd.DataFrame, booster: Any) -> None:
    with pytest.warns(SogarWarning, match=r"stopped early \(time_limit\)"):
        estimator = Sogar(max_depth=4, min_leaf=5, time_limit=0.05, progress=False).fit(german, booster)
    assert estimator.status_ == "time_limit"
    assert len(estimator.front_) > 1


def test_estimators_are_safe_from_several_threads(people: pd.DataFrame, decide: Decide) -> None:
    fronts: list[Any] = []

    def work() -> None:
        fronts.append(points(Sogar(**SMALL).fit(people, decide)))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fronts) == 6
    assert all(front == fronts[0] for front in fronts)


# Using a fitted one --------------------------------------------------------------


@pytest.mark.parametrize(
    "method", ["predict", "transform", "score", "evaluate", "select", "to_json", "get_feature_names_out"]
)
def test_an_estimator_that_is_not_fitted_says_so(people: pd.DataFrame, method: str) -> None:
    call = getattr(Sogar(), method)
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        call(people) if method in ("predict", "transform", "score", "evaluate") else call()
    with pytest.raises(NotFittedError):
        check_is_fitted(Sogar())
    assert not hasattr(Sogar(), "front_")


def test_predict_names_actions_and_leaves_others_alone(
    fitted: Sogar, people: pd.DataFrame, decide: Decide
) -> None:
    ids = fitted.predict(people)
    accepted = decide(people)
    assert (ids[accepted] == 0).all()
    assert set(ids.tolist()) <= set(fitted.actions_["id"].tolist()) | {0}
    check_is_fitted(fitted)


def test_transform_does_what_the_front_says(fitted: Sogar, people: pd.DataFrame, decide: Decide) -> None:
    accepted = decide(people)
    for point in (0, len(fitted.front_) // 2, -1):
        summary = fitted.select(point)
        edited = fitted.transform(people)
        pd.testing.assert_frame_equal(edited[accepted], people[accepted])
        assert (edited.dtypes == people.dtypes).all()
        assert int((~decide(edited)).sum()) == summary.loss_count


def test_the_summary_that_was_selected_is_used(fitted: Sogar, people: pd.DataFrame) -> None:
    assert fitted.summary_.point == fitted.select().point, "the lowest invalidity is the default"
    assert fitted.select(0).cost == 0
    assert (fitted.predict(people) == 0).all()
    assert fitted.score(people) == pytest.approx(1 - fitted.front_["invalidity"].iloc[0])
    assert fitted.select("loss<=0.5").loss <= 0.5
    with pytest.raises(ArgumentError, match="no summary has loss<=0"):
        fitted.select("loss<=0")
    with pytest.raises(ArgumentError, match="is not a way to choose a point"):
        fitted.select("price")
    with pytest.raises(ArgumentError, match="the front has no point 9999"):
        fitted.select(9999)


def test_evaluating_on_the_reference_table_gives_the_front(fitted: Sogar, people: pd.DataFrame) -> None:
    found = fitted.evaluate(people)
    figures = ["cost", "loss", "invalidity", "cost_sum", "loss_count"]
    pd.testing.assert_frame_equal(found[figures], fitted.front_[figures])
    assert (found["works_low"] <= 1 - found["loss"]).all()
    assert (found["works_high"] >= 1 - found["loss"]).all()
    assert (found["band_low"] <= found["works_low"]).all()
    assert (found["band_high"] >= found["works_high"]).all()
    assert fitted.evaluation_["affected"] == fitted.n_affected_
    assert fitted.evaluation_["mean_distance"] == 0


def test_columns_are_found_by_name_and_missing_ones_are_named(fitted: Sogar, people: pd.DataFrame) -> None:
    turned = people[list(reversed(people.columns))]
    assert (fitted.predict(turned) == fitted.predict(people)).all()
    with pytest.raises(DataError, match="there is no column `debt`"):
        fitted.predict(people.drop(columns="debt"))
    with pytest.raises(ValueError, match="X has 2 features, but Sogar is expecting 5 features"):
        fitted.predict(np.zeros((3, 2)))


def test_names_at_one_time_and_none_at_the_other_are_noticed() -> None:
    array = np.random.default_rng(0).uniform(0, 1, (200, 2))
    named = Sogar(**SMALL).fit(
        pd.DataFrame(array, columns=["a", "b"]), lambda rows: rows.to_numpy().sum(axis=1) > 1
    )
    with pytest.warns(SogarWarning, match="does not have valid feature names"):
        assert len(named.predict(array)) == 200
    plain = Sogar(**SMALL).fit(array, lambda rows: rows.sum(axis=1) > 1)
    with pytest.raises(DataError, match="was fitted without feature names"):
        plain.predict(pd.DataFrame(array, columns=["a", "b"]))


def test_set_output_chooses_the_kind_of_frame(fitted: Sogar, people: pd.DataFrame) -> None:
    assert fitted.set_output(transform="polars") is fitted
    edited = fitted.transform(people)
    assert isinstance(edited, pl.DataFrame)
    assert isinstance(fitted.set_output(transform="default").transform(people), pd.DataFrame)
    array = people[["income", "debt"]].to_numpy()
    plain = Sogar(**SMALL).fit(array, lambda rows: rows[:, 0] - rows[:, 1] > 30)
    assert list(plain.set_output(transform="pandas").transform(array)) == ["x0", "x1"]
    plain.set_output(transform="default")
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(plain.transform(array), pd.DataFrame)
    with pytest.raises(ValueError, match="is not possible"):
        plain.set_output(transform="parquet")  # type: ignore[arg-type]
    assert fitted.get_feature_names_out().tolist() == list(people.columns)


# Keeping -------------------------------------------------------------------------


def test_pickling_keeps_the_data_and_never_the_model(
    fitted: Sogar, people: pd.DataFrame, decide: Decide
) -> None:
    fitted.select("knee")
    data = pickle.dumps(fitted)  # with the model, a function within a function, this would fail
    copy = pickle.loads(data)
    assert copy.to_json() == fitted.to_json()
    assert copy.summary_ == fitted.summary_
    assert copy.get_params() == fitted.get_params()
    pd.testing.assert_frame_equal(copy.front_, fitted.front_)
    with pytest.raises(ArgumentError, match="loaded without its model"):
        copy.predict(people)
    assert (copy.attach(people, decide).predict(people) == fitted.predict(people)).all()


def test_json_is_read_back_and_tied_to_table_and_model(
    fitted: Sogar, people: pd.DataFrame, decide: Decide, tmp_path: Path
) -> None:
    file = tmp_path / "front.json"
    fitted.to_json(file)
    assert file.read_text(encoding="utf-8") == fitted.to_json()
    for source in (file, str(file), fitted.to_json() or "", file.read_bytes()):
        assert Sogar.from_json(source).to_json() == fitted.to_json()
    loaded = Sogar.from_json(file, people, decide)
    assert (loaded.predict(people) == fitted.predict(people)).all()
    with pytest.raises(ResultFileError, match="not the table"):
        Sogar.from_json(file, people.assign(income=people["income"] + 1), decide)
    with pytest.raises((ResultFileError, ModelError), match="not the model"):
        Sogar.from_json(file, people, lambda rows: ~decide(rows))
    with pytest.raises(ResultFileError, match="not a result file"):
        Sogar.from_json('{"format": "other"}')
    with pytest.raises(ArgumentError, match="there is no such file"):
        Sogar.from_json(tmp_path / "none.json")
    with pytest.raises(OSError, match=r"front\.json"):
        fitted.to_json(tmp_path / "no folder" / "front.json")


def test_a_booster_and_its_file_are_the_same_model(german: pd.DataFrame, booster: Any) -> None:
    estimator = Sogar(max_depth=1, max_edits=1, bins=10, progress=False).fit(german, booster)
    assert estimator.model_backend_ == "native: LightGBM text"
    model = str(Path(__file__).parents[2] / "examples" / "german" / "model.txt")
    file = Sogar(max_depth=1, max_edits=1, bins=10, progress=False).fit(german, model)
    assert points(estimator) == points(file)


def points(estimator: Sogar) -> list[tuple[int, int]]:
    """Cost and loss of all points, in whole numbers."""
    document = json.loads(estimator.to_json() or "")
    return [(point["cost_sum"], point["loss_count"]) for point in document["points"]]


def outside_run(estimator: Sogar) -> dict[str, Any]:
    """The result without the block that may differ between runs."""
    document: dict[str, Any] = json.loads(estimator.to_json() or "")
    document.pop("run")
    return document


def test_nothing_is_imported_that_is_not_used() -> None:
    import subprocess

    code = """
import sys, sogar
heavy = "pandas", "matplotlib", "sklearn", "polars", "pyarrow", "tqdm"
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_columns_that_the_engine_cannot_hold_may_be_ignored(people: pd.DataFrame, decide: Decide) -> None:
    tags: Any = [["a"]] * len(people)
    dated = people.assign(when=pd.Timestamp("2026-01-01"), tags=tags)
    with pytest.raises(DataError, match="column `tags`"):
        Sogar(**SMALL).fit(dated, decide)
    aside = Sogar(ignore=["when", "tags"], **SMALL).fit(dated, decide)
    assert points(aside) == points(Sogar(**SMALL).fit(people, decide))
    assert list(aside.transform(dated)) == list(dated)
    numbers = pl.from_pandas(people[["income", "debt"]]).with_columns(when=pl.date(2026, 1, 1))

    def rich(rows: pl.DataFrame) -> Any:
        return (rows["income"] - rows["debt"] > 30).to_numpy()

    for table in (numbers, numbers.to_arrow()):
        estimator = Sogar(ignore=["when"], **SMALL)
        estimator.fit(
            table,
            lambda rows: rich(rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(pl.from_arrow(rows))),
        )
        assert estimator.transform(table).shape == table.shape


def test_a_file_and_a_function_go_together(people: pd.DataFrame, decide: Decide, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    people.to_csv(file, index=False)

    def from_file(rows: pd.DataFrame) -> Any:
        truth = rows["owner"].astype(str).str.lower() == "true"
        return decide(rows.assign(owner=truth, grade=rows["grade"].astype(people["grade"].dtype)))

    levels = {"grade": ["low", "mid", "high"]}
    estimator = Sogar(levels=levels, **SMALL).fit(file, from_file)
    assert points(estimator) == points(Sogar(**SMALL).fit(people, decide))


def test_one_of_several_classes_is_desired_by_number(people: pd.DataFrame, tmp_path: Path) -> None:
    import lightgbm

    numbers = people[["income", "debt"]]
    classes = np.digitize(people["income"], [35, 60])
    settings = {
        "objective": "multiclass",
        "num_class": 3,
        "verbosity": -1,
        "num_leaves": 4,
        "deterministic": True,
    }
    booster = lightgbm.train(settings, lightgbm.Dataset(numbers, classes), 5)
    file = tmp_path / "model.txt"
    booster.save_model(file)
    for model in (booster, file, file.read_bytes()):
        one = Sogar(**SMALL).fit(numbers, model, desired=1)
        two = Sogar(**SMALL).fit(numbers, model, desired=[1, 2])
        assert one.n_affected_ > two.n_affected_
        assert one.classes_.tolist() == ["0", "1", "2"]

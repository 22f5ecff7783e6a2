"""Black-box models: what answers mean, rows in the user's type of table, wrong answers as exceptions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sogar
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sogar._models import adapt
from sogar._models._black_box import BlackBox
from sogar._models._rows import Rows
from sogar._tables import UserTable
from test_models_native import NUMBERS, TREES, encoded, people

Array = np.ndarray[Any, Any]


def fitted(**options: Any) -> sogar.Sogar:
    """A small search that any model is quick with."""
    settings = {"max_depth": 1, "max_edits": 2, "bins": 5, "min_leaf": 20, "progress": False}
    return sogar.Sogar(**{**settings, **options})


def points(front: sogar.Sogar) -> list[tuple[int, int]]:
    """Cost and loss of all points, in whole numbers."""
    frame = pd.DataFrame(front.front_)
    return list(zip(frame["cost_sum"].tolist(), frame["loss_count"].tolist(), strict=True))


# What a function sees ------------------------------------------------------------


def test_a_function_and_the_model_itself_give_the_same_front() -> None:
    frame, accepted = people(250)
    model = make_pipeline(encoded(), RandomForestClassifier(7, random_state=0)).fit(frame, accepted)
    read = fitted().fit(frame, model)
    black_box = fitted().fit(frame, lambda rows: model.predict(rows))
    assert read.model_backend_ == "native: scikit-learn RandomForestClassifier behind ColumnTransformer"
    assert black_box.model_backend_ == "callback: function <lambda>"
    assert points(read) == points(black_box)
    scored = fitted(threshold=0.35).fit(frame, model)
    assert points(scored) == points(
        fitted(threshold=0.35).fit(frame, lambda rows: model.predict_proba(rows)[:, 1])
    )


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy"])
def test_rows_come_in_the_kind_of_the_table(kind: str) -> None:
    frame, _ = people(120)
    seen: list[Any] = []
    tables: dict[str, Any] = {
        "pandas": frame.astype({"job": "category", "debts": "Int64"}),
        "polars": pl.from_pandas(frame).with_columns(pl.col("job").cast(pl.Categorical)),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
        "numpy": frame[NUMBERS].to_numpy(),
    }
    table = tables[kind]

    def model(rows: Any) -> Array:
        seen.append(rows)
        column = rows[:, 0] if kind == "numpy" else rows["income"]
        return np.asarray(column, dtype=float) > 20_000

    fitted(max_edits=1).fit(table, model)
    assert len(seen) > 3
    for rows in seen:
        assert type(rows) is type(table)
        if kind == "pandas":
            assert rows.dtypes.to_dict() == table.dtypes.to_dict()
        elif kind == "polars":
            assert rows.schema == table.schema
        elif kind == "pyarrow":
            assert rows.schema.names == table.schema.names
            assert rows.schema.types == table.schema.types
        else:
            assert rows.dtype == table.dtype
            assert rows.shape[1] == 4


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy"])
def test_blocks_are_the_rows_that_the_engine_had(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, _ = people(60)
    frame["owner"] = frame["age"] % 2 == 0
    frame.loc[::5, "job"] = None
    tables = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
    }
    table: Any = frame[NUMBERS].to_numpy() if kind == "numpy" else tables[kind]
    names = NUMBERS if kind == "numpy" else list(frame.columns)
    adapted = adapt(lambda rows: np.arange(len(rows)) % 2, table, columns=names)
    kept: list[Any] = []
    rows = adapted.rows
    original = rows.block

    def block(*arguments: Any) -> Any:
        kept.append(original(*arguments))
        return kept[-1]

    monkeypatch.setattr(rows, "block", block)
    native = adapted.build(UserTable(table, names).native("{}"), "{}")
    native.predict(UserTable(table, names).native("{}"), "{}")
    if kind == "pandas":
        pd.testing.assert_frame_equal(kept[0], frame, check_dtype=True)
    elif kind == "numpy":
        np.testing.assert_array_equal(kept[0], table)
    else:
        assert kept[0].to_pandas().astype(object).equals(table.to_pandas().astype(object))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy"])
def test_texts_that_are_taken_for_numbers_stay_texts(kind: str) -> None:
    frame, _ = people(100)
    frame["code"] = frame["debts"].map({0: "1", 1: "02", 2: "3.0", 3: "4"})
    frame = frame[["code", "age"]]
    tables: dict[str, Any] = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "numpy": frame.to_numpy(dtype=object),
    }
    tables["pyarrow"] = pa.Table.from_pandas(frame, preserve_index=False)
    table = tables[kind]
    seen: set[Any] = set()

    def model(rows: Any) -> Array:
        codes, ages = (rows[:, 0], rows[:, 1]) if kind == "numpy" else (rows["code"], rows["age"])
        seen.update(np.asarray(codes).tolist())
        return np.asarray(ages, dtype=float) > 40

    names = {"pandas": "code", "polars": "code", "pyarrow": "code", "numpy": "x0"}
    fitted(max_edits=1, kinds={names[kind]: "numeric"}).fit(table, model)
    assert seen >= {"1", "02", "3.0", "4"}
    assert all(isinstance(code, str) for code in seen)


def test_columns_that_are_no_features_are_not_shown() -> None:
    frame, accepted = people(100)
    frame["accepted"] = accepted
    fitted(label="accepted", ignore=["city"]).fit(
        frame, lambda rows: rows["income"].to_numpy() > 20_000 * ("city" not in rows)
    )
    with pytest.raises(sogar.ModelError, match="KeyError"):
        fitted(label="accepted", ignore=["city"]).fit(frame, lambda rows: rows["accepted"])


# What answers mean ------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "answers", "labels"),
    [
        (lambda rows: rows[:, 0] > 1, "labels", [0, 0, 1, 1]),
        (lambda rows: (rows[:, 0] > 1).astype(float), "labels", [0, 0, 1, 1]),
        (lambda rows: rows[:, 0] / 4, "scores", [0, 0, 0, 1]),
        (lambda rows: (rows[:, 0] / 4).reshape(-1, 1), "scores", [0, 0, 0, 1]),
        (lambda rows: np.column_stack([2 - rows[:, 0], rows[:, 0] - 1.5]), "labels", [0, 0, 1, 1]),
        (lambda rows: np.where(rows[:, 0] > 1, "yes", "no"), "labels", [0, 0, 1, 1]),
        (lambda rows: np.where(rows[:, 0] > 1, "yes", "no").astype(object), "labels", [0, 0, 1, 1]),
        (lambda rows: ["a" if x < 1 else "b" if x < 3 else "c" for x in rows[:, 0]], "labels", [0, 1, 1, 2]),
        (
            lambda rows: np.column_stack([rows[:, 0] == 0, rows[:, 0] == 1, rows[:, 0] > 1]),
            "scores",
            [0, 1, 2, 2],
        ),
    ],
)
def test_answers_say_what_they_are(answer: Any, answers: str, labels: list[int]) -> None:
    rows = np.arange(4.0).reshape(-1, 1)
    black_box = BlackBox(answer)
    black_box.learn(rows)
    assert black_box.answers == answers
    assert black_box.labels(rows).tolist() == labels


def test_a_threshold_takes_the_score_of_the_second_class() -> None:
    rows = np.arange(4.0).reshape(-1, 1)
    black_box = BlackBox(lambda rows: np.column_stack([1 - rows[:, 0] / 4, rows[:, 0] / 4]), threshold=0.2)
    black_box.learn(rows)
    assert black_box.labels(rows).tolist() == [0, 1, 1, 1]


class Service:
    """Has nothing but `predict`."""

    def predict(self, rows: Array) -> Array:
        """Labels."""
        return (rows[:, 0] > 1).astype(int)


class Probabilities:
    """Has nothing but `predict_proba`."""

    def predict_proba(self, rows: Array) -> Array:
        """Probabilities of both classes."""
        return np.column_stack([rows[:, 0] <= 1, rows[:, 0] > 1]).astype(float)


@pytest.mark.parametrize(
    ("model", "how"), [(Service(), "predict of Service"), (Probabilities(), "predict_proba of Probabilities")]
)
def test_objects_that_answer(model: Any, how: str) -> None:
    rows = np.arange(4.0).reshape(-1, 1)
    adapted = adapt(model, rows, columns=["x"])
    assert adapted.model_backend == f"callback: {how}"
    assert adapted.labels(rows).tolist() == [0, 0, 1, 1]


# Wrong answers ------------------------------------------------------------


def unsteady() -> Any:
    """A model that answers something else each time."""
    draw = np.random.default_rng(0)
    return lambda rows: draw.random(len(rows)) > 0.5


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda rows: np.zeros(len(rows) + 1), r"function <lambda> gave 61 answers for 60 rows"),
        (lambda _: 1, "gave a single value for 60 rows"),
        (lambda rows: np.zeros((len(rows), 2, 2)), "gave an array of 3 dimensions"),
        (lambda rows: rows["salary"], "raised KeyError: 'salary'"),
        (lambda rows: np.where(rows["age"] > 40, np.nan, 0.3), "gave NaN for a score"),
        (lambda rows: np.zeros(len(rows)), "turns everybody down"),
        (lambda rows: np.full(len(rows), "no"), "predicts no for every row"),
        (unsteady(), "is not deterministic"),
        ("model.txt ", "model.txt"),
        (3, "a int is not a model"),
        (RandomForestClassifier, "RandomForestClassifier is a class, not a model"),
        (lambda rows: rows["age"], r"gives \d+ different numbers to 60 rows(.|\n)*set `threshold`"),
        (None, "a NoneType is not a model"),
        (object(), "neither predict nor predict_proba"),
    ],
)
def test_wrong_answers_are_clear_errors(model: Any, message: str) -> None:
    frame, _ = people(60)
    with pytest.raises(ValueError, match=message):
        fitted().fit(frame, model)


def test_an_unfitted_classifier_is_an_error() -> None:
    frame, _ = people(60)
    with pytest.raises(sogar.ModelError, match="NotFittedError"):
        fitted().fit(frame[NUMBERS], RandomForestClassifier())


def test_a_model_with_other_columns_is_an_error() -> None:
    frame, accepted = people(60)
    model = TREES["tree"].fit(frame[NUMBERS], accepted)
    with pytest.raises(ValueError, match="the model wants the column `share`"):
        fitted().fit(frame.drop(columns="share"), model)
    model = TREES["tree"].fit(frame[NUMBERS].to_numpy(), accepted)
    with pytest.raises(ValueError, match="fitted with 4 columns, but the table has 3 features"):
        fitted().fit(frame[NUMBERS[:3]].to_numpy(), model)


def test_a_model_that_fails_on_edited_rows_keeps_its_exception() -> None:
    frame, _ = people(200)
    most = len(frame)
    calls: list[int] = []

    def model(rows: Any) -> Array:
        calls.append(len(rows))
        if len(calls) > 8:
            raise ConnectionError("the service is gone")
        return np.asarray(rows["income"] > 20_000)

    with pytest.raises(sogar.ModelError, match="the service is gone") as caught:
        fitted(batch=most // 4).fit(frame, model)
    causes: list[type] = []
    error: BaseException | None = caught.value
    while error is not None:
        causes.append(type(error))
        error = error.__cause__
    assert ConnectionError in causes


def test_an_unknown_label_later_on_is_an_error() -> None:
    rows = np.arange(10.0).reshape(-1, 1)
    black_box = BlackBox(lambda rows: np.where(rows[:, 0] < 5, "a", "b"))
    black_box.learn(rows)
    black_box.model = None
    black_box._function = lambda rows: np.full(len(rows), "c")
    with pytest.raises(sogar.ModelError, match="gave the label 'c', which is none of its classes"):
        black_box.labels(rows)


def test_a_table_without_the_column_of_a_feature_is_an_error() -> None:
    with pytest.raises(sogar.DataError, match="no column `debt`"):
        Rows(np.zeros((2, 1)), ["income"], ["debt"])


def test_a_model_object_with_the_path_of_a_table(tmp_path: Path) -> None:
    frame, accepted = people(200)
    frame.to_csv(tmp_path / "people.csv", index=False)
    model = make_pipeline(encoded(), RandomForestClassifier(5, random_state=0)).fit(frame, accepted)
    read = fitted(max_edits=1).fit(tmp_path / "people.csv", model)
    assert read.model_backend_.startswith("native: ")
    assert points(read) == points(fitted(max_edits=1).fit(frame, model))
    black_box = fitted(max_edits=1).fit(tmp_path / "people.csv", lambda rows: model.predict(rows))
    assert points(black_box) == points(read)


HOSTILE = [
    "</script>",
    "a=b",
    "'\";--",
    "‮right to left",
    "🙂",
    "x" * 10_000,
    "=1+1",
    "\\N{NULL}",
    "nan ",
    "None",
]


@pytest.mark.parametrize("encoder", [OneHotEncoder(), OrdinalEncoder()], ids=repr)
def test_strange_names_are_names(encoder: Any) -> None:
    draw = np.random.default_rng(3)
    names = [HOSTILE[0], HOSTILE[5][:300], "a=b", "a"]
    frame = pd.DataFrame({name: draw.choice(HOSTILE, 300) for name in names[:2]})
    frame[names[2]], frame[names[3]] = draw.random(300), draw.choice(["b=c", "c"], 300)
    accepted = (frame[names[2]] + frame[names[0]].isin(HOSTILE[:5]) > 0.9).to_numpy().astype(int)
    texts = [names[0], names[1], names[3]]
    for classifier in (RandomForestClassifier(5, random_state=0), LogisticRegression()):
        model = make_pipeline(make_column_transformer((encoder, texts), remainder="passthrough"), classifier)
        front = fitted(max_edits=1).fit(frame, model.fit(frame, accepted))
        assert front.model_backend_.startswith("native: ")
        assert points(front) == points(
            fitted(max_edits=1).fit(frame, lambda rows, model=model: model.predict(rows))
        )


def test_a_slow_model_is_called_in_blocks_and_not_too_often() -> None:
    frame, _ = people(300)
    sizes: list[int] = []

    def model(rows: Any) -> Array:
        sizes.append(len(rows))
        return np.asarray(rows["income"] > 20_000)

    fitted(max_edits=1, batch=100).fit(frame, model)
    # A sample three times (what it answers, and whether it changes its mind), the table three times (all
    # labels, its own answers, the engine's question), and each different edited row once.
    edited = sum(sizes) - 3 * 100 - 3 * 300
    assert max(sizes) == 100
    assert 0 < edited < 300 * 60


def test_what_could_not_be_read_is_a_notice() -> None:
    frame, accepted = people(200)
    model = make_pipeline(FunctionTransformer(np.sqrt), RandomForestClassifier(3, random_state=0))
    front = fitted(max_edits=1).fit(frame[NUMBERS], model.fit(frame[NUMBERS], accepted))
    assert front.model_backend_ == "callback: predict of Pipeline"
    assert any("FunctionTransformer is not read" in notice for notice in front.notices_)

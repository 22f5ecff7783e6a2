"""Models that are read: what the engine says of a row is what the object says, wherever the row stands."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sogar import ModelError, SogarWarning
from sogar._models import Adapted, adapt
from sogar._tables import UserTable
from threadpoolctl import threadpool_limits

Frame = pd.DataFrame


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tiny models: threads that wait for each other would take most of the time."""
    with threadpool_limits(1):
        yield


def people(rows: int = 400, seed: int = 1) -> tuple[Frame, np.ndarray[Any, Any]]:
    """A table with numbers of all sizes, texts, and who is accepted."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": draw.lognormal(10, 1, rows),
            "age": draw.integers(18, 80, rows),
            "share": draw.random(rows),
            "job": draw.choice(["clerk", "driver", "smith, 2nd", "none"], rows),
            "city": draw.choice(
                ["Oslo", "Rome", "Łódź", "Bern", "Graz"], rows, p=[0.4, 0.3, 0.2, 0.07, 0.03]
            ),
            "debts": draw.integers(0, 4, rows),
        }
    )
    score = (
        np.log(frame["income"])
        - 0.02 * abs(frame["age"] - 45)
        + (frame["job"] == "clerk")
        - 0.4 * frame["debts"]
    )
    return frame, (score + draw.normal(0, 0.4, rows) > 9.2).to_numpy().astype(int)


def mixed(frame: Frame, seed: int) -> Frame:
    """The same columns, each in an order of its own: people who do not exist, with values that do."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame({name: frame[name].iloc[draw.permutation(len(frame))].array for name in frame})


def read(model: Any, frame: Any, names: list[str] | None = None, **options: Any) -> tuple[Adapted, Any]:
    """The adapter and the engine's model, which must have been read and not asked."""
    names = names if names is not None else list(frame.columns)
    adapted = adapt(model, frame, columns=names, **options)
    native = adapted.build(UserTable(frame).native("{}"), "{}")
    assert adapted.model_backend.startswith("native: "), (adapted.model_backend, adapted.notices)
    return adapted, native


def assert_same(model: Any, frame: Frame, **options: Any) -> None:
    """The engine and the object agree on the table and on mixed-up rows."""
    adapted, native = read(model, frame, **options)
    for seed in range(3):
        other = mixed(frame, seed)
        ours, _ = native.predict(UserTable(other).native("{}"), "{}")
        np.testing.assert_array_equal(ours, adapted.labels(other))


TEXTS = ["job", "city"]
NUMBERS = ["income", "age", "share", "debts"]


def encoded(encoder: Any = None, scaler: Any = "passthrough") -> Any:
    """Encoders for texts beside a scaler for numbers."""
    return make_column_transformer((encoder or OneHotEncoder(), TEXTS), (scaler, NUMBERS))


TREES = {
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(15, random_state=0),
    "extra trees": ExtraTreesClassifier(15, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=15, random_state=0),
    "boosting, exponential": GradientBoostingClassifier(n_estimators=9, loss="exponential", random_state=0),
    "boosting from zero": GradientBoostingClassifier(n_estimators=9, init="zero", random_state=0),
    "histograms": HistGradientBoostingClassifier(max_iter=15, random_state=0),
}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize(
    "scaler", ["passthrough", StandardScaler(), MinMaxScaler(clip=True), RobustScaler(), MaxAbsScaler()]
)
def test_trees_behind_encoders_and_scalers(name: str, scaler: Any) -> None:
    frame, accepted = people()
    assert_same(
        make_pipeline(encoded(OneHotEncoder(sparse_output=False), scaler), TREES[name]).fit(frame, accepted),
        frame,
    )


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(),
        OneHotEncoder(drop="first"),
        OneHotEncoder(min_frequency=50, handle_unknown="infrequent_if_exist"),
        OneHotEncoder(handle_unknown="ignore", max_categories=3),
        OrdinalEncoder(),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    ],
    ids=repr,
)
def test_options_of_encoders(encoder: Any) -> None:
    frame, accepted = people()
    assert_same(make_pipeline(encoded(encoder), TREES["forest"]).fit(frame, accepted), frame)


LAYERS = {
    "logistic": LogisticRegression(max_iter=2000),
    "ridge": RidgeClassifier(),
    "svm": LinearSVC(),
    "perceptron": Perceptron(),
    "sgd": SGDClassifier(random_state=0),
    "network": MLPClassifier((7, 5), max_iter=60, random_state=0),
    "tanh network": MLPClassifier((6,), activation="tanh", max_iter=60, random_state=0),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize(
    "encoder", [OneHotEncoder(), OneHotEncoder(drop="first"), OrdinalEncoder()], ids=repr
)
def test_linear_models_and_networks(name: str, encoder: Any) -> None:
    frame, accepted = people()
    assert_same(make_pipeline(encoded(encoder, StandardScaler()), LAYERS[name]).fit(frame, accepted), frame)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_several_classes() -> None:
    frame, accepted = people()
    classes = np.where(frame["age"] > 60, "old", np.where(accepted == 1, "yes", "no"))
    for model in [*TREES.values(), LAYERS["logistic"], LAYERS["network"]]:
        if "exponential" not in repr(model):
            adapted, _ = read(
                make_pipeline(encoded(scaler=StandardScaler()), model).fit(frame, classes), frame
            )
            assert adapted.class_names == ["no", "old", "yes"]
            assert_same(make_pipeline(encoded(scaler=StandardScaler()), model).fit(frame, classes), frame)


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
def test_thresholds_are_compared_with_probabilities(threshold: float) -> None:
    frame, accepted = people()
    for model in [
        TREES["forest"],
        TREES["boosting"],
        TREES["boosting, exponential"],
        TREES["histograms"],
        LAYERS["logistic"],
    ]:
        pipeline = make_pipeline(encoded(), model).fit(frame, accepted)
        native = read(pipeline, frame, threshold=threshold)[1]
        expected = pipeline.predict_proba(frame)[:, 1] > threshold
        np.testing.assert_array_equal(native.predict(UserTable(frame).native("{}"), "{}")[0], expected)
        assert_same(pipeline, frame, threshold=threshold)


@pytest.mark.parametrize("name", ["tree", "forest", "extra trees", "boosting", "histograms"])
@pytest.mark.parametrize("scaler", [None, StandardScaler(), MinMaxScaler((-3, 5))])
def test_values_at_thresholds(name: str, scaler: Any) -> None:
    """Values next to every threshold, in both precisions, go the way that scikit-learn sends them."""
    draw = np.random.default_rng(5)
    table = np.column_stack([draw.normal(0, 1, 300) * 10.0**power for power in (-3, 0, 4)])
    accepted = (table[:, 0] * 1000 + table[:, 1] + table[:, 2] / 1e4 + draw.normal(0, 0.3, 300) > 0).astype(
        int
    )
    parts = [part for part in (scaler, TREES[name]) if part is not None]
    model = make_pipeline(*parts).fit(table, accepted)
    names = ["small", "middle", "large"]
    adapted = adapt(model, table, columns=names)
    native = adapted.build(UserTable(table, names).native("{}"), "{}")
    assert adapted.model_backend.startswith("native: ")
    edges: list[Any] = []
    for column in range(3):
        for value in _thresholds(parts[-1], column)[:150]:
            if scaler is not None:
                line = np.zeros((1, 3))
                line[0, column] = value
                value = parts[0].inverse_transform(line)[0, column]
            single = np.float32(value)
            near = [
                value,
                float(single),
                float(np.nextafter(single, np.float32(9e9))),
                float(np.nextafter(single, np.float32(-9e9))),
            ]
            near += [np.nextafter(value, np.inf), np.nextafter(value, -np.inf)]
            for number in near:
                row = table[len(edges) % len(table)].copy()
                row[column] = number
                edges.append(row)
    rows = np.array(edges)
    ours, _ = native.predict(UserTable(rows, names).native("{}"), "{}")
    np.testing.assert_array_equal(ours, model.predict(rows))


def _thresholds(model: Any, column: int) -> list[float]:
    if isinstance(model, HistGradientBoostingClassifier):
        nodes = np.concatenate([tree.nodes for round_ in model._predictors for tree in round_])
        nodes = nodes[(nodes["is_leaf"] == 0) & (nodes["feature_idx"] == column)]
        return [float(value) for value in nodes["num_threshold"]]
    trees = [model] if isinstance(model, DecisionTreeClassifier) else np.ravel(model.estimators_)
    found = [tree.tree_.threshold[tree.tree_.feature == column] for tree in trees]
    return [float(value) for value in np.concatenate(found)]


def test_missing_numbers_go_where_the_trees_send_them() -> None:
    frame, accepted = people()
    frame.loc[::7, "income"] = np.nan
    frame.loc[::5, "share"] = np.nan
    for model in (TREES["forest"], TREES["tree"], TREES["histograms"]):
        assert_same(make_pipeline(encoded(), model).fit(frame, accepted), frame)
    imputed = make_pipeline(
        encoded(scaler=make_pipeline(SimpleImputer(strategy="median"), StandardScaler())), LAYERS["logistic"]
    )
    assert_same(imputed.fit(frame, accepted), frame)


def test_missing_texts_are_a_category() -> None:
    frame, accepted = people()
    frame.loc[::6, "job"] = None
    assert_same(make_pipeline(encoded(), TREES["forest"]).fit(frame, accepted), frame)
    filled = make_pipeline(
        encoded(make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())), TREES["forest"]
    )
    assert_same(filled.fit(frame, accepted), frame)


def test_encoded_numbers() -> None:
    frame, accepted = people()
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["debts", *TEXTS]), remainder="passthrough"
    )
    assert_same(make_pipeline(encoder, TREES["forest"]).fit(frame, accepted), frame)


def test_numbers_of_which_an_encoder_knows_all() -> None:
    frame, accepted = people()
    encoder = make_column_transformer((OneHotEncoder(), ["debts", *TEXTS]), remainder="passthrough")
    model = make_pipeline(encoder, TREES["forest"]).fit(frame, accepted)
    assert_same(model, frame)
    config = '{"features": {"debts": {"range": [0, 9]}}}'
    adapted = adapt(model, frame, columns=list(frame.columns))
    with pytest.warns(SogarWarning, match="its encoder refuses numbers that edits of `debts` may lead to"):
        adapted.build(UserTable(frame).native(config), config)
    assert adapted.model_backend == "callback: predict of Pipeline"


def test_pandas_categories_in_histogram_boosting() -> None:
    frame, accepted = people()
    frame = frame.astype({"job": "category", "city": "category"})
    frame.loc[::9, "city"] = np.nan
    assert_same(
        HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype").fit(frame, accepted),
        frame,
    )


def test_truth_values() -> None:
    frame, accepted = people()
    frame["owner"] = frame["age"] % 3 == 0
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), TEXTS), remainder="passthrough"), TREES["forest"]
    )
    assert_same(model.fit(frame, accepted), frame)


def test_arrays_and_searches_over_parameters() -> None:
    frame, accepted = people()
    numbers = frame[NUMBERS].to_numpy()
    search = GridSearchCV(RandomForestClassifier(5, random_state=0), {"max_depth": [2, 4]}, cv=2).fit(
        numbers, accepted
    )
    _, native = read(search, numbers, names=[f"x{i}" for i in range(4)])
    np.testing.assert_array_equal(
        native.predict(UserTable(numbers).native("{}"), "{}")[0], search.predict(numbers)
    )


def test_columns_in_another_order_and_columns_that_are_no_features() -> None:
    frame, accepted = people()
    model = make_pipeline(encoded(), TREES["forest"]).fit(frame, accepted)
    other = frame[[*reversed(frame.columns)]].assign(label=accepted)
    adapted = adapt(model, other, columns=list(other.columns), features=list(frame.columns))
    config = '{"data": {"label": "label"}}'
    native = adapted.build(UserTable(other).native(config), config)
    assert adapted.model_backend.startswith("native: ")
    np.testing.assert_array_equal(
        native.predict(UserTable(other).native(config), config)[0], model.predict(frame)
    )


@pytest.mark.parametrize("objective", ["binary", "multiclass"])
@pytest.mark.parametrize("categories", [False, True])
def test_lightgbm(objective: str, categories: bool) -> None:
    frame, accepted = people()
    if objective == "multiclass":
        accepted = np.where(frame["age"] > 60, 2, accepted)
    known = frame.astype(dict.fromkeys(TEXTS, "category")) if categories else frame[NUMBERS]
    model = lightgbm.LGBMClassifier(n_estimators=9, verbose=-1, n_jobs=1, random_state=0).fit(known, accepted)
    assert_same(model, known)
    if categories:
        read(model, frame)  # texts that are categories to the model
    if objective == "binary":
        assert_same(model.booster_, known)
        assert_same(model, known, threshold=0.3)


def test_lightgbm_behind_a_pipeline() -> None:
    frame, accepted = people()
    for booster in (
        lightgbm.LGBMClassifier(n_estimators=9, verbose=-1, n_jobs=1),
        xgboost.XGBClassifier(n_estimators=9, n_jobs=1),
    ):
        model = make_pipeline(encoded(scaler=StandardScaler()), booster).fit(frame, accepted)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            assert_same(model, frame)


@pytest.mark.parametrize("categories", [False, True])
def test_xgboost(categories: bool) -> None:
    frame, accepted = people()
    frame = frame.assign(city=frame["city"].replace("Łódź", "Lodz"))
    known = frame.astype(dict.fromkeys(TEXTS, "category")) if categories else frame[NUMBERS]
    model = xgboost.XGBClassifier(n_estimators=9, n_jobs=1, enable_categorical=categories).fit(
        known, accepted
    )
    assert_same(model, known)
    assert_same(model.get_booster(), known)
    assert_same(model, known, threshold=0.3)


def test_class_names_are_those_of_the_classifier() -> None:
    frame, accepted = people()
    named = np.where(accepted == 1, "granted", "refused")
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1).fit(frame[NUMBERS], named)
    adapted, native = read(model, frame[NUMBERS])
    assert adapted.class_names == ["granted", "refused"]
    labels = native.predict(UserTable(frame[NUMBERS]).native("{}"), "{}")[0]
    np.testing.assert_array_equal(np.array(adapted.class_names)[labels], model.predict(frame[NUMBERS]))


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (FunctionTransformer(np.sqrt), "FunctionTransformer is not read"),
        (make_column_transformer((OneHotEncoder(handle_unknown="error"), [0])), "refuses the others"),
    ],
)
def test_models_that_are_not_read_are_called(part: Any, reason: str) -> None:
    frame, accepted = people()
    numbers = frame[["income", "debts"]].to_numpy()
    model = make_pipeline(part, TREES["forest"]).fit(numbers, accepted)
    adapted = adapt(model, numbers, columns=["income", "debts"])
    assert adapted.model_backend == "callback: predict of Pipeline"
    assert reason in adapted.notices[0]


def test_a_model_that_was_read_wrongly_is_called_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, accepted = people()
    model = DecisionTreeClassifier(max_depth=3).fit(frame[NUMBERS], accepted)
    adapted = adapt(model, frame[NUMBERS], columns=NUMBERS)
    assert adapted._spec is not None
    monkeypatch.setitem(adapted._spec, "single", False)
    for tree in adapted._spec["trees"]:
        tree["values"] = tree["values"][:, ::-1].copy()
    table = UserTable(frame[NUMBERS]).native("{}")
    with pytest.warns(SogarWarning, match="rows differ"):
        native = adapted.build(table, "{}")
    assert adapted.model_backend == "callback: predict of DecisionTreeClassifier"
    np.testing.assert_array_equal(native.predict(table, "{}")[0], model.predict(frame[NUMBERS]))


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "objects"])
def test_other_kinds_of_tables(kind: str) -> None:
    frame, accepted = people()
    table: Any = pl.from_pandas(frame)
    encoder = encoded(scaler=StandardScaler())
    names = list(frame.columns)
    if kind == "pyarrow":
        table = pa.Table.from_pandas(frame, preserve_index=False)
    if kind == "objects":
        table = frame.to_numpy(dtype=object)
        places = [[names.index(name) for name in part] for part in (TEXTS, NUMBERS)]
        encoder = make_column_transformer((OneHotEncoder(), places[0]), (StandardScaler(), places[1]))
    model: Any = make_pipeline(encoder, RandomForestClassifier(7, random_state=0)).fit(table, accepted)
    _, native = read(model, table, names)
    np.testing.assert_array_equal(
        native.predict(UserTable(table, names).native("{}"), "{}")[0], model.predict(table)
    )


def test_names_that_lightgbm_rewrites() -> None:
    frame, accepted = people()
    frame = frame[NUMBERS].rename(columns={"income": "yearly income", "share": "a:b"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1).fit(
            frame[["yearly income", "age"]], accepted
        )
    read(model, frame[["yearly income", "age"]])


def test_models_that_predict_numbers_need_a_threshold() -> None:
    frame, accepted = people()
    numbers = frame[NUMBERS]
    regressors = [
        RandomForestRegressor(5, random_state=0).fit(numbers, accepted),
        lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(numbers, accepted),
        lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(numbers, accepted).booster_,
        xgboost.XGBRegressor(n_estimators=5, n_jobs=1).fit(numbers, accepted),
    ]
    for model in regressors:
        with pytest.raises(ModelError, match="threshold"):
            adapt(model, numbers, columns=NUMBERS).build(UserTable(numbers).native("{}"), "{}")
        adapted = adapt(model, numbers, columns=NUMBERS, threshold=0.4)
        native = adapted.build(UserTable(numbers).native("{}"), "{}")
        expected = np.asarray(model.predict(numbers) if hasattr(model, "predict") else 0) > 0.4
        np.testing.assert_array_equal(native.predict(UserTable(numbers).native("{}"), "{}")[0], expected)


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "numpy"])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_boosters_on_other_kinds_of_tables(kind: str, library: str) -> None:
    frame, accepted = people()
    numbers = frame[NUMBERS]
    tables: dict[str, Any] = {
        "polars": pl.from_pandas(numbers),
        "pyarrow": pa.Table.from_pandas(numbers, preserve_index=False),
        "numpy": numbers.to_numpy(),
    }
    classifier: Any = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)
    if library == "xgboost":
        classifier = xgboost.XGBClassifier(n_estimators=5, n_jobs=1)
    model = classifier.fit(numbers.to_numpy() if kind == "numpy" else numbers, accepted)
    table = tables[kind]
    _, native = read(model, table, NUMBERS)
    expected = model.predict(numbers.to_numpy() if kind == "numpy" else numbers)
    np.testing.assert_array_equal(native.predict(UserTable(table, NUMBERS).native("{}"), "{}")[0], expected)


def test_arrow_dictionaries() -> None:
    frame, accepted = people()
    table = pa.Table.from_pandas(frame.astype(dict.fromkeys(TEXTS, "category")), preserve_index=False)
    model = make_pipeline(encoded(scaler=StandardScaler()), TREES["forest"]).fit(table, accepted)
    read(model, table, list(frame.columns))


class Strange(RandomForestClassifier):  # type: ignore[misc]
    """A forest that says the opposite."""

    def predict(self, rows: Any) -> Any:
        """The other class."""
        return 1 - super().predict(rows)


def test_subclasses_are_called() -> None:
    frame, accepted = people()
    model = Strange(5, random_state=0).fit(frame[NUMBERS], accepted)
    assert adapt(model, frame[NUMBERS], columns=NUMBERS).model_backend == "callback: predict of Strange"

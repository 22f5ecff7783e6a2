"""Makes the XGBoost models of `tests/formats/xgboost.rs` and records what XGBoost itself says about some rows.

    python make_xgboost.py           # needs xgboost 3.2, numpy and pandas; writes into `xgboost`
    python make_xgboost.py --old     # with XGBoost 1.0, 1.7, 2.1 or 3.0: makes the one model `release_<…>`

Every `xgboost/NAME.json` or `.ubj` is a model, `xgboost/NAME.record` the rows and answers: values with all
their digits, among them values at thresholds and their neighbours in single and in double precision, missing
values and categories that the training never saw. Answers are those of `Booster.predict`, or of
`XGBClassifier.predict` where that saved the model.

The answers for the model of release 1.0, which added the start value last, are those of the current one; the
others are of their own time (3.2 cannot load trees with vectors of 2.1).
"""

import json
import math
import pathlib
import sys

import numpy as np

if np.__version__ >= "2" and "--old" in sys.argv:
    # What releases of 2020 expect of NumPy.
    exact = np.array
    np.array = lambda *args, **named: exact(*args, **{k: v for k, v in named.items() if k != "copy"})
    for name in ("bool", "int", "float", "object"):
        setattr(np, name, getattr(np, f"{name}_", None) or {"int": int, "float": float}.get(name, object))

import pandas as pd
import xgboost as xgb
from training_tables import as_numbers, lines, numbers, target, with_holes

FOLDER = pathlib.Path(__file__).parent / "xgboost"
ROWS = 24
TRAINING_ROWS = 500
COMMON = {"nthread": 1, "seed": 7, "max_depth": 3, "verbosity": 0}


def categories(rng, n=TRAINING_ROWS, many=40):
    """A frame with categoricals of few and of many categories, texts and numbers, and its labels."""
    jobs = ["smith", "maid", "cook", "clerk", "baker", "judge"]
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "job": pd.Categorical(rng.choice(jobs, n), jobs),
            "region": pd.Categorical(rng.integers(0, many, n) * 3),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"]),
        }
    )
    signal = frame["age"] / 40 + frame["job"].cat.codes % 2 + frame["region"].cat.codes % 7 / 3
    return frame, (signal + rng.normal(0, 0.3, n) > signal.median()).astype(int)


def tests_of(document, columns):
    """Thresholds of each column, and whether its categories are tested."""
    booster = document["learner"]["gradient_booster"]
    forest = booster["gbtree"]["model"] if booster["name"] == "dart" else booster["model"]
    thresholds = [[] for _ in range(columns)]
    categorical = [False] * columns
    for tree in forest["trees"]:
        kinds = tree.get("split_type") or [0] * len(tree["left_children"])
        nodes = zip(
            tree["left_children"], tree["split_indices"], tree["split_conditions"], kinds, strict=True
        )
        for left, column, threshold, kind in nodes:
            if left >= 0 and kind == 1:
                categorical[column] = True
            elif left >= 0:
                thresholds[column].append(np.float32(threshold))
    return thresholds, categorical


def around(threshold):
    """Values where a comparison in single precision could go wrong."""
    single = [
        np.nextafter(threshold, np.float32(-np.inf)),
        threshold,
        np.nextafter(threshold, np.float32(np.inf)),
    ]
    low, middle, high = (float(value) for value in single)
    points = [low, middle, high, (low + middle) / 2, (middle + high) / 2]
    return [
        value
        for point in points
        for value in (point, np.nextafter(point, -np.inf), np.nextafter(point, np.inf))
    ]


def interesting_rows(rng, document, data, rows=ROWS):
    """Rows of the training data with some values moved to where a decision could go wrong."""
    columns = data.shape[1]
    thresholds, categorical = tests_of(document, columns)
    picked = data[rng.integers(0, len(data), rows)].copy()
    edge = [math.nan, 0.0, -0.0, 1e-46, -1e-46, 1e-38, -1e-38, 3e38, -3e38]
    odd = [0.5, 0.99999999999, 1.9, 31.0, 32.0, 64.0, 1000.0, 2.0**24, 1e9, math.nan]
    for row in picked:
        for column in range(columns):
            luck = rng.random()
            if categorical[column]:
                if luck < 0.3:
                    row[column] = odd[rng.integers(len(odd))]
            elif luck < 0.5 and thresholds[column]:
                near = around(thresholds[column][rng.integers(len(thresholds[column]))])
                row[column] = near[rng.integers(len(near))]
            elif luck < 0.6:
                row[column] = edge[rng.integers(len(edge))]
    return picked


def answers(booster, rows, early):
    """Margins, predictions and labels of the rows."""
    matrix = xgb.DMatrix(rows, feature_names=booster.feature_names, feature_types=booster.feature_types)
    stop = {"iteration_range": (0, booster.best_iteration + 1)} if early else {}
    margin = booster.predict(matrix, output_margin=True, **stop).reshape(len(rows), -1)
    prediction = booster.predict(matrix, **stop)
    if prediction.ndim == 2:
        labels = prediction.argmax(axis=1)
    elif margin.shape[1] > 1:
        labels = prediction.astype(int)
    else:
        labels = (prediction > 0.5).astype(int)
    return margin, prediction.reshape(len(rows), -1), labels


def write(name, booster, data, rng, ending="json", classifier=None, threshold=None):
    """Writes the model and the record of its answers."""
    path = FOLDER / f"{name}.{ending}"
    if booster is not None:
        (classifier or booster).save_model(str(path))
    if ending == "json":
        document = json.loads(path.read_text())
    else:
        document = json.loads(bytes(booster.save_raw("json")))
    loaded = xgb.Booster(model_file=str(path))
    rows = interesting_rows(rng, document, data)
    early = classifier is not None and classifier.early_stopping_rounds is not None
    margin, prediction, labels = answers(loaded, rows, early)
    if threshold is not None:
        labels = (margin[:, 0] > threshold).astype(int)
    record = {
        "columns": loaded.feature_names or [f"f{i}" for i in range(data.shape[1])],
        "rows": lines(rows),
        "margins": lines(margin),
        "predictions": lines(prediction),
        "labels": labels.tolist(),
    }
    (FOLDER / f"{name}.record").write_text(json.dumps(record, indent=0, ensure_ascii=False) + "\n")
    print(f"{name}: {path.stat().st_size} bytes, labels {np.bincount(labels).tolist()}")


def train(parameters, frame, label, rounds=6, **named):
    """A booster with the common parameters."""
    return xgb.train(COMMON | parameters, xgb.DMatrix(frame, label, **named), rounds)


def old_release(rng):
    """One model of an old release."""
    frame = with_holes(rng, numbers(rng, TRAINING_ROWS))
    three = target(rng, frame.fillna(0.001), 3)
    release = "_".join(xgb.__version__.split(".")[:2])
    parameters = {"objective": "multi:softprob", "num_class": 3}
    if release in ("2_1", "3_0"):
        parameters |= {"multi_strategy": "multi_output_tree"}
    booster = train(parameters, frame.to_numpy(), three, 2, feature_names=list(frame.columns))
    if release == "1_0":
        booster.save_model(str(FOLDER / "release_1_0.json"))
    else:
        write(f"release_{release}", booster, frame.to_numpy(), rng)


def main():
    """Makes every model."""
    rng = np.random.default_rng(20)
    FOLDER.mkdir(exist_ok=True)
    if not xgb.__version__.startswith(("3.1", "3.2")):
        old_release(rng)
        return
    frame = numbers(rng, TRAINING_ROWS)
    holes = with_holes(rng, frame)
    label, three = target(rng, frame), target(rng, frame, 3)

    def numeric(name, parameters, data, label, rounds=6, **named):
        write(name, train(parameters, data, label, rounds), data.to_numpy(), rng, **named)

    binary = {"objective": "binary:logistic"}
    softprob = {"objective": "multi:softprob", "num_class": 3}
    dart = {"booster": "dart", "rate_drop": 0.5}
    numeric("binary", binary, frame, label, 10)
    numeric("binary_ubj", binary, frame, label, 10, ending="ubj")
    numeric("missing", binary, holes, label, 8, ending="ubj")
    numeric("base_score", binary | {"base_score": 0.3}, frame, label)
    numeric("logit_raw", {"objective": "binary:logitraw"}, frame, label, threshold=0.0)
    numeric("hinge", {"objective": "binary:hinge"}, holes, label)
    numeric("softmax", {"objective": "multi:softmax", "num_class": 3}, holes, three, 3, ending="ubj")
    numeric("softprob", softprob, holes, three, 3)
    numeric("dart", binary | dart, frame, label, 10)
    numeric("dart_softprob", softprob | dart, holes, three, 4, ending="ubj")
    forest = {"num_parallel_tree": 3, "subsample": 0.6, "learning_rate": 1.0, "colsample_bynode": 0.7}
    numeric("forest_softprob", softprob | forest, frame, three, 1, ending="ubj")
    numeric("multi_output", softprob | {"multi_strategy": "multi_output_tree"}, holes, three, 3)
    numeric("stumps", binary | {"max_depth": 1}, frame, label, 12)
    numeric("deep", binary | {"max_depth": 12, "min_child_weight": 0.1}, frame, label, 2, ending="ubj")
    numeric("pruned", binary | {"tree_method": "exact", "gamma": 4.0}, holes, label)
    plain = xgb.train(COMMON | binary, xgb.DMatrix(frame.to_numpy(), label), 3)
    write("nameless", plain, frame.to_numpy(), rng)

    coded, outcome = categories(rng)
    booster = train(binary | {"max_cat_to_onehot": 4}, coded, outcome, 8, enable_categorical=True)
    write("categories", booster, as_numbers(coded), rng)
    booster = train(binary | {"max_cat_to_onehot": 100}, coded, outcome, 8, enable_categorical=True)
    write("categories_one_by_one", booster, as_numbers(coded), rng, ending="ubj")
    plain_codes = pd.DataFrame(as_numbers(coded), columns=coded.columns)
    kinds = {"feature_types": ["q", "c", "c", "q"], "enable_categorical": True}
    booster = train(binary, plain_codes, outcome, 6, **kinds)
    write("categories_as_numbers", booster, plain_codes.to_numpy(), rng)

    classifier = xgb.XGBClassifier(
        n_estimators=40, learning_rate=0.9, early_stopping_rounds=2, max_depth=3, n_jobs=1, random_state=7
    )
    classifier.fit(frame[:350], label[:350], eval_set=[(frame[350:], label[350:])], verbose=False)
    write("release_1_0", None, holes.to_numpy(), rng)
    write("early_stopping", classifier.get_booster(), frame.to_numpy(), rng, "ubj", classifier)


if __name__ == "__main__":
    main()

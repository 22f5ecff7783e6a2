"""Trains the small LightGBM models of `tests/formats/lightgbm.rs` and records what LightGBM says of chosen rows.

    python make_lightgbm.py          # needs lightgbm, numpy and pandas; writes beside this file

With LightGBM 4 it makes all models but `version_3`, which LightGBM 3 makes (the recorded ones: 4.7.0, 3.3.5).

For every model `NAME.txt` there is `NAME.json`: rows of model inputs and, for each, the label and the raw
outputs of the booster that was loaded back from the text file. The rows include values at the thresholds of
the trees and one unit in the last place to either side, zeros and what is close to them, missing values, and
categories that are negative, broken or were never seen. A row is one text of numbers between blanks, with all
their digits.
"""

import json
import math
import pathlib
import re

import lightgbm as lgb
import numpy as np
import pandas as pd
from training_tables import as_numbers, lines, numbers, target, with_holes

FOLDER = pathlib.Path(__file__).parent
ROWS = 60
TRAINING_ROWS = 600
COMMON = {
    "verbose": -1,
    "num_threads": 1,
    "deterministic": True,
    "seed": 7,
    "num_leaves": 8,
    "min_data_in_leaf": 10,
}


def categories(rng, n=TRAINING_ROWS, many=90):
    """A frame with pandas categoricals, one of them ordered and one with many categories, and its labels."""
    jobs = ["smith", "maid", "cook", "clerk"]
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "job": pd.Categorical(rng.choice(jobs, n), jobs),
            "region": pd.Categorical(rng.integers(0, many, n) * 3),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
        }
    )
    signal = frame["age"] / 40 + frame["job"].cat.codes % 2 + frame["region"].cat.codes % 7 / 3
    return frame, (signal + rng.normal(0, 0.3, n) > signal.median()).astype(int)


def interesting_rows(rng, text, data):
    """Rows of the training data with some values moved to where a decision could go wrong."""
    columns = data.shape[1]
    at = [[] for _ in range(columns)]
    categorical = [set() for _ in range(columns)]
    for tree in text.split("Tree=")[1:]:
        field = dict(re.findall(r"^(\w+)=(.*)$", tree, re.M))
        split = zip(
            *(field[key].split() for key in ("split_feature", "threshold", "decision_type")), strict=True
        )
        for feature, threshold, kind in split:
            if int(kind) & 1:
                categorical[int(feature)].add(0)
            else:
                at[int(feature)].append(float(threshold))
    rows = data[rng.integers(0, len(data), ROWS)].copy()
    band = float(np.float32(1e-35))
    edge = [math.nan, 0.0, -0.0, 1e-36, -1e-36, band, -band, 1e300, -1e300, math.inf, -math.inf]
    odd = [-1.0, -0.5, -3.0, 0.5, 1.9, 31.0, 32.0, 64.0, 95.0, 1000.0, 2.0**31, 1e18, math.nan]
    for row in rows:
        for column in range(columns):
            luck = rng.random()
            if categorical[column]:
                if luck < 0.3:
                    row[column] = odd[rng.integers(len(odd))]
            elif luck < 0.4 and at[column]:
                value = at[column][rng.integers(len(at[column]))]
                near = [value, np.nextafter(value, -np.inf), np.nextafter(value, np.inf)]
                row[column] = near[rng.integers(3)]
            elif luck < 0.55:
                row[column] = edge[rng.integers(len(edge))]
    return rows


def write(name, booster, data, rng):
    """Writes the model and the record of its answers."""
    booster.save_model(str(FOLDER / f"{name}.txt"))
    text = (FOLDER / f"{name}.txt").read_text()
    # The training parameters are of no use to the tests.
    text = re.sub(r"\nfeature_importances:.*?end of parameters\n", "", text, flags=re.S)
    (FOLDER / f"{name}.txt").write_text(text)
    loaded = lgb.Booster(model_str=text)
    rows = interesting_rows(rng, text, data)
    raw = loaded.predict(rows, raw_score=True).reshape(ROWS, -1)
    probability = loaded.predict(rows).reshape(ROWS, -1)
    if probability.shape[1] == 1:
        labels = (probability[:, 0] > 0.5).astype(int)
    else:
        labels = probability.argmax(axis=1)
    record = {
        "columns": loaded.feature_name(),
        "rows": lines(rows),
        "raw": lines(raw),
        "probabilities": lines(probability),
        "labels": labels.tolist(),
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(record, indent=0) + "\n")
    print(f"{name}: {loaded.num_trees()} trees, labels {np.bincount(labels).tolist()}")


def train(parameters, frame, label, rounds=10, **dataset):
    """A booster with the common parameters."""
    return lgb.train(COMMON | parameters, lgb.Dataset(frame, label, free_raw_data=False, **dataset), rounds)


def old_format(rng):
    """Version v3 of the format, which LightGBM 3 writes."""
    frame, outcome = categories(rng)
    codes = np.ascontiguousarray(as_numbers(frame))
    parameters = {"objective": "binary", "min_data_per_group": 5, "cat_smooth": 1}
    booster = train(
        parameters, codes, outcome.to_numpy(), 8, categorical_feature=[frame.columns.get_loc("region")]
    )
    write("version_3", booster, codes, rng)


def main():
    """Makes every model."""
    rng = np.random.default_rng(20)
    if lgb.__version__.startswith("3."):
        old_format(rng)
        return
    frame = numbers(rng, TRAINING_ROWS)
    holes = with_holes(rng, frame)
    label, three = target(rng, frame), target(rng, frame, 3)
    rare = target(rng, frame, 5) == 4

    def numeric(name, parameters, data, label, rounds=10, **dataset):
        write(name, train(parameters, data, label, rounds, **dataset), data.to_numpy(), rng)

    binary = {"objective": "binary"}
    numeric("binary", binary, frame, label, 20)
    weight = np.where(rare, 0.5 / rare.mean(), 0.5 / (1 - rare.mean()))
    numeric("balanced", binary, frame, rare.astype(int), 12, weight=weight)
    numeric("multiclass", {"objective": "multiclass", "num_class": 3}, holes, three, 6)
    numeric("absent_class", {"objective": "multiclass", "num_class": 4}, frame, three, 4)
    numeric("one_vs_all", {"objective": "multiclassova", "num_class": 3, "sigmoid": 1.5}, frame, three, 6)
    forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6, "feature_fraction": 0.8}
    numeric("forest", binary | forest, frame, label, 7)
    numeric("forest_multiclass", forest | {"objective": "multiclass", "num_class": 3}, frame, three, 5)
    numeric("dart", binary | {"boosting": "dart", "drop_rate": 0.5}, frame, label, 15)
    numeric("missing_none", binary | {"use_missing": False}, holes, label)
    numeric("missing_zero", binary | {"zero_as_missing": True}, holes, label)
    numeric("missing_nan", binary, holes, label)
    numeric("cross_entropy", {"objective": "cross_entropy"}, frame, label * 0.9 + 0.05)
    numeric("slope", binary | {"sigmoid": 0.83168}, frame, label)
    spaced = frame.set_axis(["monthly income", "age in years", "gain", "rate (%)"], axis=1)
    numeric("spaced_names", binary, spaced, label, 5)
    numeric("single_leaves", binary | {"min_data_in_leaf": 400}, frame, label, 5)

    # Thresholds next to zero: many values are exactly zero, others are of either sign.
    signs = pd.DataFrame({"a": rng.choice([-1.0, 0.0, 0.0, 1.0], 600), "b": rng.normal(size=600)})
    numeric("around_zero", binary, signs, ((signs["a"] == 0) ^ (signs["b"] > 0)).astype(int), 8)

    coded, outcome = categories(rng)
    cat = binary | {"min_data_per_group": 5, "cat_smooth": 1, "min_data_in_leaf": 5}
    write("categories", train(cat, coded, outcome, 15), as_numbers(coded), rng)
    few = cat | {"max_cat_to_onehot": 8}
    two = coded[["job", "age"]]
    write("categories_one_by_one", train(few, two, outcome, 10), as_numbers(two), rng)
    plain_codes = pd.DataFrame(as_numbers(coded), columns=coded.columns)
    booster = train(cat, plain_codes, outcome, 10, categorical_feature=["region", "job"])
    write("categories_as_numbers", booster, as_numbers(coded), rng)


if __name__ == "__main__":
    main()

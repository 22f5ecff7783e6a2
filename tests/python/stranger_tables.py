"""Ten tables that look like what people bring, each with a model that was trained on it.

None was made to please the program: dummies of all kinds, codes for "not asked", dates, ids, names, European
numbers, text labels, labels whose 1 is the bad outcome, and two dozen numeric features. All values are drawn
from a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import xgboost

Random = np.random.Generator


@dataclass
class Stranger:
    """A table and a model in a folder, with what a careful person knows about them."""

    table: Path
    model: Path
    label: str
    """The column with the true outcome."""
    hoped_for: str
    """Its value that people hope for."""
    never_edited: set[str] = field(default_factory=set)
    """Features that no action may change."""
    never_split: set[str] = field(default_factory=set)
    """Features that no tree may ask about."""
    one_hot: tuple[str, ...] = ()
    """What the names of columns begin with that are one feature to people."""
    flags: tuple[str, ...] = ()
    """What the program asks for before it reads the table."""


def boosted(features: pd.DataFrame, good: pd.Series, path: Path, seed: int = 0) -> None:
    """A LightGBM model of a few trees."""
    data = features.copy()
    for name in data.select_dtypes(exclude=["number", "bool"]):
        data[name] = data[name].astype("category")
    model = lightgbm.LGBMClassifier(n_estimators=25, num_leaves=8, random_state=seed, verbose=-1, n_jobs=1)
    model.fit(data, good)
    model.booster_.save_model(path)


def boosted_xgb(features: pd.DataFrame, good: pd.Series, path: Path, seed: int = 0) -> None:
    """An XGBoost model of a few trees."""
    model = xgboost.XGBClassifier(n_estimators=25, max_depth=3, random_state=seed, n_jobs=1)
    model.fit(features, good)
    model.get_booster().save_model(path)


def likely(random: Random, score: np.ndarray) -> np.ndarray:
    """Noisy yes or no, about half of each."""
    noise = random.logistic(scale=0.5, size=len(score))
    return np.asarray(score + noise > np.median(score))


def clinic(random: Random, folder: Path) -> Stranger:
    """Clinical measurements; 1 means that the illness was found."""
    n = 768
    table = pd.DataFrame(
        {
            "Pregnancies": random.poisson(3, n),
            "Glucose": random.normal(120, 30, n).round().clip(40, 200),
            "BloodPressure": random.normal(70, 12, n).round().clip(30, 120),
            "SkinThickness": random.normal(25, 9, n).round().clip(5, 60),
            "Insulin": random.gamma(2, 60, n).round(),
            "BMI": random.normal(32, 7, n).round(1).clip(15, 60),
            "DiabetesPedigreeFunction": random.gamma(2, 0.25, n).round(3),
            "Age": random.integers(21, 80, n),
        }
    )
    ill = likely(random, (table.Glucose / 30 + table.BMI / 8 + table.Age / 20).to_numpy())
    table["Outcome"] = ill.astype(int)
    table.to_csv(folder / "clinic.csv", index=False)
    boosted(table.drop(columns="Outcome"), table.Outcome, folder / "clinic.txt")
    return Stranger(folder / "clinic.csv", folder / "clinic.txt", "Outcome", "0", {"Age"}, {"Age"})


def bureau(random: Random, folder: Path) -> Stranger:
    """A credit bureau's table: 23 numbers with codes -7, -8, -9, text labels Good and Bad."""
    n = 3000
    names = [
        "ExternalRiskEstimate", "MSinceOldestTradeOpen", "MSinceMostRecentTradeOpen", "AverageMInFile",
        "NumSatisfactoryTrades", "NumTrades60Ever", "NumTrades90Ever", "PercentTradesNeverDelq",
        "MSinceMostRecentDelq", "MaxDelqPublicRec", "MaxDelqEver", "NumTotalTrades", "NumTradesOpeninLast12M",
        "PercentInstallTrades", "MSinceMostRecentInqexcl7days", "NumInqLast6M", "NumInqLast6Mexcl7days",
        "NetFractionRevolvingBurden", "NetFractionInstallBurden", "NumRevolvingTradesWBalance",
        "NumInstallTradesWBalance", "NumBank2NatlTradesWHighUtilization", "PercentTradesWBalance",
    ]  # fmt: skip
    columns = {name: random.gamma(3, random.uniform(2, 30), n).round() for name in names}
    table = pd.DataFrame(columns)
    score = (table / table.std()).iloc[:, [0, 3, 7]].sum(axis=1) - (table / table.std()).iloc[
        :, [15, 17]
    ].sum(axis=1)
    good = likely(random, score.to_numpy())
    for position, name in enumerate(names):
        for code, share in (
            (-9, 0.04),
            (-8, 0.1 if position % 3 == 0 else 0),
            (-7, 0.2 if position % 5 == 0 else 0),
        ):
            table.loc[random.random(n) < share, name] = code
    label = pd.Series(np.where(good, "Good", "Bad"))
    pd.concat([label.rename("RiskPerformance"), table], axis=1).to_csv(folder / "bureau.csv", index=False)
    boosted_xgb(table, pd.Series(good.astype(int)), folder / "bureau.json")
    return Stranger(folder / "bureau.csv", folder / "bureau.json", "RiskPerformance", "Good")


def justice(random: Random, folder: Path) -> Stranger:
    """Criminal justice: ids, names, dates, sex, race; 1 means that the person was arrested again."""
    n = 1800
    people = pd.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "name": [f"person {a} {b}" for a, b in zip(random.integers(0, 10**6, n), range(n), strict=True)],
            "sex": random.choice(["Male", "Female"], n, p=[0.8, 0.2]),
            "dob": pd.to_datetime("1950-01-01") + pd.to_timedelta(random.integers(0, 16000, n), unit="D"),
            "age": random.integers(18, 70, n),
            "race": random.choice(["African-American", "Caucasian", "Hispanic", "Other"], n),
            "juv_fel_count": random.poisson(0.1, n),
            "priors_count": random.poisson(3, n),
            "days_in_custody": random.gamma(1, 20, n).round(),
            "c_charge_degree": random.choice(["F", "M"], n),
            "screening_date": pd.to_datetime("2013-01-01")
            + pd.to_timedelta(random.integers(0, 700, n), unit="D"),
        }
    )
    again = likely(
        random, (people.priors_count / 2 - people.age / 15 + people.days_in_custody / 40).to_numpy()
    )
    people["two_year_recid"] = again.astype(int)
    people.to_csv(folder / "justice.csv", index=False)
    used = people[
        ["sex", "age", "race", "juv_fel_count", "priors_count", "days_in_custody", "c_charge_degree"]
    ]
    boosted(used, people.two_year_recid, folder / "justice.txt")
    out = {"id", "name", "dob", "screening_date"}
    personal = {"sex", "age", "race"}
    return Stranger(
        folder / "justice.csv", folder / "justice.txt", "two_year_recid", "0", out | personal, out | personal
    )


def school(random: Random, folder: Path) -> Stranger:
    """School grades with pandas' own dummies: True and False, names with several underscores."""
    n = 650
    raw = pd.DataFrame(
        {
            "sex": random.choice(["F", "M"], n),
            "age": random.integers(15, 20, n),
            "mother_job": random.choice(["teacher", "health", "services", "at_home", "other"], n),
            "father_job": random.choice(["teacher", "health", "services", "at_home", "other"], n),
            "study_time": random.integers(1, 5, n),
            "failures": random.poisson(0.4, n).clip(0, 3),
            "absences": random.poisson(5, n),
            "going_out": random.integers(1, 6, n),
        }
    )
    passed = likely(
        random, (raw.study_time - 1.5 * raw.failures - raw.absences / 6 - raw.going_out / 3).to_numpy()
    )
    dummies = pd.get_dummies(raw)
    dummies.assign(passed=np.where(passed, "yes", "no")).to_csv(folder / "school.csv", index=False)
    boosted(dummies, pd.Series(passed.astype(int)), folder / "school.txt")
    return Stranger(
        folder / "school.csv",
        folder / "school.txt",
        "passed",
        "yes",
        {"sex", "age"},
        {"sex", "age"},
        ("sex_", "mother_job_", "father_job_"),
    )


def survey(random: Random, folder: Path) -> Stranger:
    """A health survey: twenty 0/1 answers, coded levels; 1 means heart disease."""
    n = 4000
    names = [
        "HighBP",
        "HighChol",
        "Smoker",
        "Stroke",
        "PhysActivity",
        "Fruits",
        "Veggies",
        "HvyAlcohol",
        "DiffWalk",
    ]
    table = pd.DataFrame(
        {name: (random.random(n) < random.uniform(0.1, 0.8)).astype(float) for name in names}
    )
    table["BMI"] = random.normal(28, 6, n).round()
    table["GenHlth"] = random.integers(1, 6, n).astype(float)
    table["MentHlth"] = random.poisson(3, n).clip(0, 30).astype(float)
    table["Sex"] = (random.random(n) < 0.44).astype(float)
    table["Age"] = random.integers(1, 14, n).astype(float)
    table["Education"] = random.integers(1, 7, n).astype(float)
    table["Income"] = random.integers(1, 9, n).astype(float)
    ill = likely(
        random, (table.Age / 3 + table.HighBP + table.Smoker + table.BMI / 10 + table.GenHlth / 2).to_numpy()
    )
    table.insert(0, "HeartDisease", ill.astype(float))
    table.to_csv(folder / "survey.csv", index=False)
    boosted_xgb(table.drop(columns="HeartDisease"), table.HeartDisease.astype(int), folder / "survey.ubj")
    personal = {"Sex", "Age"}
    return Stranger(folder / "survey.csv", folder / "survey.ubj", "HeartDisease", "0", personal, personal)


def wine(random: Random, folder: Path) -> Stranger:
    """European numbers: semicolons between cells, commas in numbers."""
    n = 1600
    table = pd.DataFrame(
        {
            "fixed acidity": random.normal(8, 1.7, n).round(1),
            "volatile acidity": random.gamma(9, 0.06, n).round(2),
            "residual sugar": random.gamma(2, 1.3, n).round(1),
            "chlorides": random.gamma(9, 0.01, n).round(3),
            "sulphates": random.gamma(15, 0.045, n).round(2),
            "alcohol": random.normal(10.4, 1, n).round(1),
        }
    )
    good = likely(random, (table.alcohol + 4 * table.sulphates - 4 * table["volatile acidity"]).to_numpy())
    table.assign(quality=np.where(good, "good", "poor")).to_csv(
        folder / "wine.csv", index=False, sep=";", decimal=","
    )
    boosted(table, pd.Series(good.astype(int)), folder / "wine.txt")
    return Stranger(folder / "wine.csv", folder / "wine.txt", "quality", "good", flags=("--decimal", ","))


def dropped(random: Random, folder: Path) -> Stranger:
    """Dummies without their first level, as ``drop_first=True`` writes them."""
    n = 900
    raw = pd.DataFrame(
        {
            "housing": random.choice(["own", "rent", "free"], n),
            "job": random.choice(["none", "unskilled", "skilled", "manager"], n),
            "amount": random.gamma(2, 1500, n).round(),
            "months": random.integers(4, 72, n),
        }
    )
    good = likely(
        random,
        ((raw.job == "skilled") + (raw.housing == "own") - raw.amount / 2500 - raw.months / 30).to_numpy(),
    )
    dummies = pd.get_dummies(raw, drop_first=True, dtype=int)
    dummies.assign(repaid=good.astype(int)).to_csv(folder / "dropped.csv", index=False)
    boosted(dummies, pd.Series(good.astype(int)), folder / "dropped.txt")
    return Stranger(
        folder / "dropped.csv", folder / "dropped.txt", "repaid", "1", one_hot=("housing_", "job_")
    )


def named(random: Random, folder: Path) -> Stranger:
    """Single 0/1 columns that name a category, and True/False as text."""
    n = 1200
    table = pd.DataFrame(
        {
            "Sex=Female": random.integers(0, 2, n),
            "Contract:Temporary": random.integers(0, 2, n),
            "OwnsCar": random.choice(["True", "False"], n),
            "Score": random.normal(600, 60, n).round(),
            "Debt": random.gamma(2, 4000, n).round(2),
        }
    )
    good = likely(random, (table.Score / 60 - table.Debt / 4000 - table["Contract:Temporary"]).to_numpy())
    table.assign(decision=np.where(good, "approved", "rejected")).to_csv(folder / "named.csv", index=False)
    used = table.assign(OwnsCar=table.OwnsCar == "True").rename(columns=lambda name: name.replace(":", "_"))
    boosted_xgb(used.astype(float), pd.Series(good.astype(int)), folder / "named.json")
    return Stranger(
        folder / "named.csv",
        folder / "named.json",
        "decision",
        "approved",
        {"Sex", "Sex=Female"},
        {"Sex", "Sex=Female"},
    )


def hiring(random: Random, folder: Path) -> Stranger:
    """Text everywhere, categories with spaces, a label in words, a constant and an empty column."""
    n = 1000
    table = pd.DataFrame(
        {
            "Application No": [f"A-{i:06d}" for i in random.permutation(n)],
            "Nationality": random.choice(["Greek", "German", "French", "Other EU"], n),
            "Degree": random.choice(["none", "bachelor", "master", "doctorate"], n),
            "Years of experience": random.integers(0, 30, n),
            "Language certificate": random.choice(["A2", "B1", "B2", "C1"], n),
            "Source": "web",
            "Remarks": "",
            "Test score": random.normal(60, 15, n).round().clip(0, 100),
        }
    )
    good = likely(random, (table["Test score"] / 12 + table["Years of experience"] / 8).to_numpy())
    table.assign(Result=np.where(good, "hired", "not hired")).to_csv(folder / "hiring.csv", index=False)
    used = table.drop(columns=["Application No", "Source", "Remarks"]).rename(
        columns=lambda name: name.replace(" ", "_")
    )
    boosted(used, pd.Series(good.astype(int)), folder / "hiring.txt")
    out = {"Application No", "Nationality", "Source", "Remarks"}
    return Stranger(folder / "hiring.csv", folder / "hiring.txt", "Result", "hired", out, out)


def measurements(random: Random, folder: Path) -> Stranger:
    """Twenty-five numeric features, two thousand people."""
    n = 2000
    values = random.normal(size=(n, 25)) @ random.normal(size=(25, 25)) / 5
    table = pd.DataFrame(values.round(3), columns=[f"m{i:02d}" for i in range(25)])
    good = likely(random, values[:, :6].sum(axis=1))
    table.assign(accepted=good.astype(int)).to_csv(folder / "measurements.csv", index=False)
    boosted(table, pd.Series(good.astype(int)), folder / "measurements.txt")
    return Stranger(folder / "measurements.csv", folder / "measurements.txt", "accepted", "1")


TABLES: dict[str, Callable[[Random, Path], Stranger]] = {
    make.__name__: make
    for make in (clinic, bureau, justice, school, survey, wine, dropped, named, hiring, measurements)
}

"""The German Credit example as a table and a model, and the command line to compare with."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
from running import GERMAN, ending_with

if TYPE_CHECKING:
    from distributed import Client


# Shells start what runs in their background deaf to Ctrl-C, which some tests press.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ignores warnings that tests are not about.

    Most tests are not about what a user has to decide; `test_first_use` is. Dask and its server leave files
    and loops to the garbage collector.
    """
    of_dask = (
        "ignore::ResourceWarning",
        "ignore::pytest.PytestUnraisableExceptionWarning",
        "ignore::DeprecationWarning:distributed",
        "ignore::DeprecationWarning:dask",
        "ignore::DeprecationWarning:tornado",
    )
    for item in items:
        for text in of_dask if "test_dask" in item.nodeid else ():
            item.add_marker(pytest.mark.filterwarnings(text))
        if "test_first_use" not in item.nodeid:
            for text in ("nothing says which outcome", ".*though people cannot change"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{text}"))


@pytest.fixture(scope="session")
def run_cli() -> Callable[..., str]:
    """Runs the command line and answers with its standard output."""
    return ending_with(0)


@pytest.fixture(scope="session")
def german() -> pd.DataFrame:
    """The features of the German Credit table, texts as categories."""
    table = pd.read_csv(GERMAN / "german.csv").drop(columns="credit")
    texts = table.select_dtypes(exclude="number").columns
    return table.astype(dict.fromkeys(texts, "category"))


@pytest.fixture(scope="session")
def booster() -> lightgbm.Booster:
    """The example's model."""
    return lightgbm.Booster(model_file=str(GERMAN / "model.txt"))


@pytest.fixture
def people() -> pd.DataFrame:
    """A few hundred people with numbers, a truth value and categories of both sorts."""
    draw = np.random.default_rng(7)
    count = 300
    return pd.DataFrame(
        {
            "income": draw.integers(10, 90, count),
            "debt": np.round(draw.uniform(0, 50, count), 2),
            "owner": draw.random(count) < 0.4,
            "city": pd.Categorical(draw.choice(["Oslo", "Rome", "Lima"], count)),
            "grade": pd.Categorical(
                draw.choice(["low", "mid", "high"], count), categories=["low", "mid", "high"], ordered=True
            ),
        }
    )


@pytest.fixture
def decide() -> Callable[[pd.DataFrame], Any]:
    """A model of `people`: a function of a data frame."""

    def decide(table: pd.DataFrame) -> Any:
        grade = table["grade"].cat.codes if hasattr(table["grade"], "cat") else 0
        score = table["income"] - table["debt"] + 10 * table["owner"].astype(float) + 5 * grade
        return (score + 8 * (table["city"] == "Oslo") > 40).to_numpy()

    return decide


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A real cluster: two worker processes of one thread each."""
    import dask
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            # A worker that was killed may take its time to come back on a busy machine.
            dask.config.set({"distributed.deploy.lost-worker-timeout": "5 minutes"}),
            LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="4GB"
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client

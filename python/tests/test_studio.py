"""The studio from Python: it runs on this computer, answers only its own page, and ends."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pandas as pd
import pytest
import sogar
from sklearn.linear_model import LogisticRegression


def asked(address: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """An answer of the studio, as its page asks for it."""
    origin = "/".join(address.split("/")[:3])
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Origin": origin})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.fixture
def people() -> pd.DataFrame:
    """Some people, with an id and a label."""
    rows = range(300)
    return pd.DataFrame(
        {
            "id": [f"p{row}" for row in rows],
            "age": [20 + row % 50 for row in rows],
            "income": [row * 37 % 101 for row in rows],
            "debt": [row * 53 % 97 for row in rows],
            "approved": ["yes" if row * 37 % 101 > row * 53 % 97 else "no" for row in rows],
        }
    )


def test_a_model_object_is_read_and_searched(people: pd.DataFrame) -> None:
    features = people[["income", "debt"]]
    model = LogisticRegression().fit(features, people["approved"])
    with sogar.studio(people, model, browser=False) as studio:
        state = asked(studio.address, "state?after=0")
        assert state["opened"]["rows"] == 300
        problem = asked(studio.address, "problem")
        assert problem["config"]["data"]["label"] == "approved"
        assert {column["name"] for column in problem["columns"]} >= {"income", "debt"}
        assert problem["size"]["edits"] > 0
        asked(studio.address, "solve", {})
        while state["live"] is not None or not state["runs"]:
            state = asked(studio.address, f"state?after={state['version']}")
        assert state["runs"][0]["complete"]
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(studio.address.rsplit("/", 2)[0] + "/", timeout=10)
    assert not studio.running
    with pytest.raises(urllib.error.URLError):
        asked(studio.address, "state?after=0")


def test_a_callable_works_too_and_the_page_can_end_it(people: pd.DataFrame) -> None:
    studio = sogar.studio(people.drop(columns="id"), lambda rows: rows["income"] > 50, browser=False)
    assert asked(studio.address, "problem")["size"]["affected"] > 0
    assert asked(studio.address, "end", {})["ended"]
    studio.wait()
    assert not studio.running
    studio.close()


def test_faults_are_raised_before_anything_runs(people: pd.DataFrame, tmp_path: Any) -> None:
    config = tmp_path / "sogar.toml"
    config.write_text("[data]\nlabl = 1\n")
    with pytest.raises(sogar.ConfigError, match="labl"):
        sogar.studio(people, lambda rows: rows["income"] > 50, config=config, browser=False)
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x08builtins\x93.")
    with pytest.raises(sogar.ModelError, match="pickle"):
        sogar.studio(people, tmp_path / "model.pkl", browser=False)

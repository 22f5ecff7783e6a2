"""`problem export`: the arrays are the problem, so trees of the front can be evaluated from them alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recompute import Json
from running import GERMAN, Sogar

Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]


@pytest.fixture(scope="module")
def arrays(sogar: Sogar, tmp_path_factory: pytest.TempPathFactory) -> Arrays:
    """The arrays of the German example."""
    out = tmp_path_factory.mktemp("export") / "problem.npz"
    model, config = GERMAN / "model.txt", GERMAN / "sogar.toml"
    sogar(
        "problem", "export", GERMAN / "german.csv", "--model", model, "--config", config, "-o", out, "--quiet"
    )
    with np.load(out, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def sums(tree: Json, rows: Array, arrays: Arrays, splits: list[int], ids: list[int]) -> tuple[int, int]:
    """Total cost and number of rows not flipped, from the arrays alone."""
    if "action" in tree:
        action = ids[tree["action"]]
        edits = arrays["actions"][action]
        costs = arrays["cost"][edits[edits >= 0]][:, rows]
        cost = int(costs.max(axis=0).sum()) if len(costs) else 0
        return cost, int(np.sum(~arrays["flips"][action, rows]))
    passing = arrays["splits"][rows, splits[tree["split"]]]
    left = sums(tree["left"], rows[passing], arrays, splits, ids)
    right = sums(tree["right"], rows[~passing], arrays, splits, ids)
    return left[0] + right[0], left[1] + right[1]


def test_the_arrays_have_the_sizes_of_the_problem(arrays: Arrays, front: Json) -> None:
    rows, counts = front["population"]["affected"], front["counts"]
    assert arrays["splits"].shape == (rows, counts["splits"])
    assert arrays["cost"].shape == (counts["edits"], rows)
    assert arrays["actions"].shape == (counts["actions"], front["limits"]["max_edits"])
    assert arrays["flips"].shape == (counts["actions"], rows)
    limits = front["limits"]
    for name in ("max_depth", "max_leaves", "min_leaf"):
        assert arrays[name] == limits[name]
    assert arrays["unit"].item() == front["cost"]["unit"]
    assert arrays["combine"].item() == "max"
    assert not arrays["flips"][0].any(), "the identity flips nobody"


def test_every_tree_of_the_front_has_its_cost_and_loss_in_the_arrays(arrays: Arrays, front: Json) -> None:
    rows = np.arange(front["population"]["affected"])
    questions = arrays["split_texts"].tolist()
    splits = [questions.index(split["text"]) for split in front["splits"]]
    ids = [action["id"] for action in front["actions"]]
    for point in front["points"]:
        assert sums(point["tree"], rows, arrays, splits, ids) == (point["cost_sum"], point["loss_count"])


def test_edits_are_described_in_words(arrays: Arrays, front: Json) -> None:
    edits = arrays["edit_texts"].tolist()
    assert len(edits) == front["counts"]["edits"]
    for action in front["actions"]:
        chosen = [edits[edit] for edit in arrays["actions"][action["id"]] if edit >= 0]
        told = action["text"].lower()
        assert all(edit.lower() in told for edit in chosen)

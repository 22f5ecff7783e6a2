"""The notebooks of the documentation run from top to bottom.

They are stored with their outputs:
``jupyter nbconvert --to notebook --execute --inplace docs/python/notebooks/*.ipynb``.
"""

from __future__ import annotations

import ast
import json
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from running import DATA, ROOT, skip

FOLDER = ROOT / "docs" / "python" / "notebooks"


def cells(name: str) -> list[str]:
    """The code of a notebook."""
    notebook = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(name: str, monkeypatch: pytest.MonkeyPatch, *, keep: int = 1) -> dict[str, Any]:
    """Runs all cells; what a cell ends with is shown as a notebook would show it.

    Of the tables that the first cell reads, one row in `keep` stays: an unoptimised build needs no more.
    """
    monkeypatch.chdir(FOLDER)
    mpl.use("agg")
    names: dict[str, Any] = {}
    for number, source in enumerate(cells(name)):
        place = f"{name}, cell {number}"
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, place, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
            page = value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)
            assert page is not None
        if number == 0:
            names |= {key: part.iloc[::keep] for key, part in names.items() if isinstance(part, pd.DataFrame)}
    plt.close("all")
    return names


def test_german(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("german.ipynb", monkeypatch)["front"].status_ == "complete"


def test_adult_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    if not (DATA / "adult_train.csv").exists():
        skip("data", f"{DATA} has no adult_train.csv; set SOGAR_DATA")
    monkeypatch.setenv("SOGAR_DATA", str(DATA.resolve()))
    assert run("adult_audit.ipynb", monkeypatch, keep=4)["front"].status_ == "complete"


def test_notebooks_are_stored_with_outputs_and_name_no_machine() -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert any(cell["outputs"] for cell in code), f"{path.name} was never run"
        assert not any(output["output_type"] == "error" for cell in code for output in cell["outputs"])
        text = path.read_text(encoding="utf-8")
        for machine in ("/home/", "/root/", "/tmp/", "/Users/", "C:\\\\"):
            assert machine not in text, f"{path.name} has the path {machine}"

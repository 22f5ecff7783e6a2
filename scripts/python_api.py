"""Writes docs/python/API.md, the reference of the Python package, from its docstrings.

Usage: python scripts/python_api.py
"""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import sogar

PAGE = Path(__file__).resolve().parents[1] / "docs" / "python" / "API.md"
HEAD = """# API reference

Generated from the docstrings by `make docs`. The tests run the examples.
"""
#: Methods that only scikit-learn or Python call.
HIDDEN = re.compile(r"^_")


def reference() -> str:
    """The page."""
    classes = [sogar.Sogar, sogar.Summary, sogar.Explanation, sogar.Studio]
    functions = [
        sogar.studio,
        sogar.plot_front,
        sogar.plot_disparity,
        sogar.plot_fairness,
        sogar.plot_tree,
        sogar.solve_matrix,
    ]
    others = [getattr(sogar, name) for name in sogar.__all__]
    matrix = [item for item in others if inspect.isclass(item) and item.__name__.startswith("Matrix")]
    errors = [item for item in others if inspect.isclass(item) and issubclass(item, Exception)]
    parts = [
        HEAD,
        *(class_text(item) for item in classes),
        *(function_text(item, "##") for item in functions),
    ]
    parts += [class_text(item) for item in matrix]
    rows = [f"| `{item.__name__}` | {bases(item)} | {first_line(item)} |" for item in errors]
    parts.append("\n".join(["## Exceptions and warnings\n", "| | also a | |", "|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def class_text(item: type) -> str:
    """A class with its methods and properties."""
    parts = [f"## `{item.__name__}`\n", body(item)]
    own = [base for base in item.__mro__ if base.__module__.startswith("sogar.")]
    members = {name: member for base in own for name, member in vars(base).items()}
    for name, member in members.items():
        if HIDDEN.match(name):
            continue
        if isinstance(member, property):
            parts.append(f"### `{item.__name__}.{name}`\n\n{body(member)}")
        elif isinstance(member, classmethod | staticmethod) or inspect.isfunction(member):
            function = getattr(member, "__func__", member)
            parts.append(function_text(function, "###", f"{item.__name__}."))
    return "\n".join(parts)


def function_text(function: Any, level: str, owner: str = "") -> str:
    """A function with its signature."""
    parameters: list[str] = []
    named = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not named:
            parameters.append("*")
            named = True
        parameters.append(parameter_text(parameter))
    shown = ", ".join(text for text in parameters if text)
    name = f"{owner}{function.__name__}"
    return f"{level} `{name}`\n\n```python\n{name}({shown})\n```\n\n{body(function)}"


def parameter_text(parameter: inspect.Parameter) -> str:
    """A parameter with its default; not its type, which the text explains."""
    if parameter.name in ("self", "cls"):
        return ""
    marks: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    mark = marks.get(parameter.kind, "")
    default = "" if parameter.default is inspect.Parameter.empty else f"={parameter.default!r}"
    return f"{mark}{parameter.name}{default}"


def body(item: Any) -> str:
    """A docstring as Markdown: sections become lists, examples become code."""
    text = inspect.getdoc(item) or ""
    made: list[str] = []
    blocks = re.split(r"\n\s*\n", text)
    for block in blocks:
        lines = block.split("\n")
        if lines[0].startswith(">>>"):
            made.append(f"```pycon\n{block}\n\n```")
        elif lines[0] in ("Args:", "Attributes:", "Returns:"):
            made.append(section(lines[0], textwrap.dedent("\n".join(lines[1:]))).replace("``", "`"))
        else:
            made.append(block.replace("``", "`"))
    return "\n\n".join(made) + "\n"


def section(title: str, text: str) -> str:
    """A list of parameters or attributes."""
    if title == "Returns:":
        return f"Returns: {' '.join(text.split())}"
    items = re.split(r"\n(?=\w)", text)
    rows = []
    for item in items:
        name, _, meaning = item.partition(":")
        rows.append(f"- `{name.strip()}`: {' '.join(meaning.split())}")
    return "\n".join(rows)


def first_line(item: type) -> str:
    """The first sentence of a docstring."""
    return (inspect.getdoc(item) or "").split("\n")[0]


def bases(item: type) -> str:
    """The built-in exceptions from which a class also derives."""
    known = [base.__name__ for base in item.__bases__ if base.__module__ == "builtins"]
    return ", ".join(f"`{name}`" for name in known)


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")

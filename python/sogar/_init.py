"""A starting configuration for a table and a model: `sogar config init` in Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import _native, _settings
from ._errors import OutputError
from ._tables import UserTable, in_one_piece


def init_config(
    X: Any,  # noqa: N803 - as scikit-learn calls it
    model: Any = None,
    *,
    path: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> str:
    """Writes a commented ``sogar.toml`` to start from: what is clear is set, the rest are questions.

    A model makes it more precise: its columns are the features, the column that agrees with its predictions
    is the label, and each outcome is listed with the number of people who have it.

    Args:
        X: A table of any type that `Sogar.fit` takes. Unlike there, it may contain the label, ids and dates.
        model: A fitted classifier, a callable on rows, or the path of a model file.
        path: The file to write (default: none).
        force: Whether to overwrite it.

    Returns:
        The text of the file, for ``Sogar(config=path)``.

    >>> import numpy as np, pandas as pd
    >>> people = pd.DataFrame({"age": np.arange(40) % 7 + 20, "income": np.arange(40) % 11})
    >>> text = init_config(people, lambda rows: rows["income"] > 5)
    >>> "protected = true  # a person's age" in text
    True
    """
    table = UserTable(in_one_piece(X))
    native = table.native("{}", table.names)
    loaded, classes = (None, []) if model is None else loaded_model(model, table, native)
    name = table.data if table.kind == "path" else "a table in Python"
    text = _native.init_config(native, name, loaded, classes)
    if path is not None:
        file = Path(path)
        if file.exists() and not force:
            raise OutputError(f"{file}: this file exists already", "choose another name, or set force=True")
        file.write_text(text, encoding="utf-8")
    return text


def loaded_model(model: Any, table: UserTable, native: _native.Table) -> tuple[_native.Model, list[str]]:
    """The engine's model for a file, bytes or a model object, and the names of an object's classes."""
    if isinstance(model, bytes):
        return _native.Model.from_bytes(model, "model", None), []
    if isinstance(model, str | os.PathLike):
        return _native.Model.load(os.fspath(model), None), []
    from ._models import adapt
    from ._preparation import rows_for

    adapted = adapt(model, rows_for(model, table, native), columns=table.names)
    config: dict[str, Any] = {}
    unused = [name for name in table.names if name not in adapted.rows.names]
    if unused:
        config["data"] = {"ignore": unused}
    names = list(adapted.class_names)
    if names:
        _settings.with_classes(config, names, None)
    return adapted.build(native, _settings.as_json(config)), config.get("model", {}).get("classes", [])

"""Turns the estimator's parameters into a configuration: a dictionary with the keys of ``sogar.toml``.

Parameters override a configuration (`config=`, `preset=`). If there is one, a parameter with its default
value sets nothing; otherwise all parameters count.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._columns import BLANKS
from ._errors import ConfigError, path_of, utf8

#: Parameters that are limits of the engine, with the engine's names.
_LIMITS = (
    "max_depth",
    "max_leaves",
    "min_leaf",
    "max_edits",
    "actions",
    "sample",
    "max_scorings",
    "outcomes_time_limit",
    "time_limit",
    "memory_limit",
    "device",
)
#: Parameters with one setting per feature, with the engine's names.
_PER_FEATURE = {
    "directions": "direction",
    "ranges": "range",
    "steps": "steps",
    "targets": "targets",
    "forbid": "forbid",
    "kinds": "kind",
    "levels": "levels",
    "feature_weights": "weight",
}


def base_of(config: Any, preset: str | None) -> tuple[dict[str, Any], str]:
    """The configuration that parameters override, and the folder that its file names are relative to."""
    if config is not None and preset is not None:
        raise ConfigError("both `config` and `preset` are given", "leave one of them out")
    if preset is not None:
        return json.loads(_native.preset(utf8(preset, "the preset", ConfigError))), ""
    if config is None:
        return {}, ""
    if isinstance(config, Mapping):
        return json.loads(as_json(config)), ""
    path = path_of(config)
    return json.loads(_native.read_config(path)), str(Path(path).parent)


def configuration(params: Mapping[str, Any], defaults: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The configuration of an estimator's parameters, and the folder of its files.

    >>> defaults = {"max_depth": 3, "bins": "auto", "immutable": ()}
    >>> configuration({"max_depth": 2, "bins": "auto", "immutable": ["age"]}, defaults)
    ({'features': {'age': {'immutable': True}}, 'limits': {'max_depth': 2}, 'bins': 'auto'}, '')
    """
    config, folder = base_of(params.get("config"), params.get("preset"))
    given = bool(config)
    said = {name: value for name, value in params.items() if not _same(value, defaults.get(name))}
    features = config.setdefault("features", {})
    for name, settings in dict(said.get("features") or {}).items():
        features.setdefault(name, {}).update(settings)
    for name in _listed(said.get("immutable"), "immutable"):
        features.setdefault(name, {})["immutable"] = True
    for name in _listed(said.get("protected"), "protected"):
        features.setdefault(name, {})["protected"] = True
    for parameter, key in _PER_FEATURE.items():
        for name, value in _mapping(said.get(parameter), parameter).items():
            features.setdefault(name, {})[key] = value
    limits = config.setdefault("limits", {})
    for name in _LIMITS:
        if name in said:
            limits[name] = said[name]
    if (threads := _threads(params.get("n_jobs"))) is not None:
        limits["threads"] = threads
    if "bins" in said or (not given and "bins" in params):
        config["bins"] = params["bins"]
    if "cost" in said:
        config.setdefault("cost", {})["kind"] = "function" if callable(said["cost"]) else said["cost"]
    if "cost_table" in said:
        config.setdefault("cost", {}).update(kind="table", table=path_of(said["cost_table"]))
    for name in ("links", "rules"):
        if name in said:
            config[name] = [dict(item) if isinstance(item, Mapping) else item for item in said[name]]
    codes = said.get("codes", ())
    if isinstance(codes, Mapping):
        for name, values in codes.items():
            features.setdefault(name, {})["codes"] = _listed(values, "codes", scalar=True)
    elif codes is not None and len(listed := _listed(codes, "codes", scalar=True)) > 0:
        config.setdefault("data", {})["codes"] = listed
    if "max_gap" in said or "minimax" in said:
        config.setdefault("fairness", {}).pop("minimax" if "max_gap" in said else "max_gap", None)
    _say(config, "fairness", said, {"max_gap": "max_gap", "minimax": "minimax", "epsilon": "epsilon"})
    _say(config, "plausibility", said, {"min_plausibility": "min_plausibility"})
    if said.get("plausibility") is not None:
        config.setdefault("plausibility", {})["function"] = True
    if "random_state" in said:
        config["seed"] = _seed(said["random_state"])
    _say(
        config,
        "data",
        said,
        {
            "label": "label",
            "sample_weight_column": "weight",
            "ignore": "ignore",
            "missing": "missing",
            "trim": "trim",
            "decimal": "decimal",
        },
    )
    _say(config, "model", said, {"threshold": "threshold", "classes": "classes", "columns": "columns"})
    return {
        key: value for key, value in config.items() if value != {} or key not in ("features", "limits")
    }, folder


def defaults_of(estimator: type) -> dict[str, Any]:
    """The default values of an estimator's parameters."""
    parameters = inspect.signature(estimator).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters}


def with_order(config: dict[str, Any], ordered: Mapping[str, list[str]]) -> None:
    """Adds the levels of ordered categories, unless the configuration sets the column."""
    data = config.get("data", {})
    aside = {data.get("label"), data.get("weight"), *data.get("ignore", ())}
    for name, levels in ordered.items():
        own = config.get("features", {}).get(name, {})
        if data.get("trim"):
            levels = [level.strip(BLANKS) for level in levels]
        if name not in aside and "kind" not in own and "levels" not in own:
            config.setdefault("features", {}).setdefault(name, {}).update(kind="ordinal", levels=levels)


def with_classes(config: dict[str, Any], names: list[str], desired: Any) -> None:
    """Adds the names of the model's classes, and which of them are desired, if given.

    ``desired=1`` means the class called 1, or the second of two if there is none.

    >>> config = {}
    >>> with_classes(config, ["bad", "good"], None)
    >>> config
    {'model': {'classes': ['bad', 'good']}}
    >>> with_classes(config, ["bad", "good"], 1)
    >>> config["data"]
    {'desired': ['good']}
    """
    plain = [str(position) for position in range(len(names))]
    if names and names != plain and not config.get("model", {}).get("classes"):
        config.setdefault("model", {})["classes"] = names
    names = config.get("model", {}).get("classes") or names
    wanted = [class_text(value) for value in _listed(desired, "desired", scalar=True)]
    if not wanted:
        return
    if wanted == ["1"] and len(names) == 2 and "1" not in names:
        wanted = [names[1]]
    config.setdefault("data", {})["desired"] = wanted


def class_text(label: Any) -> str:
    """The engine's name of a class: 1, 1.0 and True are all ``1``."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, bool):
        return str(int(label))
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def as_json(config: Mapping[str, Any]) -> str:
    """A configuration as JSON, with NumPy's numbers and arrays as plain ones."""
    try:
        text = json.dumps(config, default=_plain, allow_nan=False, ensure_ascii=False)
    except ValueError:
        raise ConfigError("a setting is infinite or not a number", "give a finite number") from None
    try:
        text.encode()
    except UnicodeEncodeError as cause:
        half = text[max(0, cause.start - 20) : cause.end + 20]
        utf8(half, "a text of the settings", ConfigError)
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return path_of(value)
    raise ConfigError(f"a setting is a {type(value).__name__}, which a configuration cannot hold")


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if callable(value) or isinstance(value, np.ndarray):
        return False
    if isinstance(value, list | tuple) and isinstance(default, list | tuple):
        return list(value) == list(default)
    return type(value) is type(default) and bool(value == default)


def _listed(value: Any, parameter: str, scalar: bool = False) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, str) or (
        scalar and not isinstance(value, list | tuple | set | frozenset | np.ndarray)
    ):
        return [value]
    try:
        return sorted(value) if isinstance(value, set | frozenset) else list(value)
    except TypeError:
        raise ConfigError(f"`{parameter}` must be a list, not a {type(value).__name__}") from None


def _mapping(value: Any, parameter: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"`{parameter}` must be a dictionary by feature, not a {type(value).__name__}",
            f'for example `{parameter}={{"age": …}}`',
        )
    return value


def _threads(jobs: Any) -> int | None:
    if jobs is None or jobs == -1:
        return None
    if isinstance(jobs, bool) or not isinstance(jobs, int | np.integer) or jobs < 1:
        raise ConfigError(f"n_jobs is {jobs!r}", "give a number of threads, or None (or -1) for all cores")
    return int(jobs)


def _seed(state: Any) -> int:
    if state is None:
        return 0
    if isinstance(state, bool) or not isinstance(state, int | np.integer) or state < 0:
        raise ConfigError(
            f"random_state is {state!r}", "give a non-negative whole number, so that results are repeatable"
        )
    return int(state)


def _say(config: dict[str, Any], block: str, said: Mapping[str, Any], keys: Mapping[str, str]) -> None:
    for parameter, key in keys.items():
        if parameter in said and said[parameter] is not None:
            value = said[parameter]
            if key == "ignore":
                value = [*config.get(block, {}).get(key, ()), *_listed(value, parameter)]
            elif key == "classes":
                value = [class_text(name) for name in value]
            config.setdefault(block, {})[key] = value

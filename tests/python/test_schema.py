"""The shipped JSON Schemas describe the files that are written and read."""

from __future__ import annotations

import json
import tomllib

import jsonschema
import pytest
from recompute import Json
from running import GERMAN, Sogar


def schema(sogar: Sogar, of: str) -> Json:
    """A schema as the binary prints it."""
    printed: Json = json.loads(sogar("schema", of))
    jsonschema.Draft202012Validator.check_schema(printed)
    return printed


def test_the_front_of_the_example_follows_its_schema(sogar: Sogar, front: Json) -> None:
    jsonschema.validate(front, schema(sogar, "front"))


def test_a_front_without_points_does_not_follow_its_schema(sogar: Sogar, front: Json) -> None:
    damaged = {key: value for key, value in front.items() if key != "points"}
    with pytest.raises(jsonschema.ValidationError, match="'points' is a required property"):
        jsonschema.validate(damaged, schema(sogar, "front"))


def test_configurations_follow_their_schema(sogar: Sogar) -> None:
    printed = schema(sogar, "config")
    presets: Json = json.loads(sogar("config", "presets", "--json"))
    texts = [sogar("config", "presets", preset["name"]) for preset in presets["presets"]]
    texts.append((GERMAN / "sogar.toml").read_text())
    for text in texts:
        jsonschema.validate(tomllib.loads(text), printed)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"limits": {"max_deepness": 3}}, printed)

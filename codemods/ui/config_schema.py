"""The JSON Schema of `[tool.fullgraph]`, for editors: every key that the reader takes, made from the code.

What the schema accepts, the reader accepts, but for texts with a form that only their codemod knows. The reader takes
more: a number may stand in quotes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.ui.config import KEYS
from fullgraph.codemods.ui.explain import summary_of

TORCH = {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)+$", "description": "The torch that code is written for: 2.9."}
OWN = "What fullgraph does in this project."
MEANINGS = {
    "select": "The codemods that run; without it, all that are not on request.",
    "ignore": "Codemods that do not run.",
    "exclude": "Paths that are left out, as .gitignore has them.",
}


def config_schema(given: Mapping[str, type[Codemod]] | None = None) -> dict[str, Any]:
    """Of a pyproject.toml with this table, for these codemods or all that are installed. Other tables hold anything."""
    kinds = all_codemods() if given is None else given
    names = {"enum": sorted(kinds)}
    properties: dict[str, Any] = {
        "select": list_of(names, "select"),
        "ignore": list_of(names, "ignore"),
        "exclude": list_of({"type": "string"}, "exclude"),
        "torch": TORCH,
        "options": table("Settings, one table per codemod.", {name: options_of(kinds[name]) for name in sorted(kinds)}),
    }
    assert properties.keys() == KEYS, "every key of Config is described"
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "urn:fullgraph:config:1",
        "title": "pyproject.toml with [tool.fullgraph]",
        "type": "object",
        "properties": {"tool": {"type": "object", "properties": {"fullgraph": table(OWN, properties)}}},
    }


def list_of(items: dict[str, Any], key: str) -> dict[str, Any]:
    return {"description": MEANINGS[key], "type": "array", "items": items}


def table(description: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": description,
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def options_of(kind: type[Codemod]) -> dict[str, Any]:
    hints = get_type_hints(kind.options_type())
    own = {item.name: value_of(hints[item.name], item) for item in fields(kind.options_type()) if item.name != "torch"}
    return table(summary_of(kind), {**own, "torch": TORCH})


def value_of(hint: Any, item: Any) -> dict[str, Any]:
    """What may stand behind the `=` of a setting."""
    if get_origin(hint) is Literal:
        kind: dict[str, Any] = {"enum": list(get_args(hint))}
    else:
        kind = {"type": {bool: "boolean", int: "integer", str: "string"}[hint]}
    return {"description": item.metadata.get("doc", ""), **kind, "default": item.default}

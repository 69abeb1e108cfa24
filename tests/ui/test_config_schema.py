"""The schema of `[tool.fullgraph]` that editors take says what the reader says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from docs import SCHEMA, schema_text
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.ui.config import choose_codemods, parse_config
from fullgraph.codemods.ui.config_schema import config_schema
from fullgraph.codemods.ui.explain import settings_of
from tests.ui.running import run

MADE = config_schema()
VALIDATOR = Draft7Validator(MADE)
TABLE = MADE["properties"]["tool"]["properties"]["fullgraph"]["properties"]
SAMPLES = {"boolean": (True, False), "integer": (3,), "string": ("text",)}
OWN_FORMS = {("isolate_telemetry", "lines"): "3-4"}
"""Settings whose text has a form that only the codemod knows."""


def is_read(folder: Path, table: dict[str, Any]) -> bool:
    """Whether the reader takes a table, and every codemod in it its options."""
    file = folder / "pyproject.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in table.items() if key != "options"]
    for name, options in table.get("options", {}).items():
        lines += [f"[tool.fullgraph.options.{name}]", *(f"{k} = {json.dumps(v)}" for k, v in options.items())]
    file.write_text("\n".join(["[tool.fullgraph]", *lines]))
    try:
        config = parse_config(file)
        choose_codemods(config, select=sorted({*config.select, *config.options}))
    except FullgraphError:
        return False
    return True


def is_accepted(table: dict[str, Any]) -> bool:
    return bool(VALIDATOR.is_valid({"tool": {"fullgraph": table}}))


def values(described: dict[str, Any]) -> tuple[Any, ...]:
    if "pattern" in described:
        return ("2.9",)
    return tuple(described["enum"]) if "enum" in described else SAMPLES[described["type"]]


EVERY = [
    (name, key, value)
    for name, table in TABLE["options"]["properties"].items()
    for key, described in table["properties"].items()
    for value in values(described)
]


def test_every_setting_of_every_codemod_is_described() -> None:
    Draft7Validator.check_schema(MADE)
    for name, kind in all_codemods().items():
        described = TABLE["options"]["properties"][name]["properties"]
        assert set(described) == {setting.name for setting in settings_of(kind)} | {"torch"}


def test_what_the_schema_accepts_the_reader_accepts(tmp_path: Path) -> None:
    for name, key, value in EVERY:
        table: dict[str, Any] = {"options": {name: {key: OWN_FORMS.get((name, key), value)}}}
        assert is_accepted(table), table
        assert is_read(tmp_path, table), table
    for table in ({"select": sorted(all_codemods())}, {"exclude": ["build/"]}, {"torch": "2.9"}, {"ignore": []}):
        assert is_accepted(table)
        assert is_read(tmp_path, table)


@pytest.mark.parametrize(
    "table",
    [
        {"selet": []},
        {"select": "batch_host_reads"},
        {"select": ["batch_host_read"]},
        {"torch": "new"},
        {"options": {"batch_host_read": {}}},
        {"options": {"batch_host_reads": {"levle": "all"}}},
        {"options": {"batch_host_reads": {"level": "most"}}},
    ],
    ids=json.dumps,
)
def test_both_reject_what_is_unknown(table: dict[str, Any], tmp_path: Path) -> None:
    assert not is_accepted(table)
    assert not is_read(tmp_path, table)


def test_other_tables_hold_what_they_like() -> None:
    assert VALIDATOR.is_valid({"project": {"name": "x"}, "tool": {"ruff": {"line-length": 120}}})


def test_the_stored_schema_is_what_the_code_makes(tmp_path: Path) -> None:
    assert SCHEMA.read_text() == schema_text(), "`make docs` writes it"
    assert json.loads(run(tmp_path, "doctor", "--schema").out) == MADE

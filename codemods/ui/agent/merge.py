"""A server's entry in a file that lists servers: what the file becomes, or why it is left to the user."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from fullgraph.codemods.ui.agent.hosts import Host

NAME = "fullgraph"


class LeftAloneError(Exception):
    """The file is the user's: the text says why it is not touched."""


def merged(host: Host, before: str | None) -> str:
    """The text of the file with the entry in it; what else is there keeps its value and its place."""
    is_toml = host.config.endswith(".toml")
    if before is None:
        return toml_entry(host) if is_toml else json_entry(host)
    return merged_toml(host, before) if is_toml else merged_json(host, before)


def entry_text(host: Host) -> str:
    """What a user would add."""
    return toml_entry(host) if host.config.endswith(".toml") else json_entry(host)


def json_entry(host: Host) -> str:
    return json.dumps({host.table: {NAME: host.entry}}, indent=2) + "\n"


def toml_entry(host: Host) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in host.entry.items()]
    return "\n".join([f"[{host.table}.{NAME}]", *lines]) + "\n"


def is_there(held: Any, host: Host) -> bool:
    """Whether the entry stands there already; another one of its name is the user's own."""
    if not isinstance(held, dict) or not isinstance(held.get(host.table, {}), dict):
        raise LeftAloneError(f"it holds no table {host.table!r} that an entry can be added to")
    known = held.get(host.table, {}).get(NAME)
    if known is not None and known != host.entry:
        raise LeftAloneError(f"it has an entry {NAME!r} of its own")
    return known is not None


def merged_json(host: Host, before: str) -> str:
    try:
        held = json.loads(before)
    except ValueError as error:
        raise LeftAloneError("it is not plain JSON, and comments would be lost") from error
    if is_there(held, host):
        return before
    held.setdefault(host.table, {})[NAME] = host.entry
    indent = re.search(r"\n([ \t]+)\S", before)
    return json.dumps(held, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


def merged_toml(host: Host, before: str) -> str:
    try:
        held = tomllib.loads(before)
    except ValueError as error:
        raise LeftAloneError(f"it cannot be read: {error}") from error
    if is_there(held, host):
        return before
    after = before.rstrip("\n") + "\n" * (2 * bool(before.strip())) + toml_entry(host)
    held.setdefault(host.table, {})[NAME] = host.entry
    try:
        is_right = tomllib.loads(after) == held
    except ValueError:
        is_right = False
    if not is_right:
        raise LeftAloneError(f"a table {host.table!r} cannot be added at its end")
    return after

"""What the client sets, under `fullgraph`. It counts as the command line does: before `[tool.fullgraph]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from fullgraph.codemods.codemod import Codemod, check_torch, suggest
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.ui.config import Config, as_text, choose_codemods

SECTION = "fullgraph"


@dataclass(frozen=True)
class ClientSettings:
    """Every key that a client may set is a field here. Lists and tables are as in pyproject.toml."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    torch: str = ""
    """The torch that code is written for, as `--torch`."""

    python: str = ""
    """The interpreter that proofs run under; empty: the one that `fullgraph prove` would take."""

    device: str = "auto"
    backend: str = ""
    mode: str = ""

    def codemods(self, config: Config) -> list[Codemod]:
        torch = check_torch("settings: torch", self.torch)
        return choose_codemods(config, select=self.select, ignore=self.ignore, options=self.options, torch=torch)


OF_THE_CLIENT = {"path", "trace"}
"""What clients keep in the same section for themselves: which program to start, and how much to write down of it."""

KEYS = {item.name for item in fields(ClientSettings)}


def read_settings(given: Any) -> ClientSettings:
    """The settings out of what a client sends: the section itself, or an object that holds it; nothing is the usual.

    Keys that are not set, null or empty are the usual too.
    """
    held = given.get(SECTION, given) if isinstance(given, Mapping) else given
    if held is None:
        return ClientSettings()
    if not isinstance(held, Mapping):
        raise FullgraphError(f"settings: {SECTION} must be an object")
    own = {key: value for key, value in held.items() if key not in OF_THE_CLIENT}
    for key in own:
        if key not in KEYS:
            raise FullgraphError(f"settings: {SECTION} has no key {key!r}{suggest(str(key), KEYS)}")
    values = {key: read_value(key, value) for key, value in own.items() if value not in (None, "")}
    return checked(ClientSettings(**values))


def read_value(key: str, value: Any) -> Any:
    if key in ("select", "ignore", "exclude"):
        return string_list(key, value)
    if key == "options":
        return option_table(value)
    if not isinstance(value, str):
        raise FullgraphError(f"settings: {SECTION}.{key} must be a string")
    return value


def string_list(key: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(item, str) for item in value):
        raise FullgraphError(f"settings: {SECTION}.{key} must be a list of strings")
    return tuple(value)


def option_table(value: Any) -> dict[str, dict[str, str]]:
    if not isinstance(value, Mapping) or not all(isinstance(table, Mapping) for table in value.values()):
        raise FullgraphError(f"settings: {SECTION}.options must hold one object per codemod")
    return {name: {key: as_text(item) for key, item in table.items()} for name, table in value.items()}


def checked(settings: ClientSettings) -> ClientSettings:
    """Names that mean nothing are told at once, and not with the next file."""
    try:
        settings.codemods(Config())
    except FullgraphError as error:
        raise FullgraphError(f"settings: {error}") from error
    return settings

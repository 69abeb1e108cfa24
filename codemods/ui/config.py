"""What the user wants: the command line first, then `[tool.fullgraph]` of the nearest pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from codemods.codemod import Codemod, suggest
from codemods.model import FullgraphError
from codemods.registry import all_codemods, codemod_named


@dataclass(frozen=True)
class Config:
    """`[tool.fullgraph]`. Every key of it is a field here."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_config(root: Path) -> Config:
    """The configuration for a project, from the nearest pyproject.toml that has any."""
    for folder in (root, *root.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return parse_config(file)
    return Config()


def parse_config(file: Path) -> Config:
    try:
        held = tomllib.loads(file.read_text("utf-8")).get("tool", {}).get("fullgraph", {})
    except (OSError, ValueError) as error:
        raise FullgraphError(f"{file}: {error}") from error
    known = {item.name for item in fields(Config)}
    for key in held:
        if key not in known:
            raise FullgraphError(f"{file}: [tool.fullgraph] has no key {key!r}{suggest(key, known)}")
    lists = {key: string_list(file, key, held[key]) for key in held if key != "options"}
    return Config(**lists, options=option_table(file, held.get("options", {})))


def string_list(file: Path, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise FullgraphError(f"{file}: [tool.fullgraph] {key} must be a list of strings")
    return tuple(value)


def option_table(file: Path, value: Any) -> dict[str, dict[str, str]]:
    """`options.NAME.KEY = VALUE` with every value as the text that the command line would have."""
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise FullgraphError(f"{file}: [tool.fullgraph.options] must hold one table per codemod")
    return {name: {key: as_text(item) for key, item in table.items()} for name, table in value.items()}


def as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_options(given: Sequence[str]) -> dict[str, dict[str, str]]:
    """`--option NAME.KEY=VALUE` as a table."""
    table: dict[str, dict[str, str]] = {}
    for text in given:
        name, dot, rest = text.partition(".")
        key, equals, value = rest.partition("=")
        if not (dot and equals and name and key):
            raise FullgraphError(f"--option {text!r}: write NAME.KEY=VALUE, as in flatten_tuple_keys.stride=N")
        table.setdefault(name, {})[key] = value
    return table


def choose_codemods(
    config: Config,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    options: Mapping[str, Mapping[str, str]] | None = None,
    symbols: Sequence[str] = (),
    loaded: Sequence[type[Codemod]] = (),
) -> list[Codemod]:
    """The codemods to run, each with its settings. One loaded from a file runs alone unless others are selected."""
    known = {**all_codemods(), **{kind.name: kind for kind in loaded}}
    wanted = list(select) or [kind.name for kind in loaded] or list(config.select) or list(known)
    unwanted = {codemod_named(name, known).name for name in (*ignore, *(() if select else config.ignore))}
    tables = merged(config.options, options or {})
    for name in tables:
        codemod_named(name, known)
    kinds = [codemod_named(name, known) for name in dict.fromkeys(wanted) if name not in unwanted]
    named = tuple(symbols) if select else ()
    return [kind(tables.get(kind.name), named) for kind in kinds]


def merged(
    first: Mapping[str, Mapping[str, str]], second: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Both tables; the second wins."""
    return {name: {**first.get(name, {}), **second.get(name, {})} for name in {**first, **second}}

"""What the user wants: the command line first, then `[tool.fullgraph]` of the nearest pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from fullgraph.codemods.codemod import Codemod, check_torch, suggest
from fullgraph.codemods.codemod import parse_options as parse_settings
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.plain_file import read_plain_text
from fullgraph.codemods.registry import all_codemods, codemod_named


@dataclass(frozen=True)
class Config:
    """`[tool.fullgraph]`. Every key of it is a field here; `file` is where it was read."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    torch: str = ""
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    file: Path | None = None


KEYS = {item.name for item in fields(Config)} - {"file"}


def read_config(root: Path) -> Config:
    """The configuration for a project, from the nearest pyproject.toml."""
    for folder in (root, *root.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return parse_config(file)
    return Config()


def parse_config(file: Path) -> Config:
    held = tool_table(file)
    for key in held:
        if key not in KEYS:
            raise FullgraphError(f"{file}: [tool.fullgraph] has no key {key!r}{suggest(key, KEYS)}")
    lists = {key: string_list(file, key, held[key]) for key in held if key not in ("options", "torch")}
    torch = check_torch(f"{file}: [tool.fullgraph] torch", held.get("torch", ""))
    return Config(**lists, torch=torch, options=option_table(file, held.get("options", {})), file=file)


def tool_table(file: Path) -> dict[str, Any]:
    try:
        held = tomllib.loads(read_plain_text(file)).get("tool", {})
    except UnicodeDecodeError:
        raise FullgraphError(f"{file}: not UTF-8 text") from None
    except ValueError as error:
        raise FullgraphError(f"{file}: {error}") from error
    except RecursionError:
        raise FullgraphError(f"{file}: nested too deeply") from None
    except OSError as error:
        raise FullgraphError(f"{file}: not readable: {error.strerror}") from error
    table = held.get("fullgraph", {}) if isinstance(held, dict) else {}
    if not isinstance(table, dict):
        raise FullgraphError(f"{file}: [tool.fullgraph] must be a table")
    return table


def string_list(file: Path, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise FullgraphError(f"{file}: [tool.fullgraph] {key} must be a list of strings")
    return tuple(value)


def option_table(file: Path, value: Any) -> dict[str, dict[str, str]]:
    """`options.NAME.KEY = VALUE` with every value as the text that the command line would have."""
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise FullgraphError(f"{file}: [tool.fullgraph.options] must hold one table per codemod")
    for name, table in value.items():
        for key, item in table.items():
            if not isinstance(item, str | bool | int | float):
                raise FullgraphError(f"{file}: [tool.fullgraph.options] {name}.{key} must be one plain value")
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
    tests: str = "",
    torch: str = "",
) -> list[Codemod]:
    """The codemods to run, each with its settings. One loaded from a file runs alone unless others are selected.

    Those that are there `on_request` run only where they are selected by name.
    Only what the command line names `is_asked`.

    `tests` is the folder in which those that can write tests.
    """
    known = {**all_codemods(), **{kind.name: kind for kind in loaded}}
    usual = [name for name, kind in known.items() if not kind.on_request]
    wanted = list(select) or [kind.name for kind in loaded] or list(config.select) or usual
    unwanted = {codemod_named(name, known).name for name in (*ignore, *(() if select else config.ignore))}
    tables = merged(config.options, options or {})
    for name, table in tables.items():
        parse_settings(name, codemod_named(name, known).options_type(), table)
    kinds = [
        kind for kind in (codemod_named(name, known) for name in dict.fromkeys(wanted)) if kind.name not in unwanted
    ]
    if wanted and not kinds:
        raise FullgraphError("every codemod that was selected is ignored too; there is nothing to look for")
    named = tuple(symbols) if select else ()
    given = with_torch(tables, [kind.name for kind in kinds], torch or config.torch)
    chosen = [kind(given.get(kind.name), named, *([tests] if kind.writes_tests else [])) for kind in kinds]
    for codemod in chosen:
        codemod.is_asked = bool(select or loaded)
    return chosen


def with_torch(
    tables: Mapping[str, Mapping[str, str]], names: Iterable[str], torch: str
) -> dict[str, Mapping[str, str]]:
    """The options of each codemod, with the torch that all of them write for; that of a codemod's own table wins."""
    return {**tables, **{name: {"torch": torch, **tables.get(name, {})} for name in names if torch}}


def merged(
    first: Mapping[str, Mapping[str, str]], second: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Both tables; the second wins."""
    return {name: {**first.get(name, {}), **second.get(name, {})} for name in {**first, **second}}

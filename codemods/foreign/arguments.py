"""What a LibCST command takes on LibCST's command line, read from `--option NAME.KEY=VALUE`."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, NoReturn, get_args, get_type_hints

from fullgraph.codemods.codemod import read_bool, suggest
from fullgraph.codemods.model import FullgraphError

READERS: dict[Any, Callable[[str], Any]] = {str: str, int: int, float: float, bool: read_bool, Any: str}


class Parser(argparse.ArgumentParser):
    """LibCST's commands describe their arguments to one of these; it raises where argparse would exit."""

    def error(self, message: str) -> NoReturn:
        raise FullgraphError(f"{self.prog}: {message}; give an argument as --option {self.prog}.NAME=VALUE")


def read_arguments(name: str, command: type[Any], options: Mapping[str, str]) -> dict[str, Any]:
    """The keyword arguments for the command's constructor, next to its context."""
    parser = Parser(prog=name, add_help=False, allow_abbrev=False)
    getattr(command, "add_args", lambda parser: None)(parser)
    if not parser._actions:
        add_parameters(parser, command)
    actions = {action.dest: action for action in parser._actions}
    flags_of = {flag: action.dest for action in parser._actions for flag in action.option_strings}
    dests = {flag.lstrip("-").replace("-", "_"): dest for flag, dest in flags_of.items()}
    given = {dests.get(key := spelled.replace("-", "_"), key): text for spelled, text in options.items()}
    for key in given.keys() - actions.keys():
        raise FullgraphError(f"{name} has no option {key!r}{suggest(key, actions)}")
    flags: list[str] = []
    positionals: list[str] = []
    for dest, action in actions.items():
        if dest in given:
            words = spell(name, action, given[dest])
            (flags if action.option_strings else positionals).extend(words)
    return vars(parser.parse_args([*flags, "--", *positionals] if positionals else flags))


def add_parameters(parser: Parser, command: type[Any]) -> None:
    """A codemod that describes no arguments may still have a constructor with more than the context."""
    hints = get_type_hints(command.__init__)
    for parameter in list(inspect.signature(command).parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        hint = hints.get(parameter.name, Any)
        kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
        required = parameter.default is parameter.empty
        if len(kinds) == 1 and kinds[0] in READERS:
            reader = READERS[kinds[0]]
            flag = f"--{parameter.name}"
            parser.add_argument(flag, dest=parameter.name, type=reader, required=required, default=argparse.SUPPRESS)
        elif required:
            raise FullgraphError(f"{parser.prog} needs {parameter}, which --option cannot give")


def spell(name: str, action: argparse.Action, text: str) -> list[str]:
    """One option as words of a command line; several values are separated by commas."""
    flag = next((flag for flag in action.option_strings if flag.startswith("--")), "".join(action.option_strings[:1]))
    if action.nargs == 0:
        return spell_switch(f"{name}.{action.dest}", action, flag, text)
    if action.nargs in (argparse.REMAINDER, argparse.PARSER):
        raise FullgraphError(f"option {name}.{action.dest} cannot be given with --option")
    repeats = isinstance(action, argparse._AppendAction)
    values = text.split(",") if repeats or action.nargs not in (None, "?") else [text]
    if not flag:
        return values
    if action.nargs not in (None, "?"):
        return [flag, *values]
    return [word for value in values for word in ([f"{flag}={value}"] if flag.startswith("--") else [flag, value])]


def spell_switch(name: str, action: argparse.Action, flag: str, text: str) -> list[str]:
    try:
        wanted = read_bool(text)
    except ValueError:
        raise FullgraphError(f"option {name}: {text!r} is not true or false") from None
    if isinstance(action, argparse.BooleanOptionalAction):
        return [flag if wanted else flag.replace("--", "--no-", 1)]
    if not isinstance(action.const, bool):
        raise FullgraphError(f"option {name} cannot be given with --option")
    return [flag] if wanted == action.const else []

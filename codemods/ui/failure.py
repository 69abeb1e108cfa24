"""How a command ends that could not do its work: one line on standard error, or an object for a program that reads.

Whoever asked for JSON gets `{"error", "fix", "exit_code"}` on standard output, and nothing else there. `error` is the
line that a person would read, `fix` is what to do about it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import click

from fullgraph.codemods.model import FullgraphError

WANTED = "fullgraph.json"
"""Where click's context keeps whether standard output is for a program."""

CONSEQUENCE = re.compile(r"nothing was |there is no(thing)? |the \w+ was not |the patch ")
REMEDY = re.compile(r"(?:[:.;] )((?:write|give|set|remove|update|name|save|fetch|commit|observe) .*)")
"""Messages end with the way out behind a semicolon or a colon; behind a semicolon may also stand what came of it."""

KNOWN = (
    ("there is no codemod", "`fullgraph list` names every codemod"),
    ("has no option", "`fullgraph explain NAME` lists the options of a codemod"),
    (r"\[tool\.fullgraph", "correct pyproject.toml; `fullgraph doctor --schema` prints what it may hold"),
    ("no such file", "name a file or folder that is there; relative paths count from the current folder"),
    ("nothing to take back", "`fullgraph log` lists the runs that were written"),
    ("nothing to prove", "change the code first, or name an older state with --before REVISION"),
    ("a link", "name the real file, inside the project"),
    ("not readable", "make the file readable, or leave it out with --exclude"),
    ("not writable", "make the file writable, or leave it out with --exclude"),
    (r"\bgit(:| is) ", "run it inside a git work tree, or leave out what needs git"),
    (r"\bline \d", "correct the syntax there, or leave the file out with --exclude"),
)


STOPPED = 130
"""The exit code after Ctrl-C, as shells have it; the terminal has shown ^C without ending the line."""


class FailedError(FullgraphError):
    """An error with an exit code of its own."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text)
        self.exit_code = exit_code


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether a command line wants JSON on standard output."""
    own = list(words[: words.index("--")] if "--" in words else words)
    pairs = [*pairwise(own), *(tuple(word.split("=", 1)) for word in own if "=" in word)]
    return "--json" in own or any(pair in (("--format", "json"), ("--output", "json")) for pair in pairs)


def say(text: str, exit_code: int, context: click.Context) -> None:
    """Tell it where it is read, and end the command."""
    if context.meta.get(WANTED):
        click.echo(json.dumps(failure(text, exit_code, context.invoked_subcommand or ""), indent=2))
    else:
        click.echo("\n" * (exit_code == STOPPED) + f"fullgraph: {text}", err=True)
    context.exit(exit_code)


def failure(text: str, exit_code: int, command: str = "") -> dict[str, Any]:
    return {**told(text, command), "exit_code": exit_code}


def told(text: str, command: str = "") -> dict[str, str]:
    """The two keys that every answer has that is an error."""
    return {"error": text, "fix": way_out(text, command)}


def first_of(errors: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The two keys for a report with errors; the report itself lists all of them."""
    return next((told(f"{place}: {reason}" if place else reason) for place, reason in errors), {})


def way_out(text: str, command: str = "") -> str:
    """What the message itself says, what is known of such messages, or where to look."""
    behind = [part for part in text.split("; ")[1:] if not CONSEQUENCE.match(part)]
    if behind:
        return behind[-1]
    if found := REMEDY.search(text):
        return found[1]
    known = next((remedy for part, remedy in KNOWN if re.search(part, text)), "")
    return known or f"`fullgraph {command} --help` says what it takes".replace("  ", " ")

"""What `doctor` does: look at everything, say what is missing, and name the next command."""

from __future__ import annotations

import importlib.util
import json
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click

from fullgraph.codemods.rewrite.walk import find_root
from fullgraph.codemods.ui.doctor import interpreter, project
from fullgraph.codemods.ui.doctor.model import FINE, NOTE, PROBLEM, Checkup, Fact
from fullgraph.codemods.ui.history import open_journal
from fullgraph.codemods.ui.layout import Entry, Paragraph, Piece, lay_out
from fullgraph.codemods.ui.terminal import use_color

EXTRAS = {"mcp": "mcp", "dask": "distributed", "bowler": "bowler"}
MARKS = {FINE: "ok", NOTE: "note", PROBLEM: "problem"}
STYLES: dict[str, dict[str, object]] = {FINE: {}, NOTE: {"dim": True}, PROBLEM: {"fg": "red"}}
SCHEMA = Path(__file__).with_name("doctor.schema.json")


def doctor(path: Path, python: str, form: str, color: str) -> int:
    """The exit code: 0 if `check` and `prove` have all they need."""
    checkup = examine(path, python)
    if form == "json":
        click.echo(json.dumps(checkup.as_json(), indent=2))
    else:
        width = shutil.get_terminal_size().columns
        click.echo(lay_out(pieces(checkup), use_color(color), width), nl=False)
    return checkup.exit_code


def examine(path: Path, python: str = "") -> Checkup:
    open_journal(path)  # refuses what is not there, or leads out
    root = find_root(path)
    return Checkup(root, [own(), *project.look_at(root), *interpreter.look_at(python, root)])


def own() -> Fact:
    """fullgraph itself, and the Python that it runs in."""
    number = version("fullgraph")
    extras = [name for name, module in EXTRAS.items() if importlib.util.find_spec(module)]
    text = f"{number}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    text += f", extras: {', '.join(extras) or 'none'}"
    data = {"version": number, "python": platform.python_version(), "executable": sys.executable, "extras": extras}
    return Fact("fullgraph", FINE, text, "", data)


def pieces(checkup: Checkup) -> Iterator[Piece]:
    yield [Entry((f"{MARKS[fact.state]:<8}{fact.name}", fact.text), STYLES[fact.state]) for fact in checkup.facts]
    yield Paragraph()
    if checkup.problems:
        named = ", ".join(fact.name for fact in checkup.problems)
        yield Paragraph(f"To be repaired first: {named}.", style={"bold": True})
    else:
        yield Paragraph("Everything that check and prove need is there.", style={"bold": True})
    yield Paragraph(f"Next: {checkup.next}")

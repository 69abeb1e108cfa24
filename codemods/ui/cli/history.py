"""The commands about what was written."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from fullgraph.codemods.ui.cli.options import format_option


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@format_option
def log(path: Path, form: str) -> None:
    """What was written in the project around PATH, oldest first."""
    from fullgraph.codemods.ui.history import log

    log(path, form)


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
def recover(path: Path) -> None:
    """Finish a run that was interrupted in the project around PATH; `fix` and `undo` do so first."""
    from fullgraph.codemods.ui.history import recover

    recover(path)


@click.command()
@click.argument("names", nargs=-1, metavar="[RUN | FINDING]...")
@click.option("--all", "everything", is_flag=True, help="Take back every run.")
@click.option("--path", type=click.Path(path_type=Path), default=".", help="A path in the project, else this folder.")
@format_option
@click.option(
    "--conflict",
    type=click.Choice(["refuse", "markers"]),
    default="refuse",
    show_default=True,
    help="Where your edits collide with it: change nothing, or write both versions between markers.",
)
@click.option(
    "--not-written-here",
    "foreign",
    multiple=True,
    metavar="FILE",
    help="Take a run that `log` calls so out of this file of the project; may be given several times.",
)
def undo(
    names: tuple[str, ...], everything: bool, path: Path, form: str, conflict: str, foreign: tuple[str, ...]
) -> None:
    """Take back a RUN (3), a FINDING of a run (3.1), or by default what the last command wrote."""
    from fullgraph.codemods.ui.history import undo

    if names and everything:
        raise click.UsageError("--all takes back everything: give it no run or finding")
    if foreign and len(names) != 1:
        raise click.UsageError("--not-written-here goes with the number of one run")
    sys.exit(undo(path, names, everything=everything, markers=conflict == "markers", foreign=foreign, form=form))

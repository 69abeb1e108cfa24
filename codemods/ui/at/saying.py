"""From the command line of `at` to its output and exit code."""

from __future__ import annotations

import sys

import click

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.ui.at.command import Answer, answer
from fullgraph.codemods.ui.at.place import read_place


def say(place: str, buffer: bytes | None, wanted: str, *, as_json: bool, use_cache: bool = True) -> int:
    """Answer, as text or JSON; the exit code. Under `--json` an error is JSON too, and standard error stays empty."""
    try:
        found = answer(read_place(place), buffer, wanted, use_cache=use_cache)
    except FullgraphError as error:
        if not as_json:
            raise
        from fullgraph.codemods.ui.at.as_json import render_error

        click.echo(render_error(place, str(error)))
        return 2
    (say_json if as_json else say_text)(found)
    return exit_code(found)


def exit_code(found: Answer) -> int:
    if found.error:
        return 2
    return 1 if found.findings and not found.change else 0


def say_json(found: Answer) -> None:
    from fullgraph.codemods.ui.at.as_json import render

    click.echo(render(found))


def say_text(found: Answer) -> None:
    from fullgraph.codemods.ui.at.as_text import new_text, render
    from fullgraph.codemods.ui.report.model import shown_path
    from fullgraph.codemods.ui.terminal import use_color

    if found.change and not found.run:
        sys.stdout.buffer.write(new_text(found))
    else:
        click.echo(render(found, use_color("auto")), nl=False)
    if found.error:
        click.echo(f"{shown_path(found.project.root, found.path)}: error: {found.error}", err=True)

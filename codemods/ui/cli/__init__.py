"""The command line. Each command says what it takes here and does its work elsewhere, imported when it is called."""

from __future__ import annotations

import errno
import warnings
from typing import Any

import click

from fullgraph.codemods.ui.cli.ci import ci
from fullgraph.codemods.ui.cli.editor import at, lsp
from fullgraph.codemods.ui.cli.finding import check, explain, fix, list_command
from fullgraph.codemods.ui.cli.history import log, recover, undo
from fullgraph.codemods.ui.cli.options import EPILOG
from fullgraph.codemods.ui.cli.proving import audit, capture, harness, observe, prove, scenario
from fullgraph.codemods.ui.cli.tickets import ticket

SECTIONS = {
    "Find and fix": (check, fix, list_command, explain),
    "Run and prove": (observe, prove, audit, scenario, capture, harness),
    "History": (log, undo, recover),
    "Tickets, pipelines, editors": (ticket, ci, at, lsp),
}


class Answers(click.Group):
    """Turns what the user can act on into one line and exit code 2, and Ctrl-C into exit code 130."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        longest = max(len(name) for name in self.commands)
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                room = formatter.width - 6 - longest
                rows = [(f"{command.name:<{longest}}", command.get_short_help_str(room)) for command in commands]
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        from fullgraph.codemods.model import FullgraphError

        warnings.showwarning = show_warning
        try:
            return super().invoke(ctx)
        except FullgraphError as error:
            click.echo(f"fullgraph: {error}", err=True)
            ctx.exit(2)
        except KeyboardInterrupt:
            click.echo("\nfullgraph: stopped", err=True)
            ctx.exit(130)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            click.echo(f"fullgraph: {complaint(error)}", err=True)
            ctx.exit(2)


def complaint(error: OSError) -> str:
    """What the system does not let us do; only the folder that we stand in is asked for without its name."""
    if isinstance(error, FileNotFoundError) and not error.filename:
        return "the current folder does not exist any more"
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"fullgraph: warning: {message}", err=True)


@click.group(cls=Answers, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fullgraph")
def main() -> None:
    """Find PyTorch code that torch.compile stumbles over, review the rewrite, write it, take it back."""


for commands in SECTIONS.values():
    for command in commands:
        main.add_command(command)

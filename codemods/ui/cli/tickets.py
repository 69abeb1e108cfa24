"""The commands that read tickets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from fullgraph.codemods.ui.cli.options import (
    Fix,
    color_option,
    executor_option,
    format_option,
    proof_flags_given,
    proof_options,
    proof_request,
    report_option,
    torch_option,
    write_tests_option,
)

TICKET_EPILOG = (
    "Exit codes: 0 nothing is left open; 1 tickets are left open, or in the patch only; 2 wrong usage, or a file that "
    "cannot be read or written; 3 a proof said different, worse or neutral of a ticket; 4 undecided; 130 stopped by "
    "Ctrl-C. A SCENARIO is what `fullgraph prove` takes."
)


@click.group()
def ticket() -> None:
    """Tickets say what somebody found in the code: Markdown, JSON, SARIF, issues."""


@ticket.command("show", epilog="Exit codes: 0 all were read; 2 wrong usage, or a file that cannot be read as a ticket.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--path", type=click.Path(path_type=Path), default=".", help="A path in the project, else this folder.")
@click.option("--settled", is_flag=True, help="Name the codemod for resolved and rejected tickets too.")
@format_option
@torch_option
@color_option
def show_tickets(files: tuple[Path, ...], path: Path, settled: bool, form: str, torch: str, color: str) -> None:
    """What is understood of the tickets in FILE, a file or a folder: the place, the codemod, how sure."""
    from fullgraph.codemods.ui.terminal import use_color
    from fullgraph.codemods.ui.tickets.show import show

    sys.exit(show(files, path, form, use_color(color), torch, even_settled=settled))


@ticket.command("fix", cls=Fix, epilog=TICKET_EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--path", type=click.Path(path_type=Path), default=".", help="A path in the project, else this folder.")
@click.option("--diff", is_flag=True, help="Print the patch and write nothing.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--unsafe", is_flag=True, help="With --yes or --diff: include what may change behaviour.")
@click.option("--literal", is_flag=True, help="Write the fix that the ticket proposes, not the codemod's.")
@click.option("--settled", is_flag=True, help="Work on resolved and rejected tickets too.")
@click.option("--close-neutral", is_flag=True, help="With --prove: close a ticket that does not reproduce.")
@write_tests_option
@torch_option
@click.option(
    "--prove", "scenarios", multiple=True, metavar="SCENARIO", help="Write only what this proves (repeatable)."
)
@proof_options
@executor_option
@report_option("FILE.md")
@format_option
@click.option("--quiet", "-q", is_flag=True, help="No progress line, and no summary.")
@color_option
@click.pass_context
def fix_tickets(ctx: click.Context, /, scenarios: tuple[str, ...], report: Path | None, **given: Any) -> None:
    """Find the code of the tickets in FILE, a file or a folder, and fix it with the codemod for it, the worst first.

    Asks about each finding on a terminal, else prints the patch; --format json never asks. A ticket's own file is
    updated with what was measured, as part of the same run: undo reopens it.
    """
    from fullgraph.codemods.ui.tickets.fix import FixRequest, fix

    if given["diff"] and given["yes"]:
        raise click.UsageError("--diff writes nothing and --yes writes: give one of them")
    idle = "--close-neutral" * given["close_neutral"] or proof_flags_given(ctx, "report", also=("executor",))
    if not scenarios and idle:
        raise click.UsageError(f"{idle} is for --prove SCENARIO")
    proof = proof_request(scenarios, "text", given["quiet"], given["color"], given)
    del given["executor"]
    sys.exit(fix(FixRequest(report=report, **given), proof if scenarios else None))

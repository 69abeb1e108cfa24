"""The commands that find, rewrite and explain."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from fullgraph.codemods.ui.cli.options import (
    EPILOG,
    PROOF_EPILOG,
    Fix,
    Grouped,
    codemod_option,
    color_option,
    complete_codemods,
    finding_options,
    format_option,
    proof_flags_given,
    proof_options,
    proof_request,
    report_option,
    write_tests_option,
)


@click.command(cls=Grouped, epilog=EPILOG)
@finding_options
@click.option("--statistics", is_flag=True, help="Count the findings by codemod and badge, and show no more.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes (needs fullgraph[watch]).")
@click.option(
    "--add-ignore", is_flag=True, help="Write `# fullgraph: ignore[NAME]` at the findings; undo takes it back."
)
def check(statistics: bool, watch: bool, add_ignore: bool, **given: Any) -> None:
    """Report findings in PATHS (default: the current folder). Nothing is written, but with --add-ignore."""
    from fullgraph.codemods.ui import commands

    if statistics + watch + add_ignore > 1:
        raise click.UsageError("give one of --statistics, --watch and --add-ignore")
    request = commands.Request(**given)
    if statistics and request.form not in commands.PEOPLE:
        raise click.UsageError(f"--statistics is a table: not with --format {request.form}")
    if watch:
        sys.exit(commands.watch(request))
    sys.exit(commands.add_ignores(request) if add_ignore else commands.check(request, statistics=statistics))


@click.command(cls=Fix, epilog=f"{EPILOG} With --prove: {PROOF_EPILOG}")
@finding_options
@click.option("--diff", is_flag=True, help="Print the patch and write nothing.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--tui", is_flag=True, help="Ask on the full screen: a list, diffs, proofs in the background.")
@click.option("--unsafe", is_flag=True, help="With --yes or --diff: include what may change behaviour.")
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Rewrite installed packages too, in copies below DIR: PYTHONPATH=DIR uses them.",
)
@write_tests_option
@click.option(
    "--prove", "scenarios", multiple=True, metavar="SCENARIO", help="Write only what this proves (repeatable)."
)
@proof_options
@report_option("FILE.html")
@click.pass_context
def fix(ctx: click.Context, /, diff: bool, yes: bool, unsafe: bool, scenarios: tuple[str, ...], **given: Any) -> None:
    """Rewrite findings in PATHS: asks about each on a terminal, else prints the patch.

    With --observed, graph breaks are repaired on the lines that broke; --into DIR does so in installed packages too, in
    copies, and without PATHS nothing else is rewritten. The environment's own files are never edited.
    """
    from fullgraph.codemods.ui.commands import Request, fix

    if diff and yes:
        raise click.UsageError("--diff writes nothing and --yes writes: give one of them")
    if given["tui"] and (diff or yes):
        raise click.UsageError(f"--tui asks about each finding, {'--diff' if diff else '--yes'} asks about none")
    if not scenarios and (idle := proof_flags_given(ctx)):
        raise click.UsageError(f"{idle} is for --prove SCENARIO")
    tui = given.pop("tui")
    proof = proof_request(scenarios, given["form"], given["quiet"], given["color"], given)
    sys.exit(fix(Request(**given), diff=diff, yes=yes, unsafe=unsafe, proof=proof if scenarios else None, tui=tui))


@click.command("list")
@codemod_option("The codemods of this file instead.")
@format_option
@color_option
def list_command(codemod_files: tuple[Path, ...], form: str, color: str) -> None:
    """Every codemod by subject: what it does, what was measured, whether it runs only on request."""
    if form == "json":
        from fullgraph.codemods.ui.described import list_as_json

        click.echo(json.dumps(list_as_json(codemod_files), indent=2))
        return
    from fullgraph.codemods.ui.explain import list_codemods
    from fullgraph.codemods.ui.terminal import use_color

    click.echo(list_codemods(codemod_files, use_color(color)), nl=False)


@click.command()
@click.argument("name", shell_complete=complete_codemods)
@codemod_option("Look for NAME in this file too.")
@click.option("--measure", is_flag=True, help="Prove its fixtures on your torch now, and show what comes out.")
@click.option("--python", default="", metavar="PATH", help="With --measure: the interpreter that has your torch.")
@format_option
@color_option
def explain(name: str, codemod_files: tuple[Path, ...], measure: bool, python: str, form: str, color: str) -> None:
    """What the codemod NAME does: an example, what it leaves alone, its options, and what was measured."""
    if form == "json":
        from fullgraph.codemods.ui.described import explain_as_json

        if measure:
            raise click.UsageError("--measure prints lines as they come: leave out --format json")
        click.echo(json.dumps(explain_as_json(name, codemod_files), indent=2))
        return
    from fullgraph.codemods.ui.explain import explain as explained
    from fullgraph.codemods.ui.terminal import use_color

    if measure:
        from fullgraph.codemods.ui.measured import measure_now

        sys.exit(measure_now(name, python))
    click.echo(explained(name, use_color(color), codemod_files), nl=False)

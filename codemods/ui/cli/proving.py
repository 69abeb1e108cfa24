"""The commands that run the user's code, and those that write what they run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from fullgraph.codemods.ui.cli.options import (
    MAKING_EPILOG,
    PROOF_EPILOG,
    color_option,
    executor_option,
    format_option,
    proof_options,
    proof_request,
    report_option,
)

AUDIT_EPILOG = "Exit codes: 0 clean; 3 hazards; 4 undecided: it could not be run, or nothing could be overwritten."


@click.command(epilog=PROOF_EPILOG)
@click.argument("scenarios", nargs=-1, required=True, metavar="SCENARIO...")
@click.option("--before", "revision", default="", metavar="REVISION", help="Compare with this git revision.")
@click.option("--run", type=click.IntRange(1), help="Compare with the files before this run of `fullgraph log`.")
@click.option("--path", type=click.Path(path_type=Path), default=".", help="A path in the project, else this folder.")
@proof_options
@executor_option
@report_option("FILE.html")
@format_option
@click.option("--quiet", "-q", is_flag=True, help="No progress line.")
@color_option
def prove(
    scenarios: tuple[str, ...],
    revision: str,
    run: int | None,
    path: Path,
    form: str,
    quiet: bool,
    color: str,
    **given: Any,
) -> None:
    """Run SCENARIO on the files as they were and as they are, and say what got better.

    As they were: before the last `fullgraph fix`, else at git's HEAD, unless --before or --run says otherwise.
    """
    from fullgraph.codemods.ui.proof import prove_history

    if revision and run:
        raise click.UsageError("--before and --run name two different pasts: give one of them")
    sys.exit(prove_history(proof_request(scenarios, form, quiet, color, given), revision, run or 0, path))


@click.command(epilog=AUDIT_EPILOG)
@click.argument("scenarios", nargs=-1, required=True, metavar="SCENARIO...")
@click.option("--all", "everything", is_flag=True, help="Audit every compiled call, not only those with CUDA graphs.")
@click.option("--path", type=click.Path(path_type=Path), default=".", help="A path in the project, else this folder.")
@click.option("--device", default="auto", show_default=True, metavar="NAME", help="auto, cpu, cuda, cuda:1, mps, xpu.")
@click.option("--python", default="", metavar="PATH", help="The interpreter that has your torch.")
@click.option("--time-limit", type=click.FloatRange(1), default=600.0, show_default=True, metavar="SECONDS")
@format_option
@click.option("--quiet", "-q", is_flag=True, help="No progress line.")
@color_option
def audit(device: str, python: str, time_limit: float, **given: Any) -> None:
    """Run SCENARIO by the rule of CUDA graphs, on any machine, and report outputs that outlive their step.

    Compiled calls with mode reduce-overhead or max-autotune are audited; what compiles nothing itself is compiled so.
    """
    from fullgraph.codemods.ui.audit.command import AuditRequest, audit_scenarios
    from fullgraph.validate.model import Settings

    settings = Settings(device=device, python=python, time_limit=time_limit)
    sys.exit(audit_scenarios(AuditRequest(settings=settings, **given)))


@click.command(epilog=MAKING_EPILOG)
@click.argument("target", metavar="MODULE:FUNCTION")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option("--calls", "-n", type=click.IntRange(1), default=3, show_default=True, help="How many calls to store.")
def capture(target: str, command: tuple[str, ...], calls: int) -> None:
    """Run COMMAND once, as it is, and store the arguments of the first calls of MODULE:FUNCTION.

    `fullgraph prove MODULE:FUNCTION` repeats these calls. A method is named MODULE:Class.method. While it is watched,
    what is compiled runs as plain Python.
    """
    from fullgraph.codemods.ui.making import capture

    sys.exit(capture(target, command, calls))


@click.command(epilog="Exit code: the program's own; 127 if it could not be started.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.json", help="Default: .fullgraph/observed.json.")
@click.option("--scenario", default="", metavar="SCENARIO", help="Compile the cases of this instead of a command.")
@click.option("--html", "page", type=click.Path(path_type=Path), metavar="PAGE.html", help="Write a page, too.")
@click.option("--python", default="", metavar="PATH", help="The interpreter to run the command with.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: the report on standard output, and what the program prints on standard error.",
)
@color_option
def observe(
    command: tuple[str, ...], out: Path | None, scenario: str, page: Path | None, python: str, form: str, color: str
) -> None:
    """Run COMMAND once, as it is, and report every compiled entry in it.

    Calls by phase, inputs, graphs, breaks, recompiles, compile time, and host reads by line. Of a scenario, as
    `fullgraph prove` takes it: graphs and breaks.
    """
    from fullgraph.codemods.ui.observed.command import observe

    if bool(command) == bool(scenario):
        raise click.UsageError("give a command behind --, or --scenario SCENARIO")
    sys.exit(observe(command, out, page, python, color, scenario, form))


@click.group()
def scenario() -> None:
    """Scenarios say what `fullgraph prove` runs."""


@scenario.command("new", epilog=MAKING_EPILOG)
@click.argument("target", metavar="MODULE:FUNCTION")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Default: scenarios/FUNCTION.py.")
def new_scenario(target: str, out: Path | None) -> None:
    """Write a first scenario file for a function, a class or a method: what is built, and what it is called with."""
    from fullgraph.codemods.ui.making import write_scenario

    sys.exit(write_scenario(target, out))


@click.command(epilog=MAKING_EPILOG)
@click.argument("target", metavar="MODULE:CLASS")
@click.option("--config", default="", metavar="FILE", help="JSON, TOML, YAML, FILE.py or module:NAME.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True, help="Its default.")
@click.option(
    "--mode",
    type=click.Choice(["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"]),
    help="Default: as the project compiles it, else reduce-overhead.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="A folder for both files.")
@click.option("--python", default="", metavar="PATH", help="The interpreter that has your torch.")
def harness(**given: Any) -> None:
    """Write a script and a test file that try out MODULE:CLASS compiled, built from your config, against eager mode.

    Both are yours: they need torch and pytest only. They go to scripts/ and tests/ where there are such folders.
    """
    from fullgraph.codemods.ui.harness import Wish, write_harness

    sys.exit(write_harness(Wish(**given)))

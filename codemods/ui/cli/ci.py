"""The command for pipelines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from fullgraph.codemods.ui.cli.options import (
    looking_options,
    proof_flags_given,
    proof_options,
    proof_request,
    report_option,
)

CI_EPILOG = (
    "Exit codes: 0 the job passes; 1 more findings than --max-findings count (--fail-on says which do); 2 wrong usage, "
    "or something that cannot be read or written; 3 a proof said different, worse or neutral; 4 undecided; 130 stopped "
    "by Ctrl-C or SIGTERM, with a report of what was found until then. With --fail-on none neither findings nor "
    "verdicts fail the job."
)


@click.command(epilog=CI_EPILOG)
@looking_options
@click.option("--since", default="", metavar="REV", help="Only findings on lines that have changed since, by git.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Findings that are known: only others count.",
)
@click.option("--update-baseline", is_flag=True, help="Put what is found into the baseline, and take out what is gone.")
@click.option(
    "--fail-on",
    type=click.Choice(["safe", "any", "none"]),
    default="any",
    show_default=True,
    help="Which findings count: those that can be fixed safely, all, none.",
)
@click.option("--max-findings", type=click.IntRange(0), default=0, show_default=True, help="So many may count.")
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="FORM[=FILE]",
    help="text, json, sarif, github, gitlab, junit, markdown or patch; to standard output without a FILE (repeatable).",
)
@click.option("--fix", is_flag=True, help="Write what is safe, without asking.")
@click.option("--unsafe", is_flag=True, help="Also what may change behaviour.")
@click.option(
    "--prove", "scenarios", multiple=True, metavar="SCENARIO", help="Keep only what this proves (repeatable)."
)
@click.option("--commit", is_flag=True, help="As --fix, and commit each codemod's changes apart.")
@click.option("--branch", default="", metavar="NAME", help="With --commit: on a new branch.")
@click.option("--allow-dirty", is_flag=True, help="Write although there are uncommitted changes.")
@proof_options
@report_option("FILE.html")
@click.pass_context
def ci(ctx: click.Context, /, scenarios: tuple[str, ...], **given: Any) -> None:
    """Check PATHS in a pipeline, fix and prove if asked to, and report in several forms. Never asks anything.

    Where GITHUB_STEP_SUMMARY is set, a summary is appended to that file.
    """
    from fullgraph.codemods.ui.ci.command import ci
    from fullgraph.codemods.ui.ci.model import CiRequest, Policy
    from fullgraph.codemods.ui.ci.outputs import parse_outputs
    from fullgraph.codemods.ui.commands import Request

    refuse_idle(given, scenarios)
    if not scenarios and (idle := proof_flags_given(ctx)):
        raise click.UsageError(f"{idle} is for --prove SCENARIO")
    outputs = parse_outputs(given.pop("outputs"))
    proof = proof_request(scenarios, "text", given["quiet"], given["color"], given)
    policy = Policy(given.pop("fail_on"), given.pop("max_findings"))
    own = {name: given.pop(name) for name in OWN}
    looking = Request(form="concise", **given)
    sys.exit(ci(CiRequest(looking, policy, outputs, proof=proof if scenarios else None, **own)))


OWN = ("since", "baseline", "update_baseline", "fix", "unsafe", "commit", "branch", "allow_dirty")


def refuse_idle(given: dict[str, Any], scenarios: tuple[str, ...]) -> None:
    """Options that mean nothing without another one, or not with it."""
    writes = given["fix"] or given["commit"]
    if given["branch"] and not given["commit"]:
        raise click.UsageError("--branch is for --commit")
    if given["allow_dirty"] and not writes:
        raise click.UsageError("--allow-dirty is for --fix and --commit")
    if given["unsafe"] and not (writes or scenarios or any(text.startswith("patch") for text in given["outputs"])):
        raise click.UsageError("--unsafe is for --fix, --commit, --prove and --output patch")
    if not given["update_baseline"]:
        return
    if not given["baseline"]:
        raise click.UsageError("--update-baseline is for --baseline FILE")
    if writes:
        raise click.UsageError("--update-baseline notes what is there: fix first, then update")
    if given["since"] or given["symbols"] or given["lines"]:
        raise click.UsageError("--update-baseline needs all findings: not with --since, --symbol or --lines")

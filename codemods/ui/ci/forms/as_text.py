"""The report in a job's log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from fullgraph.codemods.ui.ci.model import CiReport
from fullgraph.codemods.ui.report.as_text import count, error_text, line_text, summary, written_runs
from fullgraph.codemods.ui.screen import on_one_line
from fullgraph.codemods.ui.terminal import use_color


def render(report: CiReport) -> bytes:
    """All of it in one file, without colours."""
    texts = [*told(report, quiet=False, color=False), *about_the_run(report, quiet=False)]
    return "".join(f"{text}\n" for text in texts).encode(errors="backslashreplace")


def show(report: CiReport, *, quiet: bool, color: str) -> None:
    """Findings and verdicts to standard output, everything about the run itself to standard error."""
    for text in told(report, quiet=quiet, color=use_color(color)):
        click.echo(text)
    for text in about_the_run(report, quiet):
        click.echo(text, err=True)


def told(report: CiReport, *, quiet: bool, color: bool) -> Iterator[str]:
    for line in report.lines:
        yield from line_text(line, quiet=quiet, color=color)
    if report.verdicts:
        from fullgraph.codemods.ui.verdict.as_text import verdict_text

        yield verdict_text(report.verdicts, color).rstrip("\n")


def about_the_run(report: CiReport, quiet: bool) -> Iterator[str]:
    """What is wrong, what was done, and what it means for the job."""
    yield from (f"fullgraph: {notice}" for notice in report.notices)
    yield from (error_text(place, reason) for place, reason in report.errors)
    if report.undecided:
        yield f"fullgraph: undecided: {report.undecided}"
    if not quiet:
        yield from (f"{on_one_line(place)}: warning: {reason}" for place, reason in report.warnings)
        yield from closing(report)


def closing(report: CiReport) -> Iterator[str]:
    if report.files or not report.errors:
        yield " ".join([summary(report), *passed_over(report)])
    if report.is_dry and report.changes and report.patch_base != Path.cwd():
        yield f"The patch counts from {report.patch_base}."
    yield from written_runs(report)
    for commit in report.commits:
        yield f"Commit {commit.name[:12]}{f' on {commit.branch}' if commit.branch else ''}: {commit.subject}"
    if report.fails:
        limit = f", and {report.policy.max_findings} are allowed" if report.policy.max_findings else ""
        yield f"{count(len(report.counting), 'finding')} {verb(report)} against the job{limit}."


def verb(report: CiReport) -> str:
    return "counts" if len(report.counting) == 1 else "count"


def passed_over(report: CiReport) -> Iterator[str]:
    if report.known:
        yield f"{report.known} more {'is' if report.known == 1 else 'are'} in the baseline."
    if report.unchanged:
        yield f"{report.unchanged} more {'is' if report.unchanged == 1 else 'are'} on lines that have not changed."

"""The report for people."""

from __future__ import annotations

from collections.abc import Iterator

import click

from codemods.model import Safety
from codemods.ui.report import FIXED, FOUND, Line, Report
from codemods.ui.terminal import paint, paint_patch


def render(report: Report, *, quiet: bool, color: bool) -> None:
    """Findings or the patch to standard output; everything about the run itself to standard error."""
    for notice in report.notices:
        click.echo(f"fullgraph: {notice}", err=True)
    if report.is_dry:
        write_patch(report.patch, color)
    else:
        for line in report.lines:
            click.echo("\n".join(line_text(line, quiet, color)))
    for place, reason in report.errors:
        click.echo(f"{place}: error: {reason}", err=True)
    if quiet:
        return
    for place, reason in report.warnings:
        click.echo(f"{place}: warning: {reason}", err=True)
    for line in left_lines(report):
        click.echo("\n".join(line_text(line, quiet, False)), err=True)
    click.echo("\n".join(summary(report)), err=True)


def left_lines(report: Report) -> list[Line]:
    """What a patch does not show: the findings that are not part of it."""
    return [line for line in report.lines if line.outcome != FIXED] if report.is_dry else []


def write_patch(patch: bytes, color: bool) -> None:
    """As bytes, so that `git apply` can read it whatever the encodings of the files; painted only for the eye."""
    if color:
        click.echo(paint_patch(patch, color), nl=False, color=True)
    else:
        click.echo(patch, nl=False)


def line_text(line: Line, quiet: bool, color: bool) -> Iterator[str]:
    finding = line.finding
    verb = "" if line.outcome == FOUND else f"{line.outcome}: "
    yield (
        f"{paint(line.place, color, bold=True)}: {verb}{paint(finding.codemod, color, fg='cyan')}: "
        f"{finding.message} ({finding.symbol})"
    )
    if quiet or line.outcome == FIXED:
        return
    if line.reason:
        yield f"    left alone: {line.reason}"
    elif finding.safety is Safety.UNSAFE:
        yield f"    {paint('unsafe', color, fg='yellow')}: {finding.caveat}"
    for note in finding.notes:
        yield f"    note: {note}"


def summary(report: Report) -> Iterator[str]:
    """The closing lines: how much was found, what was written, how to take it back."""
    fixed = sum(line.outcome == FIXED for line in report.lines)
    fixable = sum(line.outcome == FOUND and line.finding.is_fixable for line in report.lines)
    parts = [f"{count(len(report.lines), 'finding')} in {count(report.files, 'file')}"]
    if fixable:
        parts.append(f"{fixable} can be fixed")
    if fixed:
        parts.append(f"{fixed} {'in the patch' if report.is_dry else 'fixed'}")
    if report.suppressed:
        parts.append(f"{report.suppressed} suppressed")
    yield "; ".join(parts) + "."
    for _, run, findings, files in report.runs:
        yield (
            f"Run {run}: {count(findings, 'finding')} written in {count(files, 'file')}; "
            f"`fullgraph undo {run}` takes {'it' if findings == 1 else 'them'} back."
        )


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

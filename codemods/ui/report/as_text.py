"""The report for people."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from fullgraph.codemods.model import Safety
from fullgraph.codemods.rewrite.walk import find_root
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.report.model import CLOSED, DECLINED, FIXED, FOUND, IGNORED, NOT_ASKED, Line, Report
from fullgraph.codemods.ui.terminal import paint, paint_patch

MOST_PLACES = 3
NOT_TEXT = "".join(map(chr, range(0xDC80, 0xDD00)))
"""Bytes of a name that is no text, as Python holds them; they are shown as they are."""


def render(report: Report, *, quiet: bool, color: bool) -> None:
    """Findings or the patch to standard output; everything about the run itself to standard error."""
    for notice in report.notices:
        click.echo(f"fullgraph: {notice}", err=True)
    if report.is_dry:
        write_patch(report.patch, color)
    else:
        for line, *others in one_fact_once(worth_telling(report), quiet):
            click.echo("\n".join(line_text(line, quiet, color, others)))
    if report.ends:
        from fullgraph.codemods.ui.breaks.ends import ends_text

        title, *told = ends_text(report.ends, report.is_dry)
        click.echo("\n".join([paint(title, color, bold=True), *told]), err=report.is_dry)
    if any(not one.is_break for one in report.unexplained):
        from fullgraph.codemods.ui.observed.join import unexplained_text

        click.echo(unexplained_text(report, color), err=report.is_dry)
    if report.verdicts:
        from fullgraph.codemods.ui.verdict.as_text import verdict_text

        click.echo(verdict_text(report.verdicts, color), nl=False, err=report.is_dry)
    for place, reason in report.errors:
        click.echo(error_text(place, reason), err=True)
    if not quiet:
        for text in closing(report):
            click.echo(text, err=True)


def worth_telling(report: Report) -> list[Line]:
    """Not what a person has just declined or accepted: those are counted only."""
    told = [line for line in report.lines if line.reason not in (DECLINED, NOT_ASKED)]
    return [line for line in told if not (report.is_reviewed and line.outcome in CLOSED)]


def write_patch(patch: bytes, color: bool) -> None:
    """As bytes, so that `git apply` can read it whatever the encodings of the files; painted only for the eye."""
    if color:
        click.echo(paint_patch(patch, color), nl=False)
    else:
        click.echo(patch, nl=False)


def one_fact_once(lines: Iterable[Line], quiet: bool = False) -> list[list[Line]]:
    """The lines; findings that say the same of other code and are left alone for one reason stand behind the first."""
    groups: dict[tuple[object, ...], list[Line]] = {}
    for number, line in enumerate(lines):
        is_alone = quiet or line.observed is not None or not line.finding.left_alone or line.finding.notes
        key = (number,) if is_alone else (line.root, line.outcome, line.finding.codemod, *fact_of(line))
        groups.setdefault(key, []).append(line)
    return list(groups.values())


def fact_of(line: Line) -> tuple[str, str]:
    """What is said without code and places, and the reason without those of the finding itself."""
    finding = line.finding
    said = re.sub(r"`[^`]*`|\S+:\d+|\d+", "", finding.message)
    text = re.sub(rf"{re.escape(finding.path)}:(?: line )?{finding.line}(?!\d)", "", line.reason)
    return said, re.sub("`[^`]*`", lambda code: "" if code[0] in finding.message else code[0], text)


def line_text(line: Line, quiet: bool, color: bool, others: Sequence[Line] = ()) -> Iterator[str]:
    finding = line.finding
    verb = "" if line.outcome == FOUND else f"{line.outcome}: "
    yield (
        f"{paint(on_one_line(line.place), color, bold=True)}: {verb}{paint(finding.codemod, color, fg='cyan')}: "
        f"{on_one_line(finding.message)} ({finding.symbol})"
    )
    if others:
        yield f"    also at {', '.join(on_one_line(other.place) for other in others)}"
    if line.observed:
        yield f"    observed: {line.observed.text}"
    if quiet or line.outcome in CLOSED:
        return
    if line.reason:
        reason = on_one_line(line.reason)
        yield f"    {reason}" if reason.startswith("unsafe: ") else f"    left alone: {reason}"
    elif finding.safety is Safety.UNSAFE:
        yield f"    {paint('unsafe', color, fg='yellow')}: {finding.caveat}"
    for note in finding.notes:
        yield f"    note: {note}"
    if line.outcome == FOUND and (created := finding.created()):
        yield f"    new: {', '.join(created)}"


def closing(report: Report) -> Iterator[str]:
    """What there is to say about the whole: warnings, what a patch does not show, how much, how to take it back."""
    for place, reason in report.warnings:
        yield f"{on_one_line(place)}: warning: {reason}"
    if report.is_dry:
        for line, *others in one_fact_once(line for line in report.lines if line.outcome != FIXED):
            yield from line_text(line, False, False, others)
    if report.files or not report.errors:
        yield summary(report)
    if report.unfollowed:
        yield unfollowed_text(report.unfollowed)
    if report.is_dry and report.patch and report.patch_base != Path.cwd():
        yield f"The patch counts from {report.patch_base}."
    yield from written_runs(report)


def unfollowed_text(lines: Sequence[str]) -> str:
    """What nobody has looked at, and who can: silence about it must not be read as clean."""
    more = f" and {len(lines) - MOST_PLACES} more" if len(lines) > MOST_PLACES else ""
    return (
        f"Compiled and not followed (findings may be missing): {on_one_line('; '.join(lines[:MOST_PLACES]))}{more}. "
        "`fullgraph observe -- COMMAND` shows its breaks and host reads in a run, `fullgraph audit` outputs that "
        "outlive their step."
    )


def written_runs(report: Report) -> Iterator[str]:
    """What was written, and how to take it back."""
    for root, run, findings, files, created in report.runs:
        new = f" (new: {', '.join(created)})" if created else ""
        yield (
            f"Run {run}: {count(findings, 'finding')} written in {count(files, 'file')}{new}; "
            f"{undo_command(root, run)} takes {'it' if findings == 1 else 'them'} back."
        )
    for folder in sorted({root for root, *_ in report.runs} & {*report.written_in.values()}):
        yield f"The installed files are as they were; PYTHONPATH={shlex.quote(str(folder))} uses the copies."


def undo_command(root: Path, run: int) -> str:
    where = "" if root == find_root(Path.cwd()) else f" --path {root}"
    return f"`fullgraph undo {run}{where}`"


def summary(report: Report) -> str:
    """`7 findings in 3 files; 6 can be fixed, 1 of them unsafe.`"""
    parts = [
        f"{count(len(report.lines), 'finding') if report.lines else 'no findings'} in {count(report.files, 'file')}"
    ]
    fixable = [line.finding for line in report.lines if line.outcome == FOUND and line.finding.is_fixable]
    unsafe = sum(finding.safety is Safety.UNSAFE for finding in fixable)
    if fixable:
        parts.append(f"{len(fixable)} can be fixed" + (f", {unsafe} of them unsafe" if unsafe else ""))
    if fixed := sum(line.outcome == FIXED for line in report.lines):
        parts.append(f"{fixed} {'in the patch' if report.is_dry else 'fixed'}")
    if silenced := sum(line.outcome == IGNORED for line in report.lines):
        parts.append(f"{silenced} ignored from now on")
    reasons = Counter(line.reason for line in report.lines)
    parts += [f"{reasons[reason]} {reason}" for reason in (DECLINED, NOT_ASKED) if reasons[reason]]
    if report.tests:
        parts.append(f"{count(report.tests, 'test file')} not looked at")
    if report.suppressed:
        parts.append(f"{report.suppressed} suppressed")
    text = "; ".join(parts) + "."
    return text[0].upper() + text[1:]


def error_text(place: str, reason: str) -> str:
    return f"{on_one_line(place)}: error: {on_one_line(reason)}" if place else f"fullgraph: {on_one_line(reason)}"


def on_one_line(text: str) -> str:
    """What names and code hold cannot be taken for a line of ours, nor for a command to whoever reads the log."""
    return plain(text, keep=NOT_TEXT)


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

"""The report for people."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import click

from fullgraph.codemods.model import Safety
from fullgraph.codemods.rewrite.walk import find_root
from fullgraph.codemods.ui.report.block import block, concise, heading
from fullgraph.codemods.ui.report.model import CLOSED, DECLINED, FIXED, FOUND, IGNORED, NOT_ASKED, Line, Report
from fullgraph.codemods.ui.report.reasons import counted
from fullgraph.codemods.ui.report.views import Viewer, one_fact_once
from fullgraph.codemods.ui.screen import on_one_line, screen
from fullgraph.codemods.ui.terminal import is_terminal, paint, paint_patch, wrap
from fullgraph.codemods.ui.view import View

MOST_PLACES = 3
OBSERVE = "`fullgraph observe -- COMMAND`"


def render(report: Report, *, form: str, quiet: bool, color: bool, everything: bool = False) -> None:
    """Findings or the patch to standard output; everything about the run itself to standard error."""
    for notice in report.notices:
        click.echo(f"fullgraph: {notice}", err=True)
    if report.is_dry:
        write_patch(report.patch, color)
    else:
        tell = in_full if form == "full" else in_short
        for text in tell(report, worth_telling(report, everything), color):
            click.echo(text)
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
        fit, is_seen = (wrap, color) if is_terminal(sys.stderr) else (str, False)
        for text in closing(report, everything):
            click.echo(paint(fit(text), is_seen, dim=True), err=True)


def worth_telling(report: Report, everything: bool) -> list[Line]:
    """Not what a person has just answered, nor what cannot be written: those are counted only."""
    told = [line for line in report.lines if line.reason not in (DECLINED, NOT_ASKED)]
    seen = CLOSED if report.is_reviewed else ()
    return [line for line in told if (everything or not line.finding.left_alone) and line.outcome not in seen]


def in_full(report: Report, lines: Sequence[Line], color: bool) -> Iterator[str]:
    """The findings by files: each with its code, or what became of it in a line and the reason."""
    where, viewer, known = screen(color), Viewer(report), set[str]()
    for _, group in groupby(one_fact_once(lines), key=lambda lines: (lines[0].root, lines[0].finding.path)):
        findings = [*group]
        yield where.show(heading(viewer.view(*findings[0]).path, count(sum(map(len, findings)), "finding")))
        for found in findings:
            if found[0].outcome == FOUND:
                name = found[0].finding.codemod
                yield where.show(block(viewer.with_code(*found), where, is_first=name not in known))
                known.add(name)
            else:
                yield "\n".join(line_text(*found, quiet=False, color=color))
        if findings[-1][0].outcome != FOUND:
            yield ""


def in_short(report: Report, lines: Sequence[Line], color: bool) -> Iterator[str]:
    """A line for each finding."""
    viewer = Viewer(report)
    return (painted(viewer.view(line), color) for line in lines)


def painted(view: View, color: bool) -> str:
    """The line of a finding; on a terminal its place and its codemod stand out."""
    text = concise(view)
    if not color:
        return text
    place, name = on_one_line(view.place), paint(view.codemod, color, fg="cyan")
    return paint(place, color, bold=True) + text[len(place) :].replace(f": {view.codemod}: ", f": {name}: ", 1)


def line_text(line: Line, *others: Line, quiet: bool, color: bool) -> Iterator[str]:
    """A finding in one line, and its remarks below it: for what became of it, for a job's log and for editors."""
    view = Viewer(Report()).view(line, *others)
    yield painted(view, color)
    if others:
        yield f"    also at: {on_one_line(', '.join(view.also))}"
    if view.cost:
        yield f"    observed: {view.cost}"
    if not quiet and line.outcome not in CLOSED:
        yield from (f"    {label}: {on_one_line(text)}" for label, text in view.remarks())


def write_patch(patch: bytes, color: bool) -> None:
    """As bytes, so that `git apply` can read it whatever the encodings of the files; painted only for the eye."""
    if color:
        click.echo(paint_patch(patch, color), nl=False)
    else:
        click.echo(patch, nl=False)


def closing(report: Report, everything: bool = False) -> Iterator[str]:
    """What there is to say about the whole: warnings, what a patch does not show, how much, what to do next."""
    for place, reason in report.warnings:
        yield f"{on_one_line(place)}: warning: {reason}"
    if report.is_dry:
        for line in worth_telling(report, everything):
            yield from line_text(line, quiet=False, color=False) if line.outcome not in CLOSED else ()
    if report.files or not report.errors:
        yield summary(report)
    if not everything and (left := [line.finding.left_alone for line in report.lines if line.finding.left_alone]):
        them = "it" if len(left) == 1 else "them"
        yield f"{count(len(left), 'finding')} left alone: {counted(left)}; --all shows {them}."
    if report.unfollowed:
        yield unfollowed_text(report.unfollowed, everything)
    if report.is_dry and report.patch and report.patch_base != Path.cwd():
        yield f"The patch counts from {report.patch_base}."
    yield from written_runs(report)
    yield from next_steps(report)


def next_steps(report: Report) -> Iterator[str]:
    """After findings, how to fix them; after none, what was looked at and what would show more."""
    fixable = [line.finding for line in report.lines if line.outcome == FOUND and line.finding.is_fixable]
    if fixable:
        safe = sum(finding.safety is Safety.SAFE for finding in fixable)
        written = f", `fullgraph fix --yes` writes the {safe} safe {'one' if safe == 1 else 'ones'}" if safe else ""
        yield f"Next: `fullgraph fix` shows each rewrite and asks{written}."
    elif not report.lines and report.files and not report.errors:
        compiled = (
            f"code is compiled in {count(report.compiles, 'place')}" if report.compiles else "no code is compiled"
        )
        yield f"Asked: {count(len(report.gains), 'codemod')}{f'; {compiled}' if report.follows else ''}."
        yield (
            f"Next: {OBSERVE} runs your program and shows where its graphs break and what it reads back; `fullgraph "
            "list` names the codemods that run only when they are selected."
        )


def unfollowed_text(lines: Sequence[str], everything: bool) -> str:
    """What nobody has looked at, and who can: silence about it must not be read as clean."""
    told = lines if everything else [line.partition(": ")[0] for line in lines[:MOST_PLACES]]
    more = f" and {len(lines) - len(told)} more" if len(lines) > len(told) else ""
    why = "" if everything else " (--all says why)"
    return (
        f"Compiled and not followed, so that findings may be missing: {on_one_line('; '.join(told))}{more}{why}. "
        f"{OBSERVE} shows breaks and host reads of a run, `fullgraph audit` outputs that outlive their step."
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


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

"""What `at` does: look at one file, keep what stands at the place, and apply one of it if asked.

A query reads the file, or takes the buffer instead of it, and other files only where a codemod asks about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from codemods.codemod import Codemod
from codemods.model import Change, Finding, FullgraphError, SourceError, Span
from codemods.project import Project
from codemods.rewrite.find import FileResult
from codemods.rewrite.walk import SUFFIXES, Tree, find_root, refuse, walk, without_links
from codemods.run import look_at
from codemods.ui.at.place import FORM, Lines, Place, is_there
from codemods.ui.config import choose_codemods, read_config


@dataclass(frozen=True)
class Answer:
    """What stands at a place, and what was done about it.

    `change` is what applying one finding makes of the files; `run` is its number in the journal, 0 if nothing was
    written. `error` says why the file could not be looked at in full.
    """

    place: Place
    project: Project
    path: str
    findings: Sequence[Finding] = ()
    error: str = ""
    change: Change | None = None
    run: int = 0


@dataclass(frozen=True)
class Desk:
    """One file of a project, open in an editor, with the codemods that the project's configuration chooses."""

    project: Project
    path: str
    codemods: Sequence[Codemod]
    exclude: Sequence[str]

    def look(self, near: Span | None) -> FileResult:
        return look_at(self.project, self.path, self.codemods, self.exclude, near)


def answer(place: Place, buffer: bytes | None, wanted: str = "") -> Answer:
    """What stands at a place. `wanted` names one of the findings there, by number or key, to be applied.

    It is written through the journal; of a buffer nothing is written, and the change tells the new text.
    """
    desk = open_desk(place.file, buffer)
    writes = bool(wanted) and buffer is None
    if writes:
        settle(desk.project.root)
    asked = asked_span(desk, place)
    result = desk.look(asked if place.line else None)
    found = Answer(place, desk.project, desk.path, [f for f in result.findings if is_there(f, asked)], result.error)
    if not wanted or (found.error and not found.findings):
        return found
    planned = plan_one(desk, found, wanted)
    return write(planned) if writes else planned


def open_desk(file: Path, buffer: bytes | None) -> Desk:
    if reason := why_not(file, buffer):
        raise FullgraphError(f"{file}: {reason}")
    real = without_links(file)
    root = find_root(real)
    target = real.resolve()
    path = (target if real.is_symlink() and target.is_relative_to(root) else real).relative_to(root).as_posix()
    config = read_config(root)
    project = Project(root, lambda: files_around(root, path), {} if buffer is None else {path: buffer})
    return Desk(project, path, choose_codemods(config), config.exclude)


def why_not(file: Path, buffer: bytes | None) -> str:
    """Why nothing can be looked at there, or nothing. A buffer needs no file yet."""
    if file.is_dir():
        return f"a folder; {FORM}"
    if buffer is None or file.exists():
        reason = refuse(file)
        return f"{reason}; {FORM}" if reason.startswith("no such file") else reason
    is_python = file.suffix in SUFFIXES or buffer.startswith(b"#!")
    return "" if is_python else "not a Python file (.py) or notebook (.ipynb)"


def files_around(root: Path, path: str) -> set[str]:
    tree = Tree(root)
    walk(tree, root)
    return {*tree.entries, path}


def asked_span(desk: Desk, place: Place) -> Span:
    """The characters that are asked about; of a file that is no text, none: looking at it will say why."""
    try:
        return Lines(desk.project.source(desk.path)).asked(place)
    except SourceError:
        return Span(0, 0)


# Applying one


def pick(findings: Sequence[Finding], wanted: str) -> Finding:
    """The finding of this number or key, if it can be applied."""
    numbered = {str(number): finding for number, finding in enumerate(findings, 1)}
    found = numbered.get(wanted) or next((finding for finding in findings if finding.key == wanted), None)
    if not found:
        there = f"there are {len(findings)} findings" if len(findings) > 1 else "there is one finding"
        raise FullgraphError(f"--apply {wanted}: {there if findings else 'there is no finding'} at this place")
    if not found.is_fixable:
        raise FullgraphError(f"--apply {wanted}: {found.codemod} leaves this alone: {found.left_alone}")
    return found


def plan_one(desk: Desk, found: Answer, wanted: str) -> Answer:
    """What the file, and those that belong to the finding, become."""
    from codemods.rewrite.plan import plan

    change = plan([pick(found.findings, wanted)], desk.project, desk.codemods)
    for finding, reason in change.left_out:
        raise FullgraphError(f"--apply {wanted}: {finding.codemod} at {finding.path}:{finding.line}: {reason}")
    return replace(found, change=change)


def settle(root: Path) -> None:
    """Finish or roll back a run that was interrupted, before anything is read."""
    from codemods.rewrite.journal import Journal

    if recovery := Journal(root).recover():
        click.echo(f"fullgraph: run {recovery.run} had been interrupted: {recovery.outcome}", err=True)


def write(planned: Answer) -> Answer:
    """Write what is planned, as `fix` would. Nothing is, if a file is no longer as it was looked at."""
    from codemods.rewrite.journal import Journal

    assert planned.change is not None, "only what was planned is written"
    return replace(planned, run=Journal(planned.project.root).write(planned.change).number)

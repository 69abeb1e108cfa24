"""What `at` does: look at one file, keep what stands at the place, and apply one of it if asked.

A query reads the file, or takes the buffer instead of it, and other files only where a codemod asks about them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import click

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Change, Finding, FullgraphError, SourceError, Span
from fullgraph.codemods.plain_file import read_plain
from fullgraph.codemods.project import Project
from fullgraph.codemods.registry import offered
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.shelf import DiskShelf
from fullgraph.codemods.rewrite.walk import FOLDER, MARKERS, SUFFIXES, Tree, find_root, refuse, walk, without_links
from fullgraph.codemods.ui.at.place import FORM, Lines, Place, is_there
from fullgraph.codemods.ui.at.remembered import Remembered
from fullgraph.codemods.ui.config import Config, choose_codemods, read_config


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


@dataclass
class Desk:
    """One file of a project, open in an editor, with the codemods that the project's configuration chooses."""

    project: Project
    path: str
    config: Config
    memory: Remembered | None = None

    @cached_property
    def codemods(self) -> Sequence[Codemod]:
        return choose_codemods(self.config)

    def look(self, near: Span | None) -> FileResult:
        if self.memory and (known := self.memory.recall(near)):
            return known
        from fullgraph.codemods.run import look_at

        if self.memory:
            self.memory.prepare()
        result = look_at(self.project, self.path, self.codemods, self.config.exclude, near)
        if self.memory and not offered() and all(is_bundled(codemod) for codemod in self.codemods):
            self.memory.keep(near, result, self.project)
        return result


def is_bundled(codemod: Codemod) -> bool:
    """Whether its code is fullgraph's own: another one's may change behind the back of whoever remembers."""
    return type(codemod).__module__.startswith("fullgraph.codemods.catalog.")


def answer(place: Place, buffer: bytes | None, wanted: str = "", *, use_cache: bool = True) -> Answer:
    """What stands at a place. `wanted` names one of the findings there, by number or key, to be applied.

    It is written through the journal; of a buffer nothing is written, and the change tells the new text.
    """
    desk = open_desk(place.file, buffer, use_cache=use_cache and not wanted)
    writes = bool(wanted) and buffer is None
    if writes or os.path.lexists(desk.project.root / FOLDER):
        settle(desk.project.root, writes)
    asked = asked_span(desk, place)
    result = desk.look(asked if place.line else None)
    found = Answer(place, desk.project, desk.path, [f for f in result.findings if is_there(f, asked)], result.error)
    if not wanted or (found.error and not found.findings):
        return found
    planned = plan_one(desk, found, wanted)
    return write(planned) if writes else planned


def open_desk(file: Path, buffer: bytes | None, *, use_cache: bool = False) -> Desk:
    if reason := why_not(file, buffer):
        raise FullgraphError(f"{file}: {reason}")
    real = without_links(file)
    root = find_root(real)
    target = real.resolve()
    path = (target if real.is_symlink() and target.is_relative_to(root) else real).relative_to(root).as_posix()
    config = read_config(root)
    around = cache(lambda: tree_around(root))
    raw = read(real) if buffer is None and use_cache else buffer
    shelf = DiskShelf(root) if use_cache and is_marked(root) else None
    project = Project(root, lambda: {*around().entries, path}, {} if raw is None else {path: raw}, shelf)
    memory = Remembered(shelf, path, raw, config, around) if shelf and raw is not None else None
    return Desk(project, path, config, memory)


def read(file: Path) -> bytes | None:
    """The bytes that an answer is remembered by. Of what cannot be read, looking at it says why."""
    try:
        return read_plain(file)
    except OSError:
        return None


def is_marked(root: Path) -> bool:
    """Whether a folder is a project's root for sure. In another one there may be anything, and no end of it."""
    return any(os.path.lexists(root / marker) for marker in MARKERS)


def why_not(file: Path, buffer: bytes | None) -> str:
    """Why nothing can be looked at there, or nothing. A buffer needs no file yet."""
    if file.is_dir():
        return f"a folder; {FORM}"
    if buffer is None or file.exists():
        reason = refuse(file)
        return f"{reason}; {FORM}" if reason.startswith("no such file") else reason
    is_python = file.suffix in SUFFIXES or buffer.startswith(b"#!")
    return "" if is_python else "not a Python file (.py) or notebook (.ipynb)"


def tree_around(root: Path) -> Tree:
    tree = Tree(root)
    walk(tree, root)
    return tree


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
    from fullgraph.codemods.rewrite.plan import plan

    change = plan([pick(found.findings, wanted)], desk.project, desk.codemods)
    for finding, reason in change.left_out:
        raise FullgraphError(f"--apply {wanted}: {finding.codemod} at {finding.path}:{finding.line}: {reason}")
    return replace(found, change=change)


def settle(root: Path, writes: bool) -> None:
    """Before anything is read: who writes finishes a run that was interrupted, who reads says that there is one."""
    from fullgraph.codemods.rewrite.journal import Journal

    if not writes:
        said = Journal(root).warning()
    else:
        recovery = Journal(root).recover()
        said = f"run {recovery.run} had been interrupted: {recovery.outcome}" if recovery else ""
    if said:
        click.echo(f"fullgraph: {said}", err=True)


def write(planned: Answer) -> Answer:
    """Write what is planned, as `fix` would. Nothing is, if a file is no longer as it was looked at."""
    from fullgraph.codemods.rewrite.journal import Journal

    assert planned.change is not None, "only what was planned is written"
    return replace(planned, run=Journal(planned.project.root).write(planned.change).number)

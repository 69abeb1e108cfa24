"""The review: one finding at a time, with everything it would change. Nothing is written while it goes on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from codemods.foreign.difference import replacements
from codemods.model import Edit, Finding, FullgraphError, Safety
from codemods.project import Project
from codemods.registry import all_codemods
from codemods.rewrite.diff import apply_patch, patch
from codemods.rewrite.plan import splice_all, touched, why_not
from codemods.source import decode
from codemods.ui.terminal import paint, paint_patch

HELP = """\
y  apply this finding
n  do not
a  apply this and all later ones of the same codemod (later unsafe ones are asked about, unless this one is unsafe)
d  do not, nor anything else in this file
u  take the last answer back
e  open the diff in the editor; what you save is applied instead
q  stop asking and write what was accepted (Ctrl-C: stop and write nothing)
?  this help"""


@dataclass(frozen=True)
class Answer:
    """A key that a person pressed for the finding at a position of the queue."""

    position: int
    key: str
    finding: Finding

    def reaches(self, later: Finding) -> bool:
        """Whether this answer decides a later finding too."""
        if self.key == "d":
            return later.path == self.finding.path
        is_trusted = later.safety is Safety.SAFE or self.finding.safety is Safety.UNSAFE
        return self.key == "a" and later.codemod == self.finding.codemod and is_trusted


@dataclass
class Review:
    """Asks about each finding on the terminal. `answers` holds one entry for every finding that was decided."""

    color: bool
    answers: list[Finding | None] = field(default_factory=list)
    given: list[Answer] = field(default_factory=list)
    """What a person answered; the other answers followed from these."""

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        """The accepted findings, with the edits of those that were changed by hand."""
        queue = [finding for finding in findings if finding.is_fixable]
        self.answers, self.given = [], []
        while len(self.answers) < len(queue):
            finding = queue[len(self.answers)]
            if self._follows(finding):
                continue
            self._show(finding, len(queue), project)
            if not self._ask(finding, project):
                break
        return [finding for finding in self.answers if finding]

    def _follows(self, finding: Finding) -> bool:
        """Whether an earlier `a` or `d` decides this finding; it is then recorded."""
        later = [answer for answer in self.given if answer.reaches(finding)]
        if later:
            self.answers.append(finding if later[-1].key == "a" else None)
        return bool(later)

    def _show(self, finding: Finding, total: int, project: Project) -> None:
        color = self.color
        kind = all_codemods().get(finding.codemod)
        click.echo()
        click.echo(
            paint(f"({len(self.answers) + 1}/{total}) {finding.path}:{finding.line}", color, bold=True)
            + f"  {finding.symbol}  "
            + paint(finding.codemod, color, fg="cyan")
        )
        click.echo(finding.message)
        if kind and kind.why:
            click.echo(paint(kind.why, color, dim=True))
        if finding.safety is Safety.UNSAFE:
            click.echo(f"{paint('unsafe', color, fg='yellow', bold=True)}: {finding.caveat}")
        for note in finding.notes:
            click.echo(f"note: {note}")
        rival = next((other for other in self.answers if other and other.clashes(finding)), None)
        if rival:
            click.echo(f"note: overlaps {rival.codemod} at line {rival.line}, accepted above; comes after it")
        click.echo(paint_patch(finding_patch(finding, project), color), nl=False)

    def _ask(self, finding: Finding, project: Project) -> bool:
        """Ask until the finding is decided or an earlier answer is taken back; False to stop asking."""
        while True:
            key = self._read_key(finding)
            if key == "q":
                return False
            if key == "u" and self._take_back():
                return True
            if key == "e":
                edited = edit_by_hand(finding, project)
                if edited:
                    self._record("y", edited)
                    return True
            if key in "yand":
                self._record(key, finding)
                return True
            if key == "?":
                click.echo(HELP)

    def _read_key(self, finding: Finding) -> str:
        label = " (unsafe)" if finding.safety is Safety.UNSAFE else ""
        click.echo(paint(f"Apply{label}? [y,n,a,d,q,u,e,?] ", self.color, fg="blue", bold=True), nl=False)
        try:
            key = click.getchar()
        except EOFError:
            key = "q"
        key = key.lower() if key.isprintable() and key else "?"
        click.echo(key)
        return key if key in "ynadque?" else "?"

    def _record(self, key: str, finding: Finding) -> None:
        self.given.append(Answer(len(self.answers), key, finding))
        self.answers.append(finding if key in "ya" else None)

    def _take_back(self) -> bool:
        """Forget the last answer that a person gave, and all that followed from it."""
        if not self.given:
            click.echo("There is no answer to take back.")
            return False
        del self.answers[self.given.pop().position :]
        return True


def finding_patch(finding: Finding, project: Project) -> bytes:
    """The diff of all edits of one finding over all files."""
    return patch(before_of(finding, project), splice_all([finding], project))


def before_of(finding: Finding, project: Project) -> dict[str, bytes]:
    return {path: project.read(path) for path in touched([finding])}


def edit_by_hand(finding: Finding, project: Project) -> Finding | None:
    """The finding with the edits that a person made of its diff; None if they changed nothing, or it does not fit."""
    before = before_of(finding, project)
    original = finding_patch(finding, project)
    edited = open_editor(original)
    if edited in (None, original):
        click.echo("The diff was not changed.")
        return None
    try:
        after = apply_patch(before, edited or b"")
        changed = replace(finding, edits=edits_between(before, after))
        reason = why_not([changed], project) if changed.edits else "it changes nothing; answer n instead"
    except FullgraphError as error:
        reason = str(error)
    if reason:
        click.echo(f"Not taken: {reason}.")
        return None
    return changed


def edits_between(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[Edit, ...]:
    edits = []
    for path, old in before.items():
        pieces = replacements(decode(path, old).text, decode(path, after[path]).text)
        edits += [Edit(path, span, text) for span, text in pieces]
    return tuple(edits)


def open_editor(content: bytes) -> bytes | None:
    """What the user's editor makes of a patch. As bytes: the files may have any encoding."""
    handle, name = tempfile.mkstemp(suffix=".patch", prefix="fullgraph-")
    file = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        click.edit(filename=name)
        return file.read_bytes()
    except click.ClickException as error:
        click.echo(error.format_message(), err=True)
        return None
    finally:
        file.unlink(missing_ok=True)

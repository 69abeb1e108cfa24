"""The review: one finding at a time, with everything it would change. Nothing is written while it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import click

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding, Safety
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.plan import readable, touched, why_not
from fullgraph.codemods.ui.by_hand import edit_by_hand, finding_patch
from fullgraph.codemods.ui.keys import Keys
from fullgraph.codemods.ui.report.model import DECLINED, NOT_ASKED, place_of
from fullgraph.codemods.ui.terminal import paint, paint_patch, wrap

HELP = """\
y  apply this finding
n  do not
a  apply this and all later ones of the same codemod (unsafe ones are still asked about, unless this one is unsafe)
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
    keys: Keys
    codemods: Sequence[Codemod]
    about: tuple[str, ...] = ()
    """What is shown of each finding before anything else: where it was asked for."""

    answers: list[Finding | None] = field(default_factory=list)
    given: list[Answer] = field(default_factory=list)
    """What a person answered; the other answers followed from these."""

    queue: list[Finding] = field(default_factory=list)
    impossible: dict[str, str] = field(default_factory=dict)
    """By key, why a finding cannot be written at all; nobody is asked about it."""

    not_asked: set[str] = field(default_factory=set)
    """The keys of the findings that came after the person had left."""

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        """The accepted findings, with the edits of those that were changed by hand."""
        self.queue = [finding for finding in findings if finding.is_fixable]
        self.answers, self.given, self.impossible, self.not_asked = [], [], {}, set()
        if self.queue and not self.keys.has_left:
            shown = project.laid_over(readable(touched(self.queue), project))  # whatever is saved meanwhile
            with self.keys.listening():
                self._go_through(shown)
            click.echo()
        self._conclude()
        return self._accepted()

    def _accepted(self) -> list[Finding]:
        return [finding for finding in self.answers if finding]

    def why_left(self, finding: Finding) -> str:
        """Why a finding that could be fixed was not chosen."""
        if reason := self.impossible.get(finding.key):
            return reason
        return NOT_ASKED if finding.key in self.not_asked else DECLINED

    def _go_through(self, project: Project) -> None:
        while len(self.answers) < len(self.queue) and not self.keys.has_left:
            finding = self.queue[len(self.answers)]
            if not self._follows(finding) and not self._is_impossible(finding, project):
                self._show(finding, project)
                self._ask(finding, project)

    def _conclude(self) -> None:
        """Whoever leaves after an `a` has still accepted the later ones of that codemod."""
        for finding in self.queue[len(self.answers) :]:
            if not self._follows(finding):
                self.not_asked.add(finding.key)
                self.answers.append(None)

    def _follows(self, finding: Finding) -> bool:
        """Whether an earlier `a` or `d` decides this finding; it is then recorded."""
        later = [answer for answer in self.given if answer.reaches(finding)]
        if later:
            self.answers.append(finding if later[-1].key == "a" else None)
        return bool(later)

    def _is_impossible(self, finding: Finding, project: Project) -> bool:
        """Whether it cannot be written, whatever the answer; it is then declined."""
        if reason := why_not([finding], project):
            self.impossible[finding.key] = reason
            self.answers.append(None)
        return bool(reason)

    def _show(self, finding: Finding, project: Project) -> None:
        color, name = self.color, finding.codemod
        place = f"({self._count()}) {place_of(project.root, finding)}"
        click.echo(f"\n{paint(place, color, bold=True)}  {finding.symbol}")
        for line in self.about:
            click.echo(wrap(line))
        click.echo(paint(name, color, fg="cyan") + wrap(f"{name}: {finding.message}").removeprefix(name))
        if why := next((codemod.why for codemod in self.codemods if codemod.name == name), ""):
            click.echo(paint(wrap(f"why: {why}"), color, dim=True))
        if finding.safety is Safety.UNSAFE:
            click.echo(paint(wrap(f"unsafe: {finding.caveat}"), color, fg="yellow", bold=True))
        for note in (*finding.notes, *self._rivals(finding)):
            click.echo(wrap(f"note: {note}"))
        self._show_patch(finding, project)

    def _show_patch(self, finding: Finding, project: Project) -> None:
        """New files first, the change itself next to the question. A file that was accepted above is only named."""
        accepted = {edit for other in self._accepted() for edit in other.edits}
        new = [edit for edit in finding.edits if edit.creates]
        if known := sorted(edit.path for edit in new if edit in accepted):
            click.echo(wrap(f"new, as above: {', '.join(known)}"))
        fresh = [edit for edit in new if edit not in accepted]
        for edits in (fresh, [edit for edit in finding.edits if not edit.creates]):
            part = replace(finding, edits=tuple(edits))
            click.echo(paint_patch(finding_patch(part, project), self.color), nl=False)

    def _count(self) -> str:
        return f"{len(self.answers) + 1}/{len(self.queue)}"

    def _rivals(self, finding: Finding) -> list[str]:
        return [
            f"overlaps {other.codemod} at line {other.line}, accepted above; comes after it"
            for other in self._accepted()
            if other.clashes(finding)
        ]

    def _ask(self, finding: Finding, project: Project) -> None:
        """Ask until the finding is decided, an earlier answer is taken back, or the person leaves."""
        label = " (unsafe)" if finding.safety is Safety.UNSAFE else ""
        question = f"{finding.codemod} {self._count()}{label}: apply? [y,n,a,d,q,u,e,?] "
        prompt = paint(question, self.color, fg="blue", bold=True)
        while not self._obeys(self.keys.ask(prompt), finding, project):
            pass

    def _obeys(self, key: str, finding: Finding, project: Project) -> bool:
        """Do what a key says; whether that settles the question."""
        match key:
            case "y" | "n" | "a" | "d":
                self._record(key, finding)
            case "q":
                self.keys.has_left = True
            case "u":
                return self._take_back()
            case "e":
                return self._edit(finding, project)
            case "?":
                click.echo("\n".join(wrap(line, "   ") for line in HELP.splitlines()))
                return False
            case _:
                self.keys.forget()
                click.echo("That is none of the keys; ? explains them.")
                return False
        return True

    def _record(self, key: str, finding: Finding) -> None:
        self.given.append(Answer(len(self.answers), key, finding))
        self.answers.append(finding if key in "ya" else None)

    def _edit(self, finding: Finding, project: Project) -> bool:
        with self.keys.resting():
            edited, said = edit_by_hand(finding, project, self._accepted(), self.codemods)
        if edited:
            self._record("y", edited)
        else:
            click.echo(wrap(said))
        return edited is not None

    def _take_back(self) -> bool:
        """Forget the last answer that a person gave, and all that followed from it."""
        if not self.given:
            click.echo("There is no answer to take back.")
            return False
        del self.answers[self.given.pop().position :]
        return True

"""What both reviews do with findings, without drawing anything: the answers, and all that a key asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding, FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.ignoring import comments
from fullgraph.codemods.rewrite.plan import plan, readable, touched, why_not
from fullgraph.codemods.ui.report.model import place_of
from fullgraph.codemods.ui.review.by_hand import edit_by_hand
from fullgraph.codemods.ui.review.ledger import LEFT, STATES, Ledger
from fullgraph.codemods.ui.review.opening import open_at
from fullgraph.codemods.ui.review.rivals import arranged, rivals_among
from fullgraph.codemods.ui.review.shown import Evidence, diff_text, told
from fullgraph.codemods.ui.view import View, view_of

if TYPE_CHECKING:
    from rich.text import Text

    from fullgraph.codemods.ui.review.proving_now import ProveNow


@dataclass
class Desk:
    """One review of a project's findings. Nothing is written while it goes on."""

    codemods: Sequence[Codemod]
    about: tuple[str, ...] = ()
    """What is shown of each finding before anything else: where it was asked for."""

    observed: Mapping[str, Any] | None = None
    """What a run of the program showed; what cost most is then asked about first."""

    proving: ProveNow | None = None
    codemod_files: tuple[Path, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    proofs: dict[str, str] = field(default_factory=dict)
    """By key, what came out of a proof in this review."""

    seen: dict[str, str] = field(default_factory=dict)
    project: Project = field(init=False)
    places: dict[str, int] = field(init=False)

    def lay_out(self, findings: Sequence[Finding], project: Project) -> None:
        """Begin a review. The files are shown as they are now, whatever is saved meanwhile."""
        fixable = [finding for finding in findings if finding.is_fixable]
        self.places = {finding.key: number for number, finding in enumerate(fixable)}
        self.project = project.laid_over(readable(touched(fixable), project)) if fixable else project
        if self.observed:
            from fullgraph.codemods.ui.observed.join import seen_of

            joined = seen_of(fixable, project.root, self.observed)
            self.seen = {finding.key: text for finding, text in joined}
            fixable = [finding for finding, _ in joined]
        rivals = rivals_among(fixable, self.codemods, self.project)
        self.ledger = Ledger(arranged(fixable, rivals, self.codemods), rivals)

    def chosen(self) -> list[Finding]:
        """The accepted findings in the order in which they were found: how they were asked about changes nothing."""
        return sorted(self.ledger.accepted(), key=lambda finding: self.places[finding.key])

    def next(self) -> Finding | None:
        """The first finding that is to be asked about."""
        made = self.ledger.decisions()
        return next((one for one in self.ledger.queue if one.key not in made and self.is_possible(one)), None)

    def is_possible(self, finding: Finding) -> bool:
        """Whether it can be written at all; why not is known then."""
        if finding.key not in self.ledger.impossible and (reason := why_not([finding], self.project)):
            self.ledger.impossible[finding.key] = reason
        return finding.key not in self.ledger.impossible

    def alternatives(self, finding: Finding) -> list[Finding]:
        return [one for one in self.ledger.alternatives(finding) if one.key == finding.key or self.is_possible(one)]

    # What is shown

    def told(self, finding: Finding) -> list[Text]:
        apart = {finding.key, *self.ledger.rivals.get(finding.key, ())}
        others = (other for other in self.ledger.accepted() if other.key not in apart and other.clashes(finding))
        notes = (f"overlaps {one.codemod} at line {one.line}, accepted above; comes after it" for one in others)
        why = next((codemod.why for codemod in self.codemods if codemod.name == finding.codemod), "")
        view = replace(self.view(finding), notes=(*finding.notes, *notes))
        return told(view, Evidence(self.about, self.proofs.get(finding.key, ""), why))

    def view(self, finding: Finding) -> View:
        place = place_of(self.project.root, finding)
        return replace(view_of(finding), place=place, cost=self.seen.get(finding.key, ""))

    def diff(self, finding: Finding, width: int, is_printed: bool = False) -> list[Text]:
        others = [other for other in self.ledger.accepted() if other.key != finding.key]
        return diff_text(finding, self.project, width, others, is_printed)

    def progress(self, finding: Finding) -> str:
        """`3 of 17, 1 accepted, 1 declined`"""
        totals = self.ledger.totals()
        answered = "".join(f", {number} {state}" for state, number in totals.items() if number and state != LEFT)
        return f"{self.ledger.position_of(finding) + 1} of {len(self.ledger.queue)}{answered}"

    def statistics(self) -> list[Text]:
        """By codemod, how many findings are left, accepted and declined."""
        from rich.text import Text

        counts = self.ledger.counts()
        names = sorted({name for name, _ in counts})
        width = max(map(len, [*names, "codemod"]), default=0)
        head = Text(f"{'codemod':<{width}}  {'  '.join(STATES)}", "bold")
        rows = ["  ".join(f"{counts[name, state]:>{len(state)}}" for state in STATES) for name in names]
        return [head, *(Text(f"{name:<{width}}  {row}") for name, row in zip(names, rows, strict=True))]

    def explained(self, finding: Finding, color: bool) -> list[Text]:
        from rich.text import Text

        from fullgraph.codemods.ui.explain import explain

        try:
            text = explain(finding.codemod, color, self.codemod_files)
        except FullgraphError as error:
            text = str(error)
        return list(Text.from_ansi(text).split("\n"))

    # What keys do: each says what there is to say, or nothing

    def edit(self, finding: Finding) -> str:
        edited, said = edit_by_hand(finding, self.project, self._others(finding), self.codemods)
        if edited:
            self.ledger.answer("y", edited)
        return said

    def ignore(self, finding: Finding) -> str:
        """Have a comment written in its place, unless that cannot stand beside what was accepted."""
        (comment,) = comments(self.project.module(finding.path), [finding])
        if comment.left_alone:
            return f"Not ignored: {comment.left_alone}."
        if reason := dict(plan([*self._others(finding), comment], self.project, self.codemods).left_out).get(comment):
            return f"Not ignored: {reason}."
        self.ledger.answer("i", comment)
        return ""

    def _others(self, finding: Finding) -> list[Finding]:
        return [other for other in self.ledger.accepted() if other.key != finding.key]

    def open(self, finding: Finding) -> str:
        """Show the place in the editor. What is saved there is the user's: nothing of that file is written then."""
        try:
            open_at(self.project.root / finding.path, finding.line, finding.column)
        except FullgraphError as error:
            return f"Not opened: {error}."
        if self._on_disk(finding.path) == self.project.overlay.get(finding.path):
            return ""
        reason = f"{finding.path} has changed since it was looked at"
        for one in self.ledger.queue:
            if finding.path in one.paths():
                self.ledger.impossible.setdefault(one.key, reason)
        return f"{reason}: nothing of it is written now; `fullgraph fix` looks again."

    def _on_disk(self, path: str) -> bytes | None:
        try:
            return (self.project.root / path).read_bytes()
        except OSError:
            return None

    def prove(self, finding: Finding) -> str:
        self.proofs[finding.key] = self.prepared(finding)()
        return self.proofs[finding.key]

    def prepared(self, finding: Finding) -> Callable[[], str]:
        """What is left to do for a proof; it may be done in another thread."""
        if self.proving is None:
            return lambda: "undecided: there is nothing to prove with here"
        return self.proving.prepared(finding, self.project)

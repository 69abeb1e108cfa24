"""Which findings a ticket asks for: those of its codemod at its place, or its own fix as a finding."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding, Safety
from fullgraph.codemods.rewrite.find import FileResult, find
from fullgraph.codemods.run import leave_unwritable, respecting
from fullgraph.codemods.tickets.fixing.model import Wish
from fullgraph.codemods.tickets.routes.firing import Catalogue
from fullgraph.codemods.tickets.understanding import Understood

LITERAL = "literal"
"""What stands in the journal for a codemod when the ticket's own fix was written."""

CAVEAT = "this is the ticket's own code as it stands; only a proof can tell whether it keeps what the program does"


@dataclass(frozen=True)
class Task:
    """The findings to apply, and the codemods to ask again about the result; or why there is nothing to apply."""

    findings: tuple[Finding, ...] = ()
    codemods: tuple[Codemod, ...] = ()
    why_not: str = ""

    @property
    def fixable(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.is_fixable]


def task_for(understood: Understood, catalogue: Catalogue, wish: Wish) -> Task:
    """What is to be applied for a ticket, without what would change files that must stay."""
    routed = understood.routed
    if not routed.codemod:
        return Task(why_not=why_no_codemod(understood))
    if wish.literal:
        return literal_task(understood, catalogue, wish)
    codemod = catalogue.codemod(routed.codemod, dict(routed.options), routed.symbols, wish.tests)
    findings = with_tests(routed.findings, codemod, catalogue) if wish.tests else routed.findings
    return permitted(Task(tuple(findings), (codemod,)), catalogue, wish)


def why_no_codemod(understood: Understood) -> str:
    """In a line: what was tried where the place was not found, and the nearest codemod, which is not used."""
    routed, located = understood.routed, understood.located
    tried = f" (tried: {'; '.join(located.tried)})" if located.tried and not located.spots else ""
    is_new = routed.nearest and routed.nearest not in routed.why
    nearest = f"; nearest, not used: {routed.nearest}" if is_new else ""
    return f"{routed.why}{tried}{nearest}"


def literal_task(understood: Understood, catalogue: Catalogue, wish: Wish) -> Task:
    """The ticket's own fix as one finding, for those to whom the codemod's differs too much."""
    own = understood.routed.literal
    if not own.edits:
        return Task(why_not=f"--literal: {own.why_not}")
    first = understood.routed.findings[0]
    finding = replace(
        first,
        codemod=LITERAL,
        path=own.edits[0].path,
        message="as the ticket proposes",
        edits=own.edits,
        safety=Safety.UNSAFE,
        caveat=CAVEAT,
        left_alone="",
        notes=(),
        key=hashlib.sha256(f"{LITERAL}\0{first.key}".encode()).hexdigest()[:12],
    )
    return permitted(Task((finding,)), catalogue, wish)


def with_tests(findings: Sequence[Finding], codemod: Codemod, catalogue: Catalogue) -> list[Finding]:
    """The same findings as the codemod reports them when it is told where tests go."""
    paths = dict.fromkeys(finding.path for finding in findings)
    found = {each.key: each for path in paths for each in find(catalogue.project, path, [codemod]).findings}
    return [replace(found.get(finding.key, finding), ticket=finding.ticket) for finding in findings]


def permitted(task: Task, catalogue: Catalogue, wish: Wish) -> Task:
    """Excluded files are not changed, nor are those that cannot be written."""
    results = respecting([FileResult("", task.findings)], wish.exclude)
    if not wish.is_dry:
        results, _ = leave_unwritable(results, catalogue.project.root)
    findings = results[0].findings
    reasons = [finding.left_alone for finding in findings if not finding.is_fixable]
    is_idle = not any(finding.is_fixable for finding in findings)
    return replace(task, findings=findings, why_not=f"left alone: {reasons[0]}" if is_idle and reasons else "")

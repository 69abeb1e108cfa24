"""One ticket while it is worked on: frozen values, and how they are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fullgraph.codemods.model import Change, Finding
from fullgraph.codemods.tickets.fixing.choosing import LITERAL, Task, why_no_codemod
from fullgraph.codemods.tickets.fixing.model import Filed
from fullgraph.codemods.tickets.model import Ticket
from fullgraph.codemods.tickets.understanding import Understood
from fullgraph.validate.model import Verdict

Left = list[tuple[Finding, str]]
"""Findings that are not applied, each with the reason."""


@dataclass(frozen=True)
class Turn:
    """A ticket with the findings that were chosen for it, and the others.

    `first` is how it was understood before anything was written, `now` how it is by now.
    """

    filed: Filed
    first: Understood
    now: Understood
    task: Task
    chosen: Sequence[Finding]
    unchosen: Left


@dataclass(frozen=True)
class Proved:
    """A ticket's change as it was planned, and what the scenarios leave of it.

    `unwritten` are the findings that are not in it; `left` is what the ticket asks for beyond its findings.
    """

    turn: Turn
    planned: Change
    change: Change
    verdicts: tuple[Verdict, ...]
    unwritten: tuple[str, ...]
    left: tuple[str, ...]


def is_over(ticket: Ticket) -> bool:
    return ticket.is_resolved or ticket.is_rejected


def wanted_by(understood: Understood) -> list[tuple[str, ...]]:
    """What tells whether two tickets ask for the same: each finding, with the codemod and its settings."""
    routed = understood.routed
    settings = [routed.codemod, *(f"{key}={value}" for key, value in routed.options)]
    return [(*settings, finding.key) for finding in routed.findings if finding.is_fixable]


def why_gone(first: Understood) -> str:
    """Of a ticket that leads elsewhere since another one was written: nothing is done about it unasked."""
    if not first.routed.codemod:
        return why_no_codemod(first)
    return f"{first.routed.codemod} does not fire there any more: an earlier ticket has changed the code"


def count(findings: Sequence[Finding]) -> str:
    """`2 findings of hoist_autocast`, or that it is the ticket's own code."""
    if findings[0].codemod == LITERAL:
        return "the ticket's own fix"
    number = f"{len(findings)} finding{'s' * (len(findings) != 1)}"
    return f"{number} of {findings[0].codemod}"


def paths_of(change: Change) -> list[str]:
    return list(dict.fromkeys(path for finding in change.applied for path in finding.paths()))

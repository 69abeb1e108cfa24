"""What a fix leaves of a ticket: findings that were not written, places that nothing changes, others' findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fullgraph.codemods.model import Finding
from fullgraph.codemods.project import Project
from fullgraph.codemods.tickets.places.model import Spot
from fullgraph.codemods.tickets.places.symbols import scopes_in
from fullgraph.codemods.tickets.route import ALSO
from fullgraph.codemods.tickets.routes.topics import TOPICS
from fullgraph.codemods.tickets.routes.wording import words_in
from fullgraph.codemods.tickets.understanding import Understood

Touched = tuple[str, int, int]
"""A file, and the first and the last line of what is changed in it."""


def left_of(understood: Understood, findings: Sequence[Finding], project: Project) -> tuple[str, ...]:
    """In a line each, what the ticket asks for beyond its findings: nobody may take it for done."""
    touched = [each for finding in findings for each in lines_of(finding, project)]
    missed = [spot for spot in understood.located.spots if not spot.is_mentioned and not is_met(spot, touched)]
    bare = [spot for spot in missed if not is_called(spot, findings, project)]
    places = [f"{place_of(spot)}: nothing is changed there" for spot in bare]
    also = [note for note in understood.routed.notes if note.startswith(ALSO)]
    return *places, *also, *(f"its fix asks for more: {step}" for step in other_steps(understood))


def other_steps(understood: Understood) -> list[str]:
    """The steps of the fix that are not what the codemod does, if others are."""
    topic, steps = TOPICS.get(understood.routed.codemod), understood.ticket.steps
    others = [step for step in steps if topic and not words_in(topic.remedy, step)]
    return others if len(others) < len(steps) else []


def lines_of(finding: Finding, project: Project) -> Iterator[Touched]:
    yield finding.path, finding.line, finding.last_line
    for edit in finding.edits:
        if not edit.creates:
            module = project.module(edit.path)
            last = max(edit.span.start, edit.span.end - 1)
            yield edit.path, module.line(edit.span.start), module.line(last)


def is_met(spot: Spot, touched: Sequence[Touched]) -> bool:
    """Whether something is changed in the lines, the function or the file that a ticket names.

    Lines may have drifted in a small function; in a big one they are what is meant.
    """
    is_file = not spot.lines and not spot.extent
    is_exact = bool(spot.lines) and not spot.is_small
    return any(
        path == spot.path and (is_file or spot.holds(first, last) or (not is_exact and spot.surrounds(first, last)))
        for path, first, last in touched
    )


def is_called(spot: Spot, findings: Sequence[Finding], project: Project) -> bool:
    """Whether a place is only named because it uses the code that is changed, or is called by it."""
    if spot.lines:
        return uses(spot, findings, project)
    name = spot.symbol.rpartition(".")[2]
    if not name:
        return False
    call = re.compile(rf"\b{re.escape(name)}\(")
    return any(call.search(text_around(finding, project)) for finding in findings)


def uses(spot: Spot, findings: Sequence[Finding], project: Project) -> bool:
    """Whether each of the lines calls what is changed elsewhere, or another method of its class."""
    lines = project.module(spot.path).text.splitlines()
    names = {name for each in findings if each.path != spot.path for name in names_around(each, project)}
    used = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\(")
    return bool(names) and all(used.search("\n".join(lines[each.first - 1 : each.last])) for each in spot.lines)


def names_around(finding: Finding, project: Project) -> set[str]:
    """The name of the function that a finding is in, or of its class and all of its methods."""
    owner = finding.symbol.split(".")[0]
    scopes = scopes_in(project.module(finding.path))
    return {symbol.rpartition(".")[2] for symbol in scopes if f"{symbol}.".startswith(f"{owner}.")} | {owner}


def text_around(finding: Finding, project: Project) -> str:
    """The function or class that a finding stands in."""
    module = project.module(finding.path)
    extent = scopes_in(module).get(finding.symbol)
    lines = module.text.splitlines()
    return "\n".join(lines[extent.first - 1 : extent.last] if extent else lines)


def place_of(spot: Spot) -> str:
    """`src/a.py:21-25 Outlook.drift`."""
    lines = spot.lines or ((spot.extent,) if spot.extent else ())
    where = ",".join(f"{each.first}-{each.last}" if each.first != each.last else str(each.first) for each in lines)
    return f"{spot.path}{f':{where}' if where else ''} {spot.symbol}".rstrip()


def unwritten(left: Sequence[tuple[Finding, str]]) -> tuple[str, ...]:
    """Each finding that was not written, and why; what several have in common is said once."""
    reasons: dict[str, list[str]] = {}
    for finding, reason in left:
        reasons.setdefault(reason, []).append(f"{finding.path}:{finding.line}")
    return tuple(f"{', '.join(dict.fromkeys(places))}: {reason}" for reason, places in reasons.items())

"""Where the lines of a ticket are once earlier tickets have changed the files around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from difflib import SequenceMatcher

from fullgraph.codemods.project import Project
from fullgraph.codemods.tickets.model import Lines, Place, Ticket
from fullgraph.codemods.tickets.places.paths import find_files


def with_lines_moved(ticket: Ticket, before: Project, now: Project) -> Ticket:
    """The same ticket with the lines of its places counted in the files as they are now."""
    if before is now:
        return ticket
    return replace(ticket, places=tuple(moved(place, before, now) for place in ticket.places))


def moved(place: Place, before: Project, now: Project) -> Place:
    paths = [candidate.path for candidate in find_files(place.path, before.files)] if place.lines else []
    if len(paths) != 1 or before.read(paths[0]) == now.read(paths[0]):
        return place
    shift = shifter(before.read(paths[0]).splitlines(), now.read(paths[0]).splitlines())
    return replace(place, lines=tuple(Lines(shift(each.first), shift(each.last)) for each in place.lines))


def shifter(old: list[bytes], new: list[bytes]) -> Callable[[int], int]:
    """From a line of the old text to that of the new one; a line that is gone is where its successor is."""
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()

    def shift(line: int) -> int:
        for kind, first, last, start, end in blocks:
            if first < line <= last:
                return start + line - first if kind == "equal" else max(start, min(start + line - first, end))
        return line

    return shift

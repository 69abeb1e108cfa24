"""From a ticket to where its code is now: by its path, its symbols, its code blocks, and git's memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.project import Project
from fullgraph.codemods.tickets.model import Place, Ticket
from fullgraph.codemods.tickets.places.anywhere import find_by_history, find_by_quote, find_by_symbol
from fullgraph.codemods.tickets.places.history import History
from fullgraph.codemods.tickets.places.in_file import spots_in
from fullgraph.codemods.tickets.places.model import Located, Spot
from fullgraph.codemods.tickets.places.paths import Candidate, find_files
from fullgraph.codemods.tickets.places.prose import named_in_prose

PLACES = 12
"""Places of one ticket that are looked for."""

FEW = 4


def locate(ticket: Ticket, project: Project) -> Located:
    """Where a ticket's code is, the best spot first; nothing outside the project's own files is looked at."""
    tried: list[str] = []
    history = project.worked_out("history", lambda: History(project.root))
    spots: list[Spot] = []
    for place in ticket.places[:PLACES]:
        spots += locate_place(place, ticket, project, history, tried)
    if not any(spot.is_confirmed or not is_lost(spot, ticket) for spot in spots):
        spots = elsewhere(ticket, project, history, tried) or spots
    spots += named_in_prose(ticket, project, spots)
    return Located(tuple(dict.fromkeys(spots)), tuple(dict.fromkeys(tried)))


def is_lost(spot: Spot, ticket: Ticket) -> bool:
    """Whether the ticket names symbols, and the file that it names has none of them."""
    return not spot.is_confirmed and any(place.symbols for place in ticket.places)


def locate_place(place: Place, ticket: Ticket, project: Project, history: History, tried: list[str]) -> list[Spot]:
    """The spots of one place: in the file that it names, or in what that file has become."""
    candidates = find_files(place.path, project.files)
    found = [spots for candidate in candidates if (spots := look_into(candidate, place, ticket, project, tried))]
    if found:
        best = max(found, key=lambda spots: spots[0].score)
        return [replace(spot, how=spot.how + rivals(best, found)) for spot in best]
    if not candidates and place.path:
        tried.append(f"path: no file of the project ends like {place.path}")
    moved = history.follow(place.path, project.files) if place.path else None
    if moved is None:
        tried += [history.says_nothing(f"rename of {place.path}")] if place.path else []
        return []
    renamed = Candidate(moved[0], 0.9, f"renamed from {moved[1]}, by git's history")
    return look_into(renamed, place, ticket, project, tried)


def look_into(candidate: Candidate, place: Place, ticket: Ticket, project: Project, tried: list[str]) -> list[Spot]:
    """The spots in one file; none if only its name fits and nothing in it does."""
    try:
        spots = list(spots_in(project.module(candidate.path), place, ticket, candidate))
    except SourceError as error:
        return [Spot(candidate.path, score=candidate.score * 0.3, how=f"{candidate.how}; not parsed: {error.reason}")]
    if candidate.is_doubtful and not any(spot.symbol and spot.is_confirmed for spot in spots):
        tried.append(f"path: {candidate.path} has only its name in common with {place.path}, and none of its code")
        return []
    return spots


def rivals(best: list[Spot], found: list[list[Spot]]) -> str:
    """The other files that the path could mean, said in the same breath."""
    others = [spots[0].path for spots in found if spots is not best]
    more = f" and {len(others) - FEW} more" if len(others) > FEW else ""
    return f"; the path also fits {', '.join(others[:FEW])}{more}" if others else ""


def elsewhere(ticket: Ticket, project: Project, history: History, tried: list[str]) -> list[Spot]:
    """What the ticket names or quotes, in any file: the path led nowhere, or to a file without it."""
    ways: tuple[Iterator[Spot], ...] = (
        find_by_symbol(ticket, project, tried),
        find_by_quote(ticket, project, tried),
        find_by_history(ticket, project, history, tried),
    )
    for way in ways:
        if spots := list(way):
            return spots
    return []

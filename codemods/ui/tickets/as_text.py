"""Tickets for people: a headline each, and what was understood below it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator

from codemods.tickets.model import Lines, Place, Ticket
from codemods.tickets.places.model import Located, Spot
from codemods.tickets.routes.model import OwnFix, Routed
from codemods.tickets.understanding import Understood
from codemods.ui.layout import encodable, wrapped
from codemods.ui.plain import plain
from codemods.ui.terminal import READABLE, paint

LABEL = 10
SHORT = 160
"""Characters of a fix that are shown."""


def as_text(understood: Iterable[Understood], color: bool) -> str:
    blocks = ["\n".join(block(each, color)) for each in understood]
    return encodable("\n\n".join(blocks) + "\n") if blocks else ""


def block(understood: Understood, color: bool) -> Iterator[str]:
    ticket = understood.ticket
    yield f"{paint(plain(ticket.id), color, bold=True)}  {plain(ticket.title)}"
    for label, text in rows(ticket, understood.located, understood.routed):
        yield from row(label, text, color)


def rows(ticket: Ticket, located: Located, routed: Routed) -> Iterator[tuple[str, str]]:
    """What is said of a ticket, each under a label; what is not known is left out."""
    yield "ticket", ticket.source
    yield "severity", severity(ticket)
    yield "status", status(ticket)
    yield "category", ", ".join(ticket.category)
    for place in ticket.places:
        yield "written", written(place)
    for spot in located.spots:
        yield "place", found(spot)
    for line in located.tried if not located.spots else ():
        yield "tried", line
    yield "fix", short(ticket)
    yield from route_rows(routed)


def route_rows(routed: Routed) -> Iterator[tuple[str, str]]:
    if routed.codemod:
        options = "".join(f" {key}={value}" for key, value in routed.options)
        symbols = "".join(f" --symbol {symbol}" for symbol in routed.symbols)
        yield "codemod", f"{routed.codemod}{options}{symbols}; it {routed.confidence}"
    else:
        nearest = f"; nearest, not used: {routed.nearest}" if routed.nearest else ""
        yield "codemod", f"none: {routed.why}{nearest}"
    for note in routed.notes:
        yield "", note
    yield "compared", routed.comparison
    yield "literal", literal(routed.literal) if routed.codemod else ""


def row(label: str, text: str, color: bool) -> Iterator[str]:
    if not text:
        return
    width = max(min(shutil.get_terminal_size().columns, READABLE), 40)
    first, *rest = wrapped(" ".join(text.split()), width, " " * (LABEL + 2), " " * (LABEL + 2))
    yield f"  {paint(f'{label:<{LABEL}}', color, fg='cyan')}{first[LABEL + 2 :]}"
    yield from rest


def severity(ticket: Ticket) -> str:
    level = ticket.severity
    if not level.effective or level.effective == level.written:
        return level.written or level.effective
    return f"{level.written or 'none'} > {level.effective}{f' ({level.why})' if level.why else ''}"


def status(ticket: Ticket) -> str:
    settled = f"resolved: {ticket.why_resolved}" if ticket.is_resolved else "rejected" if ticket.is_rejected else ""
    return "; ".join(part for part in (ticket.status, settled) if part)


def written(place: Place) -> str:
    where = f"{place.path}:{ranges(place.lines)}" if place.lines else place.path
    return "  ".join(part for part in (where, ", ".join(place.symbols)) if part)


def found(spot: Spot) -> str:
    where = f"{spot.path}:{ranges(spot.lines)}" if spot.lines else spot.path
    return f"{where}{f'  {spot.symbol}' if spot.symbol else ''}  ({spot.score:.2f}: {spot.how})"


def ranges(lines: Iterable[Lines]) -> str:
    return ",".join(f"{each.first}-{each.last}" if each.first != each.last else str(each.first) for each in lines)


def short(ticket: Ticket) -> str:
    """The first words of the fix, or that there is only code."""
    text = " ".join(ticket.fix.split()) or ("code" if ticket.code_of("fix") else "")
    return text if len(text) <= SHORT else text[: SHORT - 3] + "..."


def literal(fix: OwnFix) -> str:
    if not fix.edits:
        return f"no: {fix.why_not}"
    return f"{len(fix.edits)} edit{'s' * (len(fix.edits) != 1)} as the ticket writes it"

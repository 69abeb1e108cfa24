"""Tickets for people: a headline each, and what was understood below it."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator

from fullgraph.codemods.tickets.model import Lines, Place, Review, Ticket
from fullgraph.codemods.tickets.parts.severity import level_of
from fullgraph.codemods.tickets.places.model import Located, Spot
from fullgraph.codemods.tickets.routes.model import OwnFix, Routed
from fullgraph.codemods.tickets.understanding import Understood
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.screen import encodable
from fullgraph.codemods.ui.terminal import READABLE, paint

LABEL = 10
COMMAND = "command"
"""The label of what is to be typed as it stands: it is never wrapped."""
SHORT = 160
"""Characters of a fix, an id or a title that are shown."""
LONGEST = 1_000
"""Characters of a row: a ticket may say anything."""


def as_text(understood: Iterable[Understood], color: bool) -> str:
    """All tickets, and of several how many there are of each sort."""
    tickets = list(understood)
    blocks = ["\n".join(block(each, color)) for each in tickets]
    blocks += [counted(tickets)] if len(tickets) > 1 else []
    return encodable("\n\n".join(blocks) + "\n") if blocks else ""


def counted(tickets: list[Understood]) -> str:
    """`5 tickets: 3 with a codemod, 1 without, 1 settled`."""
    settled = sum(each.ticket.is_resolved or each.ticket.is_rejected for each in tickets)
    routed = sum(bool(each.routed.codemod) for each in tickets)
    idle = sum(not (each.routed.codemod or each.ticket.is_resolved or each.ticket.is_rejected) for each in tickets)
    parts = [
        (routed, "with a codemod"),
        (idle, "without one" if routed else "without a codemod"),
        (settled, "resolved or rejected"),
    ]
    return f"{len(tickets)} tickets: " + ", ".join(f"{number} {words}" for number, words in parts if number)


def block(understood: Understood, color: bool) -> Iterator[str]:
    ticket = understood.ticket
    name = plain(cut(ticket.id))
    first, *rest = textwrap.wrap(
        f"{name}  {plain(' '.join(cut(ticket.title).split()))}",
        screen(),
        subsequent_indent="  ",
        break_on_hyphens=False,
    ) or [name]
    yield paint(name, color, bold=True) + first[len(name) :] if first.startswith(name) else first
    yield from rest
    for label, text in rows(ticket, understood.located, understood.routed):
        yield from row(label, text, color)


def cut(text: str, longest: int = SHORT) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."


def screen() -> int:
    return max(min(shutil.get_terminal_size().columns, READABLE), 40)


def rows(ticket: Ticket, located: Located, routed: Routed) -> Iterator[tuple[str, str]]:
    """What is said of a ticket, each under a label; what is not known is left out."""
    yield "ticket", ticket.source
    yield "severity", severity(ticket)
    yield "status", status(ticket)
    yield "category", ", ".join(ticket.category)
    yield "reviews", ", ".join(reviewed(review) for review in ticket.reviews)
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
        is_new = routed.nearest and routed.nearest not in routed.why
        nearest = f"; nearest, not used: {routed.nearest}" if is_new else ""
        yield "codemod", f"none: {routed.why}{nearest}"
    for note in routed.notes:
        yield "", note
    for command in routed.commands:
        yield COMMAND, command
    yield "compared", routed.comparison
    yield "literal", literal(routed.literal) if routed.codemod else ""


def row(label: str, text: str, color: bool) -> Iterator[str]:
    if not text:
        return
    indent = " " * (LABEL + 2)
    words = plain(" ".join(cut(text, LONGEST).split()))
    if label == COMMAND:
        yield f"  {paint(f'{label:<{LABEL}}', color, fg='cyan')}{words}"
        return
    first, *rest = textwrap.wrap(
        words, screen(), initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
    yield f"  {paint(f'{label:<{LABEL}}', color, fg='cyan')}{first[LABEL + 2 :]}"
    yield from rest


def severity(ticket: Ticket) -> str:
    """As written; with the level that it counts as where that is another, or not said."""
    level = ticket.severity
    if not level.effective or level.effective in level.written.split() or level.effective == level.written:
        said = level.written or level.effective
    else:
        said = f"{level.written or 'none'} ({level.effective})"
    is_changed = level.why or (level.effective and level.effective != level_of(level.written))
    return (
        f"{level.written or 'none'} > {level.effective}{f' ({level.why})' if level.why else ''}" if is_changed else said
    )


def status(ticket: Ticket) -> str:
    """As written, and what settles the ticket if that is something else."""
    if ticket.is_resolved and ticket.why_resolved in (f"status: {ticket.status}", f"state: {ticket.status}"):
        return f"{ticket.status} (resolved)" if ticket.status.casefold() != "resolved" else ticket.status
    settled = f"resolved: {ticket.why_resolved}" if ticket.is_resolved else "rejected" if ticket.is_rejected else ""
    return "; ".join(part for part in (ticket.status, settled) if part)


def reviewed(review: Review) -> str:
    """`ENDORSE (Kim)`, `REJECT (Bo)`; a review that only asks for another severity says so."""
    said = cut(review.verdict, 60) or (f"severity {review.severity}" if review.severity else "")
    return f"{said} ({review.reviewer})" if review.reviewer else said


def written(place: Place) -> str:
    where = f"{place.path}:{ranges(place.lines)}" if place.lines else place.path
    return "  ".join(part for part in (where, ", ".join(place.symbols)) if part)


def found(spot: Spot) -> str:
    where = f"{spot.path}:{ranges(spot.lines)}" if spot.lines else spot.path
    return f"{where}{f'  {spot.symbol}' if spot.symbol else ''}  ({spot.score:.2f}: {spot.how})"


def ranges(lines: Iterable[Lines]) -> str:
    return ",".join(f"{each.first}-{each.last}" if each.first != each.last else str(each.first) for each in lines)


def short(ticket: Ticket) -> str:
    """The first words of the fix, and how much code there is to it."""
    lines = sum(len(block.text.strip().splitlines()) for block in ticket.code_of("fix"))
    code = f"{lines} line{'s' * (lines != 1)} of code" if lines else ""
    text = cut(" ".join(ticket.fix.split()))
    return f"{text} [{code}]" if text and code else text or code


def literal(fix: OwnFix) -> str:
    if not fix.edits:
        return f"no: {fix.why_not}"
    return f"{len(fix.edits)} edit{'s' * (len(fix.edits) != 1)} as the ticket writes it"

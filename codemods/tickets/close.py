"""A ticket's own file with a new status, date, ticks and evidence; every other byte stays what it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Set

from fullgraph.codemods.model import Edit, SourceError, Span
from fullgraph.codemods.tickets.closing.boxes import why_ticked
from fullgraph.codemods.tickets.closing.evidence import evidence_lines, run_line
from fullgraph.codemods.tickets.closing.home import find_home, put_evidence
from fullgraph.codemods.tickets.closing.model import PARTLY, Closing
from fullgraph.codemods.tickets.markdown.blocks import read_blocks
from fullgraph.codemods.tickets.markdown.front_matter import read_front_matter
from fullgraph.codemods.tickets.markdown.inline import plain
from fullgraph.codemods.tickets.model import CheckItem, Field, Ticket, TicketError
from fullgraph.codemods.tickets.parts.status import is_settled
from fullgraph.codemods.tickets.read import is_record, read_tickets
from fullgraph.codemods.tickets.text import Lined, open_ticket, split_lines

Ticks = list[tuple[CheckItem, str]]
EMPTY_SIGN, TICKED_SIGN = "\u2610", "\u2611"
ITEM = re.compile(r"[\s>]*(?:[-*+]|\d+[.)])\s")
CHOICE = re.compile(r"(?P<head>\s*(?:[-*+]|\d+[.)])\s+\[)(?P<mark>[ xX]?)\]\s+(?P<text>\S.*)")


class NotClosed(Exception):  # noqa: N818 - it is an answer, not an error
    """Why a ticket's file stays as it is."""


def close_ticket(path: str, raw: bytes, closing: Closing) -> bytes:
    """The bytes of a ticket's file once the ticket is closed, or NotClosed.

    What is written is read again: it must say what was meant, and nothing else about any ticket of the file.
    """
    if is_record(path, raw):
        raise NotClosed("JSON and SARIF are not edited")
    try:
        lined = split_lines(open_ticket(path, raw))
        tickets = read_tickets(path, raw)
        ticket = next((each for each in tickets if each.id == closing.ticket), None)
        if ticket is None:
            raise NotClosed("it has changed: the ticket is not in it any more")
        ticks = ticked_by(lined, ticket, closing)
        after = lined.source.splice(edits_of(lined, ticket, closing, ticks))
        check(tickets, read_tickets(path, after), closing, ticks)
        check_evidence(split_lines(open_ticket(path, after)), closing)
    except TicketError as error:
        raise NotClosed(error.reason) from error
    except (SourceError, ValueError) as error:
        raise NotClosed(str(error)) from error
    return after


def state_in(path: str, raw: bytes, ticket: str) -> Ticket | None:
    """One of the tickets of a file as it is read now; None if the file is no ticket, or not with that one."""
    try:
        return next((each for each in read_tickets(path, raw) if each.id == ticket), None)
    except TicketError:
        return None


def ticked_by(lined: Lined, ticket: Ticket, closing: Closing) -> Ticks:
    """The boxes that measurements tick, with what shows it: none while a part of the ticket is left."""
    if closing.status == PARTLY:
        return []
    empty = [check for check in ticket.checks if check.is_ticked is False and is_free(lined, check)]
    return [(check, why) for check in empty if (why := why_ticked(check, closing.measured))]


def is_free(lined: Lined, check: CheckItem) -> bool:
    """Whether a box waits for a tick: `[-]` has been dropped, and one with items below it asks for what they ask."""
    if check.box is None or check.where is None or lined.text[check.box.start : check.box.end].strip(f" {EMPTY_SIGN}"):
        return False
    first, last = check.where.first, check.where.last
    following = lined.line(last + 1) if last < len(lined.starts) else ""
    is_deeper = indentation(following) > indentation(lined.line(first))
    return not (is_deeper and ITEM.match(following))


def indentation(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip(" >"))


def edits_of(lined: Lined, ticket: Ticket, closing: Closing, ticks: Ticks) -> Iterator[Edit]:
    stated = status_field(ticket)
    is_kept = ticket.is_resolved and not is_settled(closing.status)
    own_box = own_box_of(lined, ticket) if is_settled(closing.status) else None
    if stated and not is_kept:
        yield from status_edits(lined, stated, closing.status)
    elif own_box:
        yield Edit(lined.source.path, own_box, "x")
    if (updated := date_field(ticket)) and updated.span:
        yield filled(lined, updated.span, closing.day.isoformat())
    for check, _ in ticks:
        assert check.box
        is_sign = lined.text[check.box.start : check.box.end] == EMPTY_SIGN
        yield Edit(lined.source.path, check.box, TICKED_SIGN if is_sign else "x")
    told = [(check.text, why) for check, why in ticks]
    is_untold = not is_told(lined, stated, closing) if stated else own_box is None
    lines = list(evidence_lines(closing, told, with_status=is_untold and not is_kept))
    yield put_evidence(lined, find_home(lined, ticket), lines)


def own_box_of(lined: Lined, ticket: Ticket) -> Span | None:
    """The empty box of an issue that is an item of a list: its tick is all the status there is."""
    choice = choice_at(lined, ticket.where.first) if ticket.where else None
    return choice[1] if choice and not choice[2] and not status_field(ticket) else None


def filled(lined: Lined, span: Span, value: str) -> Edit:
    """A value in place of another; in an empty place it stands apart from what is around it."""
    is_empty = span.start == span.end
    before, behind = lined.text[: span.start][-1:], lined.text[span.end :][:1]
    left = " " if is_empty and before not in (" ", "\t") else ""
    right = " " if is_empty and behind == "|" else ""
    return Edit(lined.source.path, span, f"{left}{value}{right}")


def date_field(ticket: Ticket) -> Field | None:
    return next((field for field in ticket.fields if field.name == "updated" and field.span), None)


def status_field(ticket: Ticket) -> Field | None:
    """The status that counts: the first with a value, else an empty one that can be filled."""
    stated = [field for field in ticket.fields if field.name == "status" and field.span]
    return next((field for field in stated if field.value), stated[0] if stated else None)


def status_edits(lined: Lined, field: Field, status: str) -> Iterator[Edit]:
    """The new value in place of the old one; in a check-list the tick goes to the choice that says so, if any."""
    assert field.span
    assert field.where
    choices = choices_around(lined, field.where.first)
    if not choices:
        yield filled(lined, field.span, status)
        return
    if settled := [span for text, span, _ in choices if is_settled(text) and is_settled(status)]:
        yield from (Edit(lined.source.path, span, " ") for _, span, is_on in choices if is_on)
        yield Edit(lined.source.path, settled[0], "x")


def is_told(lined: Lined, field: Field, closing: Closing) -> bool:
    return any(True for _ in status_edits(lined, field, closing.status))


def choices_around(lined: Lined, number: int) -> list[tuple[str, Span, bool]]:
    """The boxes of the list that a line stands in: text, the character that ticks it, whether it is ticked."""
    first = last = number
    while first > 1 and CHOICE.fullmatch(lined.line(first - 1)):
        first -= 1
    while last < len(lined.starts) and CHOICE.fullmatch(lined.line(last + 1)):
        last += 1
    return [choice for line in range(first, last + 1) if (choice := choice_at(lined, line))]


def choice_at(lined: Lined, number: int) -> tuple[str, Span, bool] | None:
    match = CHOICE.fullmatch(lined.line(number))
    if not match:
        return None
    start = lined.starts[number - 1]
    span = Span(start + match.start("mark"), start + match.end("mark"))
    return match["text"], span, match["mark"].casefold() == "x"


def check(before: list[Ticket], after: list[Ticket], closing: Closing, ticks: Ticks) -> None:
    """Raise if the file as it would be says something else than was meant, about this ticket or another."""
    if [ticket.id for ticket in before] != [ticket.id for ticket in after]:
        raise NotClosed("it would be read as other tickets then")
    for old, new in zip(before, after, strict=True):
        is_meant = old.id == closing.ticket
        wanted = {item.text for item, _ in ticks} if is_meant else frozenset()
        if outline(old) != outline(new) or boxes_of(old, wanted) != boxes_of(new) or lost_fields(old, new, closing):
            raise NotClosed("it would be read differently then")
        if not is_meant and (old.status, old.is_resolved) != (new.status, new.is_resolved):
            raise NotClosed(f"the status of {old.id} would change, too")
        is_silent = status_field(old) is None and new.status != closing.status
        is_untold = is_silent and not old.is_resolved and not new.is_resolved
        if is_meant and (is_untold or (is_settled(closing.status) and not new.is_resolved)):
            raise NotClosed("there is no place in it for the ticket's own status")


def lost_fields(old: Ticket, new: Ticket, closing: Closing) -> bool:
    """Whether a field does not say any more what it said, or what it was to say."""
    kept = Counter((field.name, field.label, field.value) for field in old.fields)
    if old.id == closing.ticket:
        told = [field for field in (status_field(old), date_field(old)) if field]
        kept -= Counter((field.name, field.label, field.value) for field in told)
        kept += Counter((field.name, field.label, closing.day.isoformat()) for field in told if field.name == "updated")
    return bool(kept - Counter((field.name, field.label, field.value) for field in new.fields))


def check_evidence(lined: Lined, closing: Closing) -> None:
    """Raise if the evidence would not be seen: inside a comment that is never closed, say."""
    _, skipped = read_front_matter(lined)
    shown = plain(run_line(closing))
    if not any(block.kind == "item" and shown in plain(block.text) for block in read_blocks(lined, skipped)):
        raise NotClosed("its evidence would not be seen in it")


def outline(ticket: Ticket) -> tuple[object, ...]:
    places = [(place.path, place.lines, place.symbols) for place in ticket.places]
    code = [(block.kind, block.text) for block in ticket.code]
    return ticket.title, ticket.severity, ticket.category, places, code, ticket.is_rejected, ticket.problem, ticket.fix


def boxes_of(ticket: Ticket, ticked: Set[str] = frozenset()) -> list[tuple[str, bool | None]]:
    """The check-list, with some of its empty boxes ticked."""
    return [
        (each.text, True if each.is_ticked is False and each.text in ticked else each.is_ticked)
        for each in ticket.checks
    ]

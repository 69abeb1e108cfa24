"""Issues as `gh issue view --json` and other trackers give them: a body in Markdown, and what stands around it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from fullgraph.codemods.source import Source
from fullgraph.codemods.tickets.limits import BODIES, MARKDOWN_LINES
from fullgraph.codemods.tickets.markdown.ticket import read_markdown
from fullgraph.codemods.tickets.model import NoTicketError, Review, Severity, Ticket, TicketError
from fullgraph.codemods.tickets.parts.severity import changed_level, level_of
from fullgraph.codemods.tickets.parts.status import is_settled
from fullgraph.codemods.tickets.parts.verdicts import verdict_in
from fullgraph.codemods.tickets.records.lookup import Record, pick, text, words
from fullgraph.codemods.tickets.text import clean, split_lines
from fullgraph.codemods.tickets.words import bare_title


def check_bodies(path: str, issues: list[Record]) -> None:
    """An error if the bodies together are longer than what is read of one file."""
    bodies = [issue["body"] or "" for issue in issues]
    if sum(map(len, bodies)) > BODIES or sum(body.count("\n") for body in bodies) > 2 * MARKDOWN_LINES:
        raise TicketError(
            path, f"bodies of more than {BODIES:,} characters or {2 * MARKDOWN_LINES:,} lines are not read"
        )


def read_tracker_issue(path: str, record: Record, default_id: str) -> list[Ticket]:
    """The tickets in the body of one issue. Nothing of them can be edited in the file: the body is a JSON string."""
    number = text(pick(record, "number"))
    name = f"#{number}" if number else text(pick(record, "id")) if is_key(record) else default_id
    return [complete(ticket, record, name, path) for ticket in read_body(path, record)]


def is_key(record: Record) -> bool:
    """Whether an id is for people: `ORR-12`, not a number or a hash of the tracker's own."""
    return "-" in text(pick(record, "id")) and len(text(pick(record, "id"))) < 24


def read_body(path: str, record: Record) -> list[Ticket]:
    body = clean(record["body"] or "")
    if not body.strip():
        return [Ticket(path, "", "")]
    try:
        tickets = read_markdown(split_lines(Source(path, b"", body, body)))
    except NoTicketError:
        return [Ticket(path, "", "", problem=body)]
    return [without_places(ticket) for ticket in tickets]


def complete(ticket: Ticket, record: Record, name: str, path: str) -> Ticket:
    """With what the issue says around its body: title, number, state, labels, and verdicts in comments."""
    labels = words(pick(record, "labels") or [])
    reviews = (*ticket.reviews, *comments_in(record))
    stem = PurePosixPath(path.replace("\\", "/")).stem
    own_id = name + ticket.id.removeprefix(stem) if ticket.id.startswith(stem) or not ticket.id else ticket.id
    state = text(pick(record, "state"))
    settled = ticket.why_resolved or (f"state: {state}" if is_settled(state) else "")
    return replace(
        ticket,
        source=path,
        id=own_id,
        title=ticket.title if len(ticket.heading) > 1 else bare_title(clean(record["title"])),
        severity=severity_of(ticket, (text(pick(record, "severity")), *labels), reviews),
        status=ticket.status or state,
        is_resolved=bool(settled),
        why_resolved=settled,
        category=ticket.category or tuple(label for label in labels if not level_of(label)),
        reviews=reviews,
    )


def severity_of(ticket: Ticket, labels: tuple[str, ...], reviews: tuple[Review, ...]) -> Severity:
    labelled = next((label for label in labels if level_of(label)), "")
    written = ticket.severity.written or labelled
    changed = next((review for review in reversed(reviews) if review.severity), None)
    if changed:
        return Severity(written, changed.severity, f"changed by {changed.reviewer or 'a review'}")
    return ticket.severity if ticket.severity.effective else Severity(written, level_of(written))


def comments_in(record: Record) -> list[Review]:
    """The comments that hold a verdict."""
    found: list[Review] = []
    comments = pick(record, "comments")
    for comment in comments[:200] if isinstance(comments, list) else []:
        said = text(pick(comment, "body"))
        verdict = verdict_in(said, is_review=False)
        level = changed_level(said)
        if verdict or level:
            word, is_rejecting = verdict or ("", False)
            found.append(Review(word, text(pick(comment, "author", "user")), is_rejecting, level, said))
    return found


def without_places(ticket: Ticket) -> Ticket:
    """The ticket without places in the file: its lines are those of a string inside it."""
    return replace(
        ticket,
        where=None,
        places=tuple(replace(place, where=None) for place in ticket.places),
        code=tuple(replace(block, where=None) for block in ticket.code),
        checks=tuple(replace(check, where=None, box=None) for check in ticket.checks),
        reviews=tuple(replace(review, where=None) for review in ticket.reviews),
        fields=tuple(replace(field, where=None, span=None) for field in ticket.fields),
    )

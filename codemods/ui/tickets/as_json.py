"""Tickets for programs: one JSON object, the same for the same input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fullgraph.codemods.rewrite.as_json import dump_edit, dump_finding
from fullgraph.codemods.tickets.model import Lines, Place, Review, Ticket
from fullgraph.codemods.tickets.places.model import Spot
from fullgraph.codemods.tickets.routes.model import Routed
from fullgraph.codemods.tickets.understanding import Understood
from fullgraph.codemods.ui.failure import first_of

VERSION = 1


def as_json(
    understood: Iterable[Understood], root: Path, exit_code: int, errors: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    return {
        "version": VERSION,
        "exit_code": exit_code,
        **first_of(errors),
        "root": str(root),
        "tickets": [ticket_as_json(each) for each in understood],
        "errors": [{"place": place, "reason": reason} for place, reason in errors],
    }


def ticket_as_json(understood: Understood) -> dict[str, Any]:
    return {
        **reading(understood.ticket),
        "places": [spot_as_json(spot) for spot in understood.located.spots],
        "tried": list(understood.located.tried),
        "route": route_as_json(understood.routed),
    }


def reading(ticket: Ticket) -> dict[str, Any]:
    level = ticket.severity
    return {
        "source": ticket.source,
        "id": ticket.id,
        "title": ticket.title,
        "heading": list(ticket.heading),
        "severity": {"written": level.written, "effective": level.effective, "why": level.why},
        "status": ticket.status,
        "resolved": ticket.why_resolved if ticket.is_resolved else "",
        "rejected": ticket.is_rejected,
        "category": list(ticket.category),
        "reviews": [review_as_json(review) for review in ticket.reviews],
        "written": [place_as_json(place) for place in ticket.places],
        "summary": ticket.summary,
        "fix": ticket.fix,
        "checks": [{"text": check.text, "ticked": check.is_ticked} for check in ticket.checks],
    }


def review_as_json(review: Review) -> dict[str, Any]:
    return {
        "verdict": review.verdict,
        "reviewer": review.reviewer,
        "rejects": review.is_rejecting,
        "severity": review.severity,
    }


def place_as_json(place: Place) -> dict[str, Any]:
    return {"path": place.path, "lines": pairs(place.lines), "symbols": list(place.symbols)}


def spot_as_json(spot: Spot) -> dict[str, Any]:
    return {
        "path": spot.path,
        "symbol": spot.symbol,
        "lines": pairs(spot.lines),
        "score": spot.score,
        "how": spot.how,
        "quoted": spot.is_quoted,
    }


def pairs(lines: Iterable[Lines]) -> list[list[int]]:
    return [[each.first, each.last] for each in lines]


def route_as_json(routed: Routed) -> dict[str, Any]:
    return {
        "codemod": routed.codemod,
        "options": dict(routed.options),
        "symbols": list(routed.symbols),
        "confidence": routed.confidence,
        "why": routed.why,
        "nearest": routed.nearest,
        "notes": list(routed.notes),
        "commands": list(routed.commands),
        "comparison": routed.comparison,
        "literal": {"edits": [dump_edit(edit) for edit in routed.literal.edits], "why_not": routed.literal.why_not},
        "findings": [dump_finding(finding) for finding in routed.findings],
    }

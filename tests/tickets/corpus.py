"""The tickets under fixtures/tickets, each with what must be understood of it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullgraph.codemods.tickets import Ticket, read_tickets
from fullgraph.codemods.tickets.model import Lines

CORPUS = Path(__file__).parent.parent.parent / "fixtures" / "tickets"
PROJECT = CORPUS / "project"


@dataclass(frozen=True)
class Sample:
    """A folder with `ticket.*` (perhaps in a folder that says something) and `expected.toml`.

    Every `[[ticket]]` there has the expected reading, the `place` in the project and the `route`: the codemod, or
    nothing if none fits or the ticket is not to be worked on. `why` says what is special.
    """

    folder: Path

    @property
    def file(self) -> Path:
        return next(self.folder.rglob("ticket.*"))

    @property
    def path(self) -> str:
        return self.file.relative_to(CORPUS).as_posix()

    @property
    def expected(self) -> list[dict[str, Any]]:
        tickets: list[dict[str, Any]] = tomllib.loads((self.folder / "expected.toml").read_text())["ticket"]
        return tickets

    def read(self) -> list[Ticket]:
        return read_tickets(self.path, self.file.read_bytes())


def samples() -> list[Sample]:
    return [Sample(file.parent) for file in sorted(CORPUS.glob("*/expected.toml"))]


def ranges(lines: tuple[Lines, ...]) -> str:
    return ", ".join(f"{each.first}-{each.last}" if each.first != each.last else str(each.first) for each in lines)


def reading(ticket: Ticket) -> dict[str, Any]:
    """What was understood, in the words of `expected.toml`; what is empty is left out."""
    status, updated = ticket.field("status"), ticket.field("updated")
    read = {
        "id": ticket.id,
        "title": ticket.title,
        "severity": [ticket.severity.written, ticket.severity.effective],
        "status": ticket.status,
        "problem": ticket.problem.partition("\n")[0],
    }
    more = {
        "resolved": ticket.why_resolved,
        "rejected": ticket.is_rejected,
        "category": list(ticket.category),
        "heading": list(ticket.heading),
        "summary": ticket.summary,
        "fix": ticket.fix.partition("\n")[0],
        "places": [{"path": p.path, "lines": ranges(p.lines), "symbols": list(p.symbols)} for p in ticket.places],
        "code": [code_reading(ticket, number) for number in range(len(ticket.code))],
        "checks": [
            {
                "line": c.where.first if c.where else 0,
                "box": {None: "", True: "x", False: " "}[c.is_ticked],
                "text": c.text,
            }
            for c in ticket.checks
        ],
        "reviews": [
            {"verdict": r.verdict, "reviewer": r.reviewer, "rejects": r.is_rejecting, "severity": r.severity}
            for r in ticket.reviews
        ],
        "status_line": status.where.first if status and status.where else 0,
        "updated_line": updated.where.first if updated and updated.where else 0,
    }
    return read | {name: value for name, value in more.items() if value}


def code_reading(ticket: Ticket, number: int) -> dict[str, Any]:
    block = ticket.code[number]
    return {
        "kind": block.kind,
        "first": block.where.first if block.where else 0,
        "last": block.where.last if block.where else 0,
        "parses": block.snippet is not None,
        "holes": [hole.kind for hole in block.snippet.holes] if block.snippet else [],
        "lines": ranges(block.lines),
    }

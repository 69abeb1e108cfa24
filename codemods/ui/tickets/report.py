"""The report of `ticket fix` as Markdown: a row for each ticket, the worst first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fullgraph.codemods.tickets.fixing.model import Filed, Handled
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.tickets.as_text import severity
from fullgraph.codemods.ui.tickets.fix_text import codemod_of, done_text, place_of, ruling_of, summary

if TYPE_CHECKING:
    from fullgraph.codemods.ui.tickets.fix import Outcomes

HEADER = ("Ticket", "Severity", "Place", "Codemod", "Ruling", "Done", "Run")
SPECIAL = str.maketrans({"|": "\\|", "<": "&lt;", "`": "'", "[": "\\[", "*": "\\*"})
EMPHASIS = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def as_markdown(outcomes: Outcomes) -> str:
    lines = ["# Tickets", "", summary(outcomes.handled, len(outcomes.not_reached), outcomes.is_dry), ""]
    lines += [line(HEADER), line(["---"] * len(HEADER))]
    lines += [line(cells_of(each, outcomes.is_dry)) for each in outcomes.handled]
    lines += [line(unreached(each)) for each in outcomes.not_reached]
    return "\n".join([*lines, *problems(outcomes), ""])


def line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def cells_of(handled: Handled, is_dry: bool) -> list[str]:
    ticket = handled.understood.ticket
    left = f"left: {'; '.join(handled.left)}" if handled.left else ""
    commands = [f"run: {command}" for command in handled.understood.routed.commands]
    done = "; ".join(filter(None, [done_text(handled, is_dry), left, *handled.notes, *commands]))
    run = f"{handled.run.number}: `fullgraph undo {handled.run.number}`" if handled.run else ""
    texts = (
        f"{ticket.id} ({ticket.source})",
        severity(ticket),
        place_of(handled.understood),
        "" if handled.outcome == "skipped" else codemod_of(handled),
        ruling_of(handled),
        done,
    )
    return [*map(cell, texts), run]


def unreached(filed: Filed) -> list[str]:
    ticket = filed.ticket
    return [cell(f"{ticket.id} ({ticket.source})"), cell(severity(ticket)), "", "", "", "not reached: stopped", ""]


def problems(outcomes: Outcomes) -> Iterator[str]:
    """The files that are no tickets, and why."""
    if outcomes.desk.errors:
        yield ""
        yield "Not read:"
        yield ""
        yield from (f"- {cell(place)}: {cell(reason)}" for place, reason in outcomes.desk.errors)


def cell(text: str) -> str:
    """Words in one line that mean nothing to Markdown or HTML."""
    return EMPHASIS.sub(r"\_", plain(" ".join(text.split())).replace("\\", "\\\\").translate(SPECIAL))

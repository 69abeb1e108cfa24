"""What is not done although a ticket asks for it, and why: sentences that hold whatever the code looks like."""

from __future__ import annotations

import re

from fullgraph.codemods.tickets.model import Ticket
from fullgraph.codemods.tickets.routes.options import remedy_of

REFUSALS: dict[str, tuple[tuple[str, str], ...]] = {
    "scope_autocast": (
        (
            r"\bbackward\b",
            "backward does not belong under autocast: torch's documentation advises against it, because backward ops "
            "run in the dtype that autocast chose for their forward ops",
        ),
    ),
    "skip_redundant_wait_stream": (
        (
            r"wait_stream|\bwaits?\b|synchroni[sz]|\bsync\b",
            "no text shows that an inner wait_stream can be skipped: it orders what was copied in this iteration "
            "before what reads it, and only a run on a GPU that performs the wait can show that nothing needs it",
        ),
    ),
}
"""For each codemod: where the remedy speaks of something, why that is not written."""

WRITING = re.compile(r"\b(?:docs?|documentation|docstrings?|(?:unit |regression )?tests?)\b", re.IGNORECASE)
UNWRITTEN = "no codemod writes documentation, or other tests than those that come with its own rewrite"


def is_about_writing(ticket: Ticket) -> bool:
    """Whether a step of a plan is about documentation or tests."""
    return bool(ticket.context) and WRITING.search(ticket.title) is not None


def refusal_of(codemod: str, ticket: Ticket) -> str:
    """The sentence about what a ticket asks of a codemod, or nothing."""
    said = " ".join([ticket.title, remedy_of(ticket), *(block.text for block in ticket.code_of("fix"))])
    return next((why for words, why in REFUSALS.get(codemod, ()) if re.search(words, said, re.IGNORECASE)), "")

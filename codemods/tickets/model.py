"""What is understood of a ticket: frozen values, each with the place in the ticket's file where it was read.

Spans count characters of the text that `tickets.text.open_ticket` makes of the file, as everywhere; lines count
from 1. A value that was read inside a JSON string has no such place.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from fullgraph.codemods.model import FullgraphError, Span
from fullgraph.codemods.tickets.parts.verdicts import supports

CodeKind = Literal["evidence", "fix", "test", "other"]
HoleKind = Literal["statements", "expression", "arguments", "parameters", "name"]
UNKNOWN = 99


class TicketError(FullgraphError):
    """A file that cannot be read as a ticket. `path` is part of the message."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[type[TicketError], tuple[str, str]]:
        return type(self), (self.path, self.reason)


class NoTicketError(TicketError):
    """A readable file that says nothing a ticket would say: a README, an index, settings."""


@dataclass(frozen=True, slots=True, order=True)
class Where:
    """Lines `first` to `last` of the ticket's file, and their characters (or those meant) without the last break."""

    span: Span
    first: int
    last: int


@dataclass(frozen=True, slots=True, order=True)
class Lines:
    """Lines of the code that a ticket is about, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Field:
    """One labelled value. `name` is what the label means; `span` holds exactly the value, without quotes around it.

    An empty span is where a value could be written; none at all means that the value is not there literally.
    """

    name: str
    label: str
    value: str
    raw: str = ""
    where: Where | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Severity:
    """`written` as it stands; `effective` is P0 to P5 after the reviews, or nothing if no level is known."""

    written: str = ""
    effective: str = ""
    why: str = ""

    @property
    def rank(self) -> int:
        """0 is worst; what is unknown comes last."""
        return int(self.effective[1:]) if self.effective else UNKNOWN


@dataclass(frozen=True, slots=True)
class Place:
    """A file as the ticket writes it (it may be from another machine, or not exist), with lines and symbols in it.

    Without a path only lines or symbols are known. Lines that a ticket does not attribute are given to all its files.
    """

    path: str = ""
    lines: tuple[Lines, ...] = ()
    symbols: tuple[str, ...] = ()
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Hole:
    """Characters of a snippet's text that stand for code that was left out."""

    span: Span
    kind: HoleKind


@dataclass(frozen=True, slots=True)
class Snippet:
    """Code that `ast` can parse: what was left out is written in words of Python's, and listed.

    The lines are those of the code block, after `added` lines that only make it parse.
    """

    text: str
    holes: tuple[Hole, ...] = ()
    added: int = 0

    def tree(self) -> ast.Module:
        return ast.parse(self.text)


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """`lines` and `path` are what the block itself says about its origin; `label` is the text just above it."""

    kind: CodeKind
    language: str
    text: str
    snippet: Snippet | None = None
    label: str = ""
    path: str = ""
    lines: tuple[Lines, ...] = ()
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class CheckItem:
    """One thing to verify. `is_ticked` is None where there is no box; `box` is the character between the brackets."""

    text: str
    is_ticked: bool | None = None
    where: Where | None = None
    box: Span | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """What one reviewer said. `severity` is the level that the review asks for without conditions, if any."""

    verdict: str
    reviewer: str = ""
    is_rejecting: bool = False
    severity: str = ""
    text: str = ""
    where: Where | None = None

    @property
    def is_supporting(self) -> bool:
        return not self.is_rejecting and supports(self.verdict)

    @property
    def told(self) -> str:
        """`Kim: REJECT`."""
        return f"{self.reviewer or 'a reviewer'}: {self.verdict}"


@dataclass(frozen=True, slots=True)
class Ticket:
    """One finding that somebody wrote down. `heading` leads to it in a document of many.

    `context` is what a plan says before the step that this is: names in it may be those that the step is about.
    `steps` are the numbered items of its fix.
    """

    source: str
    id: str
    title: str
    severity: Severity = Severity()
    status: str = ""
    is_resolved: bool = False
    why_resolved: str = ""
    category: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    mentions: tuple[str, ...] = ()
    summary: str = ""
    problem: str = ""
    fix: str = ""
    code: tuple[CodeBlock, ...] = ()
    checks: tuple[CheckItem, ...] = ()
    reviews: tuple[Review, ...] = ()
    fields: tuple[Field, ...] = ()
    heading: tuple[str, ...] = ()
    where: Where | None = None
    context: str = ""
    steps: tuple[str, ...] = ()

    @property
    def is_rejected(self) -> bool:
        """Whether as many reviewers reject it as endorse it, or a rejection without a name closes a vote of names."""
        endorsing = [review for review in self.reviews if review.is_supporting]
        is_closed = any(not review.reviewer for review in self.objections) and all(one.reviewer for one in endorsing)
        return bool(self.objections) and (is_closed or len(self.objections) >= len(endorsing))

    @property
    def objections(self) -> tuple[Review, ...]:
        return tuple(review for review in self.reviews if review.is_rejecting)

    def code_of(self, kind: CodeKind) -> tuple[CodeBlock, ...]:
        return tuple(block for block in self.code if block.kind == kind)

    def field(self, name: str) -> Field | None:
        """The first field of that meaning: `status` and `updated` are there to be rewritten."""
        return next((field for field in self.fields if field.name == name), None)

"""Tickets on their way to a fix: frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fullgraph.codemods.model import Finding
from fullgraph.codemods.rewrite.entry import Run
from fullgraph.codemods.tickets.model import Ticket
from fullgraph.codemods.tickets.understanding import Understood
from fullgraph.validate.model import Verdict

Outcome = Literal["fixed", "partly", "closed", "answered", "left", "skipped"]
"""`fixed`: all its findings were applied. `closed`: nothing had to be. `skipped`: it was settled before.

`answered`: a command does what it asks for, which the user has yet to run.
"""


@dataclass(frozen=True)
class Filed:
    """A ticket, and the path of its file below the project's root; or why that file is not edited."""

    ticket: Ticket
    path: str = ""
    why_not: str = ""


@dataclass(frozen=True)
class Wish:
    """What is asked for beyond the defaults. `tests` is the folder for tests, if any are to be written."""

    literal: bool = False
    close_neutral: bool = False
    even_settled: bool = False
    is_dry: bool = False
    tests: str = ""
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class Handled:
    """What became of one ticket. `status` is what its file says now, if that was changed; `error`: not by choice.

    `left` says in a line each what is still to do; `before` and `after` are the files that were changed for it.
    `is_literal`: it is about the ticket's own fix, not the codemod's.
    """

    understood: Understood
    outcome: Outcome
    reason: str = ""
    applied: tuple[Finding, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    run: Run | None = None
    status: str = ""
    left: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""
    is_literal: bool = False
    before: Mapping[str, bytes | None] = field(default_factory=dict)
    after: Mapping[str, bytes | None] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        return self.outcome in ("left", "partly", "answered")

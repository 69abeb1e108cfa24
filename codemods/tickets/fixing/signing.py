"""A ticket's file as part of the change that was written for it: one run, so that undo reopens the ticket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fullgraph.codemods.model import Change, Finding, Span
from fullgraph.codemods.rewrite.inside import why_not_writable
from fullgraph.codemods.tickets.close import NotClosed, close_ticket, state_in
from fullgraph.codemods.tickets.closing.model import Closing
from fullgraph.codemods.tickets.fixing.model import Filed

CLOSE = "close_ticket"
"""What stands in the journal for a codemod where a ticket's file is changed."""


@dataclass
class Signature:
    """Adds the closed ticket to a change, once its run has a number.

    `drafts` are files of tickets as a dry run would have left them by now. `status` is what the ticket's file says
    then, if that is something new; `notes` say why it is not edited.
    """

    root: Path
    filed: Filed
    closing: Closing
    drafts: Mapping[str, bytes] = field(default_factory=dict)
    status: str = ""
    notes: tuple[str, ...] = ()

    def sign(self, change: Change, run: int) -> Change:
        """The change with the ticket's file in it, or as it was, if that file is not to be edited."""
        path = self.filed.path
        try:
            before, after = self.texts(run, change.after.get(path))
        except NotClosed as why:
            self.notes = (f"the ticket's file is not edited: {why}",)
            return change
        now = state_in(path, after, self.closing.ticket)
        self.status = now.status if now and now.status != self.filed.ticket.status else ""
        return replace(
            change,
            before={path: before, **change.before},
            after={**change.after, path: after},
            applied=(*change.applied, self._finding()),
        )

    def texts(self, run: int, current: bytes | None = None) -> tuple[bytes, bytes]:
        """The ticket's file as it is and as it is to be, or NotClosed. `current` is what the run makes of it so far."""
        if self.filed.why_not:
            raise NotClosed(self.filed.why_not)
        before = current or self.drafts.get(self.filed.path) or self._read()
        self._check_unsettled(before)
        return before, close_ticket(self.filed.path, before, replace(self.closing, run=run))

    def _read(self) -> bytes:
        file = self.root / self.filed.path
        if file.is_symlink():
            raise NotClosed("it is a link")
        if reason := why_not_writable(self.root, self.filed.path):
            raise NotClosed(f"it is {reason}")
        try:
            return file.read_bytes()
        except OSError as error:
            raise NotClosed(str(error.strerror)) from error

    def _check_unsettled(self, raw: bytes) -> None:
        """Raise if somebody else has settled the ticket since it was read."""
        was = self.filed.ticket
        now = state_in(self.filed.path, raw, was.id)
        if now and now.is_resolved and not was.is_resolved:
            raise NotClosed(f"somebody has settled it meanwhile ({now.why_resolved})")

    def _finding(self) -> Finding:
        """Undone with any finding of its run: what is not in its edits, a file gets back."""
        stated = self.filed.ticket.field("status")
        line = stated.where.first if stated and stated.where else 1
        about = self.closing
        key = f"close:{self.filed.path}:{about.ticket}"
        return Finding(
            CLOSE, self.filed.path, Span(0, 0), about.ticket, about.status, line=line, key=key, ticket=about.ticket
        )


def sign_all(signatures: Sequence[Signature], change: Change, run: int) -> Change:
    """The change with the files of several tickets in it, which may be one file."""
    for signature in signatures:
        change = signature.sign(change, run)
    return change


def why_not_closed(signature: Signature) -> str:
    """Why a ticket's file is not edited, or nothing."""
    try:
        signature.texts(0)
    except NotClosed as why:
        return f"the ticket's file is not edited: {why}"
    return ""

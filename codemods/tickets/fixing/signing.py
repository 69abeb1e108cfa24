"""A ticket's file as part of the change that was written for it: one run, so that undo reopens the ticket."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from codemods.model import Change, Finding, Span
from codemods.rewrite.atomic import is_writable
from codemods.tickets.close import NotClosed, close_ticket, status_in
from codemods.tickets.closing.model import Closing
from codemods.tickets.fixing.model import Filed

CLOSE = "close_ticket"
"""What stands in the journal for a codemod where a ticket's file is changed."""


@dataclass
class Signature:
    """Adds the closed ticket to a change, once its run has a number.

    `status` is what the ticket's file says then, if that is something new; `notes` say why it is not edited.
    """

    root: Path
    filed: Filed
    closing: Closing
    status: str = ""
    notes: tuple[str, ...] = ()

    def sign(self, change: Change, run: int) -> Change:
        """The change with the ticket's file in it, or as it was, if that file is not to be edited."""
        path = self.filed.path
        try:
            before, after = self.texts(run)
        except NotClosed as why:
            self.notes = (f"the ticket's file is not edited: {why}",)
            return change
        now = status_in(path, after, self.closing.ticket)
        self.status = now if now != self.filed.ticket.status else ""
        return replace(
            change,
            before={**change.before, path: before},
            after={**change.after, path: after},
            applied=(*change.applied, self._finding()),
        )

    def texts(self, run: int) -> tuple[bytes, bytes]:
        """The ticket's file as it is and as it is to be, or NotClosed."""
        if self.filed.why_not:
            raise NotClosed(self.filed.why_not)
        file = self.root / self.filed.path
        if file.is_symlink():
            raise NotClosed("it is a link")
        if not is_writable(file):
            raise NotClosed("it is not writable")
        try:
            before = file.read_bytes()
        except OSError as error:
            raise NotClosed(str(error.strerror)) from error
        return before, close_ticket(self.filed.path, before, replace(self.closing, run=run))

    def _finding(self) -> Finding:
        """Undone with any finding of its run: what is not in its edits, a file gets back."""
        field = self.filed.ticket.field("status")
        line = field.where.first if field and field.where else 1
        about = self.closing
        key = f"close:{self.filed.path}:{about.ticket}"
        return Finding(
            CLOSE, self.filed.path, Span(0, 0), about.ticket, about.status, line=line, key=key, ticket=about.ticket
        )


def why_not_closed(signature: Signature) -> str:
    """Why a ticket's file is not edited, or nothing."""
    try:
        signature.texts(0)
    except NotClosed as why:
        return f"the ticket's file is not edited: {why}"
    return ""

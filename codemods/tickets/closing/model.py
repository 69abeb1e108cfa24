"""What is known when a ticket is closed: frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from fullgraph.validate.model import Measurement, Verdict

RESOLVED, PARTLY, UNVERIFIED = "resolved", "partially fixed", "fix written, not verified"
"""What the status becomes: only the first of these settles a ticket."""


@dataclass(frozen=True)
class Measured:
    """What proofs have shown of a ticket's change; without verdicts nothing has been.

    `has_warned`: a warning that the change adds on purpose was given. `has_other_changes`: something else that it
    changes on purpose was seen. `tests` are the files of tests that were written with it.
    """

    verdicts: tuple[Verdict, ...] = ()
    is_written: bool = True
    has_warned: bool = False
    has_other_changes: bool = False
    tests: tuple[str, ...] = ()

    @property
    def sides(self) -> list[Measurement]:
        """The measurements of the code that stands: after the change, or before it if nothing was written."""
        return [verdict.after if self.is_written else verdict.before for verdict in self.verdicts]

    @property
    def torch(self) -> str:
        return next((str(v.environment["torch"]) for v in self.verdicts if v.environment.get("torch")), "")


@dataclass(frozen=True)
class Closing:
    """One ticket's new status, and what it rests on. `what` says in a line what was done, `left` what was not.

    `run` is the journal's; in a patch there is none, and it is 0.
    """

    ticket: str
    status: str
    what: str
    measured: Measured
    day: date
    run: int
    left: tuple[str, ...] = ()

"""The review on the full screen, as `fix --tui` asks for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from fullgraph.codemods.model import Finding, FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.ui.review.desk import Desk
from fullgraph.codemods.ui.review.frame import is_dumb
from fullgraph.codemods.ui.review.keys import Keys

MISSING = "--tui needs textual: pip install 'fullgraph[tui]'"


@dataclass
class FullScreen:
    """A reviewer as the one that asks line by line: what it chooses is planned, proven and written like that."""

    desk: Desk
    keys: Keys
    color: bool

    def __post_init__(self) -> None:
        if is_dumb():
            raise FullgraphError("--tui needs a terminal that can move its cursor; without --tui it is not needed")
        if not self.color:
            os.environ["NO_COLOR"] = "1"  # as textual is told
        try:
            import textual  # noqa: F401
        except ImportError:
            raise FullgraphError(MISSING) from None

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        """Whoever leaves with findings undecided is not asked about other projects."""
        self.desk.lay_out(findings, project)
        if self.desk.ledger.queue and not self.keys.has_left:
            from fullgraph.codemods.ui.review.app import ReviewApp

            app = ReviewApp(self.desk, self.color)
            if not app.run():
                raise KeyboardInterrupt
            self.keys.has_left = self.desk.next() is not None
        return self.desk.chosen()

    def why_left(self, finding: Finding) -> str:
        return self.desk.ledger.why_left(finding)

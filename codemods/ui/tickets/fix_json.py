"""What became of tickets, for programs: one JSON object, the same for the same outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullgraph.codemods.rewrite.as_json import dump_finding
from fullgraph.codemods.tickets.fixing.model import Filed, Handled
from fullgraph.codemods.ui.failure import first_of
from fullgraph.codemods.ui.tickets.as_json import reading, ticket_as_json
from fullgraph.codemods.ui.verdict.as_json import verdict_as_json
from fullgraph.validate.judge import combined

if TYPE_CHECKING:
    from fullgraph.codemods.ui.tickets.fix import Outcomes

VERSION = 1


def as_json(outcomes: Outcomes) -> dict[str, Any]:
    desk = outcomes.desk
    return {
        "version": VERSION,
        "exit_code": outcomes.exit_code,
        **first_of(desk.errors),
        "root": str(desk.root),
        "dry": outcomes.is_dry,
        "stopped": outcomes.is_stopped,
        "tickets": [handled_as_json(each) for each in outcomes.handled] + list(map(unreached, outcomes.not_reached)),
        "errors": [{"place": place, "reason": reason} for place, reason in desk.errors],
        "notices": list(desk.notices),
        "patch": outcomes.patch.decode(errors="replace") if outcomes.is_dry else "",
    }


def handled_as_json(handled: Handled) -> dict[str, Any]:
    """A ticket as `ticket show` gives it, with what was done about it under `done`."""
    run = handled.run
    return {
        **ticket_as_json(handled.understood),
        "done": {
            "outcome": handled.outcome,
            "reason": handled.reason,
            "new_status": handled.status,
            "applied": [dump_finding(finding) for finding in handled.applied],
            "left": list(handled.left),
            "notes": list(handled.notes),
            "error": handled.error,
            "files": sorted(run.paths if run else handled.after),
            "run": run.number if run else None,
            "undo": f"fullgraph undo {run.number}" if run else "",
            "ruling": combined(handled.verdicts).value if handled.verdicts else "",
            "proofs": [verdict_as_json(verdict) for verdict in handled.verdicts],
        },
    }


def unreached(filed: Filed) -> dict[str, Any]:
    return {**reading(filed.ticket), "done": {"outcome": "not reached"}}

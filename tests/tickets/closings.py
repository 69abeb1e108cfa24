"""Verdicts and closings, as the tests need them."""

from __future__ import annotations

from datetime import date

from fullgraph.codemods.tickets.closing.model import RESOLVED, Closing, Measured
from fullgraph.validate.model import Break, Graph, Measurement, Reason, Ruling, Scenario, Settings, Sync, Verdict

DAY = date(2026, 3, 4)
GRAPH = Graph("step", "a.py", 3, 12)
RECOMPILED = Graph("step", "a.py", 3, 12, recompile="a guard failed")
BREAK = Break("a.py", 5, "step", "GB0007", "a warning")
READ = Sync("a.py", 6, "item", 3)
ENVIRONMENT = {"torch": "2.13.0", "python": "3.12.1", "device": "cpu"}


def side(name: str = "after", **measured: object) -> Measurement:
    """A side of which all that could be counted is none, and that compiles whole."""
    known: dict[str, object] = {"graphs": (GRAPH,), "breaks": (), "fullgraph": True, "syncs": ()}
    return Measurement(name, cases=("a", "b"), **{**known, **measured})  # type: ignore[arg-type]


def verdict(ruling: Ruling = Ruling.PROVEN, *notices: str, equivalence: str = "same", **after: object) -> Verdict:
    reasons = (
        Reason("equivalence", "equivalent on 2 cases", equivalence),
        Reason("breaks", "graph breaks 2 > 0", "better" if ruling is Ruling.PROVEN else "same"),
    )
    sides = side("before", breaks=(BREAK,)), side("after", **after)
    scenario = Scenario("file", "scenarios/step.py", "scenarios/step.py")
    return Verdict(ruling, reasons, *sides, scenario, Settings(), notices=notices, environment=ENVIRONMENT)


def closing(ticket: str, status: str = RESOLVED, measured: Measured | None = None, run: int = 3) -> Closing:
    what = "1 finding of hoist_autocast in src/a.py"
    return Closing(ticket, status, what, Measured() if measured is None else measured, DAY, run)

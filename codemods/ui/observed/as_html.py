"""An observed run as one page that opens anywhere, offline: totals, the hottest lines, the timeline, every entry."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullgraph.codemods.ui.observed.as_text import (
    HEADS,
    command_text,
    compiled_text,
    headline,
    place_of,
    recompiles_of,
    row_of,
    seconds,
)
from fullgraph.codemods.ui.observed.heat import HOTTEST, find_heat
from fullgraph.codemods.ui.observed.join import BREAK_S, READ_S
from fullgraph.codemods.ui.observed.timeline import timeline_of
from fullgraph.codemods.ui.pages.render import render
from fullgraph.codemods.ui.report.model import Line
from fullgraph.validate.model import count_breaks

LINKS = [
    ("heat", "Hottest lines"),
    ("timeline", "Timeline"),
    ("entries", "Entries"),
    ("lines", "All lines"),
    ("environment", "Environment"),
]
BAD = {"breaks", "recompiles", "re-entries"}
"""Numbers of which any is too many."""

One = Mapping[str, Any]


@dataclass(frozen=True)
class Number:
    name: str
    text: str
    is_bad: bool = False


@dataclass(frozen=True)
class ShownEntry:
    """`told`: the entry as the report has it."""

    place: str
    told: One
    at: str
    compiled: str
    cells: list[Number]
    breaks: Sequence[One]
    break_count: int
    inputs: list[tuple[str, int]]


def observed_html(report: One, lines: Sequence[Line] | None = None) -> str:
    """The whole page. `lines`: what the codemods find in the files that ran; None if they were not asked."""
    heat = find_heat(report, lines)
    return render(
        "observed.html",
        subject="an observed run",
        title=command_text(report),
        links=LINKS,
        headline=headline(report),
        report=report,
        totals=list(totals(report)),
        heat=heat,
        hottest=HOTTEST,
        most_reads=max((hot.read_count for hot in heat), default=0),
        costs=[f"{1e6 * cost:.0f} µs" for cost in (READ_S, BREAK_S)],
        timeline=timeline_of(report),
        heads=HEADS,
        entries=[show_entry(entry, number) for number, entry in enumerate(report["entries"], 1)],
        place_of=place_of,
        environment=facts(report),
    )


def totals(report: One) -> Iterator[Number]:
    entries = report["entries"]
    yield Number("compiled entries", str(len(entries)))
    yield Number("calls", str(sum(one["calls"] for one in entries)))
    yield Number("graphs", str(sum(one["graphs"] for one in entries)))
    yield counted("breaks", sum(count_breaks(one["breaks"]) for one in entries))
    yield counted("recompiles", sum(map(recompiles_of, entries)))
    yield Number("host reads", str(sum(one["count"] for one in report["reads"])))
    yield Number("compiling", seconds(sum(one["compile_seconds"] for one in entries)))
    yield Number("in all", seconds(report["seconds"]))


def counted(name: str, number: int) -> Number:
    return Number(name, str(number), name in BAD and number > 0)


def show_entry(entry: One, number: int) -> ShownEntry:
    _, *texts = row_of(entry)
    cells = [Number(head, text, head in BAD and text != "0") for head, text in zip(HEADS[1:], texts, strict=True)]
    breaks = [{**one, "place": place_of(one), "labels": labels_of(one)} for one in entry["breaks"]]
    inputs = [(one["inputs"] or "nothing", one["count"]) for one in entry["inputs"]]
    inputs += [("others", entry["other_inputs"])] if entry["other_inputs"] else []
    broken = count_breaks(entry["breaks"])
    return ShownEntry(f"e{number}", entry, place_of(entry), compiled_text(entry), cells, breaks, broken, inputs)


def labels_of(one: One) -> list[str]:
    kind = {"break": "", "skipped": "not compiled at all"}.get(one["kind"], one["kind"])
    several = f"in {one['frames']} functions" if one.get("frames", 1) > 1 else ""
    return [one["id"], kind, several, f"{one['count']} times" if one["count"] > 1 else ""]


def facts(report: One) -> dict[str, str]:
    return {
        "command": shlex.join(report["command"]),
        "time": report["time"],
        "device": report["device"],
        "torch": report["torch"],
        "python": report["python"],
        "processes": str(len(report["processes"])),
        "exit code": str(report["exit_code"]),
    }

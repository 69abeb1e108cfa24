"""The run in time, as lanes above one axis. Places are in percent of the run, heights in percent of the highest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fullgraph.codemods.ui.observed.as_text import seconds as seconds_text
from fullgraph.codemods.ui.report.as_text import count
from fullgraph.codemods.ui.verdict.page.plots import Ticks, nice_ticks

NARROWEST = 0.4
LONGEST = 12
KINDS = {"compile": "compiled", "recompile": "compiled again", "backward": "backward compiled", "": "not compiled"}

One = Mapping[str, Any]


@dataclass(frozen=True)
class Bar:
    start: float
    width: float
    height: float
    title: str = ""


@dataclass(frozen=True)
class Lane:
    """`told`: what it shows, in words, for those who do not see it."""

    label: str
    value: str
    kind: str
    bars: list[Bar]

    @property
    def told(self) -> str:
        return f"{self.label}: {self.value}"


@dataclass(frozen=True)
class Compiled:
    """One compilation, in words."""

    at: str
    entry: str
    kind: str
    seconds: str
    breaks: int


@dataclass(frozen=True)
class Timeline:
    lanes: list[Lane]
    ticks: Ticks
    longest: list[Compiled]
    all: int


def timeline_of(report: One) -> Timeline | None:
    """None for a report without moments: of a scenario, or of an older fullgraph."""
    told = report.get("timeline")
    if not told:
        return None
    whole = report["seconds"]
    compiles = told["compiles"]
    again = [one for one in compiles if one["kind"] == "recompile"]
    first = [one for one in compiles if one["kind"] != "recompile"]
    broken = [one for one in compiles if one["breaks"]]
    lanes = [
        Lane("compiling", spent(first), "compile", spans(first, whole)),
        Lane("recompiling", spent(again), "recompile", spans(again, whole)),
        Lane(
            "breaks", count(sum(one["breaks"] for one in broken), "time"), "break", [mark(one, whole) for one in broken]
        ),
        Lane("host reads", str(sum(told["reads"])), "read", parts(told["reads"], whole)),
    ]
    ticks = [(f"{100 * tick / whole:.2f}", f"{tick:g}") for tick in nice_ticks(0, whole)]
    longest = sorted(compiles, key=lambda one: -one["seconds"])[:LONGEST]
    return Timeline(lanes, with_unit(ticks), [in_words(one) for one in longest], len(compiles))


def spent(compiles: Sequence[One]) -> str:
    return f"{count(len(compiles), 'time')}, {seconds_text(sum(one['seconds'] for one in compiles))}"


def spans(compiles: Iterable[One], whole: float) -> list[Bar]:
    return [span(one, whole) for one in compiles]


def span(one: One, whole: float) -> Bar:
    """Wide enough to be seen, and never beyond the edge."""
    width = min(max(100 * one["seconds"] / whole, NARROWEST), 100)
    start = min(max(100 * one["at"] / whole, 0), 100 - width)
    said = in_words(one)
    broke = f", {count(one['breaks'], 'break')}" if one["breaks"] else ""
    return Bar(round(start, 2), round(width, 2), 100, f"{said.entry}: {said.kind} at {said.at}, {said.seconds}{broke}")


def mark(one: One, whole: float) -> Bar:
    """A break is known when the compilation that it ended is over."""
    return replace(span({**one, "at": one["at"] + one["seconds"], "seconds": 0.0}, whole), title=span(one, whole).title)


def parts(reads: Sequence[int], whole: float) -> list[Bar]:
    most, width = max(reads, default=0), 100 / max(len(reads), 1)
    return [
        Bar(
            round(number * width, 2), round(width, 2), round(100 * one / most, 1), read_title(number, one, reads, whole)
        )
        for number, one in enumerate(reads)
        if one
    ]


def read_title(number: int, one: int, reads: Sequence[int], whole: float) -> str:
    first, last = (whole * edge / len(reads) for edge in (number, number + 1))
    return f"{count(one, 'host read')} from {first:.2f} s to {last:.2f} s"


def with_unit(ticks: Ticks) -> Ticks:
    """The last label has the unit; the first is not cut off by the edge."""
    *others, (at, label) = ticks
    return [*others, (at, f"{label} s")]


def in_words(one: One) -> Compiled:
    return Compiled(f"{one['at']:.2f} s", one["entry"], KINDS[one["kind"]], f"{one['seconds']:.2f} s", one["breaks"])

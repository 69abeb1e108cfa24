"""From what the stages saw of both sides to one row; a number that cannot be believed is never shown as one."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from zoo.entries import REFERENCE, Entry
from zoo.messages import compare_compiled, compare_plain

Stages = dict[str, dict[str, Any]]
"""What each stage of one side has told, or why it has not: `problem`."""

NO_GRAPH = "no graph"
SHOWN = 5
SIDES = ("before", "after")
SPEAKERS = ("plain after", "compiled before", "compiled after")


@dataclass
class Row:
    """One model under one version. Pairs are before and after; a side that was not measured is None."""

    model: str
    version: str
    known: int | None = None
    rival: int | None = None
    explained: list[str | None] = field(default_factory=lambda: [None, None])
    breaks: list[str | None] = field(default_factory=lambda: [None, None])
    fragments: list[int | None] = field(default_factory=lambda: [None, None])
    fullgraph: list[bool | None] = field(default_factory=lambda: [None, None])
    recompiles: list[int | None] = field(default_factory=lambda: [None, None])
    cold: list[float | None] = field(default_factory=lambda: [None, None])
    plain: str | None = None
    compiled: list[str | None] = field(default_factory=lambda: [None, None])
    messages: list[str | None] = field(default_factory=lambda: [None, None, None])
    """Plain after, compiled before, compiled after: each against plain before."""

    seconds: float | None = None
    reasons: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def begin(entry: Entry, version: str) -> Row:
    is_reference = version == REFERENCE
    return Row(entry.name, version, *((entry.known, entry.rival) if is_reference else (None, None)))


def add_side(row: Row, side: int, stages: Stages) -> None:
    """The counts of one side; 0 is before, 1 is after."""
    name = SIDES[side]
    row.reasons += [f"{name}, {stage}: {told['problem']}" for stage, told in stages.items() if told.get("problem")]
    row.details[name] = stages
    graphs = stages.get("graphs", {})
    explained, count = graphs.get("explain", {}), graphs.get("count", {})
    for what, told in (("explain", explained), ("count", count)):
        row.reasons += [f"{name}, {what}: {last(told['error'])}"] if told.get("error") else []
    row.explained[side] = show_breaks(explained.get("graphs"), explained.get("breaks"))
    counts = count.get("counts", {})
    row.fullgraph[side] = bool(count["fullgraph"]) and counts.get("graphs", 0) > 0 if "fullgraph" in count else None
    row.breaks[side] = show_counted(counts, row.fullgraph[side], count.get("raised", []))
    row.fragments[side] = graphs.get("fragments")
    row.recompiles[side] = counts.get("recompiles")
    row.cold[side] = stages.get("compiled", {}).get("cold")
    add_doubts(row, side, count)


def show_breaks(graphs: int | None, breaks: int | None) -> str | None:
    """`explain` counts graphs minus one: without a graph that is no number of breaks."""
    if graphs is None or breaks is None:
        return None
    return str(breaks) if graphs > 0 else NO_GRAPH


def show_counted(counts: dict[str, int], fullgraph: bool | None, raised: list[str]) -> str | None:
    """None at all is believed only if a graph was captured, nothing was raised and fullgraph agrees."""
    shown = show_breaks(counts.get("graphs"), counts.get("places"))
    return "0 (not believed)" if shown == "0" and (not fullgraph or raised) else shown


def add_doubts(row: Row, side: int, count: dict[str, Any]) -> None:
    name = SIDES[side]
    row.reasons += [f"{name}, raised: {text}" for text in dict.fromkeys(count.get("raised", []))]
    if side and count.get("fullgraph_reason"):
        row.reasons.append(f"{name}, not one graph: {count['fullgraph_reason']}")
    if side == 0 and row.known is not None and row.explained[0] not in (None, str(row.known)):
        row.reasons.append(f"before: explain counts {row.explained[0]} here, {row.known} was reported")


def compare_messages(row: Row, before: Stages, after: Stages) -> None:
    """Whether what is said without compiling is said by each of the other runs."""
    expected = before.get("plain", {}).get("said")
    if expected is None:
        return
    forwards = expected[: before["plain"]["forwards"]]
    texts = sum(map(len, expected))
    for place, (stages, stage) in enumerate(((after, "plain"), (before, "compiled"), (after, "compiled"))):
        said = stages.get(stage, {}).get("said")
        if said is not None:
            lost = compare_plain(expected, said) if stage == "plain" else compare_compiled(forwards, said)
            row.messages[place] = f"{len(lost)} differ" if lost else f"all {texts}" if texts else "none said"
            row.reasons += [f"{SPEAKERS[place]}: message {one}" for one in lost[:SHOWN] if stages is after]


def last(text: str) -> str:
    return text.strip().splitlines()[-1][:300]


def is_patched(stages: Stages, folder: Path) -> str:
    """Why this side did not run the patched copy, or nothing."""
    strays = [told["file"] for told in stages.values() if "file" in told]
    strays = [file for file in strays if not Path(file).resolve().is_relative_to(folder.resolve())]
    return f"the patched copy was not imported, but {strays[0]}" if strays else ""

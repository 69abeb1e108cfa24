"""An observed run for people, on a terminal: every compiled entry in a row, then what cost, place by place."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fullgraph.codemods.ui.layout import GAP, Entry, Paragraph, Piece, lay_out
from fullgraph.codemods.ui.listing import BLANK, MOST, clipped, tell_list, times
from fullgraph.codemods.ui.report.as_text import count
from fullgraph.codemods.ui.terminal import READABLE
from fullgraph.validate.model import count_breaks

HEADS = ("entry", "calls", "inputs", "graphs", "breaks", "recompiles", "compiling", "re-entries")
NARROWEST_NAME = 14
INSTALLED = re.compile(r".*[/\\](?:site|dist)-packages[/\\]")
IN_FULL = "--html PAGE.html shows all"

Report = Mapping[str, Any]
One = Mapping[str, Any]


def observed_text(report: Report, color: bool, width: int) -> str:
    return lay_out(tell(report, width), color, width)


def tell(report: Report, width: int) -> Iterator[Piece]:
    yield BLANK
    yield Paragraph(headline(report), style={"bold": True})
    yield Paragraph(where(report))
    if report["entries"]:
        yield BLANK
        yield from table(report["entries"], min(width, READABLE))
    for entry in report["entries"]:
        yield from tell_entry(entry)
    yield from tell_reads(report["reads"])
    if report["notices"]:
        yield from tell_list("Notices", [[Paragraph(notice, 2)] for notice in report["notices"]], IN_FULL, "yellow")
    yield BLANK


def headline(report: Report) -> str:
    """`Observed: python train.py, 12.3 s, ended with exit code 0.`"""
    return f"Observed: {command_text(report)}, {seconds(report['seconds'])}, {report['ending']}."


def command_text(report: Report) -> str:
    """The command without the folder that its program is in."""
    first, *rest = report["command"]
    return shlex.join([first.replace("\\", "/").rpartition("/")[2], *rest])


def where(report: Report) -> str:
    if not report["torch"]:
        return "Ran without torch."
    processes = len(report["processes"])
    told = f", {processes} processes with torch" if processes > 1 else ""
    return f"Ran on {report['device']}, torch {report['torch']}, Python {report['python']}{told}."


def table(entries: Sequence[One], width: int) -> Iterator[Piece]:
    """Every entry in a row, of a long name its end; where that is too wide, each in a sentence."""
    shown = len(HEADS) if any(entry["reentries"] for entry in entries) else len(HEADS) - 1
    heads, *rows = (row[:shown] for row in [HEADS, *map(row_of, entries)])
    room = width - sum(max(map(len, column)) + len(GAP) for column in list(zip(heads, *rows, strict=True))[1:])
    if room >= NARROWEST_NAME:
        cells = [(name if len(name) <= room else f"...{name[3 - room :]}", *numbers) for name, *numbers in rows]
        styled = zip(cells, map(style_of, entries), strict=True)
        yield [Entry(heads, {"dim": True}), *(Entry(row, style) for row, style in styled)]
        return
    for name, *numbers in rows:
        told = ", ".join(f"{head} {number}" for head, number in zip(heads[1:], numbers, strict=True))
        yield Paragraph(f"{name}: {told}")


def row_of(entry: One) -> tuple[str, ...]:
    inputs = f"{len(entry['inputs'])}{'+' if entry['other_inputs'] else ''}"
    numbers = (entry["calls"], inputs, entry["graphs"], count_breaks(entry["breaks"]), recompiles_of(entry))
    return (entry["name"], *map(str, numbers), seconds(entry["compile_seconds"]), str(entry["reentries"]))


def style_of(entry: One) -> Mapping[str, object]:
    return {"fg": "yellow"} if entry["reentries"] else {}


def recompiles_of(entry: One) -> int:
    return sum(one["count"] for one in entry["recompiles"])


def seconds(value: float) -> str:
    return f"{value:.0f} s" if value >= 100 else f"{value:.1f} s"


def tell_entry(entry: One) -> Iterator[Piece]:
    yield BLANK
    yield Paragraph(f"{entry['name']} ({place_of(entry)}){compiled_text(entry)}", style={"bold": True})
    yield Paragraph(f"calls: {calls_text(entry)}", 2)
    yield from tell_inputs(entry)
    if entry["reentries"]:
        text = f"entered again {count(entry['reentries'], 'time')} before the backward of the call before had run"
        yield Paragraph(f"{text}{'' if entry['backwards'] else '; no backward ever ran'}", 2, {"fg": "yellow"})
    yield from tell_inner("graph breaks", [break_text(one) for one in entry["breaks"]])
    yield from tell_inner("recompiles, by the guard that failed", [recompile_text(one) for one in entry["recompiles"]])


def compiled_text(entry: One) -> str:
    """`, compiled at train.py:18 by inductor`: only where it is not the place itself that compiles."""
    places = [f"{place_of(one)}" for one in entry["compiled_at"]]
    more = f" and {count(len(places) - 1, 'other place')}" if len(places) > 1 else ""
    at = f", compiled at {places[0]}{more}" if places and places[0] != place_of(entry) else ""
    by = f" by {', '.join(entry['backends'])}" if at and entry["backends"] else ""
    return f"{at}{by}"


def calls_text(entry: One) -> str:
    """`300 (train, grad 200; eval, no grad 100)`"""
    if not entry["calls"]:
        return "none"
    return f"{entry['calls']} ({'; '.join(f'{phase} {number}' for phase, number in entry['phases'].items())})"


def tell_inputs(entry: One) -> Iterator[Piece]:
    texts = [f"{one['inputs'] or 'nothing'}{times(one['count'])}" for one in entry["inputs"]]
    if len(texts) == 1:
        yield Paragraph(f"inputs: {clipped(texts[0])}", 2)
    else:
        yield from tell_inner("inputs", texts, entry["other_inputs"])


def tell_inner(title: str, texts: Sequence[str], others: int = 0) -> Iterator[Piece]:
    if not texts:
        return
    yield Paragraph(f"{title}:", 2)
    for text in texts[:MOST]:
        yield Paragraph(clipped(text), 4)
    if len(texts) > MOST or others:
        more = f"{len(texts) - MOST} more" if len(texts) > MOST else f"{count(others, 'call')} with other ones"
        yield Paragraph(f"... and {more}", 4)


def break_text(one: One) -> str:
    kind = {"break": "", "skipped": "not compiled at all"}.get(one["kind"], one["kind"])
    several = f"in {one['frames']} functions" if one.get("frames", 1) > 1 else ""
    named = ", ".join(filter(None, [one["id"], kind, several]))
    return f"{place_of(one)} in {one['function']}{f' ({named})' if named else ''}{times(one['count'])}: {one['reason']}"


def recompile_text(one: One) -> str:
    return f"{one['function']} ({place_of(one)}){times(one['count'])}: {one['guard']}"


def tell_reads(reads: Sequence[One]) -> Iterator[Piece]:
    entries = [[Paragraph(f"{place_of(one)} in {one['function']}, {one['call']}: {one['count']}", 2)] for one in reads]
    yield from tell_list("Host reads by line", entries, IN_FULL)


def place_of(one: One) -> str:
    """As people write it; what is installed by the name of its package."""
    return f"{INSTALLED.sub('', one['file'])}:{one['line']}" if one["file"] else "a place without a file"

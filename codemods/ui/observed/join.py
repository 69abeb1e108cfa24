"""Findings and what was observed of them: what really cost comes first, what never ran last."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fullgraph.codemods.model import Finding, FullgraphError
from fullgraph.codemods.plain_file import read_plain
from fullgraph.codemods.ui.listing import times
from fullgraph.codemods.ui.observed.as_text import place_of
from fullgraph.codemods.ui.observed.files import Span, Texts, function_at
from fullgraph.codemods.ui.report.as_text import count
from fullgraph.codemods.ui.report.model import FOUND, Line, Report
from fullgraph.codemods.ui.terminal import paint
from fullgraph.validate.model import count_breaks

READ_S, BREAK_S, RECOMPILE_S = 20e-6, 60e-6, 0.5
"""What a host read, a call that passes a break, and a recompile cost about: for the order only, never shown."""

MOST = 15
"""Places that a terminal shows."""

RAN, NOT_RUN, UNKNOWN = "ran", "not run", "unknown"
SAID = {RAN: "ran, at no cost that was seen", UNKNOWN: "imported; whether it ran is known from Python 3.12 on"}
NAME = re.compile(r"[A-Za-z_]\w*")
GUARDS = [
    re.compile(r"tensor '(.+?)' "),
    re.compile(r"type\((.+)\) (?:is \S+ failed|changed)$"),
    re.compile(r"(.+) (?:failed|is another object)$"),
]
"""How a guard names what it is about."""


Names = Mapping[tuple[Path, str], str]
"""By the root and path of a file, the name that the report has for it, where that is not the path."""


@dataclass(frozen=True)
class Observation:
    """What was seen of one finding."""

    status: str
    reads: int = 0
    breaks: tuple[Mapping[str, Any], ...] = ()
    recompiles: tuple[Mapping[str, Any], ...] = ()
    entries: tuple[Mapping[str, Any], ...] = ()
    is_stale: bool = False
    cost: float = 0.0

    @property
    def text(self) -> str:
        """`300 host reads here; 1 break here (GB0059), 2 times`"""
        parts = list(self.parts()) or [SAID.get(self.status, self.status)]
        return "; ".join(parts) + (" (the file has changed since)" if self.is_stale else "")

    def parts(self) -> Iterator[str]:
        if self.reads:
            yield f"{count(self.reads, 'host read')} here"
        if self.breaks:
            ids = ", ".join(sorted({one["id"] for one in self.breaks if one["id"]}))
            often = sum(one["count"] for one in self.breaks)
            number = count_breaks(self.breaks)
            repeated = times(often) if often > number else ""
            yield f"{count(number, 'break')} here{f' ({ids})' if ids else ''}{repeated}"
        if self.recompiles:
            number = sum(one["count"] for one in self.recompiles)
            yield f"compiled again {count(number, 'time')}, first because {self.recompiles[0]['guard']}"
        yield from map(entry_text, self.entries[:1])

    def as_json(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "host_reads": self.reads,
            "breaks": count_breaks(self.breaks),
            "break_ids": sorted({one["id"] for one in self.breaks if one["id"]}),
            "recompiles": sum(one["count"] for one in self.recompiles),
            "entries": [
                {"name": one["name"], "calls": one["calls"], "graphs": one["graphs"], "reentries": one["reentries"]}
                for one in self.entries
            ],
            "is_stale": self.is_stale,
            "text": self.text,
        }


@dataclass(frozen=True)
class Place:
    """Something that was observed and that no finding is about."""

    file: str
    line: int
    text: str
    cost: float = field(compare=False)
    is_break: bool = False
    """Breaks are told of elsewhere, each with its end."""

    def as_json(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line, "text": self.text}


def read_observed(file: Path) -> dict[str, Any]:
    from fullgraph.validate.model import ValidateError
    from fullgraph.validate.observe import read_report

    try:
        return read_report(file, read_plain(file))
    except OSError as error:
        raise FullgraphError(f"{file}: {error.strerror}; `fullgraph observe -- COMMAND` writes a report") from error
    except ValidateError as error:
        raise FullgraphError(str(error)) from error


def join(report: Report, observed: Mapping[str, Any], is_all: bool) -> None:
    """Sort the report's findings by what they cost, and add what nobody has found. `is_all`: all codemods looked."""
    roots = {line.root for line in report.lines} - report.written_in.keys() or {Path.cwd()}
    if observed["files"] and not report.written_in and not any(is_of(root, observed) for root in roots):
        report.add_notice("the observed program ran none of these files: the report is of another project, or moved")
        return
    texts = Texts(report.before)
    names = report.ground.by_spot() if report.ground else {}
    report.lines = sort_lines(report.lines, observed, texts, names)
    report.unexplained = sorted(
        unexplained(report.lines, observed, names), key=lambda one: (-one.cost, one.file, one.line)
    )
    report.unexplained_title = "observed, and no codemod knows it" if is_all else "observed, and no finding is about it"
    stale = (name for name in observed["files"] if any(is_stale(root, name, observed, texts) for root in roots))
    for name in sorted(stale):
        report.add_notice(f"{name} has changed since it was observed: its lines may be others now")


def is_of(root: Path, observed: Mapping[str, Any]) -> bool:
    """Whether the program ran any file of this project."""
    return any((root / name).is_file() for name in observed["files"])


def seen_of(findings: Sequence[Finding], root: Path, observed: Mapping[str, Any]) -> list[tuple[Finding, str]]:
    """Each finding with what was seen of it; what cost most first, as a report has it."""
    if not is_of(root, observed):
        return [(finding, "") for finding in findings]
    lines = [Line(root, "", finding, FOUND) for finding in findings]
    joined = sort_lines(lines, observed, Texts({}))
    return [(line.finding, line.observed.text if line.observed else "") for line in joined]


def sort_lines(
    lines: Iterable[Line], observed: Mapping[str, Any], texts: Texts, names: Names | None = None
) -> list[Line]:
    joined = [replace(line, observed=observe_line(line, observed, texts, name_of(line, names))) for line in lines]
    return sorted(joined, key=order_of)


def order_of(line: Line) -> tuple[int, float]:
    """Findings of one kind and cost stay in the order of their places."""
    seen = line.observed
    if seen is None:
        return 1, 0.0
    return {NOT_RUN: 3, UNKNOWN: 2, RAN: 1}[seen.status] if not seen.cost else 0, -seen.cost


def name_of(line: Line, names: Names | None) -> str:
    """The name that the report has for a finding's file."""
    return (names or {}).get((line.root, line.finding.path), line.finding.path)


def observe_line(line: Line, observed: Mapping[str, Any], texts: Texts, path: str) -> Observation:
    finding = line.finding
    first, last = finding.line, max(finding.last_line, finding.line)
    file = line.root / finding.path
    own = function_at(texts.functions(file), first)
    names = set(NAME.findall(texts.lines(file, first, last)))

    def is_here(one: Mapping[str, Any]) -> bool:
        return bool(one["file"] == path and first <= one["line"] <= last)

    def is_around(one: Mapping[str, Any]) -> bool:
        return one["file"] == path and own is not None and own[0] <= one["line"] <= own[1]

    breaks = [(one, entry) for entry in observed["entries"] for one in entry["breaks"] if is_here(one)]
    again = [one for entry in observed["entries"] for one in entry["recompiles"] if is_around(one)]
    recompiles = [one for one in again if names & names_in(one["guard"])]
    reads = sum(one["count"] for one in observed["reads"] if is_here(one))
    compiled = [entry for entry in observed["entries"] if any(map(is_here, entry["compiled_at"]))]
    seen = Observation(
        status=status_of(path, own, observed),
        reads=reads,
        breaks=tuple(one for one, _ in breaks),
        recompiles=tuple(recompiles),
        entries=(*compiled, *(one for one in observed["entries"] if one not in compiled and is_around(one))),
        is_stale=is_stale(line.root, path, observed, texts),
        cost=cost_of(reads, breaks, [*recompiles, *(one for entry in compiled for one in entry["recompiles"])]),
    )
    return replace(seen, status=RAN) if seen.cost or any(entry["calls"] for entry in seen.entries) else seen


def names_in(guard: str) -> set[str]:
    """`{"k"}` for `self.k == 3 failed`, `{"x"}` for `tensor 'x' size mismatch at index 0`; none for a sentence."""
    about = next((match[1] for match in (pattern.match(guard) for pattern in GUARDS) if match), "")
    return {name.rpartition(".")[2] for name in re.findall(r"[A-Za-z_][\w.]*", about)} - {"len", "self", "is", "not"}


def entry_text(entry: Mapping[str, Any]) -> str:
    """`entry Net: called 300 times, compiled 4 times, entered again 3 times before its backward`"""
    graphs = f", compiled {count(entry['graphs'], 'time')}" if entry["graphs"] > 1 else ""
    again = f", entered again {count(entry['reentries'], 'time')} before its backward" if entry["reentries"] else ""
    return f"entry {entry['name']}: called {count(entry['calls'], 'time')}{graphs}{again}"


def cost_of(reads: int, breaks: Iterable[tuple[Any, Any]], recompiles: Iterable[Any]) -> float:
    """In seconds, about."""
    passed = sum(int(max(entry["calls"], one["count"])) for one, entry in breaks)
    again = sum(int(one["count"]) for one in recompiles)
    return reads * READ_S + passed * BREAK_S + again * RECOMPILE_S


def status_of(path: str, own: Span | None, observed: Mapping[str, Any]) -> str:
    """A file that was never imported did not run; of a function it must be known."""
    file = observed["files"].get(path)
    if path in observed["others"]:
        return RAN
    if file is None:
        return NOT_RUN if observed["files"] else UNKNOWN
    if own is None:
        return RAN
    if own[0] in file.get("ran", ()):
        return RAN
    return NOT_RUN if file.get("is_all") else UNKNOWN


def unexplained(lines: Sequence[Line], observed: Mapping[str, Any], names: Names | None = None) -> Iterator[Place]:
    """Breaks, recompiles and reads on lines that are no finding's."""
    known = {(name_of(line, names), number) for line in lines for number in lines_of(line)}
    explained = {id(one) for line in lines if line.observed for one in line.observed.recompiles}
    for entry in observed["entries"]:
        for one in entry["breaks"]:
            if (one["file"], one["line"]) not in known:
                named = f" ({one['id']})" if one["id"] else ""
                text = f"{count(count_breaks([one]), 'break')}{named}: {one['reason'].partition(': ')[0]}"
                yield Place(one["file"], one["line"], text, cost_of(0, [(one, entry)], []), is_break=True)
        for one in entry["recompiles"]:
            if id(one) not in explained:
                text = f"{one['function']} was compiled again {count(one['count'], 'time')}: {one['guard']}"
                yield Place(one["file"], one["line"], text, cost_of(0, [], [one]))
    for one in observed["reads"]:
        if (one["file"], one["line"]) not in known:
            text = f"{count(one['count'], 'host read')} ({one['call']})"
            yield Place(one["file"], one["line"], text, cost_of(one["count"], [], []))


def unexplained_text(report: Report, color: bool) -> str:
    """The section below the findings: the dearest places, and how many more there are."""
    places = [one for one in report.unexplained if not one.is_break]
    told = [f"  {place_of(one.as_json())}: {one.text}" for one in places[:MOST]]
    more = len(places) - MOST
    told += [f"  ... and {more} more; --format json has all"] if more > 0 else []
    return "\n".join([paint(f"{report.unexplained_title}:", color, bold=True), *told])


def lines_of(line: Line) -> range:
    return range(line.finding.line, max(line.finding.last_line, line.finding.line) + 1)


def is_stale(root: Path, path: str, observed: Mapping[str, Any], texts: Texts) -> bool:
    """Whether the file holds another text than when it ran."""
    file = observed["files"].get(path)
    return file is not None and texts.digest(root / path) not in ("", file.get("sha256"))

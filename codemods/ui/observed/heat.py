"""The lines of a run that cost: host reads and breaks by line, each with its source and with the finding about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullgraph.codemods.model import Finding, FullgraphError
from fullgraph.codemods.ui.breaks.ground import is_installed
from fullgraph.codemods.ui.observed.as_text import place_of
from fullgraph.codemods.ui.observed.files import Texts
from fullgraph.codemods.ui.observed.join import cost_of, lines_of, name_of
from fullgraph.codemods.ui.report.as_text import count
from fullgraph.codemods.ui.report.model import Line
from fullgraph.codemods.ui.verdict.page.code import Code, code
from fullgraph.validate.model import count_breaks
from fullgraph.validate.observe import Observed

HOTTEST = 5
NO_CODEMOD = "no codemod yet"
NOT_OURS = "not in the project: no codemod was asked"

One = Mapping[str, Any]
Broken = tuple[One, One]
"""A break with the entry that it is of."""


@dataclass
class Hot:
    """One line. `findings` is None where no codemod was asked."""

    file: str
    line: int
    function: str
    reads: list[One] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    source: Code | None = None
    findings: list[Finding] | None = None
    unknown: str = NO_CODEMOD
    """What to say where there are no findings."""

    @property
    def place(self) -> str:
        return place_of({"file": self.file, "line": self.line})

    @property
    def read_count(self) -> int:
        return sum(one["count"] for one in self.reads)

    @property
    def break_count(self) -> int:
        return count_breaks([one for one, _ in self.broken])

    @property
    def cost(self) -> float:
        return cost_of(self.read_count, self.broken, [])

    @property
    def text(self) -> str:
        """`300 host reads (item); 1 break (GB0059), passed by 300 calls`"""
        return "; ".join(self.parts())

    def parts(self) -> Iterator[str]:
        if self.reads:
            calls = ", ".join(sorted({one["call"] for one in self.reads}))
            yield f"{count(self.read_count, 'host read')} ({calls})"
        if self.broken:
            ids = ", ".join(sorted({one["id"] for one, _ in self.broken if one["id"]}))
            passed = sum(entry["calls"] for _, entry in self.broken)
            yield f"{count(self.break_count, 'break')}{f' ({ids})' if ids else ''}, passed by {count(passed, 'call')}"


def find_heat(report: One, lines: Sequence[Line] | None) -> list[Hot]:
    """Every line that was read on or broke, the one that costs most first. `lines`: what the codemods have found."""
    found: dict[tuple[str, int], Hot] = {}
    for one in report["reads"]:
        hot_at(found, one).reads.append(one)
    for entry in report["entries"]:
        for one in entry["breaks"]:
            hot_at(found, one).broken.append((one, entry))
    texts = Texts({})
    for hot in found.values():
        hot.source = source_of(hot, report, texts)
        hot.findings = None if lines is None else findings_at(hot, report, lines)
        hot.unknown = NO_CODEMOD if is_own(hot.file) else NOT_OURS
    return sorted(found.values(), key=lambda hot: (-hot.cost, hot.file, hot.line))


def is_own(name: str) -> bool:
    """Whether a file is the project's: codemods are asked about no other."""
    return bool(name) and not Path(name).is_absolute() and not is_installed(Path(name))


def hot_at(found: dict[tuple[str, int], Hot], one: One) -> Hot:
    return found.setdefault((one["file"], one["line"]), Hot(one["file"], one["line"], one["function"]))


def source_of(hot: Hot, report: One, texts: Texts) -> Code | None:
    """The line as it ran: None if the file holds another text now, or if nobody knows which one ran."""
    root = Path(report.get("root", ""))
    known = {**report.get("others", {}), **report["files"]}.get(hot.file, {})
    if not root.is_absolute() or not known.get("sha256") or texts.digest(root / hot.file) != known["sha256"]:
        return None
    return code(texts.lines(root / hot.file, hot.line, hot.line).strip())


def findings_at(hot: Hot, report: One, lines: Iterable[Line]) -> list[Finding]:
    """What can be fixed first. A finding's file is named as the report names it, or by its whole path."""
    root = Path(report.get("root", ""))
    here = [
        line.finding
        for line in lines
        if hot.line in lines_of(line)
        and (name_of(line, None) == hot.file or line.root / line.finding.path == root / hot.file)
    ]
    return sorted(here, key=lambda finding: not finding.is_fixable)


def find_lines(observed: Observed) -> list[Line] | None:
    """What the codemods find in the project's files that have hot lines; None if they could not be asked."""
    from fullgraph.codemods.ui.commands import Request, jobs_for
    from fullgraph.codemods.ui.report.model import Report

    root = Path(observed.report["root"])
    named = {hot.file for hot in find_heat(observed.report, None)}
    files = sorted(root / name for name in named if is_own(name) and (root / name).is_file())
    if not files:
        return []
    report = Report()
    empty: dict[str, Any] = dict.fromkeys(
        ("select", "ignore", "symbols", "lines", "options", "exclude", "codemod_files"), ()
    )
    request = Request(
        paths=tuple(files),
        **empty,
        form="json",
        jobs=0,
        no_cache=False,
        quiet=True,
        color="never",
        observed=observed.file,
    )
    try:
        for job in jobs_for(request, report, writes=False):
            report.add_results(job.tree, job.scanner(job.tree))
    except FullgraphError:
        return None
    return report.lines

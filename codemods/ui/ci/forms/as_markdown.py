"""A summary for people who look at the job and not at its log."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from fullgraph.codemods.model import Safety
from fullgraph.codemods.ui.ci.forms.as_text import closing
from fullgraph.codemods.ui.ci.forms.wording import advice
from fullgraph.codemods.ui.ci.model import CiReport
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.report.model import FIXED, Line

ROOM = 1_000_000
MARKS = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#~$&"})


def render(report: CiReport) -> bytes:
    return markdown(report, ROOM)


def markdown(report: CiReport, room: int) -> bytes:
    """The summary in so many bytes at most; what does not fit is counted."""
    head = "\n".join([f"## fullgraph: {outcome(report)}", "", *map(escaped, closing(report)), ""])
    parts = [head, *verdicts(report), *by_codemod(report), *wrong_files(report)]
    rows = [row(report, line) for line in report.open_lines]
    kept = "\n".join([*parts, ""]).encode(errors="backslashreplace")
    table = TITLE.encode()
    size = len(kept) + len(table) + 200
    shown: list[bytes] = []
    for text in rows:
        size += len(text)
        if size > room:
            break
        shown.append(text)
    if shown:
        kept += table + b"".join(shown)
    if len(shown) < len(rows):
        kept += f"\n{len(rows) - len(shown)} more findings do not fit here.\n".encode()
    return kept[: max(room, 0)].decode(errors="ignore").encode() + b"\n"


TITLE = "### Findings\n\n| place | codemod | finding | what now |\n|---|---|---|---|\n"


def outcome(report: CiReport) -> str:
    if not report.is_complete:
        return "stopped; this is what was found until then"
    if report.errors:
        return "something could not be read"
    if report.exit_code in (3, 4):
        return "not proven"
    return "too many findings" if report.fails else "passed"


def by_codemod(report: CiReport) -> Iterator[str]:
    ordered = sorted(report.lines, key=lambda line: line.finding.codemod)
    if not ordered:
        return
    yield "| codemod | found | fixed | can be fixed safely | unsafe | left alone |\n|---|---:|---:|---:|---:|---:|"
    for name, group in groupby(ordered, lambda line: line.finding.codemod):
        yield f"| {escaped(name)} | {' | '.join(map(str, counts(list(group))))} |"
    yield ""


def counts(lines: list[Line]) -> tuple[int, ...]:
    still = [line.finding for line in lines if line.outcome != FIXED]
    fixable = [finding for finding in still if finding.is_fixable]
    safe = sum(finding.safety is Safety.SAFE for finding in fixable)
    return len(lines), len(lines) - len(still), safe, len(fixable) - safe, len(still) - len(fixable)


def verdicts(report: CiReport) -> Iterator[str]:
    if report.undecided:
        yield f"Undecided: {escaped(report.undecided)}\n"
    for verdict in report.verdicts:
        yield f"- **{verdict.ruling.value}**: {code(verdict.scenario.name)}: {escaped(verdict.sentence)}"
    if report.verdicts:
        yield ""


def wrong_files(report: CiReport) -> Iterator[str]:
    for level, file, line, reason in report.told_of_files():
        where = f"{code(file if level == 'error' else f'{file}:{line}')}: " if file else ""
        yield f"- {level}: {where}{escaped(reason)}"


def row(report: CiReport, line: Line) -> bytes:
    region = report.spot_of(line).region
    place = code(f"{report.file_of(line)}:{region.first_line}").replace("|", "\\|")
    cells = (place, escaped(line.finding.codemod), escaped(line.finding.message), escaped("; ".join(advice(line))))
    return f"| {' | '.join(cells)} |\n".encode(errors="backslashreplace")


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return plain(" ".join(text.split())).translate(MARKS)


def code(text: str) -> str:
    """Text between back ticks; more of them than it holds."""
    text = plain(text)
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"

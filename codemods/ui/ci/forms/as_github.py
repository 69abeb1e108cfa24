"""Annotations: lines of a job's log that GitHub shows at the code. Of each level it shows the first ten of a step.

https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions says how they are written.
"""

from __future__ import annotations

from collections.abc import Mapping

from fullgraph.codemods.ui.ci.forms.wording import advice
from fullgraph.codemods.ui.ci.model import CiReport
from fullgraph.codemods.ui.report.model import Line
from fullgraph.codemods.ui.report.spot import Region


def render(report: CiReport) -> bytes:
    """What fails the job first, because not all of it may be shown."""
    found = sorted(report.open_lines, key=lambda line: not report.counts(line))
    worst = "error" if report.fails else "warning"
    about_files = [about_file(*told) for told in report.told_of_files()]
    lines = [*about_files, *(annotation(report, line, worst) for line in found)]
    return "".join(f"{line}\n" for line in lines).encode(errors="backslashreplace")


def annotation(report: CiReport, line: Line, worst: str) -> str:
    spot = report.spot_of(line)
    where = {"file": report.file_of(line), **place(spot.region), "title": f"fullgraph: {line.finding.codemod}"}
    return command(level(report, line, worst), where, "\n".join([line.finding.message, *advice(line)]))


def level(report: CiReport, line: Line, worst: str) -> str:
    if report.counts(line):
        return worst
    return "warning" if line.finding.is_fixable else "notice"


def place(region: Region) -> dict[str, int]:
    """Columns mean something to GitHub on a single line only."""
    lines = {"line": region.first_line, "endLine": region.last_line}
    if region.first_line != region.last_line:
        return lines
    return {**lines, "col": region.first_column, "endColumn": region.last_column}


def about_file(level: str, file: str, line: int, reason: str) -> str:
    return command(
        level, {"file": file, "line": line, "title": "fullgraph"} if file else {"title": "fullgraph"}, reason
    )


def command(name: str, properties: Mapping[str, object], message: str) -> str:
    given = ",".join(f"{key}={escaped_property(str(value))}" for key, value in properties.items())
    return f"::{name}{f' {given}' if given else ''}::{escaped(message)}"


def escaped(text: str) -> str:
    shown = "".join(c if c.isprintable() or c in "\r\n\t" else repr(c)[1:-1] for c in text)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    return escaped(text).replace(":", "%3A").replace(",", "%2C")

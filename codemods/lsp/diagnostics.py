"""From what was found in a file to what the client shows of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lsprotocol.types import CodeDescription, Diagnostic, DiagnosticSeverity, DiagnosticTag, Location

from fullgraph.codemods.difference import LINE as LINES
from fullgraph.codemods.lsp.pages import Page
from fullgraph.codemods.model import Finding, Span
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.suppress import Suppression
from fullgraph.codemods.ui.view import view_of

SOURCE = "fullgraph"
ERROR = "error"
UNUSED = "unused-ignore"
LINE = re.compile(r"line (\d+)")

Placed = tuple[str, Diagnostic]
"""A diagnostic with the URI of the text that it stands in."""


def diagnose(result: FileResult, page: Page) -> Iterator[Placed]:
    """Everything there is to say about a file, by the texts that the client has of it."""
    for finding in result.findings:
        yield placed(finding_diagnostic(finding, page.locate(finding.span)))
    for suppression in result.unused:
        yield placed(unused_diagnostic(suppression, page.locate(line_span(page, suppression.line))))
    if result.error and page.sheets:
        found = LINE.search(result.error)
        yield placed(error_diagnostic(result.error, page.locate(line_span(page, int(found[1]) if found else 1))))


def placed(made: tuple[Location, Diagnostic]) -> Placed:
    return made[0].uri, made[1]


def finding_diagnostic(finding: Finding, where: Location) -> tuple[Location, Diagnostic]:
    """A warning if it can be fixed, else information: then there is nothing to do but to know it."""
    page = docs_page(finding.codemod)
    return where, Diagnostic(
        range=where.range,
        message="\n".join(told(finding)),
        severity=DiagnosticSeverity.Warning if finding.is_fixable else DiagnosticSeverity.Information,
        code=finding.codemod,
        code_description=CodeDescription(page.as_uri()) if page else None,
        source=SOURCE,
        data={"key": finding.key},
    )


def told(finding: Finding) -> Iterator[str]:
    """What the command line says of a finding below its place."""
    yield finding.message
    yield from (f"{label}: {text}" for label, text in view_of(finding).remarks())


def unused_diagnostic(unused: Suppression, where: Location) -> tuple[Location, Diagnostic]:
    said = f"ignore[{unused.name}]" if unused.name else "ignore without [NAME]"
    return where, Diagnostic(
        range=where.range,
        message=f"{said} silences nothing",
        severity=DiagnosticSeverity.Information,
        code=UNUSED,
        source=SOURCE,
        tags=[DiagnosticTag.Unnecessary],
    )


def error_diagnostic(error: str, where: Location) -> tuple[Location, Diagnostic]:
    """Information only: what reads Python in this editor says loudly enough that a file is no Python."""
    return where, Diagnostic(
        range=where.range,
        message=error,
        severity=DiagnosticSeverity.Information,
        code=ERROR,
        source=SOURCE,
    )


def line_span(page: Page, line: int) -> Span:
    """A line of the text that findings count in, without white space around it."""
    lines = LINES.findall(page.source.text)
    if not 0 < line <= len(lines):
        return Span(0, 0)
    start, text = sum(map(len, lines[: line - 1])), lines[line - 1]
    return Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


def docs_page(name: str) -> Path | None:
    """The page about a codemod: in the installed package, or in a checkout; one of another distribution has none."""
    package = Path(__file__).resolve().parent.parent
    pages = (package / "docs" / f"{name}.md", package.parent / "docs" / "codemods" / f"{name}.md")
    return next((page for page in pages if page.is_file()), None)

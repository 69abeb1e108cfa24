"""`# fullgraph: ignore[name]` written at findings, as findings of its own: planned, journaled and undone like any."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fullgraph.codemods.model import ADD_IGNORE, Edit, Finding, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.suppress import COMMENT

BREAKS = (tokenize.NEWLINE, tokenize.NL)


def ignoring(project: Project, results: Iterable[FileResult]) -> list[FileResult]:
    """The results, with one finding for each line that needs a comment in the place of those that it silences."""
    found = (result for result in results if result.findings)
    return [replace(one, findings=tuple(comments(project.module(one.path), one.findings))) for one in found]


def comments(module: Module, findings: Sequence[Finding]) -> Iterator[Finding]:
    """A comment counts on the first and on the last line of a finding: the first of them that has room gets it."""
    rooms = lines_with_room(module)
    by_line: dict[int, list[Finding]] = {}
    for finding in findings:
        line = next((line for line in (finding.line, finding.last_line) if line in rooms), 0)
        by_line.setdefault(line, []).append(finding)
    for finding in by_line.pop(0, ()):
        yield replace(as_comment(finding, ""), left_alone="no comment has room there: a string or a backslash ends it")
    for line, silenced in sorted(by_line.items()):
        edit = comment(module, line, sorted({finding.codemod for finding in silenced}))
        yield replace(as_comment(silenced[0], edit.new_text.strip()), edits=(edit,))


def as_comment(finding: Finding, text: str) -> Finding:
    """It keeps the place and the key of a finding that it silences."""
    message = f"`{text}`" if text else finding.message
    return Finding(
        ADD_IGNORE,
        finding.path,
        finding.span,
        finding.symbol,
        message,
        line=finding.line,
        column=finding.column,
        last_line=finding.last_line,
        key=finding.key,
    )


def lines_with_room(module: Module) -> set[int]:
    """The lines behind which a comment can stand: not those that end inside of a string or with a backslash."""
    text = io.StringIO(module.parsed, newline=None)  # lines end where Python ends them, at a lone CR too
    try:
        return {token.start[0] for token in tokenize.generate_tokens(text.readline) if token.type in BREAKS}
    except (tokenize.TokenError, SyntaxError):
        return set()


def comment(module: Module, line: int, names: Sequence[str]) -> Edit:
    """Behind the line, or in the comment that silences others there already."""
    start = module.line_starts[line - 1]
    text = module.text[start : module.line_end(start)].rstrip()
    if (there := COMMENT.search(text)) and there[1]:
        end = start + there.end(1)
        return Edit(module.path, Span(end, end), f", {', '.join(names)}")
    end = start + len(text)
    return Edit(module.path, Span(end, end), f"  # fullgraph: ignore[{', '.join(names)}]")

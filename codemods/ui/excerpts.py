"""The code that a view shows: the lines of a finding, and those that its fix changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from fullgraph.codemods.difference import LINE
from fullgraph.codemods.model import Edit, Finding, Span
from fullgraph.codemods.source import splice_text
from fullgraph.codemods.ui.at.place import Lines
from fullgraph.codemods.ui.report.spot import COMPOUND
from fullgraph.codemods.ui.view import CodeLine, FileDiff

NEAR = 1
"""Lines that may stay between two changes that are shown as one."""

Read = Callable[[str], Lines | None]
"""A file of the project by its path; None if it cannot be read any more."""


def frame_of(lines: Lines, span: Span) -> tuple[CodeLine, ...]:
    """The lines of a span, its characters marked; of a function, a loop and the like only the head."""
    if span.end > len(lines.text):
        return ()
    first, last = lines.row_of(span.start), lines.row_of(max(span.start, span.end - 1))
    if COMPOUND.match(lines.text, span.start, span.end):
        last = first
    number = lines.position(span.start).line
    return tuple(marked_line(lines, row, number + row - first, span) for row in range(first, last + 1))


def marked_line(lines: Lines, row: int, number: int, span: Span) -> CodeLine:
    """The row counts from 0 in the text. White space at the edges of a line is not marked."""
    start, text = lines.starts[row], lines.row(row)
    begin = max(span.start - start, len(text) - len(text.lstrip()))
    return CodeLine(number, text, marked=(begin, max(begin, min(span.end - start, len(text.rstrip())))))


def fix_of(finding: Finding, read: Read) -> tuple[FileDiff, ...]:
    """What the edits change, the finding's own file first and new files last."""
    paths = sorted(finding.paths(), key=lambda path: path in finding.created())
    parts = (file_diff(path, [edit for edit in finding.edits if edit.path == path], read) for path in paths)
    return tuple(part for part in parts if part.hunks)


def file_diff(path: str, edits: Sequence[Edit], read: Read) -> FileDiff:
    if edits[0].creates:
        added = (CodeLine(number, bare(text), "+") for number, text in enumerate(LINE.findall(edits[0].new_text), 1))
        return FileDiff(path, (tuple(added),), is_new=True)
    lines = read(path)
    if lines is None or max(edit.span.end for edit in edits) > len(lines.text):
        return FileDiff(path, ())
    return FileDiff(path, tuple(hunks_of(lines, edits)))


def hunks_of(lines: Lines, edits: Sequence[Edit]) -> Iterator[tuple[CodeLine, ...]]:
    """Edits that are near each other are shown as one change."""
    shifts: dict[int, int] = {}
    for first, last, group in by_rows(lines, edits):
        position = lines.position(lines.starts[first])
        shift = shifts.get(position.cell, 0)
        old, new = both_sides(lines, first, last, group)
        yield tuple(signed_lines(old, new, position.line, position.line + shift))
        shifts[position.cell] = shift + len(new) - len(old)


def by_rows(lines: Lines, edits: Sequence[Edit]) -> Iterator[tuple[int, int, list[Edit]]]:
    """The edits in order, those near each other together; with the first and the last row."""
    group: list[Edit] = []
    first = last = -1
    for edit in sorted(set(edits), key=lambda edit: (edit.span, edit.new_text)):
        begin, end = lines.row_of(edit.span.start), lines.row_of(max(edit.span.start, edit.span.end - 1))
        if group and begin > last + 1 + NEAR:
            yield first, last, group
            group = []
        first, last = (first, max(last, end)) if group else (begin, end)
        group.append(edit)
    if group:
        yield first, last, group


def both_sides(lines: Lines, first: int, last: int, edits: Sequence[Edit]) -> tuple[list[str], list[str]]:
    start = lines.starts[first]
    moved = [Edit(edit.path, Span(edit.span.start - start, edit.span.end - start), edit.new_text) for edit in edits]
    old = lines.text[start : lines.row_end(last)]
    return LINE.findall(old), LINE.findall(splice_text(old, moved))


def signed_lines(old: list[str], new: list[str], old_number: int, new_number: int) -> Iterator[CodeLine]:
    """What stays before the first and behind the last change is not shown."""
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for place, (tag, i1, i2, j1, j2) in enumerate(codes):
        if tag == "equal":
            kept = range(i1, i2) if 0 < place < len(codes) - 1 else ()
            yield from (CodeLine(old_number + row, bare(old[row])) for row in kept)
        else:
            yield from (CodeLine(old_number + row, bare(old[row]), "-") for row in range(i1, i2))
            yield from (CodeLine(new_number + row, bare(new[row]), "+") for row in range(j1, j2))


def bare(line: str) -> str:
    return line.rstrip("\r\n")

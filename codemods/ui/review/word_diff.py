"""The difference of two versions of a file in numbered lines, with the words marked that changed within them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby

from fullgraph.codemods.difference import replacements
from fullgraph.codemods.rewrite.diff import hunks, split_lines
from fullgraph.codemods.ui.plain import plain

HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
Mark = tuple[int, int]
"""The first character of a piece of a line, and the one behind it."""


@dataclass(frozen=True)
class Row:
    """A line of a diff. `sign` is a blank, `-`, `+`, or `@` for a gap. Where a side lacks it, that number is 0."""

    sign: str
    text: str = ""
    old: int = 0
    new: int = 0
    marks: tuple[Mark, ...] = ()


def diff_rows(before: bytes | None, after: bytes | None) -> list[Row]:
    """What differs, with the lines around it."""
    rows = numbered(hunks(split_lines(before or b""), split_lines(after or b"")))
    return list(marked(list(rows)))


def shown_line(raw: bytes) -> str:
    """A line as a screen can show it: the diff counts its characters like this, too."""
    return plain(raw.decode(errors="replace").rstrip("\r\n").expandtabs(4))


def numbered(lines: Iterator[bytes]) -> Iterator[Row]:
    old = new = 0
    for number, line in enumerate(lines):
        if found := HEAD.match(line.decode(errors="replace")):
            old, new = int(found[1]), int(found[3])
            if number:
                yield Row("@")
        elif not line.startswith(b"\\"):
            sign, text = chr(line[0]), shown_line(line[1:])
            yield Row(sign, text, old if sign != "+" else 0, new if sign != "-" else 0)
            old, new = old + (sign != "+"), new + (sign != "-")


def marked(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows, where lines give way to others with the words that differ."""
    runs = [(sign, list(run)) for sign, run in groupby(rows, key=lambda row: row.sign)]
    number = 0
    while number < len(runs):
        sign, run = runs[number]
        if sign == "-" and number + 1 < len(runs) and runs[number + 1][0] == "+":
            yield from marked_pair(run, runs[number + 1][1])
            number += 2
        else:
            yield from run
            number += 1


def marked_pair(gone: Sequence[Row], come: Sequence[Row]) -> Iterator[Row]:
    old, new = ("".join(f"{row.text}\n" for row in rows) for rows in (gone, come))
    shift, first, second = 0, [], []
    for span, text in replacements(old, new):
        first.append((span.start, span.end))
        second.append((span.start + shift, span.start + shift + len(text)))
        shift += len(text) - (span.end - span.start)
    yield from with_marks(gone, first)
    yield from with_marks(come, second)


def with_marks(rows: Sequence[Row], pieces: Sequence[Mark]) -> Iterator[Row]:
    """The rows of one text with the pieces of it that differ; a line that is other as a whole needs no marks."""
    starts = accumulate((len(row.text) + 1 for row in rows), initial=0)
    for row, start in zip(rows, starts, strict=False):
        within = ((max(first - start, 0), min(last - start, len(row.text))) for first, last in pieces)
        marks = tuple((first, last) for first, last in within if row.text[max(first, 0) : max(last, 0)].strip())
        is_whole = any(row.text[first:last].strip() == row.text.strip() for first, last in marks)
        yield row if is_whole else replace(row, marks=marks)

"""The change side by side: what was on the left, what it became on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from fullgraph.codemods.ui.verdict.diff import FileDiff, Hunk, Line, Pair, Span, changed_words, read_diff, side_by_side
from fullgraph.codemods.ui.verdict.page.code import Code, code
from fullgraph.validate.model import ChangedPlace, Verdict

UNFOLDED = 160
"""Lines of all files together up to which they are shown without being asked for."""


@dataclass(frozen=True)
class Cell:
    """One line of one side."""

    number: int | None
    kind: str
    code: Code
    has_run: bool
    lacks_newline: bool

    @property
    def names(self) -> str:
        return " ".join(filter(None, ["n", self.kind, "ran" if self.has_run else ""]))


Row = tuple[Cell | None, Cell | None]


@dataclass(frozen=True)
class ShownHunk:
    """Every run of changed lines is a body of its own: where there is no room, the old ones stand above the new."""

    title: str
    bodies: list[tuple[str, list[Row]]]


@dataclass(frozen=True)
class ShownFile:
    name: str
    fate: str
    come: int
    gone: int
    is_open: bool
    hunks: list[ShownHunk]


@dataclass(frozen=True)
class Change:
    files: list[ShownFile]
    has_ran: bool
    places: tuple[ChangedPlace, ...]


def change_of(verdict: Verdict) -> Change:
    shown: list[ShownFile] = []
    lines = 0
    for file in read_diff(verdict.diff):
        lines += sum(len(hunk.lines) for hunk in file.hunks)
        shown.append(show_file(file, verdict, is_open=not shown or lines <= UNFOLDED))
    return Change(shown, bool(shown and (verdict.before.ran or verdict.after.ran)), tuple(verdict.changed))


def show_file(file: FileDiff, verdict: Verdict, is_open: bool) -> ShownFile:
    come, gone = file.counts
    renamed = file.before and file.after and file.before != file.after
    name = f"{file.before} > {file.after}" if renamed else file.path
    fate = "" if file.before and file.after else "new file" if file.after else "file removed"
    ran = [
        lines_of(verdict.before.ran.get(file.before, ())),
        lines_of(verdict.after.ran.get(file.after, ())),
    ]
    return ShownFile(
        name, fate, come, gone, is_open, [show_hunk(hunk, ran, is_python(file.path)) for hunk in file.hunks]
    )


def lines_of(ran: Sequence[int]) -> frozenset[int]:
    return frozenset(map(abs, ran))


def is_python(path: str) -> bool:
    return path.endswith((".py", ".pyi", ".ipynb"))


def show_hunk(hunk: Hunk, ran: Sequence[frozenset[int]], colored: bool) -> ShownHunk:
    title = f"line {hunk.first}" + (f": {hunk.heading}" if hunk.heading else "")
    bodies = [
        ("same" if is_same else "changed", [show_pair(pair, ran, colored) for pair in pairs])
        for is_same, pairs in groupby(side_by_side(hunk), lambda pair: pair[0] is pair[1])
    ]
    return ShownHunk(title, bodies)


def show_pair(pair: Pair, ran: Sequence[frozenset[int]], colored: bool) -> Row:
    old, new = pair
    if old is new and old is not None:
        shown = code(old.text.removesuffix("\r"), (), colored)
        before, after = (Cell(number, "", shown, False, old.lacks_newline) for number in (old.old, old.new))
        return before, after
    texts = [shown_text(line, other) for line, other in ((old, new), (new, old))]
    marks: tuple[Sequence[Span], Sequence[Span]] = changed_words(*texts) if old and new else ((), ())
    first, second = (code(text, spans, colored) for text, spans in zip(texts, marks, strict=True))
    return (
        Cell(old.old, "gone", first, old.old in ran[0], old.lacks_newline) if old else None,
        Cell(new.new, "come", second, new.new in ran[1], new.lacks_newline) if new else None,
    )


def shown_text(line: Line | None, other: Line | None) -> str:
    """The line without its carriage return, unless that is what differs."""
    if line is None:
        return ""
    is_same = other is None or line.text.endswith("\r") == other.text.endswith("\r")
    return line.text.removesuffix("\r") if is_same else line.text

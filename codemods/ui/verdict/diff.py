"""A unified diff read back: which line became which, and which lines stand side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
OCTAL = re.compile(rb"\\([0-7]{3}|.)")
ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}
WORD = re.compile(r"\w+|\s+|[^\w\s]")
ALIKE = 0.5
"""Two lines that share less than this are not the same line changed."""

MANY = 1_000
"""Pairs of lines beyond which no resemblance is looked for, and pairs of words beyond forty times as many."""


@dataclass(frozen=True)
class Line:
    """One line of a hunk with its numbers; a line that only one side has lacks the other's number."""

    text: str
    old: int | None
    new: int | None
    lacks_newline: bool = False


@dataclass(frozen=True)
class Hunk:
    """Lines that stand together. `first`: the number before of the first line that it could say anything about."""

    first: int
    heading: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class FileDiff:
    """What changes in one file; an empty path where the side has no such file."""

    before: str
    after: str
    hunks: tuple[Hunk, ...]

    @property
    def path(self) -> str:
        return self.after or self.before

    @property
    def counts(self) -> tuple[int, int]:
        """Lines that come and lines that go."""
        lines = [line for hunk in self.hunks for line in hunk.lines]
        return sum(line.old is None for line in lines), sum(line.new is None for line in lines)

    def line_after(self, number: int) -> int | None:
        """The number after of a line before; None if it is gone."""
        shift = 0
        for hunk in self.hunks:
            if number < hunk.first:
                break
            for line in hunk.lines:
                if line.old == number:
                    return line.new
                shift += (line.old is None) - (line.new is None)
        return number + shift


def read_diff(text: str) -> list[FileDiff]:
    """The files of a diff. What is no part of a hunk and names no file is passed over."""
    files: list[FileDiff] = []
    before = after = ""
    hunks: list[Hunk] = []
    lines = text.split("\n")
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.startswith("--- ") and lines[place : place + 1] and lines[place].startswith("+++ "):
            before, after = read_path(line), read_path(lines[place])
            hunks = []
            files.append(FileDiff(before, after, ()))
            place += 1
        elif (match := HUNK.match(line)) and files:
            taken = take_hunk(match, lines[place:])
            place += sum(1 + one.lacks_newline for one in taken)
            hunks.append(Hunk(int(match[1]) + (match[2] == "0"), match[5], tuple(taken)))
            files[-1] = FileDiff(before, after, tuple(hunks))
    return files


def read_path(line: str) -> str:
    """`--- a/x.py` names x.py; `/dev/null` names no file; a quoted name is as git quotes it."""
    name = line[4:].rstrip("\r").partition("\t")[0]
    if name.startswith('"') and name.endswith('"') and len(name) > 1:
        raw = OCTAL.sub(unescape, name[1:-1].encode(errors="surrogateescape"))
        name = raw.decode(errors="surrogateescape")
    return "" if name == "/dev/null" else re.sub(r"^[ab]/", "", name)


def unescape(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 8)]) if len(found[1]) == 3 else ESCAPED.get(found[1], found[1])


def take_hunk(match: re.Match[str], lines: Sequence[str]) -> list[Line]:
    """As many lines as the header counts, so that a removed `-- x` is never taken for the name of a file."""
    old, new = int(match[1]), int(match[3])
    old_end, new_end = old + int(match[2] or 1), new + int(match[4] or 1)
    taken: list[Line] = []
    for line in lines:
        if line.startswith("\\"):
            taken[-1:] = [Line(one.text, one.old, one.new, True) for one in taken[-1:]]
            continue
        if old >= old_end and new >= new_end:
            break
        has_old, has_new = not line.startswith("+"), not line.startswith("-")
        taken.append(Line(line[1:], old if has_old else None, new if has_new else None))
        old, new = old + has_old, new + has_new
    return taken


Pair = tuple[Line | None, Line | None]


def side_by_side(hunk: Hunk) -> Iterator[Pair]:
    """The hunk's lines in pairs: a line with what became of it, or with nothing."""
    gone: list[Line] = []
    come: list[Line] = []
    for line in hunk.lines:
        if line.old is not None and line.new is not None:
            yield from aligned(gone, come)
            gone, come = [], []
            yield line, line
        elif line.new is None:
            gone.append(line)
        else:
            come.append(line)
    yield from aligned(gone, come)


def aligned(gone: list[Line], come: list[Line]) -> Iterator[Pair]:
    """Lines that resemble each other stand side by side; what lies between them is paired as it comes."""
    i = j = 0
    for at, to in [*best_matches(gone, come), (len(gone), len(come))]:
        for step in range(max(at - i, to - j)):
            yield (
                gone[i + step] if i + step < at else None,
                come[j + step] if j + step < to else None,
            )
        if at < len(gone):
            yield gone[at], come[to]
        i, j = at + 1, to + 1


def best_matches(gone: list[Line], come: list[Line]) -> list[tuple[int, int]]:
    """The pairs, in order on both sides, that together resemble each other most."""
    if not gone or not come or len(gone) * len(come) > MANY:
        return []
    best: list[list[tuple[float, list[tuple[int, int]]]]] = [[(0.0, [])] * (len(come) + 1)]
    for i, old in enumerate(gone):
        row: list[tuple[float, list[tuple[int, int]]]] = [(0.0, [])]
        for j, new in enumerate(come):
            score = resemblance(old.text, new.text)
            choices = [row[j], best[i][j + 1]]
            if score >= ALIKE:
                choices.append((best[i][j][0] + score, [*best[i][j][1], (i, j)]))
            row.append(max(choices, key=lambda choice: choice[0]))
        best.append(row)
    return best[-1][-1][1]


def resemblance(old: str, new: str) -> float:
    """How much of the words two lines share, whatever their order; 0 where one has none."""
    first, second = (WORD.findall(text[: MANY * 2]) for text in (old, new))
    first, second = ([word for word in words if not word.isspace()] for words in (first, second))
    return SequenceMatcher(None, first, second, autojunk=False).quick_ratio() if first and second else 0.0


Span = tuple[int, int]


def changed_words(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """Where two lines differ, in characters of each; nothing where they have too little in common to tell."""
    first, second = WORD.findall(old), WORD.findall(new)
    if len(first) * len(second) > 40 * MANY:
        return changed_middle(old, new)
    found = SequenceMatcher(None, first, second, autojunk=False)
    if found.ratio() < ALIKE:
        return [], []
    codes = [code for code in found.get_opcodes() if code[0] != "equal"]
    return (
        [spread(first, i1, i2) for _, i1, i2, _, _ in codes if i2 > i1],
        [spread(second, j1, j2) for _, _, _, j1, j2 in codes if j2 > j1],
    )


def spread(words: list[str], start: int, stop: int) -> Span:
    begin = sum(map(len, words[:start]))
    return begin, begin + sum(map(len, words[start:stop]))


def changed_middle(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """For very long lines: all between the common beginning and the common end."""
    room = min(len(old), len(new))
    head = next((n for n in range(room) if old[n] != new[n]), room)
    tail = next((n for n in range(room - head) if old[-1 - n] != new[-1 - n]), room - head)
    return [(head, len(old) - tail)], [(head, len(new) - tail)]

"""A finding for the eye: what is said of it, and its diff. Both reviews show it with these two functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from fullgraph.codemods.model import Finding
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.plan import before_of, splice_all
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.review.word_diff import Row, diff_rows, shown_line
from fullgraph.codemods.ui.view import Badge, View

if TYPE_CHECKING:
    from rich.text import Text

THEME = "ansi_dark"
"""Of the sixteen colours that every terminal has chosen for itself: they are legible on a light background, too."""

SIGNS = {"-": "red", "+": "green"}
WORDS = {"-": "bold white on red", "+": "bold black on green"}
BADGES = {Badge.SAFE: "green", Badge.OBSERVED: "cyan", Badge.UNSAFE: "bold yellow", Badge.LEFT: "dim"}
REMARKS = {"unsafe": "bold yellow"}
"""What is said before all else."""

RULINGS = {"proven": "green", "neutral": "blue", "worse": "yellow", "different": "red", "undecided": "magenta"}
NARROWEST = 8
"""Columns that are left to the code, however narrow the terminal."""


@dataclass(frozen=True)
class Evidence:
    """What is known of a finding beyond its view."""

    about: tuple[str, ...] = ()
    """Where it was asked for."""

    proof: str = ""
    """`proven: 2 breaks less`, what came out when it was proven in the review."""

    why: str = ""


def told(view: View, evidence: Evidence) -> list[Text]:
    """What is said of a finding, the most important first: where there is little room, the end is left out."""
    from rich.text import Text

    title = Text.assemble((view.codemod, "bold cyan"), "  ", badge(view), "  ", (plain(view.symbol), "dim"))
    remarks = [(name, text, REMARKS.get(name, "")) for name, text in view.remarks() if name != "new"]
    named = [
        *(one for one in remarks if one[2]),
        ("proof", evidence.proof, RULINGS.get(evidence.proof.partition(":")[0], "")),
        ("observed", view.cost, "magenta"),
        ("why", evidence.why, "dim"),
        *(one for one in remarks if not one[2]),
    ]
    lines = [Text(plain(view.place), "bold"), title, *(Text(plain(line)) for line in (*evidence.about, view.title))]
    return lines + [Text(f"{name}: {plain(text)}", style) for name, text, style in named if text]


def badge(view: View) -> tuple[str, str]:
    return view.badge.value, BADGES[view.badge]


def diff_text(
    finding: Finding, project: Project, width: int, known: Sequence[Finding] = (), is_printed: bool = False
) -> list[Text]:
    """The diff in lines that fit: the finding's own file, others, new ones; where it is printed, the other way round.

    What is printed is read from the question up. A new file that a finding of `known` creates too is only named.
    """
    from rich.text import Text

    there = {edit for other in known for edit in other.edits if edit.creates}
    lines = []
    if named := sorted(edit.path for edit in finding.edits if edit in there):
        lines.append(Text(f"new, as above: {', '.join(named)}", "dim"))
    rest = replace(finding, edits=tuple(edit for edit in finding.edits if edit not in there))
    before, after = before_of([rest], project), splice_all([rest], project)
    paths = sorted(after, key=lambda path: (before[path] is None, path != finding.path, path))
    for path in reversed(paths) if is_printed else paths:
        title = f"{plain(path)} (new)" if before[path] is None else plain(path)
        lines += [Text(title, "bold"), *file_lines(path, before[path], after[path], width)]
    return lines


def file_lines(path: str, before: bytes | None, after: bytes, width: int) -> Iterator[Text]:
    rows = diff_rows(before, after)
    numbers = len(str(max((max(row.old, row.new) for row in rows), default=0)))
    sides = {"old": highlighted(path, before or b""), "new": highlighted(path, after)}
    for row in rows:
        yield from row_lines(row, sides, numbers, width)


def row_lines(row: Row, sides: Mapping[str, Sequence[Text]], numbers: int, width: int) -> Iterator[Text]:
    """A row below its numbers, cut where the screen ends: the rest stands below it, behind an empty margin."""
    from rich.text import Text

    if row.sign == "@":
        yield Text(f"{'':>{2 * numbers + 1}} ...", "dim")
        return
    text = (sides["new"][row.new - 1] if row.new else sides["old"][row.old - 1]).copy()
    for first, last in row.marks:
        text.stylize(WORDS[row.sign], first, last)
    margin = f"{row.old or '':>{numbers}} {row.new or '':>{numbers}} "
    room = max(width - len(margin) - 2, NARROWEST)
    pieces = text.divide(range(room, len(text), room)) if len(text) > room else [text]
    for number, piece in enumerate(pieces):
        lead, sign = (" " * len(margin), " ") if number else (margin, row.sign)
        yield Text.assemble((lead, "dim"), (f"{sign} ", SIGNS.get(sign, "")), piece)


@lru_cache(maxsize=16)
def highlighted(path: str, raw: bytes) -> list[Text]:
    """All lines of a file, coloured as what they are: a string that goes over lines is one."""
    from rich.syntax import Syntax

    code = "\n".join(shown_line(line) for line in raw.split(b"\n"))
    syntax = Syntax("", "python" if path.endswith((".py", ".pyi")) else "json", theme=THEME)
    shown = syntax.highlight(code)
    return list(shown.split("\n", allow_blank=True))

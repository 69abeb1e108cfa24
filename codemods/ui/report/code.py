"""Code on the screen: numbered lines, the span of a finding underlined, a fix as a small diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.view import CodeLine, FileDiff

if TYPE_CHECKING:
    from rich.text import Text

HEAD, TAIL = 3, 1
"""Lines of a long span that are shown, from its beginning and from its end."""

LONG, SHOWN = 8, 6
"""From how many lines on a hunk is cut, and how many of it are shown then."""

HUNKS = 4
"""Hunks of one file that are shown."""

ROWS = 3
"""Rows that a line of a fix may take."""

BEFORE = 8
"""Columns that are shown before a mark that is far out on the right."""

CUT = "..."
SIGNS = {"+": "green", "-": "red", " ": ""}
ALL = "`fullgraph fix --diff` shows all"
TAB = 4


@dataclass(frozen=True)
class CodeLayout:
    """How wide the numbers are and the screen is, and the style of what is underlined."""

    digits: int
    width: int
    mark: str

    @property
    def room(self) -> int:
        """Columns for code; two more are for the bar beside a span of several lines."""
        return max(self.width - self.digits - 5, 8)

    def gutter(self, number: int | str = "", sign: str = "|", *parts: tuple[str, str] | str) -> Text:
        """A line: its number, its sign, and what stands behind them."""
        from rich.text import Text

        text = Text.assemble((f"{number:>{self.digits}} ", "blue"), (f"{sign} ", SIGNS.get(sign, "blue")), *parts)
        text.rstrip()
        return text

    def cut(self, missing: str = "") -> Text:
        from rich.text import Text

        return Text(f"{CUT} {missing}".rstrip(), "dim")

    def frame(self, lines: Sequence[CodeLine], sign: str = "|") -> Iterator[Text]:
        """The lines of a span; one line is underlined, several have a bar beside them that ends in the underline."""
        if len(lines) == 1:
            [line] = lines
            text = crop(cells_of(line.text), self.first_column(line), self.room)
            yield self.gutter(line.number, sign, (text, SIGNS.get(sign, "")))
            yield self.gutter("", "|", (self.underline(line), self.mark))
            return
        is_long = len(lines) > HEAD + TAIL + 1
        for place, row in enumerate([*lines[:HEAD], *lines[-TAIL:]] if is_long else lines):
            if is_long and place == HEAD:
                yield self.cut()
            bar = "| " if place else "/ "
            yield self.gutter(row.number, "|", (bar, self.mark), crop(cells_of(row.text), 0, self.room))
        yield self.gutter("", "|", ("|" + "_" * min(columns(lines[-1])[1], self.room) + "^", self.mark))

    def underline(self, line: CodeLine) -> str:
        left, right = (column - self.first_column(line) for column in columns(line))
        return " " * left + "^" * max(min(right, self.room) - left, 1)

    def first_column(self, line: CodeLine) -> int:
        """The first column that is shown: 0, unless the mark would not be seen."""
        left, _ = columns(line)
        return 0 if left + 1 < self.room - len(CUT) else left - BEFORE

    def fix(self, parts: Sequence[FileDiff], own: str) -> Iterator[Text]:
        """What changes, in other files and new files behind their names."""
        for part in parts:
            size = f"new, {len(part.hunks[0])} lines" if part.is_new else "as above" if not part.hunks else ""
            if part.path != own or not part.hunks:
                yield self.named(part.path, size)
            if not part.is_new:
                yield from self.hunks(part.hunks)

    def named(self, path: str, about: str) -> Text:
        return self.gutter("", ">", plain(path), (f" ({about})" if about else "", "dim"))

    def hunks(self, hunks: Sequence[Sequence[CodeLine]]) -> Iterator[Text]:
        for place, hunk in enumerate(hunks[:HUNKS]):
            if place:
                yield self.cut()
            yield from self.hunk(hunk)
        if len(hunks) > HUNKS:
            yield self.cut(f"{len(hunks) - HUNKS} more of this file; {ALL}")

    def hunk(self, lines: Sequence[CodeLine]) -> Iterator[Text]:
        shown = lines[:SHOWN] if len(lines) > LONG else lines
        for line in shown:
            first, *rest = folded(cells_of(line.text), self.room)
            yield self.gutter(line.number, line.sign, (first, SIGNS[line.sign]))
            yield from (self.gutter("", " ", (text, SIGNS[line.sign])) for text in rest)
        if shown is not lines:
            yield self.cut(f"{len(lines) - len(shown)} more lines; {ALL}")


def cells_of(text: str) -> str:
    """A line of code as a terminal shows it: tabs as blanks, what it would act on spelt out."""
    return plain(text.expandtabs(TAB))


def columns(line: CodeLine) -> tuple[int, int]:
    """The columns from and up to which a line is marked; wide characters take two."""
    from rich.cells import cell_len

    first, last = line.marked or (0, 0)
    return cell_len(cells_of(line.text[:first])), cell_len(cells_of(line.text[:last]))


def crop(text: str, first: int, room: int) -> str:
    """The columns of a text from the first on that have room; dots where something is missing."""
    from rich.cells import cell_len, set_cell_size

    text = CUT + behind(text, first + len(CUT)) if first else text
    return text if cell_len(text) <= room else set_cell_size(text, max(room - len(CUT), 1)) + CUT


def folded(text: str, room: int) -> list[str]:
    """A line of code in rows that fit, broken at blanks: a fix is shown to its end."""
    from rich.cells import cell_len, chop_cells

    lead = " " * min(len(text) - len(text.lstrip()) + TAB, room // 2)
    rows: list[str] = []
    while cell_len(text) > room and len(rows) < ROWS - 1:
        piece = chop_cells(text, room)[0]
        blank = piece.rfind(" ", len(lead))
        end = blank if blank > 0 else len(piece)
        rows.append(piece[:end])
        text = lead + text[end:].lstrip()
    return [*rows, crop(text, 0, room)]


def behind(text: str, columns: int) -> str:
    """The text without its first columns; half of a wide character is a blank."""
    from rich.cells import cell_len

    for place, character in enumerate(text):
        if columns <= 0:
            return " " * -columns + text[place:]
        columns -= cell_len(character)
    return ""

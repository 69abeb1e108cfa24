"""Notebooks: the code cells as one text, and edits of that text spliced into the file's own JSON literals."""

from __future__ import annotations

import codecs
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from fullgraph.codemods.ipython import blank_cell_magics, read_cell
from fullgraph.codemods.model import Edit, SourceError
from fullgraph.codemods.source import Source, blank_out

SPELLING = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2} | \\u[0-9a-fA-F]{4} | \\. | .", re.VERBOSE | re.DOTALL
)
"""One decoded character as a JSON string spells it."""

NON_ASCII_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])")
SPACED_COLON = re.compile(r'(?<!\\)": ')
NEWLINE = re.compile(r"\r\n|\r|\n")


class Literal(str):
    """A decoded string; `start` and `end` stand at its quotes' inner sides in the JSON text."""

    __slots__ = ("end", "start")
    start: int
    end: int


class PositionalDecoder(json.JSONDecoder):
    """Reads JSON with every string but the keys as a Literal."""

    def __init__(self) -> None:
        super().__init__()
        self.parse_string = read_literal
        self.scan_once = py_make_scanner(self)


def read_literal(text: str, start: int, strict: bool) -> tuple[Literal, int]:
    value, end = scanstring(text, start, strict)
    literal = Literal(value)
    literal.start, literal.end = start, end - 1
    return literal, end


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell. In the source's text it begins at `start` and is followed by a line break, then by an empty line.

    The empty line tells an insertion behind this cell from one before the next. `number` counts all cells from 1.
    """

    number: int
    start: int
    literals: tuple[Literal, ...]
    is_list: bool
    parsed: str | None

    @property
    def text(self) -> str:
        return "".join(self.literals)

    @property
    def lacks_break(self) -> bool:
        """Whether the line break at the end is not in the file: Jupyter writes none there."""
        return not self.text.endswith(("\n", "\r"))

    @property
    def shown(self) -> str:
        return self.text + "\n" * (1 + self.lacks_break)

    @property
    def end(self) -> int:
        return self.start + len(self.shown)


@dataclass(frozen=True, slots=True)
class NotebookSource(Source):
    """A notebook's code cells; `json` is the whole file's text."""

    json: str = ""
    cells: tuple[Cell, ...] = ()

    def splice(self, edits: Iterable[Edit]) -> bytes:
        """The file's bytes with the edits made; only the literals of edited cells change."""
        by_cell: dict[Cell, list[Edit]] = {}
        for edit in sorted(set(edits), key=lambda edit: (edit.span, edit.new_text)):
            by_cell.setdefault(self.cell_of(edit), []).append(edit)
        pieces: list[str] = []
        position = 0
        for cell, inside in by_cell.items():
            pieces += [self.json[position : cell.literals[0].start], self.splice_cell(cell, inside)]
            position = cell.literals[-1].end
        return self.prefix + "".join([*pieces, self.json[position:]]).encode()

    def cell_at(self, offset: int) -> Cell:
        return self.cells[max(0, bisect_right(self.cells, offset, key=lambda cell: cell.start) - 1)]

    def cell_of(self, edit: Edit) -> Cell:
        """The one cell that an edit changes."""
        if not self.cells:
            raise SourceError(self.path, "holds no Python cells")
        cell = self.cell_at(edit.span.start)
        if edit.span.end > cell.end:
            raise SourceError(self.path, f"cell {cell.number}: an edit reaches into the next cell")
        if cell.parsed is None:
            raise SourceError(self.path, f"cell {cell.number}: not valid Python, so it is never edited")
        return cell

    def splice_cell(self, cell: Cell, edits: Sequence[Edit]) -> str:
        """The JSON between the cell's first and last quote, with the edits made."""
        characters = self.spell_cell(cell)
        spliced: list[tuple[str, str]] = []
        position = cell.start
        for edit in edits:
            if edit.span.start < position:
                raise ValueError(f"{edit.path}: edits overlap at character {edit.span.start}")
            spliced += characters[position - cell.start : edit.span.start - cell.start]
            spliced += self.spell(cell, edit.new_text)
            position = edit.span.end
        spliced += characters[position - cell.start :]
        if cell.lacks_break and "".join(spelling for spelling, _ in spliced[-1:]) == r"\n":
            spliced.pop()
        if spliced:
            spliced[-1] = (spliced[-1][0], "")
        result = "".join(spelling + boundary for spelling, boundary in spliced)
        self.check(cell, result)
        return result

    def check(self, cell: Cell, result: str) -> None:
        """Refuse a result that would not be valid Python: alone, such a cell would merely be blanked."""
        new_text = "".join(json.loads(f'["{result}"]'))
        if read_cell(new_text) is None:
            raise SourceError(self.path, f"cell {cell.number}: the result would not be valid Python")

    def spell_cell(self, cell: Cell) -> list[tuple[str, str]]:
        """Each character of a cell as the file spells it, with what stands between it and the next one."""
        spelled: list[tuple[str, str]] = []
        for literal, following in zip(cell.literals, [*cell.literals[1:], None], strict=True):
            spelled += [(spelling, "") for spelling in SPELLING.findall(self.json, literal.start, literal.end)]
            if following is not None:
                spelled[-1] = (spelled[-1][0], self.json[literal.end : following.start])
        if not cell.lacks_break:
            spelled[-1] = (spelled[-1][0], self.boundary(cell))
        return [*spelled, *([(r"\n", self.boundary(cell))] if cell.lacks_break else [])]

    def spell(self, cell: Cell, new_text: str) -> list[tuple[str, str]]:
        """New characters in the file's own manner: escapes or not, one item of the list per line."""
        escapes = self.json.isascii() and bool(NON_ASCII_ESCAPE.search(self.json))
        spelled: list[tuple[str, str]] = []
        for character in new_text:
            is_lone = "\ud800" <= character <= "\udfff"
            spelling = json.dumps(character, ensure_ascii=escapes or is_lone)[1:-1]
            spelled.append((spelling, self.boundary(cell) if character == "\n" else ""))
        return spelled

    def file_offset(self, offset: int) -> int:
        """Where a character of the cells' text stands in the file's own text; what is not in it, behind its cell."""
        if not self.cells:
            return 0
        cell = self.cell_at(offset)
        spelled = self.spell_cell(cell)[: offset - cell.start]
        there = cell.literals[0].start + sum(len(spelling) + len(boundary) for spelling, boundary in spelled)
        return min(there, cell.literals[-1].end)

    def boundary(self, cell: Cell) -> str:
        """What stands between two items of the cell's list, quotes included; nothing if it is no list."""
        if not cell.is_list:
            return ""
        first, *others = cell.literals
        if others:
            return self.json[first.end : others[0].start]
        start = first.start - 1
        while self.json[start - 1].isspace():
            start -= 1
        space = self.json[start : first.start - 1]
        return f'",{space or " " * bool(SPACED_COLON.search(self.json))}"'

    def with_text(self, text: str) -> Source:
        raise SourceError(self.path, "the text of a notebook's cells cannot be replaced as a whole")


@lru_cache(maxsize=8)
def decode_notebook(path: str, raw: bytes) -> NotebookSource:
    """Read a notebook's bytes. A notebook of another language has no text.

    Remembered: whoever tells of findings asks once for each of them.
    """
    prefix = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    try:
        text = raw[len(prefix) :].decode()
        cells = tuple(python_cells(PositionalDecoder().decode(text)))
    except UnicodeDecodeError as error:
        line = 1 + raw.count(b"\n", 0, len(prefix) + error.start)
        raise SourceError(path, f"line {line}: not a notebook: not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise SourceError(path, f"line {error.lineno}: not a notebook: {error.msg}") from error
    except ValueError as error:
        raise SourceError(path, f"line 1: not a notebook: {error}") from error
    except (AttributeError, TypeError, RecursionError) as error:
        raise SourceError(path, "line 1: not a notebook: its parts are not where a notebook has them") from error
    shown = "".join(cell.shown for cell in cells)
    parsed = "".join((cell.parsed or blank_out(cell.text)) + cell.shown[len(cell.text) :] for cell in cells)
    return NotebookSource(path, raw, shown, parsed, prefix=prefix, json=text, cells=cells)


def python_cells(notebook: Any) -> Iterator[Cell]:
    """The code cells that hold something, without those that a magic like `%%bash` takes as another language."""
    if not is_python(notebook.get("metadata") or {}):
        return
    sheets = notebook.get("worksheets") or [notebook]  # format 3 keeps the cells in sheets, and the code as `input`
    start = 0
    for number, cell in enumerate((cell for sheet in sheets for cell in all_cells(sheet)), 1):
        source: Literal | list[Literal] = cell.get("source", cell.get("input", []))
        literals = tuple(literal for literal in ([source] if isinstance(source, Literal) else source) if literal)
        text = "".join(literals)
        if cell.get("cell_type") == "code" and text and blank_cell_magics(text) is not None:
            yield (found := Cell(number, start, literals, isinstance(source, list), read_cell(text)))
            start = found.end


def all_cells(sheet: Any) -> list[Any]:
    cells = sheet.get("cells")
    if not isinstance(cells, list):
        raise ValueError("it has no cells")
    return cells


def is_python(metadata: Any) -> bool:
    """Whether the kernel's language is Python, or not given."""
    kernel, language = metadata.get("kernelspec") or {}, metadata.get("language_info") or {}
    named = [kernel.get("language"), language.get("name")]
    languages = [str(name).lower() for name in named if name]
    return not languages or any("python" in language for language in languages)


def place(source: Source, offset: int) -> tuple[int, int] | None:
    """The cell, counted from 1 among all cells, and the line in it; None for what is not a notebook."""
    if not isinstance(source, NotebookSource) or not source.cells:
        return None
    cell = source.cell_at(offset)
    before = cell.text[: max(0, offset - cell.start)]
    return cell.number, 1 + len(NEWLINE.findall(before))

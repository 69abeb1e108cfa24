"""Text with styles in lines that fit a width, through rich. It is imported where something is shown, not before."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.terminal import READABLE, apart, together

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

NARROWEST = 20
PIPE = 100
"""The width where nobody says how wide it is."""

NOT_TEXT = "".join(map(chr, range(0xDC80, 0xDD00)))
"""Bytes of a name that is no text, as Python holds them; they are shown as they are."""


@dataclass(frozen=True)
class Screen:
    """Where something is shown: how wide it is, and whether it has colours."""

    width: int
    color: bool

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        return Console(
            file=io.StringIO(),
            width=self.width,
            force_terminal=self.color,
            color_system="standard" if self.color else None,
            legacy_windows=False,
            highlight=False,
            markup=False,
            emoji=False,
        )

    @property
    def prose(self) -> int:
        """How long a line of prose may be."""
        return min(self.width, READABLE)

    def wrap(self, text: Text, indent: int = 0, hang: int | None = None) -> Iterator[Text]:
        """A paragraph in lines, by words; those after the first are indented by `hang`."""
        from rich.text import Text

        hang = indent if hang is None else hang
        hang = hang if self.prose - hang >= NARROWEST else 0
        text.plain = apart(text.plain)
        lines = iter(text.wrap(self.console, max(self.prose - max(indent, hang), NARROWEST)))
        for line, lead in zip(lines, first_then(indent, hang), strict=False):
            line.rstrip()
            line.plain = together(line.plain)
            yield Text(" " * lead).append_text(line)

    def show(self, renderable: RenderableType) -> str:
        """As it goes to a stream, in letters that standard output has."""
        with self.console.capture() as capture:
            self.console.print(renderable, soft_wrap=True)
        return encodable(capture.get())


def first_then(first: int, rest: int) -> Iterator[int]:
    yield first
    while True:
        yield rest


def screen(color: bool) -> Screen:
    """Standard output, as wide as the terminal or COLUMNS says."""
    return Screen(max(shutil.get_terminal_size((PIPE, 24)).columns, NARROWEST), color)


def joined(lines: Iterable[Text]) -> Text:
    from rich.text import Text

    return Text("\n", no_wrap=True).join(lines)


def encodable(text: str) -> str:
    """What standard output cannot write becomes an escape; bytes of names that are no text stay."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding, "surrogateescape")
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


def on_one_line(text: str) -> str:
    """What names and code hold cannot be taken for a line of ours, nor for a command to whoever reads the log."""
    return plain(text, keep=NOT_TEXT)

"""Where the review is drawn: one finding at a time on a screen of its own, which is gone when the review is over.

On a terminal that cannot move its cursor, everything is printed once, below what was there.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

KEY = re.compile(r"\S  ")
FEWEST = 5
"""Lines of the diff that are shown, however much is said above it."""


class Frame:
    """`offset` is the line at which the body is shown; it is kept within the body."""

    def __init__(self, color: bool) -> None:
        from rich.console import Console

        self.console = Console(
            color_system="standard" if color else None, force_terminal=color or None, highlight=False
        )
        self.is_screen = not is_dumb()
        self.offset = 0
        self.room = FEWEST
        self._printed: object = None

    @property
    def width(self) -> int:
        from rich.console import ConsoleDimensions

        if not self.is_screen:
            self.console.size = ConsoleDimensions(*shutil.get_terminal_size())  # rich takes it for 80 columns wide
        return self.console.width

    @contextmanager
    def open(self) -> Iterator[None]:
        """Inside, the screen belongs to the review. What was on it before comes back."""
        if not self.is_screen:
            yield
            click.echo()
            return
        self.enter()
        try:
            yield
        finally:
            self.leave()

    def enter(self) -> None:
        if self.is_screen:
            write_now("\x1b[?1049h\x1b[H\x1b[2J")

    def leave(self) -> None:
        if self.is_screen:
            write_now("\x1b[?1049l")

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Inside, the screen belongs to another program."""
        self.leave()
        try:
            yield
        finally:
            self.enter()

    def draw(self, head: Sequence[Text], body: Sequence[Text], said: Sequence[Text]) -> None:
        """All of it; the question comes behind. Where the body is too long, the part at `offset`."""
        above, shown, below = self._wrapped(head), self._wrapped(body), self._wrapped(said)
        if self.is_screen:
            write_now("\x1b[H\x1b[2J")
            self._print(self._page(above, shown, below))
            return
        fresh = [str(line) for line in shown]
        if fresh != self._printed:
            blank = self._wrapped([""])
            self._print([*blank, *above, *blank, *shown])
            self._printed = fresh
        self._print(below)

    def turn(self, pages: int) -> None:
        """Go on by so many pages; a line of the last one stays in view."""
        self.offset += pages * max(self.room - 1, 1)

    def _page(self, head: list[Text], body: list[Text], said: list[Text]) -> list[Text]:
        """As much as the screen holds: the head gives way to a few lines of the body, and is cut at its end."""
        from rich.text import Text

        height = self.console.height - 2  # the question may take two lines
        below = said[:height]
        above = clipped(head, max(height - len(below) - min(len(body), FEWEST) - 1, 1))
        self.room = max(height - len(above) - len(below) - 1, 1)
        self.offset = max(0, min(self.offset, len(body) - self.room))
        shown = body[self.offset : self.offset + self.room]
        where = f" lines {self.offset + 1}-{self.offset + len(shown)} of {len(body)}, space: more, b: back "
        rule = Text(where[: self.width], "reverse") if len(body) > self.room else Text()
        return [*above, rule, *shown, *below]

    def _wrapped(self, lines: Sequence[Text | str]) -> list[Text]:
        """The lines, those that are too long by words in several; these are indented as far as the first word is."""
        return [part for line in lines for part in fitted(line, self.console)]

    def _print(self, lines: Sequence[Text]) -> None:
        for line in lines:
            self.console.print(line, no_wrap=True, overflow="ignore", crop=False)


def clipped(lines: list[Text], room: int) -> list[Text]:
    from rich.text import Text

    return lines if len(lines) <= room else [*lines[: room - 1], Text("...", "dim")]


def fitted(line: Text | str, console: Console) -> list[Text]:
    """A line, by words in several where it is too long. Behind a key and two blanks, they are indented."""
    from rich.text import Text

    text = Text(line) if isinstance(line, str) else line
    if text.cell_len <= console.width:
        return [text]
    lead = KEY.match(text.plain)
    indent = len(lead[0]) if lead else 0
    first, *rest = text.wrap(console, console.width)
    if indent:
        rest = list(text[len(first) :].wrap(console, console.width - indent))
    return [first, *(Text(" " * indent) + part for part in rest)]


def write_now(text: str) -> None:
    """Past the buffer, which is empty after each line that is printed: a signal handler may call this."""
    os.write(sys.stdout.fileno(), text.encode())


def is_dumb() -> bool:
    """Windows names no terminal, and its own can move the cursor."""
    return sys.platform != "win32" and os.environ.get("TERM", "dumb") in ("", "dumb", "unknown")

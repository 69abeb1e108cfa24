"""How far a scan is, how fast it goes, and when it will be done."""

from __future__ import annotations

import shutil
import sys
import time

import click

from fullgraph.codemods.ui.terminal import is_terminal

BLINK = 0.4
"""Seconds that a scan may take without a bar."""

TICK = 0.1
WIDEST = 40


class ProgressBar:
    """`[####----] 1200/2285 files  431/s  0:07 left` on standard error, and only on a terminal.

    Files are counted for the eye. The time that is left is told by bytes, because the biggest files come first. What
    the first call tells was known before, and says nothing about the speed.
    """

    def __init__(self, files: int, size: int, quiet: bool) -> None:
        self.files = files
        self.size = size
        self.is_shown = not quiet and is_terminal(sys.stderr)
        self.done = self.done_size = 0
        self.known = self.known_size = 0
        self.began = 0.0
        self.next_time = 0.0
        self.shown = 0

    def __call__(self, files: int, size: int) -> None:
        now = time.monotonic()
        self.done += files
        self.done_size += size
        if not self.began:
            self.known, self.known_size, self.began = files, size, now
            self.next_time = now + BLINK
        elif self.is_shown and now >= self.next_time:
            self.next_time = now + TICK
            self._draw(self.text(now - self.began, shutil.get_terminal_size().columns - 1))

    def finish(self) -> None:
        """Take the bar away."""
        if self.shown:
            self._draw("")
            click.echo("\r", nl=False, err=True)
        self.shown = 0

    def text(self, seconds: float, width: int) -> str:
        """The line after so many seconds, in so many columns: the bar gives way first."""
        speed = (self.done - self.known) / max(seconds, 1e-3)
        counted = f"{self.done}/{self.files} files  {speed:.0f}/s{self._left(seconds)}"
        room = min(width - len(counted) - 3, WIDEST)
        full = round(room * self.done_size / max(self.size, 1))
        return f"[{'#' * full}{'-' * (room - full)}] {counted}" if room >= 8 else counted[:width]

    def _left(self, seconds: float) -> str:
        fresh = self.done_size - self.known_size
        if not fresh:
            return ""
        minutes, rest = divmod(round(seconds * (self.size - self.done_size) / fresh), 60)
        hours, minutes = divmod(minutes, 60)
        return f"  {hours}:{minutes:02}:{rest:02} left" if hours else f"  {minutes}:{rest:02} left"

    def _draw(self, text: str) -> None:
        click.echo(f"\r{text.ljust(self.shown)}", nl=False, err=True)
        self.shown = len(text)

"""What only a terminal gets: colours and a progress line."""

from __future__ import annotations

import os
import sys
import time

import click

SIGNS = {b"+": "green", b"-": "red", b"@": "cyan"}


def use_color(wanted: str) -> bool:
    """`--color`, then NO_COLOR and FORCE_COLOR, then whether standard output is a terminal."""
    if wanted != "auto":
        return wanted == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def paint(text: str, color: bool, **style: object) -> str:
    return click.style(text, **style) if color else text  # type: ignore[arg-type]


def paint_patch(patch: bytes, color: bool) -> str:
    """A patch for the eye; bytes that are not UTF-8 are shown as marks."""
    if not color:
        return patch.decode(errors="replace")
    return "".join(paint_line(line) for line in patch.splitlines(keepends=True))


def paint_line(line: bytes) -> str:
    text = line.decode(errors="replace")
    if line.startswith((b"--- ", b"+++ ")):
        return click.style(text, bold=True)
    color = SIGNS.get(line[:1])
    return click.style(text, fg=color) if color else text


class ProgressLine:
    """`1200/2285 files` on standard error, once a scan takes longer than a blink, and only on a terminal."""

    def __init__(self, total: int, quiet: bool) -> None:
        self.total = total
        self.done = 0
        self.is_shown = not quiet and sys.stderr.isatty()
        self.next_time = time.monotonic() + 0.4
        self.was_shown = False

    def __call__(self, files: int) -> None:
        self.done += files
        if self.is_shown and time.monotonic() >= self.next_time:
            self.next_time = time.monotonic() + 0.1
            self.was_shown = True
            click.echo(f"\r{self.done}/{self.total} files", nl=False, err=True)

    def finish(self) -> None:
        if self.was_shown:
            click.echo("\r\x1b[K", nl=False, err=True)

"""What only a terminal gets: colours, text that fits the width."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from typing import TextIO

import click

SIGNS = {b"+": "green", b"-": "red", b"@": "cyan"}
COMMAND = re.compile("`fullgraph [^`]*`")
JOINT = "\ue000"
READABLE = 100
"""Characters beyond which a line of prose is no longer easy to read, however wide the terminal."""


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is a terminal; one that was closed (`>&-`) is none."""
    return stream is not None and not stream.closed and stream.isatty()


def use_color(wanted: str) -> bool:
    """`--color`, then NO_COLOR and FORCE_COLOR, then whether standard output is a terminal that has colours."""
    if wanted != "auto":
        return wanted == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb")


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


def wrap(text: str, indent: str = "  ") -> str:
    """Prose in lines that fit the terminal; the lines after the first are indented. Commands stay in one piece."""
    width = max(min(shutil.get_terminal_size().columns, READABLE), 20)
    return together(
        textwrap.fill(apart(text), width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    )


def apart(text: str) -> str:
    """The text with something else for the blanks of commands, which nobody should have to copy from two lines."""
    return COMMAND.sub(lambda found: found[0].replace(" ", JOINT), text)


def together(text: str) -> str:
    return text.replace(JOINT, " ")

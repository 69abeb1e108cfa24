"""Plain text as Markdown that shows it, and nothing else."""

from __future__ import annotations

import re

MARKS = re.compile(r"([*_<\[\]])")


def escape(text: str) -> str:
    """Plain text in which only what stands in backticks is code, and nothing else is a mark."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else MARKS.sub(r"\\\1", piece) for piece in pieces)


def cell(text: str) -> str:
    return text.replace("|", r"\|")

"""Every page of the documentation, and what it links to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "editors").glob("*/README.md")])
FENCE = re.compile(r"^(`{3,})(\w*)[^\n]*\n(.*?)^\1$", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The fenced blocks of a page in their order: language and text."""
    for match in FENCE.finditer(page.read_text()):
        yield match[2], match[3]


def links(page: Path) -> Iterator[str]:
    """Where the links and pictures of a page lead."""
    prose = re.sub(r"`[^`\n]*`", "`", FENCE.sub("", page.read_text()))
    yield from re.findall(r"\]\(([^()\s]+)\)", prose)
    yield from re.findall(r'<(?:img|a|source)\b[^>]*?\b(?:src|srcset|href)="([^"]+)"', prose)


def anchors(page: Path) -> set[str]:
    """The names that the headings of a page get: lower case, without marks, a hyphen for a blank."""
    heads = re.findall(r"(?m)^#+ (.+)$", FENCE.sub("", page.read_text()))
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).lower() for head in heads]
    return {re.sub(r"[^\w\- ]", "", head).strip().replace(" ", "-") for head in plain}

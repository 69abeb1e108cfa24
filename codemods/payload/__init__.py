"""What codemods write into a user's project as a whole: a file each, as it stands there, with tests of its own."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
NAMED = re.compile(rb"(?m)^# payload: (\w+\.py)$")


def payload(name: str) -> str:
    """The text of a file of this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


def body_of(name: str) -> str:
    """What is written of a file that goes into another one: all below its import of torch."""
    return payload(name).partition("\nimport torch\n")[2].strip()


def filled_in(raw: bytes) -> bytes:
    """A text with files of this folder in the place of lines that name them, as those of fixtures do."""
    return NAMED.sub(lambda named: body_of(named[1].decode()).encode(), raw)

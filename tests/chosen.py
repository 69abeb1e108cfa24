"""What is looked at again although the answer is known: a tenth, another one with every commit."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS = 10


@cache
def commit() -> str:
    """The commit that is checked out; in a tree without git's history there is one tenth only."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def is_chosen(name: str, chosen_by: str | None = None) -> bool:
    """Whether something of this name is in the tenth of a commit: by default of the one that is checked out."""
    by = commit() if chosen_by is None else chosen_by
    return int.from_bytes(hashlib.sha256(f"{by} {name}".encode()).digest()[:4], "big") % PARTS == 0

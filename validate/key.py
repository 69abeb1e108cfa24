"""A proof without times is a pure function of bytes: whoever has the same key has the same verdict."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def key_of(sides: Iterable[Mapping[str, bytes | None]], scenario: bytes, told: Mapping[str, Any]) -> str:
    """The bytes of both sides and of the scenario, the validator's own code, and what else is `told` as plain values.

    That is the torch and the Python that run it, how it is run, and what may change on purpose.
    """
    digest = hashlib.sha256(validator().encode())
    digest.update(json.dumps(told, sort_keys=True).encode())
    for files in ({"scenario": scenario}, *sides):
        digest.update(b"\1")
        for path, data in sorted(files.items()):
            digest.update(f"{path}\0{-1 if data is None else len(data)}\0".encode() + (data or b""))
    return digest.hexdigest()


@cache
def validator() -> str:
    """The code that proves: every file of this package, by path and content."""
    return fingerprint(FOLDER)


def fingerprint(folder: Path) -> str:
    """A folder's files, whatever they are, without byte code."""
    digest = hashlib.sha256()
    files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    for path in sorted(path for path in files if "__pycache__" not in path):
        data = files[path].read_bytes()
        digest.update(f"{path}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()

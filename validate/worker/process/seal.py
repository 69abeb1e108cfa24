"""Answers carry a seal that only the controller and the worker's own code can make.

The key comes by the pipe of requests and is read before any user code is imported. It is in no variable of the
environment, no argument and no file, and a seal counts for one answer only.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b, sha256

from .own import open_file

Seal = Callable[[int, str], str]
"""From the number of an answer and its text to its seal."""


def sealer(key: str) -> Seal:
    keyed = blake2b(key=bytes.fromhex(key.strip()), digest_size=32)

    def seal(number: int, body: str) -> str:
        one = keyed.copy()
        one.update(f"{number} {body}".encode())
        return one.hexdigest()

    return seal


def digest_file(path: str) -> str:
    """What binds a file of records to the answer that names it."""
    told = sha256()
    with open_file(path, "rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            told.update(part)
    return told.hexdigest()

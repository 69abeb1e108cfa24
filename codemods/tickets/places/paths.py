"""Which file of the project a ticket means by a path. Only names are compared: nothing on disk is asked.

So a path that leads out of the project, or to another machine, can mean a file of the project or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

WHOLE, BARE, RENAMED, NAME_ONLY = 1.0, 0.95, 0.8, 0.4
MOST = 20
"""Candidates of one path that are looked at."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that a path may mean. One that has only its name in common must be confirmed by what is in it."""

    path: str
    score: float
    how: str

    @property
    def is_doubtful(self) -> bool:
        return self.score <= NAME_ONLY


def parts_of(written: str) -> tuple[str, ...]:
    """The steps of a path, however it is written: Windows', URLs, `./`, `../`, `~/`, drives."""
    path = re.sub(r"^file://(?:localhost)?", "", written.strip()).replace("\\", "/")
    path = re.sub(r"^[A-Za-z]:(?=/)", "", path)
    return tuple(part for part in path.split("/") if part not in ("", ".", "..", "~"))


def find_files(written: str, files: Sequence[str]) -> list[Candidate]:
    """The project's files with the longest end in common with a path, all of them if they are equally good."""
    parts = parts_of(written)
    if not parts:
        return []
    last = parts[-1].casefold()
    rated = [
        (common_end(parts, tuple(file.split("/"))), file)
        for file in files
        if file.rpartition("/")[2].casefold() == last
    ]
    longest = max((length for length, _ in rated), default=0)
    best = [file for length, file in rated if length == longest]
    exact = [file for file in best if file.split("/") == list(parts)] or best
    return [candidate(written, parts, file, longest) for file in exact[:MOST]]


def common_end(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    length = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine.casefold() != theirs.casefold():
            break
        length += 1
    return length


def candidate(written: str, parts: tuple[str, ...], file: str, length: int) -> Candidate:
    if file == written:
        return Candidate(file, WHOLE, "the path as written")
    end = "/".join(parts[-length:])
    if length == len(file.split("/")):
        return Candidate(file, WHOLE, f"the end of the path, {end}")
    if length == len(parts):
        return Candidate(file, BARE, f"the file that ends in {end}")
    if length > 1:
        return Candidate(file, RENAMED, f"the end of the path, {end}, in another folder")
    return Candidate(file, NAME_ONLY, f"the name {end} alone")

"""Three versions of a file into one: what was done since stays, and one earlier step is taken out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Conflict:
    """Lines of a file, as it is now, that were edited both by the run and since.

    Without lines: the file as a whole would have to go or to come. It has been edited or made by somebody since, or is
    still imported where `needed` says.
    """

    path: str
    first: int = 0
    last: int = 0
    needed: str = ""

    @property
    def is_whole(self) -> bool:
        return not self.first

    def __str__(self) -> str:
        if self.is_whole:
            return self.path
        return f"{self.path}:{self.first}" + (f"-{self.last}" if self.last > self.first else "")


def merge(
    path: str, base: bytes | None, current: bytes | None, wanted: bytes | None
) -> tuple[bytes | None, list[Conflict]]:
    """The current bytes with the step from `base` to `wanted` made in them, and the places where that cannot be.

    None is no file there. One that would have to come or go, and is not what it was, stays as it is.
    """
    if current in (base, wanted):
        return wanted, []
    if base is None or current is None or wanted is None:
        return current, [Conflict(path)]
    return merge_lines(path, base, current, wanted)


def merge_lines(path: str, base: bytes, current: bytes, wanted: bytes) -> tuple[bytes, list[Conflict]]:
    from merge3 import Merge3

    old, mine, theirs = (data.splitlines(keepends=True) for data in (base, current, wanted))
    merged: list[bytes] = []
    conflicts: list[Conflict] = []
    for kind, *region in Merge3(old, mine, theirs).merge_regions():
        if kind == "conflict":
            _, _, start, stop, their_start, their_stop = region
            conflicts.append(Conflict(path, start + 1, max(start + 1, stop)))
            versions = mine[start:stop], theirs[their_start:their_stop]
            merged += with_markers(*versions, line_ending([*versions[0], *versions[1], *mine]))
        else:
            lines = {"unchanged": old, "a": mine, "same": mine, "b": theirs}[kind]
            merged += lines[region[0] : region[1]]
    return b"".join(merged), conflicts


def line_ending(lines: list[bytes]) -> bytes:
    """What ends the first of these lines that ends; the last line of a file need not."""
    ended = next((line for line in lines if line.endswith((b"\n", b"\r"))), b"")
    return b"\r\n" if ended.endswith(b"\r\n") else b"\n"


def with_markers(mine: list[bytes], theirs: list[bytes], newline: bytes) -> list[bytes]:
    """Both versions, marked as git marks them."""

    def whole(lines: list[bytes]) -> list[bytes]:
        return [line if line.endswith((b"\n", b"\r")) else line + newline for line in lines]

    marks = [mark + newline for mark in (b"<<<<<<< now", b"=======", b">>>>>>> undone")]
    return [marks[0], *whole(mine), marks[1], *whole(theirs), marks[2]]

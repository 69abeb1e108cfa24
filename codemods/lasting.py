"""Answers about a project that outlive the process: each is kept with its grounds, and given while these are the same.

The grounds are texts, not times: an unsaved buffer counts as what it holds, and a file that only looks new is no news.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol, TypeVar

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.project import Project

ANSWER = TypeVar("ANSWER")
Note = Callable[[str, bytes], str]
"""All that an answer takes from a file that it does not parse, by the file's path and bytes."""


class Shelf(Protocol):
    """Where answers are kept, several under one name. One that cannot be read is not there."""

    def get(self, what: str) -> Iterable[Any]: ...
    def put(self, what: str, held: Any) -> None: ...


def lasting(project: Project, what: str, work_out: Callable[[], ANSWER], note: Note) -> ANSWER:
    """An answer in JSON's values, from the project's shelf if it has one that still holds."""
    shelf: Shelf | None = project.shelf
    if shelf is None:
        return work_out()
    for held in shelf.get(what):
        if holds(project, held, note):
            answer: ANSWER = held["answer"]
            return answer
    answer = work_out()
    parsed = sorted(project.given)
    shelf.put(what, {"parsed": parsed, "grounds": grounds(project, parsed, note), "answer": answer})
    return answer


def holds(project: Project, held: Any, note: Note) -> bool:
    """Whether an answer would be the same today; what somebody else has put there holds nothing."""
    try:
        return bool(held["grounds"] == grounds(project, held["parsed"], note)) and "answer" in held
    except (LookupError, TypeError, ValueError):
        return False


def grounds(project: Project, parsed: Iterable[str], note: Note) -> str:
    """A digest of all that an answer rests on: which files there are, a note of each, and every text that was parsed.

    Of a file that this project has parsed, that very text counts: on the disk there may be another one by now.
    """
    return digest("\n".join(lines(project, parsed, note)).encode(errors="surrogateescape"))


def lines(project: Project, parsed: Iterable[str], note: Note) -> Iterator[str]:
    for path in project.files:
        yield f"{path}\0{project.module_name(path)}"
    for path, raw in project.texts():
        if said := project.noted(note.__name__, path, raw, partial(note, path)):
            yield f"{path}\0{said}"
    for path in parsed:
        yield f"{path}\0{text_digest(project, path)}"


def text_digest(project: Project, path: str) -> str:
    try:
        raw = project.given[path] if path in project.given else project.read(path)
    except SourceError:
        return ""
    return project.noted("digest", path, raw, digest)


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:32]

"""The values that travel between the steps: all frozen, none of them knows a file system or a tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters `start` up to, not including, `end` of one file's text."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether the two cannot both be replaced. Insertions at one point, or at an edge, do not overlap."""
        return self.start < other.end and other.start < self.end

    def covers(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the characters of `span` in the file `path` (relative to the project's root) by `new_text`.

    One that `creates` makes the file, with this text and nothing else: it is for a path where there is none.
    """

    path: str
    span: Span
    new_text: str
    creates: bool = False

    def clashes(self, other: Edit) -> bool:
        """Whether the two cannot be applied together. The same edit asked for twice is one edit."""
        is_whole = self.creates or other.creates
        return self.path == other.path and self != other and (is_whole or self.span.overlaps(other.span))


ADD_IGNORE = "add_ignore"
"""What a finding is named by that writes a comment in the place of a rewrite, so that nobody is told of it again."""


class Safety(Enum):
    """SAFE keeps what the program does. UNSAFE may not: the finding's `caveat` says when."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Since:
    """A name of torch that a new text uses, and the first version that has it."""

    name: str
    version: str


COMPILING_SINCE = Since("torch.compiler.is_compiling", "2.3")


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that a codemod would change, with all the edits that belong together, over any number of files.

    A finding without edits is left alone, and `left_alone` says why. Lines and columns are for people, and count
    from 1. `key` survives edits elsewhere in the file.
    """

    codemod: str
    path: str
    span: Span
    symbol: str
    message: str
    edits: tuple[Edit, ...] = ()
    safety: Safety = Safety.SAFE
    caveat: str = ""
    left_alone: str = ""
    notes: tuple[str, ...] = ()
    line: int = 0
    column: int = 0
    last_line: int = 0
    key: str = ""
    ticket: str = ""
    since: Since | None = None
    """What the edits need of torch, until it is settled whether the project's torch has it."""

    @property
    def is_fixable(self) -> bool:
        return bool(self.edits)

    @property
    def is_ignored(self) -> bool:
        """Whether all that it writes is the comment that silences it."""
        return self.codemod == ADD_IGNORE

    def clashes(self, other: Finding) -> bool:
        return any(mine.clashes(theirs) for mine in self.edits for theirs in other.edits)

    def paths(self) -> list[str]:
        """Every file that the edits touch, the finding's own first."""
        touched = {edit.path for edit in self.edits}
        return sorted(touched, key=lambda path: (path != self.path, path))

    def created(self) -> list[str]:
        """Every file that the edits create."""
        return sorted({edit.path for edit in self.edits if edit.creates})


@dataclass(frozen=True, slots=True)
class Change:
    """What a set of findings does to the bytes of a project; None is no file there.

    `left_out` pairs each refused finding with the reason.
    """

    before: Mapping[str, bytes | None] = field(default_factory=dict)
    after: Mapping[str, bytes | None] = field(default_factory=dict)
    applied: tuple[Finding, ...] = ()
    left_out: tuple[tuple[Finding, str], ...] = ()

    @property
    def written(self) -> dict[str, bytes]:
        """The files that are there afterwards."""
        return {path: data for path, data in self.after.items() if data is not None}


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A line on which torch was seen to break a graph; `id` is torch's own name for the kind of break, as GB0170.

    `guards`: where torch gave up compiling a function again, all that had it do so.
    """

    path: str
    line: int
    id: str = ""
    guards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Purpose:
    """Something that a rewrite changes on purpose.

    `warning`: new ones, whose whole text matches the pattern. `lost warning`: such ones that are no longer given.
    `keys`: dicts at paths that match have other keys, and the same values in the same order. `exception`: compiled code
    raises another one, where `ValueError: text > RuntimeError: text` of the two matches. `uncompiled`: what
    the pattern names in words leaves the graphs. `tested`: functions whose qualified names match are run by tests of
    their own, so that a proof need not see all of them.
    """

    kind: str
    pattern: str
    why: str


class FullgraphError(Exception):
    """Something the user can act on; its text is the whole message."""


class Unsure(Exception):  # noqa: N818 - it is an answer, not an error
    """Raised inside a codemod by whatever cannot see every use; its text becomes the finding's `left_alone`."""


class SourceError(FullgraphError):
    """A file that cannot be read as Python. `path` is not part of the message."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[type[SourceError], tuple[str, str]]:
        return SourceError, (self.path, self.reason)

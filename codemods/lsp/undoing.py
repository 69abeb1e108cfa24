"""Undo as a command: first what code actions of this session changed, then what the journal holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fullgraph.codemods.lsp.fixing import Fixed
from fullgraph.codemods.lsp.projects import LiveProject
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.merge import Conflict, merge
from fullgraph.codemods.rewrite.undo import undo
from fullgraph.codemods.ui.history import files_text, standing

KEPT = 50
"""How many changes are remembered, of those offered and of those made."""


@dataclass
class Memory:
    """What was offered to the client, and what of it the client has said to have made."""

    offered: dict[str, tuple[Path, Fixed]] = field(default_factory=dict)
    made: list[tuple[Path, Fixed]] = field(default_factory=list)
    _count: int = 0

    def offer(self, root: Path, fixed: Fixed) -> str:
        """Keep a change in mind; the name that the client gives back when it has made it."""
        self._count += 1
        self.offered[str(self._count)] = root, fixed
        while len(self.offered) > KEPT:
            self.offered.pop(next(iter(self.offered)))
        return str(self._count)

    def note_made(self, name: str) -> None:
        if found := self.offered.pop(name, None):
            self.made = [*self.made, found][-KEPT:]

    def last(self, root: Path | None) -> tuple[Path, Fixed] | None:
        """What was made last, in one project or in any."""
        return next((one for one in reversed(self.made) if root in (None, one[0])), None)


def step_back(fixed: Fixed, live: LiveProject, buffers: Mapping[str, bytes]) -> Fixed:
    """The change that takes another one back, with what was typed since kept; a collision is an error."""
    project = live.laid_over(buffers)
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    conflicts: list[Conflict] = []
    for path, left in fixed.after.items():
        now = project.read(path) if project.has_file(path) else None
        wanted, found = merge(path, left, now, fixed.before[path])
        conflicts += found
        if wanted != now:
            before[path], after[path] = now, wanted
    if conflicts:
        raise FullgraphError(f"edited since, so nothing was taken back: {', '.join(map(str, conflicts))}")
    return Fixed(before, after, rounds=2)


def undo_on_disk(root: Path, buffers: Mapping[str, bytes]) -> str:
    """Take back what the last command wrote, as `fullgraph undo` does; what was done, in words."""
    journal = Journal(root)
    journal.recover()
    names = standing(journal, everything=False)
    paths = {path for name in names for path in journal.run(int(name)).paths}
    if unsaved := sorted(path for path in paths & buffers.keys() if not is_saved(root / path, buffers[path])):
        raise FullgraphError(f"save {', '.join(unsaved)} first: undo works on the files")
    run = undo(journal, names)
    return f"Took back run {', '.join(names)} {files_text(run)}."


def is_saved(file: Path, raw: bytes) -> bool:
    return file.is_file() and file.read_bytes() == raw

"""Processes that look at files. One that dies or hangs costs the file that it was at, and no other."""

from __future__ import annotations

import gc
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection, wait
from pathlib import Path

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.lasting import Shelf
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.asking import SLACK, Asked, ask_in_turn, fatal, late

GRACE = 3.0
"""Seconds beyond its time that a process gets to give up by itself, before it is ended."""


class Member:
    """One process of the crew. It answers about its files one by one, in the order in which it got them."""

    def __init__(self, project: Project, codemods: Sequence[Codemod], limit: float) -> None:
        self.limit = limit
        self.paths: deque[str] = deque()
        self.is_up = False
        self.since = 0.0
        self.connection, theirs = Pipe()
        given = theirs, self.connection, project.root, project.files, project.shelf, codemods, limit
        self.process = Process(target=serve, args=given, daemon=True)
        self.process.start()
        theirs.close()

    def give(self, paths: Iterable[str]) -> None:
        self.paths.extend(paths)
        self.since = time.monotonic()
        with suppress(OSError):  # a dead process is told by `take`
            self.connection.send(list(self.paths))

    def take(self) -> Iterator[Asked]:
        """What it has to say: first that it is up, then an answer. Raises EOFError if it is dead."""
        said: Asked | None = self.connection.recv()
        self.since = time.monotonic()
        self.is_up = True
        if said:
            self.paths.popleft()
            yield said

    @property
    def left(self) -> float:
        """Seconds that the file has which it is at."""
        return max(self.since + SLACK * self.limit + GRACE - time.monotonic(), 0.0)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


class Crew:
    """So many processes, and the files that they have not answered about yet."""

    def __init__(
        self, size: int, project: Project, codemods: Sequence[Codemod], chunks: Iterable[Sequence[str]], limit: float
    ) -> None:
        self.size = size
        self.project = project
        self.codemods = codemods
        self.limit = limit
        self.todo = deque(chunks)
        self.members: list[Member] = []
        self.suspects: set[str] = set()
        """Files with which a process has died once. Most likely, but not for sure, it died of them."""

    def __iter__(self) -> Iterator[Asked]:
        """Every answer as soon as it is there."""
        gc.freeze()
        try:
            while self.todo or any(member.paths for member in self.members):
                self._hand_out()
                yield from self._collect()
        finally:
            for member in self.members:
                member.end()

    def _hand_out(self) -> None:
        for member in self.members:
            if self.todo and not member.paths:
                member.give(self.todo.popleft())
        while self.todo and len(self.members) < self.size:
            self.members.append(Member(self.project, self.codemods, self.limit))
            self.members[-1].give(self.todo.popleft())

    def _collect(self) -> Iterator[Asked]:
        busy = {member.connection: member for member in self.members if member.paths}
        ready = wait(list(busy), min(member.left for member in busy.values()))
        for connection, member in busy.items():
            if connection in ready:
                try:
                    yield from member.take()
                except (EOFError, OSError):
                    yield from self._bury(member)
            elif not member.left:
                yield late(member.paths.popleft(), self.limit)
                self._dismiss(member)

    def _bury(self, member: Member) -> Iterator[Asked]:
        """Ask once more, and alone, about the file that a process died with; the second time it is the culprit."""
        if not member.is_up:
            raise FullgraphError("no process can be started to look at files with; --jobs 1 does it in this one")
        path = member.paths.popleft()
        if path in self.suspects:
            yield fatal(path)
        else:
            self.suspects.add(path)
            self.todo.append([path])
        self._dismiss(member)

    def _dismiss(self, member: Member) -> None:
        """End a process; others do what it has left."""
        if member.paths:
            self.todo.appendleft(tuple(member.paths))
        self.members.remove(member)
        member.end()


def serve(
    mine: Connection,
    theirs: Connection,
    root: Path,
    files: Sequence[str],
    shelf: Shelf | None,
    codemods: Sequence[Codemod],
    limit: float,
) -> None:
    """What a member does until nobody holds the other end of its connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that the user started
    theirs.close()
    gc.disable()
    project = Project(root, files, shelf=shelf)
    with suppress(EOFError, OSError):
        mine.send(None)
        while True:
            for answer in ask_in_turn(mine.recv(), project, codemods, limit):
                mine.send(answer)

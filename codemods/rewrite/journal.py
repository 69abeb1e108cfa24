"""What was written, so that it can be taken back: a write-ahead journal under `.fullgraph/` at the project's root.

    .fullgraph/runs/3/entry           what run 3 did, whether it is finished, and the seal of whoever wrote it
    .fullgraph/runs/3/5891b5b5...gz   the bytes of its files, before and after, each by its digest

A run is on disk in full before the first file of the project is touched. Whatever happens then, each file is old or new
(or, if it is to be created, absent or complete), and `recover` finishes the run or rolls it back. A run whose seal is
not that of this user in this folder came with the project: it is never recovered, and undone only in named files.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path, PurePosixPath

from fullgraph.codemods.model import Change, FullgraphError
from fullgraph.codemods.rewrite.atomic import remove_if_empty, replace_file
from fullgraph.codemods.rewrite.entry import (
    DONE,
    LARGEST,
    ROLLED_BACK,
    WRITING,
    Digests,
    Run,
    close_envelope,
    dump_run,
    load_run,
    pack,
    read_envelope,
    unpack,
)
from fullgraph.codemods.rewrite.file_step import FileStep
from fullgraph.codemods.rewrite.folder import BarredError, Folder
from fullgraph.codemods.rewrite.inside import missing_folders, place_of
from fullgraph.codemods.rewrite.lock import is_held, locked, told_in_one_line
from fullgraph.codemods.rewrite.seal import make_secret, read_secret
from fullgraph.codemods.rewrite.walk import FOLDER

RUNS, NEW, ENTRY, OLD_ENTRY = "runs", "new", "entry", "entry.json"
NUMBER = re.compile("[1-9][0-9]{0,8}")
MOST_FOREIGN = 100
DAMAGE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError, zlib.error)
EARLIER = "written by an earlier fullgraph, whose runs can no longer be taken back"
FOREIGN = "not written here"

Sign = Callable[[Change, int], Change]
"""From a change and the number of its run to what is written."""


@dataclass(frozen=True)
class Recovery:
    """What was done about a run that had been interrupted."""

    run: int
    outcome: str
    paths: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Foreign:
    """A run that this user has not written in this folder; without a `run`, `problem` says why it cannot be read."""

    number: int
    run: Run | None = None
    problem: str = ""


class Journal:
    """The journal of one project."""

    def __init__(self, root: Path, wait_seconds: float = 10) -> None:
        self.root = root
        self.folder = root / FOLDER
        self.wait_seconds = wait_seconds

    # Reading

    def runs(self) -> list[Run]:
        """All finished runs that were written here, oldest first."""
        return [run for run in map(self._ours, self._numbers()) if run and run.state == DONE]

    def foreign(self) -> list[Foreign]:
        """The first of the others: they came with the project, were copied with it, or are damaged."""
        found = (held for number in self._numbers() if isinstance(held := self._read(number), Foreign))
        return list(islice(found, MOST_FOREIGN))

    def run(self, number: int) -> Run:
        held = self._read(number) if number in self._numbers() else None
        if isinstance(held, Foreign):
            raise FullgraphError(f"run {number} was {held.problem or FOREIGN}; {self.way_out(held)}")
        if held is None or held.state != DONE:
            raise FullgraphError(f"there is no run {number}; `fullgraph log` lists them")
        return held

    def way_out(self, held: Foreign) -> str:
        if not held.run:
            return f"{self.folder / RUNS / str(held.number)} can be removed"
        return f"`fullgraph undo {held.number} --not-written-here FILE` takes it back in each FILE that you name"

    def interrupted(self) -> int:
        """The run that has begun and not ended, or 0. Nothing is done about it."""
        newest = next(filter(None, map(self._ours, reversed(self._numbers()))), None)
        return newest.number if newest and newest.state == WRITING else 0

    def warning(self) -> str:
        """What whoever only reads says of the journal, in one line; mostly nothing."""
        try:
            number = self.interrupted()
            if number and is_held(self.folder):
                return f"run {number} is being written at the moment"
        except (FullgraphError, OSError) as error:
            return f"the journal is not looked at: {error}"
        where = "" if self.root == Path.cwd() else f" {shlex.quote(str(self.root))}"
        return f"run {number} was interrupted; `fullgraph recover{where}` finishes it" if number else ""

    def bytes_of(self, run: Run, side: str, path: str) -> bytes | None:
        """A file as it was `before` a run or `after` it; None is no file there."""
        digest = (run.before if side == "before" else run.after)[path]
        if not digest:
            return None
        try:
            with self._open(RUNS, str(run.number)) as folder:
                data = unpack(folder.read(copy_name(digest)), LARGEST)
        except (BarredError, *DAMAGE) as error:
            said = error.strerror if isinstance(error, OSError) else error
            raise FullgraphError(f"run {run.number} has lost its copy of {path}: {said}") from error
        if digest_of(data) != digest:
            raise FullgraphError(f"run {run.number} has lost its copy of {path}: it holds other bytes")
        return data

    def _open(self, *names: str, make: bool = False) -> Folder:
        return Folder.at(self.root).descend((FOLDER, *names), make)

    def _open_runs(self) -> Folder:
        try:
            return self._open(RUNS)
        except BarredError as error:
            raise FullgraphError(f"{error}, where the journal needs its own: remove it") from error

    def _numbers(self) -> list[int]:
        try:
            with self._open_runs() as runs:
                return sorted(int(name) for name in runs.names() if NUMBER.fullmatch(name))
        except FileNotFoundError:
            return []

    def _ours(self, number: int) -> Run | None:
        held = self._read(number)
        return held if isinstance(held, Run) else None

    def _read(self, number: int) -> Run | Foreign:
        """One run. Its seal is looked at before anything of it is read."""
        try:
            with self._open(RUNS, str(number)) as folder:
                if folder.status(OLD_ENTRY) and not folder.status(ENTRY):
                    return Foreign(number, problem=EARLIER)
                payload, is_ours = read_envelope(read_secret(), self.root, number, folder, ENTRY)
            run = load_run(number, payload, is_ours)
        except (BarredError, *DAMAGE) as error:
            said = error.strerror if isinstance(error, OSError) else error
            return Foreign(number, problem=f"{FOREIGN}, or is damaged ({said})")
        return run if is_ours else Foreign(number, run)

    # Writing

    def write(
        self,
        change: Change,
        kind: str = "fix",
        undoes: tuple[str, ...] = (),
        command: int = 0,
        sign: Sign | None = None,
    ) -> Run:
        """Write a change: all of it or, when anything goes wrong, nothing of it.

        `command` is the number of an earlier run that belongs to the same command. `sign` completes a change that
        names its own run.
        """
        with locked(self.folder, self.wait_seconds), told_in_one_line("nothing was written"):
            if recovery := self._recover():
                print(f"fullgraph: run {recovery.run} had been interrupted: {recovery.outcome}", file=sys.stderr)
            number = self._next_number()
            change = sign(change, number) if sign else change
            steps = [FileStep(self.root, path, change.before[path], after) for path, after in change.after.items()]
            for step in steps:
                step.check()
            run = self._begin(number, change, kind, undoes, command)
            try:
                for step in steps:
                    step.make()
                return self._close(run, DONE)
            except BaseException:
                with told_in_one_line(f"run {run.number} is written in part; `fullgraph recover` finishes it"):
                    self._roll_back(run, steps)
                raise

    def _next_number(self) -> int:
        """The one after all that were given here, and that nothing else has."""
        taken = self._numbers()
        number = max((number for number in taken if self._ours(number)), default=0) + 1
        while number in taken:
            number += 1
        return number

    def _begin(self, number: int, change: Change, kind: str, undoes: tuple[str, ...], command: int) -> Run:
        run = Run(
            number,
            kind,
            started=datetime.now().astimezone().isoformat(timespec="seconds"),
            state=WRITING,
            before=digests_of(change.before, change.after),
            after=digests_of(change.after, change.after),
            findings=change.applied,
            undoes=undoes,
            command=command or number,
        )
        run = replace(run, folders=self._folders_of(run))
        make_secret()
        with self._open() as journal, journal.inner(RUNS, make=True) as runs:
            journal.remove_tree(NEW)
            try:
                with journal.inner(NEW, make=True) as fresh:
                    self._put_on_disk(fresh, run, change)
                journal.rename(NEW, str(number), runs)
            except BaseException:
                with suppress(OSError):
                    journal.remove_tree(NEW)
                raise
            runs.sync()
            journal.sync()
        with Folder.at(self.root) as root:
            root.sync()
        return run

    def _folders_of(self, run: Run) -> tuple[str, ...]:
        """The folders that new files need, and those above removed ones that some run has made."""
        missing = {folder for path in run.created for folder in missing_folders(self.root, path)}
        made = {folder for other in self.runs() for folder in other.folders} if run.removed else set()
        above = {str(folder) for path in run.removed for folder in PurePosixPath(path).parents}
        return tuple(sorted(missing | (made & above)))

    def _put_on_disk(self, folder: Folder, run: Run, change: Change) -> None:
        """The copies and the entry. They count once their folder has the run's number."""
        both = (*change.before.values(), *change.after.values())
        held = {digest_of(data): data for data in both if data is not None}
        for digest, data in held.items():
            folder.write_new(copy_name(digest), pack(data), None, mode=0o600)
        folder.write_new(ENTRY, self._sealed(run), None, mode=0o600)
        folder.sync()

    def _close(self, run: Run, state: str) -> Run:
        for path in sorted(run.folders, reverse=True):
            with suppress(OSError, BarredError), place_of(self.root, path) as (folder, name):
                remove_if_empty(folder, name)
        closed = replace(run, state=state)
        with self._open(RUNS, str(run.number)) as folder:
            replace_file(folder, ENTRY, self._sealed(closed))
        return closed

    def _sealed(self, run: Run) -> bytes:
        return close_envelope(read_secret(), self.root, run.number, dump_run(run))

    # Recovering

    def recover(self) -> Recovery | None:
        """Finish or roll back a run that was interrupted, unless its process is still at it."""
        if not (number := self.interrupted()):
            return None
        place = self.folder / RUNS / str(number)
        way_out = f"settle that and say `fullgraph recover`, or give run {number} up: remove {place}"
        with locked(self.folder, self.wait_seconds), told_in_one_line(way_out):
            return self._recover()

    def _recover(self) -> Recovery | None:
        if not (number := self.interrupted()):
            return None
        run = self._ours(number)
        assert run, "it was there just now, and we hold the lock"
        steps, lost = self._steps(run)
        for step in steps:
            step.clear()
        if lost or not all(step.is_possible for step in steps):
            stuck = [*self._roll_back(run, steps), *lost]
            said = f"; it could not be taken out of {', '.join(stuck)}" if stuck else ""
            why = "some of its copies are lost" if lost else "a file has been edited since"
            return Recovery(number, f"rolled back, because {why}{said}", run.paths)
        for step in steps:
            if not step.is_made:
                step.make()
        self._close(run, DONE)
        return Recovery(number, "finished", run.paths)

    def _roll_back(self, run: Run, steps: list[FileStep]) -> list[str]:
        """Take the run out of every file, also where it has been edited since; the places where that cannot be."""
        for step in steps:
            step.clear()
        stuck = [place for step in steps for place in step.take_out()]
        self._close(run, ROLLED_BACK)
        return stuck

    def _steps(self, run: Run) -> tuple[list[FileStep], list[str]]:
        """What the run does to each file, and the files of which that is not known any more."""
        steps, lost = [], []
        for path in run.paths:
            try:
                sides = (self.bytes_of(run, side, path) for side in ("before", "after"))
                steps.append(FileStep(self.root, path, *sides))
            except FullgraphError:
                lost.append(path)
        return steps, lost


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def copy_name(digest: str) -> str:
    return f"{digest}.gz"


def digests_of(files: Mapping[str, bytes | None], paths: Iterable[str]) -> Digests:
    return {path: "" if (data := files[path]) is None else digest_of(data) for path in paths}

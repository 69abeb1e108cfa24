"""What was written, so that it can be taken back: a write-ahead journal under `.fullgraph/` at the project's root.

    .fullgraph/runs/3/entry.json        what run 3 did, and whether it is finished
    .fullgraph/runs/3/before/pkg/a.py   the bytes of each file as they were
    .fullgraph/runs/3/after/pkg/a.py    and as the run left them

A file that the run created has no bytes before, one that it removed none after; the entry names them. A run is on disk
in full before the first file of the project is touched. Whatever happens then, each file is old or new (or, if it is
to be created, absent or complete), and `recover` finishes the run or rolls it back.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from codemods.model import Change, FullgraphError
from codemods.rewrite.atomic import (
    missing_folders,
    remove_if_empty,
    remove_leftover,
    replace_file,
    sync_folder,
    sync_tree,
    write_synced,
)
from codemods.rewrite.entry import DONE, ROLLED_BACK, WRITING, Run, dump_run, load_run
from codemods.rewrite.file_step import FileStep
from codemods.rewrite.lock import locked, told_in_one_line

FOLDER = ".fullgraph"

Sign = Callable[[Change, int], Change]
"""From a change and the number of its run to what is written."""


@dataclass(frozen=True)
class Recovery:
    """What was done about a run that had been interrupted."""

    run: int
    outcome: str
    paths: tuple[str, ...] = field(default=())


class Journal:
    """The journal of one project."""

    def __init__(self, root: Path, wait_seconds: float = 10) -> None:
        self.root = root
        self.folder = root / FOLDER
        self.wait_seconds = wait_seconds

    # Reading

    def runs(self) -> list[Run]:
        """All finished runs, oldest first. One whose entry is damaged is named and left out."""
        found = []
        for number in self._numbers():
            try:
                run = self._read(number)
            except FullgraphError as error:
                print(f"fullgraph: run {number} is left out: {error}", file=sys.stderr)
                continue
            if run and run.state == DONE:
                found.append(run)
        return found

    def run(self, number: int) -> Run:
        run = self._read(number)
        if not run or run.state != DONE:
            raise FullgraphError(f"there is no run {number}; `fullgraph log` lists them")
        return run

    def bytes_of(self, run: Run, side: str, path: str) -> bytes | None:
        """A file as it was `before` a run or `after` it; None is no file there."""
        if path in (run.created if side == "before" else run.removed):
            return None
        try:
            return (self._run_folder(run.number) / side / path).read_bytes()
        except OSError as error:
            raise FullgraphError(f"run {run.number} has lost its copy of {path}: {error.strerror}") from error

    def _numbers(self) -> list[int]:
        runs = self.folder / "runs"
        return sorted(int(name) for name in os.listdir(runs) if name.isdigit()) if runs.is_dir() else []

    def _run_folder(self, number: int) -> Path:
        return self.folder / "runs" / str(number)

    def _read(self, number: int) -> Run | None:
        """One run; None if it was interrupted before anything was touched."""
        file = self._run_folder(number) / "entry.json"
        try:
            return load_run(number, file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise FullgraphError(
                f"{file} is damaged ({error!r}); before/ and after/ beside it hold the files"
            ) from error

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
            number = max(self._numbers(), default=0) + 1
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
                with told_in_one_line(f"run {run.number} is written in part; the next command finishes it"):
                    self._roll_back(run)
                raise

    def _begin(self, number: int, change: Change, kind: str, undoes: tuple[str, ...], command: int) -> Run:
        started = datetime.now().astimezone().isoformat(timespec="seconds")
        created = tuple(path for path, data in change.before.items() if data is None)
        removed = tuple(path for path, data in change.after.items() if data is None)
        run = Run(
            number,
            kind,
            started,
            WRITING,
            paths=tuple(change.after),
            findings=change.applied,
            undoes=undoes,
            command=command or number,
            created=created,
            removed=removed,
            folders=self._folders_of(created, removed),
        )
        try:
            self._put_on_disk(run, change)
        except BaseException:
            shutil.rmtree(self._run_folder(number), ignore_errors=True)
            raise
        return run

    def _folders_of(self, created: tuple[str, ...], removed: tuple[str, ...]) -> tuple[str, ...]:
        """The folders that new files need, and those above removed ones that some run has made."""
        missing = {folder for path in created for folder in missing_folders(self.root / path)}
        made = {folder for run in self.runs() for folder in run.folders} if removed else set()
        above = {folder.as_posix() for path in removed for folder in Path(path).parents}
        return tuple(sorted({folder.relative_to(self.root).as_posix() for folder in missing} | (made & above)))

    def _put_on_disk(self, run: Run, change: Change) -> None:
        """The copies first, the entry that makes them count last; every folder on the way is synced too."""
        folder = self._run_folder(run.number)
        folder.mkdir(parents=True)
        for side, files in (("before", change.before), ("after", change.after)):
            for path, data in files.items():
                if data is None:
                    continue
                copy = folder / side / path
                copy.parent.mkdir(parents=True, exist_ok=True)
                write_synced(copy, data, self.root / path)
        sync_tree(folder)
        for outer in (folder.parent, self.folder, self.root):
            sync_folder(outer)
        self._save(run)

    def _close(self, run: Run, state: str) -> Run:
        for folder in sorted(run.folders, reverse=True):
            remove_if_empty(self.root / folder)
        closed = replace(run, state=state)
        self._save(closed)
        return closed

    def _save(self, run: Run) -> None:
        replace_file(self._run_folder(run.number) / "entry.json", dump_run(run))

    # Recovering

    def recover(self) -> Recovery | None:
        """Finish or roll back a run that was interrupted, unless its process is still at it."""
        if not self._numbers() or self._is_settled(self._numbers()[-1]):
            return None
        with locked(self.folder, self.wait_seconds), told_in_one_line("an interrupted run is still to be finished"):
            return self._recover()

    def _is_settled(self, number: int) -> bool:
        try:
            run = self._read(number)
        except FullgraphError:
            return False
        return run is not None and run.state != WRITING

    def _recover(self) -> Recovery | None:
        number = max(self._numbers(), default=0)
        if not number or self._is_settled(number):
            return None
        try:
            run = self._read(number)
        except FullgraphError as error:
            return self._set_aside(number, error)
        if run is None:
            shutil.rmtree(self._run_folder(number))
            return Recovery(number, "no file had been touched yet, so it was dropped")
        steps = self._steps(run)
        if not all(step.is_possible for step in steps):
            stuck = self._roll_back(run)
            said = f"; it could not be taken out of {', '.join(stuck)}" if stuck else ""
            return Recovery(number, f"rolled back, because a file has been edited since{said}", run.paths)
        for step in steps:
            remove_leftover(step.file)
            if not step.is_made:
                step.make()
        self._close(run, DONE)
        return Recovery(number, "finished", run.paths)

    def _set_aside(self, number: int, error: FullgraphError) -> Recovery:
        """Keep a run that nobody can read where it is in nobody's way."""
        aside = self._run_folder(number).with_name(f"{number}.damaged")
        while aside.exists():
            aside = aside.with_name(f"{aside.name}.")
        os.rename(self._run_folder(number), aside)
        return Recovery(number, f"{error}; it was set aside as {aside.name}")

    def _roll_back(self, run: Run) -> list[str]:
        """Take the run out of every file, also where it has been edited since; the places where that cannot be."""
        steps = self._steps(run)
        for step in steps:
            remove_leftover(step.file)
        stuck = [place for step in steps for place in step.take_out()]
        self._close(run, ROLLED_BACK)
        return stuck

    def _steps(self, run: Run) -> list[FileStep]:
        return [
            FileStep(self.root, path, self.bytes_of(run, "before", path), self.bytes_of(run, "after", path))
            for path in run.paths
        ]

"""What was written, so that it can be taken back: a write-ahead journal under `.fullgraph/` at the project's root.

    .fullgraph/runs/3/entry.json        what run 3 did, and whether it is finished
    .fullgraph/runs/3/before/pkg/a.py   the bytes of each file as they were
    .fullgraph/runs/3/after/pkg/a.py    and as the run left them

A run is on disk in full before the first file of the project is touched. Whatever happens then, each file is old or
new, and `recover` finishes the run or rolls it back.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from codemods.model import Change, Finding, FullgraphError
from codemods.rewrite.as_json import dump_finding, load_finding
from codemods.rewrite.atomic import remove_leftover, replace_file, sync_folder, write_synced

FOLDER = ".fullgraph"
VERSION = 1
WRITING, DONE, ROLLED_BACK = "writing", "done", "rolled back"


@dataclass(frozen=True)
class Run:
    """One entry of the journal. `undoes` names the run, or the findings of a run, that an undo took back."""

    number: int
    kind: str
    started: str
    state: str
    paths: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    undoes: tuple[str, ...] = ()

    def finding_name(self, index: int) -> str:
        """`3.1` is the first finding of run 3."""
        return f"{self.number}.{index + 1}"


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
        """All finished runs, oldest first."""
        return [run for run in map(self._read, self._numbers()) if run and run.state == DONE]

    def run(self, number: int) -> Run:
        run = self._read(number)
        if not run or run.state != DONE:
            raise FullgraphError(f"there is no run {number}; `fullgraph log` lists them")
        return run

    def bytes_of(self, run: Run, side: str, path: str) -> bytes:
        """A file as it was `before` a run or `after` it."""
        return (self._run_folder(run.number) / side / path).read_bytes()

    def _numbers(self) -> list[int]:
        runs = self.folder / "runs"
        return sorted(int(name) for name in os.listdir(runs) if name.isdigit()) if runs.is_dir() else []

    def _run_folder(self, number: int) -> Path:
        return self.folder / "runs" / str(number)

    def _read(self, number: int) -> Run | None:
        """One run; None if it was interrupted before anything was touched."""
        file = self._run_folder(number) / "entry.json"
        try:
            held = json.loads(file.read_bytes())
            findings = tuple(load_finding(finding) for finding in held["findings"])
            undoes, paths = tuple(held["undoes"]), tuple(held["paths"])
            return Run(number, held["kind"], held["started"], held["state"], paths, findings, undoes)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise FullgraphError(
                f"{file} is damaged ({error!r}); before/ and after/ beside it hold the files"
            ) from error

    # Writing

    def write(self, change: Change, kind: str = "fix", undoes: tuple[str, ...] = ()) -> Run:
        """Write a change: all of it or, when anything goes wrong, nothing of it."""
        with self._locked():
            self._recover()
            for path, before in change.before.items():
                self._check(path, before)
            run = self._begin(change, kind, undoes)
            try:
                for path, after in change.after.items():
                    replace_file(self.root / path, after)
            except BaseException:
                self._roll_back(run)
                raise
            return self._close(run, DONE)

    def _check(self, path: str, expected: bytes) -> None:
        """A file must be as it was when the change was made, and it must be allowed to change."""
        file = self.root / path
        try:
            current = file.read_bytes()
        except OSError as error:
            raise FullgraphError(f"{path}: {error.strerror}; nothing was written") from error
        if current != expected:
            raise FullgraphError(f"{path}: changed on disk meanwhile; nothing was written")
        if not file.stat().st_mode & 0o222 or not os.access(file, os.W_OK) or not os.access(file.parent, os.W_OK):
            raise FullgraphError(f"{path}: not writable; nothing was written")

    def _begin(self, change: Change, kind: str, undoes: tuple[str, ...]) -> Run:
        number = max(self._numbers(), default=0) + 1
        started = datetime.now().astimezone().isoformat(timespec="seconds")
        run = Run(number, kind, started, WRITING, tuple(change.after), change.applied, undoes)
        folder = self._run_folder(number)
        for side, files in (("before", change.before), ("after", change.after)):
            for path, data in files.items():
                write_synced(folder / side / path, data)
        self._save(run)
        sync_folder(folder.parent)
        return run

    def _close(self, run: Run, state: str) -> Run:
        closed = Run(run.number, run.kind, run.started, state, run.paths, run.findings, run.undoes)
        self._save(closed)
        return closed

    def _save(self, run: Run) -> None:
        held: dict[str, Any] = {
            "version": VERSION,
            "kind": run.kind,
            "started": run.started,
            "state": run.state,
            "paths": list(run.paths),
            "undoes": list(run.undoes),
            "findings": [dump_finding(finding) for finding in run.findings],
        }
        entry = self._run_folder(run.number) / "entry.json"
        replace_file(entry, json.dumps(held, indent=1).encode())

    # Recovering

    def recover(self) -> Recovery | None:
        """Finish or roll back a run that was interrupted, unless its process is still at it."""
        if not self._numbers() or not self._is_interrupted(self._numbers()[-1]):
            return None
        with self._locked():
            return self._recover()

    def _is_interrupted(self, number: int) -> bool:
        run = self._read(number)
        return run is None or run.state == WRITING

    def _recover(self) -> Recovery | None:
        number = max(self._numbers(), default=0)
        if not number or not self._is_interrupted(number):
            return None
        run = self._read(number)
        if run is None:
            shutil.rmtree(self._run_folder(number))
            return Recovery(number, "had touched nothing yet; dropped")
        before, after = self._sides(run)
        for path in run.paths:
            remove_leftover(self.root / path)
        if all(self._current(path) in (before[path], after[path]) for path in run.paths):
            for path in run.paths:
                if self._current(path) != after[path]:
                    replace_file(self.root / path, after[path])
            self._close(run, DONE)
            return Recovery(number, "finished", run.paths)
        self._roll_back(run)
        return Recovery(number, "rolled back, because a file has been edited since", run.paths)

    def _roll_back(self, run: Run) -> None:
        before, after = self._sides(run)
        for path in run.paths:
            remove_leftover(self.root / path)
            if self._current(path) == after[path] != before[path]:
                replace_file(self.root / path, before[path])
        self._close(run, ROLLED_BACK)

    def _sides(self, run: Run) -> tuple[Mapping[str, bytes], Mapping[str, bytes]]:
        before = {path: self.bytes_of(run, "before", path) for path in run.paths}
        return before, {path: self.bytes_of(run, "after", path) for path in run.paths}

    def _current(self, path: str) -> bytes | None:
        try:
            return (self.root / path).read_bytes()
        except OSError:
            return None

    # One at a time

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the project's lock, which dies with the process. Who waits is told for whom."""
        from filelock import FileLock, Timeout

        self._make_folder()
        lock = FileLock(self.folder / "lock")
        holder = self.folder / "holder"
        try:
            lock.acquire(timeout=0)
        except Timeout:
            who = holder.read_text() if holder.exists() else "another process"
            print(f"fullgraph: waiting for {who}", file=sys.stderr)
            try:
                lock.acquire(timeout=self.wait_seconds)
            except Timeout:
                raise FullgraphError(f"{self.folder} is locked by {who}; nothing was written") from None
        try:
            holder.write_text(f"process {os.getpid()} ({' '.join(sys.argv[:2])})")
            yield
        finally:
            holder.unlink(missing_ok=True)
            lock.release()

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(exist_ok=True)
            ignore = self.folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")
        except OSError as error:
            raise FullgraphError(
                f"{self.folder}: cannot keep a journal: {error.strerror}; nothing was written"
            ) from error

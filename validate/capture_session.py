"""The folder that a captured program writes into while it runs, and the file that is made of it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullgraph.validate.model import ValidateError

FORMAT = 1
PREFIX = ".session-"


def file_for(root: Path, target: str) -> Path:
    """Where the calls of `module:qualname` are kept in a project."""
    return root / ".fullgraph" / "captures" / f"{target.replace(':', '.')}.pt"


@dataclass
class Process:
    """What one Python of the program has told."""

    calls: dict[int, dict[str, Any]] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Session:
    """Each Python writes under names of its own: `*.entered`, `*.events`, and a `.pt` for every call."""

    folder: Path

    def processes(self) -> list[Process]:
        return [read_process(file) for file in sorted(self.folder.glob("*.events"))]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [event for process in self.processes() for event in process.events if event["event"] == name]

    def problems(self, kind: str) -> list[str]:
        return [event["text"] for event in self.events("problem") if event["kind"] == kind]

    def pythons(self, kind: str) -> list[tuple[str, str]]:
        """The Pythons that were `entered`, or that are too `old` for it: executable and version."""
        found = []
        for file in sorted(self.folder.glob(f"*.{kind}")):
            executable, _, version = file.read_text("utf-8").partition("\n")
            found.append((executable, version))
        return found

    def has_all(self, calls: int) -> bool:
        return any(len(process.calls) >= calls for process in self.processes())

    def store(self, file: Path, target: str, command: Sequence[str]) -> dict[str, Any] | None:
        """Make the capture from the process with the most calls, the earliest of several; None for no calls."""
        made = [process for process in self.processes() if process.calls]
        if not made:
            return None
        best = min(made, key=lambda process: (-len(process.calls), process.calls[min(process.calls)]["time"]))
        calls = [best.calls[number] for number in sorted(best.calls)]
        index = index_of(target, command, calls)
        (self.folder / "done").touch()
        whole = self.folder / "whole"
        try:
            write_archive(whole, index, [call["file"] for call in calls])
            os.replace(whole, file)
        except OSError as error:
            raise ValidateError(f"{file}: the calls cannot be kept: {error.strerror}; nothing was written") from error
        return index


def read_process(file: Path) -> Process:
    """Whole lines only: the process may be writing, or have been killed while it was."""
    process = Process()
    for line in file.read_bytes().split(b"\n")[:-1]:
        event = json.loads(line)
        process.events.append(event)
        if event["event"] == "call":
            process.calls[event["index"]] = event
    return process


def index_of(target: str, command: Sequence[str], calls: list[dict[str, Any]]) -> dict[str, Any]:
    first = calls[0]
    shared = ("torch", "python", "is_method", "main", "imports")
    own = ("bytes", "arguments", "devices", "needs_main")
    return {
        "format": FORMAT,
        "target": target,
        "command": list(command),
        "cwd": os.getcwd(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        **{key: first[key] for key in shared},
        "calls": [{key: call[key] for key in own} for call in calls],
    }


def write_archive(file: Path, index: dict[str, Any], members: Sequence[str]) -> None:
    with file.open("wb") as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("index.json", json.dumps(index, indent=1))
            for number, member in enumerate(members):
                archive.write(member, f"{number}.pt")
        stream.flush()
        os.fsync(stream.fileno())


def read_index(file: Path) -> dict[str, Any] | None:
    """What a capture says about itself; None if there is none that can be read."""
    try:
        with zipfile.ZipFile(file) as archive:
            index: dict[str, Any] = json.loads(archive.read("index.json"))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None
    return index


@contextmanager
def session_beside(file: Path) -> Iterator[Session]:
    """A session on the same disk as the capture, gone when the block ends; so are those of killed captures."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(file.parent)
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=file.parent))
    except OSError as error:
        raise ValidateError(f"{file.parent}: nothing can be stored here: {error.strerror}") from error
    try:
        yield Session(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    for leftover in folder.glob(f"{PREFIX}*"):
        with suppress(ValueError, IndexError):
            if not is_running(int(leftover.name.split("-")[1])):
                shutil.rmtree(leftover, ignore_errors=True)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

"""Shorthands that the tests of the engine share."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Change, Edit, Finding, Span
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.atomic import replace_file
from fullgraph.codemods.rewrite.entry import WRITING, Run
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.plan import plan
from fullgraph.codemods.rewrite.scan import AskHere, scan
from fullgraph.codemods.rewrite.walk import FOLDER, plant_trees

Files = dict[str, bytes]


def write_files(root: Path, files: Mapping[str, bytes | str]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data.encode() if isinstance(data, str) else data)


def read_files(root: Path) -> Files:
    """Every file of a project, by path; not its journal."""
    found = (file for file in sorted(root.rglob("*")) if file.is_file())
    files = {file.relative_to(root).as_posix(): file.read_bytes() for file in found}
    return {path: data for path, data in files.items() if not path.startswith(FOLDER)}


def look(root: Path, *codemods: Codemod, jobs: int = 1, use_cache: bool = False) -> list[FileResult]:
    [tree], _ = plant_trees([root])
    return scan(tree, codemods, ask=AskHere(jobs), use_cache=use_cache)


def findings_in(results: Sequence[FileResult]) -> list[Finding]:
    return [finding for result in results for finding in result.findings]


def project_of(root: Path) -> Project:
    [tree], _ = plant_trees([root])
    return Project(root, tree.entries)


def planned(root: Path, *codemods: Codemod) -> Change:
    """Everything that the codemods would change."""
    chosen = [finding for finding in findings_in(look(root, *codemods)) if finding.is_fixable]
    return plan(chosen, project_of(root), codemods)


def write(root: Path, *codemods: Codemod) -> Run:
    return Journal(root).write(planned(root, *codemods))


def change_of(root: Path, after: Mapping[str, bytes]) -> Change:
    """One finding that gives files these bytes."""
    before = {path: (root / path).read_bytes() for path in after}
    edits = [Edit(path, Span(0, len(before[path])), data.decode("latin-1")) for path, data in after.items()]
    finding = Finding("sample", next(iter(after)), Span(0, 0), "<module>", "is old", tuple(edits))
    return Change(before, dict(after), (finding,))


def rewrite_entry(root: Path, number: int = 1, **changes: Any) -> None:
    """The entry of a run with other fields, sealed as this user seals it."""
    journal = Journal(root)
    held = journal._read(number)
    assert isinstance(held, Run)
    with journal._open("runs", str(number)) as folder:
        replace_file(folder, "entry", journal._sealed(replace(held, **changes)))


def mark_interrupted(root: Path, number: int = 1) -> None:
    rewrite_entry(root, number, state=WRITING)


# Processes that die

EVENTS = {
    "open",
    "os.rename",
    "os.link",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "os.chown",
    "os.truncate",
    "fsync",
}


def in_child(action: Callable[[], object], before: Callable[[], object] = lambda: None) -> int:
    """Run an action in a process of its own; its exit code, or the signal that killed it, as a negative number."""
    process = os.fork()
    if not process:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            before()
            action()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


def die_at(step: int) -> Callable[[], None]:
    """Kill this process just before the given one of all steps that touch the disk."""
    count = 0

    def note(event: str, arguments: Any = ()) -> None:
        nonlocal count
        if event in EVENTS and not is_reading(event, arguments):
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)

    def arm() -> None:
        fsync = os.fsync

        def counted(fd: Any) -> None:
            note("fsync")
            fsync(fd)

        os.fsync = counted
        sys.addaudithook(note)

    return arm


def is_reading(event: str, arguments: Any) -> bool:
    return event == "open" and isinstance(arguments[2], int) and not arguments[2] & (os.O_WRONLY | os.O_RDWR)


def kill_at_every_step(action: Callable[[], object]) -> Iterator[int]:
    """Run an action again and again, each time killed one step later, until it gets through."""
    step = 0
    code = -signal.SIGKILL
    while code == -signal.SIGKILL:
        step += 1
        code = in_child(action, die_at(step))
        yield step
    assert code == 0, f"the action failed with {code}"


@contextmanager
def standing_in(folder: Path) -> Iterator[None]:
    here = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)

"""The project as it was: before a run of the journal, or at a git revision."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.git import FETCHING, PARTIAL, environment, reading
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.undo import undone_findings

DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--name-only", "-z", "--no-renames")


@dataclass(frozen=True)
class Earlier:
    """The Python files that were different: by path, the bytes then; None where there was no file."""

    name: str
    files: Mapping[str, bytes | None]
    others: tuple[str, ...] = ()
    """Other files that were different, too."""

    runs: tuple[int, ...] = ()
    """The runs of the journal that lie between then and now, where these are what was asked for."""


def earlier(root: Path, revision: str, run: int) -> Earlier:
    """At a revision or before a run, whichever is given; else before the last command, or at git's HEAD."""
    if revision:
        return at_revision(root, revision)
    journal = Journal(root)
    if run:
        return before_runs(journal, (run,))
    numbers = last_command(journal)
    if numbers:
        return before_runs(journal, numbers)
    return at_revision(root, "HEAD")


def last_command(journal: Journal) -> tuple[int, ...]:
    """The runs of the newest command that still stand, oldest first."""
    undone = undone_findings(journal)
    fixes = [run for run in journal.runs() if run.kind == "fix"]
    standing = [run for run in fixes if len(undone.get(run.number, ())) < len(run.findings)]
    return tuple(run.number for run in standing if run.command == standing[-1].command)


def before_runs(journal: Journal, numbers: tuple[int, ...]) -> Earlier:
    """As it was before the first of some runs; the files of tickets say nothing about code."""
    files: dict[str, bytes | None] = {}
    for number in reversed(numbers):
        run = journal.run(number)
        code = [path for path in run.paths if path.endswith((".py", ".ipynb"))]
        files.update({path: journal.bytes_of(run, "before", path) for path in code})
    return Earlier(f"before run {numbers[0]}", files, runs=numbers)


def at_revision(root: Path, revision: str) -> Earlier:
    changed = git(root, *DIFF, "--relative", "--end-of-options", revision, "--").split("\0")
    fresh = git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
    files: dict[str, bytes | None] = {}
    others = []
    for path in filter(None, [*changed, *fresh]):
        if path.endswith(".py"):
            files[path] = None if path in fresh else shown(root, revision, path)
        elif not path.startswith(".fullgraph/"):
            others.append(path)
    return Earlier(f"at {revision}", files, tuple(others))


def shown(root: Path, revision: str, path: str) -> bytes | None:
    """A file's bytes at a revision; None if it was not there."""
    done = run_git(root, "show", "--no-textconv", "--end-of-options", f"{revision}:./{path}")
    if done.returncode and FETCHING.search(done.stderr):
        raise FullgraphError(f"git: {PARTIAL}")
    return done.stdout if done.returncode == 0 else None


def git(root: Path, *arguments: str) -> str:
    try:
        done = run_git(root, *arguments)
    except FileNotFoundError as error:
        raise FullgraphError("git is not installed; --run names a run of `fullgraph log` instead") from error
    if done.returncode and FETCHING.search(done.stderr):
        raise FullgraphError(f"git: {PARTIAL}")
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise FullgraphError(f"git: {said[0] if said else 'failed'}")
    return done.stdout.decode(errors="surrogateescape")


def run_git(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [*reading(root), *arguments]
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, env=environment(), check=False)

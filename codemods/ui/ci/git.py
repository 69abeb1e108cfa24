"""What a pipeline asks of git, and what it lets git do. Nothing is fetched, and nobody is asked anything."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.git import FETCHING, PARTIAL, environment, reading

UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


@dataclass(frozen=True)
class Index:
    """What a repository tracks, by paths from its top: files, and the folders of submodules."""

    files: frozenset[str]
    submodules: frozenset[str]
    hidden: frozenset[str]
    """Files whose changes git was told not to see (`git update-index --assume-unchanged`, `--skip-worktree`)."""


@dataclass(frozen=True)
class Repository:
    """A git work tree. `top` is its uppermost folder."""

    top: Path

    @classmethod
    def around(cls, folder: Path) -> Repository:
        """The work tree that a folder lies in."""
        return cls(Path(read(folder, "rev-parse", "--show-toplevel").removesuffix("\n")))

    def ask(self, *arguments: str) -> str:
        return read(self.top, *arguments)

    def does(self, *arguments: str) -> bool:
        """Whether git says yes."""
        return ask(self.top, *arguments).returncode == 0

    def do(self, *arguments: str, paths: Iterable[str] = ()) -> str:
        """Have git change something. `paths` mean themselves, whatever they look like; hooks are not told so."""
        given = "\0".join(f":(literal){path}" for path in paths)
        files = ("--pathspec-from-file=-", "--pathspec-file-nul") if given else ()
        options = ("-c", "core.quotePath=false", "-c", "i18n.commitEncoding=UTF-8")
        return answer(start(self.top, ["git", *options, *arguments, *files], environment(), os.fsencode(given)))

    def path(self, file: Path) -> str:
        return file.relative_to(self.top).as_posix()

    def index(self) -> Index:
        files: set[str] = set()
        submodules: set[str] = set()
        hidden: set[str] = set()
        for entry in self.ask("ls-files", "--stage", "-v", "-z").split("\0"):
            head, _, path = entry.partition("\t")
            if not path:
                continue
            tag, mode = head.split()[:2]
            (submodules if mode == "160000" else files).add(path)
            if tag.islower() or tag == "S":
                hidden.add(path)
        return Index(frozenset(files), frozenset(submodules), frozenset(hidden))

    def changed(self) -> list[str]:
        """The tracked files with changes that are not committed, staged or not."""
        shown = self.ask(
            *("status", "--porcelain=v1", "-z", "--no-renames"),
            *("--untracked-files=no", "--ignore-submodules=dirty"),
        )
        return [entry[3:] for entry in shown.split("\0") if entry]

    def commit_of(self, revision: str) -> str:
        """The commit that a revision names, or nothing."""
        done = ask(self.top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        return done.stdout.decode().strip() if done.returncode == 0 else ""

    @property
    def is_shallow(self) -> bool:
        return self.ask("rev-parse", "--is-shallow-repository").strip() == "true"

    @property
    def branch(self) -> str:
        """The current branch; nothing while HEAD is detached."""
        done = ask(self.top, "symbolic-ref", "--short", "--quiet", "HEAD")
        return os.fsdecode(done.stdout).strip()

    def under_way(self) -> str:
        """What git is in the middle of, or nothing."""
        folder = Path(self.ask("rev-parse", "--absolute-git-dir").removesuffix("\n"))
        return next((what for name, what in UNDER_WAY.items() if os.path.lexists(folder / name)), "")


def repository_at(folder: Path) -> Repository | None:
    """The work tree around a folder, if there is one that git can read."""
    try:
        return Repository.around(folder)
    except FullgraphError:
        return None


def read(folder: Path, *arguments: str) -> str:
    return answer(ask(folder, *arguments))


def ask(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return start(folder, [*reading(folder), *arguments], {**environment(), "LC_ALL": "C"})


def answer(done: subprocess.CompletedProcess[bytes]) -> str:
    """What git says; what it complains about is an error of one line."""
    if done.returncode:
        said = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
        lines = [line for line in said if line.startswith(("fatal:", "error:"))] or said[-1:] or ["fatal: failed"]
        if FETCHING.search(done.stderr):
            lines = [PARTIAL]
        raise FullgraphError(f"git: {lines[0].removeprefix('fatal:').removeprefix('error:').strip()}")
    return os.fsdecode(done.stdout)


def start(
    folder: Path, command: list[str], env: dict[str, str], given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run git without a terminal: neither a hook nor whoever signs can ask there."""
    pipe = subprocess.PIPE
    try:
        running = subprocess.Popen(
            command, cwd=folder, env=env, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
    except FileNotFoundError as error:
        raise FullgraphError("git is not installed") from error
    try:
        out, err = running.communicate(given)
    except BaseException:
        end(running)
        raise
    return subprocess.CompletedProcess(command, running.returncode, out, err)


def end(running: subprocess.Popen[bytes]) -> None:
    """End git and its hooks so that it can take its locks away."""
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGTERM)
    running.wait()

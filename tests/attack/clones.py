"""Hostile clones: each builds a project that was made to have fullgraph touch what is not its own.

A row is a name and a function that puts its traps into an honest project. `outside` stands beside the project and holds
what must stay as it is; so must the project's `.git`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullgraph.codemods.rewrite.atomic import leftover_of
from fullgraph.codemods.rewrite.entry import HEAD, Run, close_envelope, dump_run, pack
from fullgraph.codemods.rewrite.journal import digest_of
from fullgraph.codemods.rewrite.seal import read_secret

PAYLOAD = b"#!/bin/sh\ntouch /tmp/owned\n"
OUTSIDE = {"a.py": b"def f():\n    slow()\n", "deep/b.py": b"mine\n", "notes.txt": b"mine\n", "run": b"#!/bin/sh\n"}
GIT = {
    ".git/HEAD": b"ref: refs/heads/main\n",
    ".git/config": b"[core]\n\tbare = false\n",
    ".git/hooks/x": b"#!/bin/sh\n",
}
PROJECT = {
    "pyproject.toml": b"[project]\nname = 'sample'\n",
    "pkg/a.py": b"def one():\n    slow()\n    return 1\n",
    "pkg/b.py": b"def two():\n    slow()\n",
}


@dataclass(frozen=True)
class Clone:
    project: Path
    outside: Path

    def put(self, path: str, data: bytes = b"") -> None:
        (self.project / path).parent.mkdir(parents=True, exist_ok=True)
        (self.project / path).write_bytes(data)

    def link(self, path: str, target: Path | str) -> None:
        (self.project / path).parent.mkdir(parents=True, exist_ok=True)
        (self.project / path).symlink_to(target)

    def pipe(self, path: str) -> None:
        (self.project / path).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(self.project / path)

    def folder(self, path: str) -> None:
        (self.project / path).mkdir(parents=True)


Trap = Callable[[Clone], None]


@dataclass(frozen=True)
class Row:
    """`works`: whether what is honest in the project can be fixed and taken back all the same."""

    name: str
    build: Trap
    works: bool = True


def honest(project: Path, outside: Path) -> Clone:
    clone = Clone(project, outside)
    for path, data in (PROJECT | GIT).items():
        clone.put(path, data)
    for path, data in OUTSIDE.items():
        (outside / path).parent.mkdir(parents=True, exist_ok=True)
        (outside / path).write_bytes(data)
    (outside / "run").chmod(0o755)
    (outside / "empty").mkdir()
    (outside / "link").symlink_to("notes.txt")
    return clone


# Forged runs

Files = Mapping[str, tuple[bytes | None, bytes | None]]


def first_edition(clone: Clone, files: Files, state: str = "writing", folders: tuple[str, ...] = ()) -> None:
    """A run as the first edition wrote it."""
    held = {
        "version": 1,
        "kind": "fix",
        "started": "2026-01-01T00:00:00+00:00",
        "state": state,
        "paths": list(files),
        "undoes": [],
        "command": 1,
        "findings": [],
        "folders": folders,
        "created": [path for path, (before, _) in files.items() if before is None],
        "removed": [path for path, (_, after) in files.items() if after is None],
    }
    clone.put(".fullgraph/runs/1/entry.json", json.dumps(held).encode())
    for path, sides in files.items():
        for side, data in zip(("before", "after"), sides, strict=True):
            if data is not None and ".." not in path and not path.startswith("/"):
                clone.put(f".fullgraph/runs/1/{side}/{path}", data)


def forged(secret: Callable[[], bytes]) -> Callable[..., None]:
    """A run as it is written today, sealed with a secret."""

    def forge(clone: Clone, files: Files, state: str = "writing", folders: tuple[str, ...] = ()) -> None:
        before, after = ({path: digest(sides[side]) for path, sides in files.items()} for side in (0, 1))
        run = Run(1, "fix", "2026-01-01T00:00:00+00:00", state, before, after, command=1, folders=folders)
        clone.put(".fullgraph/runs/1/entry", close_envelope(secret(), clone.project, 1, dump_run(run)))
        for data in (data for sides in files.values() for data in sides if data is not None):
            clone.put(f".fullgraph/runs/1/{digest_of(data)}.gz", pack(data))

    return forge


def digest(data: bytes | None) -> str:
    return "" if data is None else digest_of(data)


def replaced(path: str, before: bytes = b"mine\n") -> dict[str, Any]:
    return {"files": {path: (before, PAYLOAD)}}


def past_a_link(build: Callable[[Clone], dict[str, Any]]) -> Callable[[Clone], dict[str, Any]]:
    def with_link(clone: Clone) -> dict[str, Any]:
        clone.link("linked", clone.outside)
        return build(clone)

    return with_link


RUNS: dict[str, Callable[[Clone], dict[str, Any]]] = {
    "replaces a file above the project": lambda clone: replaced("../outside/deep/b.py"),
    "replaces a file by its whole path": lambda clone: replaced(str(clone.outside / "deep/b.py")),
    "replaces a file past a link": past_a_link(lambda clone: replaced("linked/deep/b.py")),
    "removes a file past a link": past_a_link(lambda clone: {"files": {"linked/deep/b.py": (b"mine\n", None)}}),
    "creates a file past a link": past_a_link(lambda clone: {"files": {"linked/new.py": (None, PAYLOAD)}}),
    "creates a folder past a link": past_a_link(lambda clone: {"files": {"linked/new/new.py": (None, PAYLOAD)}}),
    "removes a folder past a link": past_a_link(lambda clone: {"files": {}, "folders": ("linked/empty",)}),
    "removes a folder above the project": lambda clone: {"files": {}, "folders": ("../outside/empty",)},
    "rolls back past a link": past_a_link(
        lambda clone: {"files": {"linked/deep/b.py": (PAYLOAD, b"mine\n"), "pkg/a.py": (b"x", b"y")}}
    ),
    "rewrites the config of git": lambda clone: replaced(".git/config", GIT[".git/config"]),
    "makes a hook of git": lambda clone: {"files": {".git/hooks/post-checkout": (None, PAYLOAD)}},
    "removes the head of git": lambda clone: {"files": {".git/HEAD": (GIT[".git/HEAD"], None)}},
    "rewrites the config of git in capitals": lambda clone: replaced(".GIT/config", GIT[".git/config"]),
    "rewrites the config of git with dots": lambda clone: replaced("pkg/../.git/config", GIT[".git/config"]),
    "is finished and would be taken back": lambda clone: {
        "files": {".git/config": (PAYLOAD, GIT[".git/config"])},
        "state": "done",
    },
}


def rows_of_runs() -> list[Row]:
    """Each forged run as the first edition wrote it, sealed by a stranger, and sealed with a secret that has leaked."""
    editions = {
        "of the first edition": first_edition,
        "sealed by a stranger": forged(lambda: b"s" * 32),
        "sealed with the user's secret": forged(read_secret),
    }

    def trap(forge: Callable[..., None], build: Callable[[Clone], dict[str, Any]]) -> Trap:
        return lambda clone: forge(clone, **build(clone))

    return [
        Row(f"a run {edition} {name}", trap(forge, build))
        for edition, forge in editions.items()
        for name, build in RUNS.items()
    ]


# Damaged runs


def entry(data: bytes) -> Trap:
    return lambda clone: clone.put(".fullgraph/runs/1/entry", data)


def old_entry(data: bytes) -> Trap:
    return lambda clone: clone.put(".fullgraph/runs/1/entry.json", data)


def names_of_runs(*names: str) -> Trap:
    def build(clone: Clone) -> None:
        for name in names:
            clone.put(f".fullgraph/runs/{name}/entry", b"{")

    return build


def told_with_escapes(clone: Clone) -> None:
    forged(lambda: b"s" * 32)(clone, {"\x1b]0;owned\x07\x1b[2J/a\nb\u202e.py": (b"", PAYLOAD)}, "done")


ZEROS = HEAD + b"0" * 64 + b"\n"

DAMAGED = [
    Row("an entry of deep JSON", entry(ZEROS + pack(b'{"a":' * 100_000))),
    Row("an entry that unpacks to gigabytes", entry(ZEROS + pack(b"[" * (1 << 26)))),
    Row("an entry that is no entry", entry(b"\xff\xfe\x00")),
    Row("an entry of the first edition of deep JSON", old_entry(b"[" * 100_000)),
    Row("an entry of the first edition with a huge number", old_entry(b'{"command": ' + b"9" * 10_000 + b"}")),
    Row("runs with huge numbers", names_of_runs("9" * 255, "9" * 9, "9" * 10, "1" * 200)),
    Row("runs with strange digits", names_of_runs("²", "٣", "00", "-1", "1_0", "1.5")),
    Row("a thousand runs", names_of_runs(*map(str, range(1, 1001)))),
    Row("a run whose files have names that a terminal acts on", told_with_escapes),
]

# Links, pipes and folders in the place of what is the journal's own


def linked(path: str, target: str) -> Trap:
    return lambda clone: clone.link(path, clone.outside / target)


def piped(path: str) -> Trap:
    return lambda clone: clone.pipe(path)


def foldered(path: str) -> Trap:
    return lambda clone: clone.folder(path)


def filed(path: str) -> Trap:
    return lambda clone: clone.put(path)


def hard_links(clone: Clone) -> None:
    clone.folder(".fullgraph")
    for name in ("lock", "holder"):
        os.link(clone.outside / "notes.txt", clone.project / ".fullgraph" / name)


def linked_copy(clone: Clone) -> None:
    """A run with a leaked seal whose copy is a link."""
    forged(read_secret)(clone, {"pkg/a.py": (PROJECT["pkg/a.py"], PAYLOAD)}, "done")
    copy = clone.project / f".fullgraph/runs/1/{digest_of(PROJECT['pkg/a.py'])}.gz"
    copy.unlink()
    copy.symlink_to(clone.outside / "notes.txt")


OWN = [
    Row("the journal is a link", linked(".fullgraph", ""), works=False),
    Row("the journal is a link to nothing", linked(".fullgraph", "nowhere"), works=False),
    Row("the journal is a link to git", lambda clone: clone.link(".fullgraph", ".git"), works=False),
    Row("the runs are a link", linked(".fullgraph/runs", ""), works=False),
    Row("a run is a link", linked(".fullgraph/runs/1", "deep")),
    Row("an entry is a link", linked(".fullgraph/runs/1/entry", "notes.txt")),
    Row("a copy is a link", linked_copy),
    Row("the holder is a link", linked(".fullgraph/holder", "notes.txt"), works=False),
    Row("the holder is a link to nothing", linked(".fullgraph/holder", "new"), works=False),
    Row("the lock is a link", linked(".fullgraph/lock", "notes.txt"), works=False),
    Row("the lock is a link to nothing", linked(".fullgraph/lock", "new"), works=False),
    Row("the gitignore is a link", linked(".fullgraph/.gitignore", "new"), works=False),
    Row("the ignore file is a link", linked(".fullgraph/.ignore", "new"), works=False),
    Row("the next run is a link", linked(".fullgraph/new", "")),
    Row("the next run is a file", filed(".fullgraph/new")),
    Row("the incoming copies are a link", linked(".fullgraph/incoming", "")),
    Row("the captures are a link", linked(".fullgraph/captures", "")),
    Row("the lock and the holder are hard links", hard_links),
    Row("the lock is a pipe", piped(".fullgraph/lock"), works=False),
    Row("the holder is a pipe", piped(".fullgraph/holder"), works=False),
    Row("the runs are a pipe", piped(".fullgraph/runs"), works=False),
    Row("an entry is a pipe", piped(".fullgraph/runs/1/entry")),
    Row("an entry of the first edition is a pipe", piped(".fullgraph/runs/1/entry.json")),
    Row("the journal is a pipe", piped(".fullgraph"), works=False),
    Row("the journal is a file", filed(".fullgraph"), works=False),
    Row("the lock is a folder", foldered(".fullgraph/lock"), works=False),
    Row("an entry is a folder", foldered(".fullgraph/runs/1/entry")),
]

# The files of the project themselves


def nested_repository(clone: Clone) -> None:
    clone.put("sub/.git", b"gitdir: ../.git/modules/sub\n")
    clone.put("sub/c.py", b"def f():\n    slow()\n")


def hard_linked_source(clone: Clone) -> None:
    os.link(clone.outside / "a.py", clone.project / "pkg/c.py")


def leftover(kind: str) -> Trap:
    path = f"pkg/{leftover_of('b.py')}"
    return linked(path, "notes.txt") if kind == "link" else foldered(path)


def config(data: bytes) -> Trap:
    return lambda clone: clone.put("pyproject.toml", data)


def instead_of_config(put: Callable[[str], Trap]) -> Trap:
    def build(clone: Clone) -> None:
        (clone.project / "pyproject.toml").unlink()
        put("pyproject.toml")(clone)

    return build


SOURCES = [
    Row("a source is a link", linked("pkg/c.py", "a.py")),
    Row("a folder of sources is a link", linked("lib", "")),
    Row("a source is a hard link", hard_linked_source),
    Row("a source is a pipe", piped("pkg/c.py")),
    Row("a repository in the project", nested_repository),
    Row("a source with a name at the limit", lambda clone: clone.put("pkg/" + "n" * 252 + ".py", b"slow()\n")),
    Row("a link where the new bytes go", leftover("link")),
    Row("a folder where the new bytes go", leftover("folder"), works=False),
    Row("a compiled folder that is a link", linked("pkg/__pycache__", "")),
    Row("a mark of copies that is a link", linked("fullgraph-copies.json", "notes.txt")),
    Row("a mark of copies that is a pipe", piped("fullgraph-copies.json")),
    Row("a notebook of deep JSON", lambda clone: clone.put("pkg/n.ipynb", b'{"cells": slow' + b"[" * 100_000)),
    Row("an ignore file of git that is a pipe", piped(".gitignore")),
    Row("a config of deep TOML", config(b"a = " + b"[" * 50_000), works=False),
    Row("a config of deep tables", config(b"[tool.fullgraph]\nselect = " + b"{a=" * 20_000), works=False),
    Row("a config that is a pipe", instead_of_config(piped)),
    Row("a config that is a folder", instead_of_config(foldered)),
    Row("a config that is a link", instead_of_config(lambda path: linked(path, "notes.txt")), works=False),
]

CLONES = [*rows_of_runs(), *DAMAGED, *OWN, *SOURCES]

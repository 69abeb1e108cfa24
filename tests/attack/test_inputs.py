"""Files that come with a clone and are read: none of them is waited for, none is read without end, none is a traceback.

And files that a clone brings where a report shall be written: nothing is written through them.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fullgraph.codemods.rewrite.ignore import read_line
from tests.attack.clones import PROJECT, Clone, honest
from tests.attack.test_clones import CHOSEN, call, snapshot

PATIENCE = 30
MOST = 1 << 30
"""Bytes of memory; what has no end needs more."""

DEEP = 100_000
SHAPES: dict[str, Callable[[Clone, str], None]] = {
    "a pipe": lambda clone, path: clone.pipe(path),
    "a device without end": lambda clone, path: clone.link(path, "/dev/zero"),
    "six gigabytes": lambda clone, path: sparse(clone.project / path),
    "a folder": lambda clone, path: clone.folder(path),
    "a link to nothing": lambda clone, path: clone.link(path, "nowhere"),
    "a link to itself": lambda clone, path: clone.link(path, Path(path).name),
    "bytes of no encoding": lambda clone, path: clone.put(path, b"\xff\xfe\x00\xd8"),
    "nested lists": lambda clone, path: clone.put(path, b"a = " + b"[" * DEEP),
    "nested braces": lambda clone, path: clone.put(path, b'{"a":' * DEEP),
    "a number of many digits": lambda clone, path: clone.put(path, b"9" * DEEP),
    "a value of many digits": lambda clone, path: clone.put(path, b"[tool.fullgraph]\na = " + b"9" * DEEP),
    "a cell of many digits": lambda clone, path: clone.put(path, b'{"cells": ' + b"9" * DEEP + b"}"),
    "options of another kind": lambda clone, path: clone.put(path, b"[tool.fullgraph]\noption = 3\nselect = {}\n"),
    "nothing": lambda clone, path: clone.put(path),
}
READERS = {
    "pyproject.toml": ["check", *CHOSEN, "."],
    "pkg/b.ipynb": ["check", *CHOSEN, "."],
    "pkg/.gitignore": ["check", *CHOSEN, "."],
    "pkg/c.py": ["check", *CHOSEN, "."],
    "setup.cfg": ["check", *CHOSEN, "."],
    "requirements.txt": ["check", *CHOSEN, "."],
    "mine.py": ["check", "--codemod", "mine.py", "."],
    "observed.json": ["check", *CHOSEN, "--observed", "observed.json", "."],
    "baseline.json": ["ci", *CHOSEN, "--baseline", "baseline.json", "."],
    "ticket.md": ["ticket", "fix", "ticket.md"],
    "ticket.json": ["ticket", "fix", "ticket.json"],
    "pkg/d.py": ["at", "pkg/d.py:1:1"],
    "settings.json": ["harness", "pkg.a:one", "--config", "settings.json"],
    "settings.toml": ["harness", "pkg.a:one", "--config", "settings.toml"],
}
OUTPUTS = {
    "ci": ["ci", *CHOSEN, "--output", "sarif={}", "."],
    "baseline": ["ci", *CHOSEN, "--update-baseline", "--baseline", "{}", "."],
    "ticket": ["ticket", "fix", "ticket.md", "--report", "{}"],
}


def sparse(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(6 << 30)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clone]:
    monkeypatch.setenv("FULLGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FULLGRAPH_STATE", str(tmp_path / "state"))
    clone = honest(tmp_path / "project", tmp_path / "outside")
    monkeypatch.chdir(clone.project)
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use() + MOST, limits[1]))
    yield clone
    resource.setrlimit(resource.RLIMIT_AS, limits)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def in_use() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def late(*_: object) -> None:
    raise TimeoutError("still reading")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("path", READERS)
def test_what_is_read_is_an_answer_of_one_line(clone: Clone, path: str, shape: str) -> None:
    (clone.project / path).unlink(missing_ok=True)
    SHAPES[shape](clone, path)
    call(READERS[path], (0, 1, 2, 4))


@pytest.mark.parametrize("command", OUTPUTS)
@pytest.mark.parametrize("place", ["link", "folder/new.txt", ".git/config", ".git/new"])
def test_no_report_is_written_through_a_link_or_into_git(clone: Clone, command: str, place: str) -> None:
    clone.link("link", clone.outside / "notes.txt")
    clone.link("folder", clone.outside)
    clone.put("ticket.md", b"# slow is slow\n\nIn `pkg/a.py:2` call fast.\n")
    outside, git = snapshot(clone.outside), snapshot(clone.project / ".git")
    result = call([word.format(place) for word in OUTPUTS[command]])
    assert result.exit_code == 2
    assert place in result.output
    assert (snapshot(clone.outside), snapshot(clone.project / ".git")) == (outside, git)


@pytest.mark.parametrize("place", ["out", "out/deep", "out/a.py"])
def test_a_link_that_leads_out_is_not_followed_when_it_is_named(clone: Clone, place: str) -> None:
    clone.link("out", clone.outside)
    outside = snapshot(clone.outside)
    result = call(["fix", "--yes", *CHOSEN, place])
    assert result.exit_code == 2
    assert "leads out of the project" in result.output
    assert snapshot(clone.outside) == outside


@pytest.mark.parametrize("glob", ["*a" * 40 + "b", "**/" * 30 + "b", "*" * 400 + "b", "[a-z]*" * 30 + "b", "?*" * 40])
@pytest.mark.parametrize("place", [".gitignore", "pyproject.toml"])
def test_a_pattern_of_many_stars_is_no_end(clone: Clone, glob: str, place: str) -> None:
    clone.put("a" * 200 + ".py", b"slow()\n")
    clone.put("a/" * 60 + "c.py", b"slow()\n")
    held = f"[tool.fullgraph]\nexclude = ['{glob}']\n" if place == "pyproject.toml" else f"{glob}\n"
    clone.put(place, held.encode())
    assert call(["check", *CHOSEN, "."]).exit_code == 1


@pytest.mark.parametrize(
    ("glob", "name", "fits"),
    [
        ("a*b*c", "abbc", True),
        ("a*bc", "abbc", True),
        ("*ab*ab", "abab", True),
        ("*ab*ab", "aab", False),
        ("*.p?", "a.b.py", True),
        ("a\\*b", "a*b", True),
        ("a\\*b", "axb", False),
        ("*[ab]*c", "xxbxc", True),
    ],
)
def test_stars_mean_what_they_did(glob: str, name: str, fits: bool) -> None:
    (pattern,) = read_line("/root/", glob)
    assert bool(pattern.matches(f"/root/{name}", is_folder=False)) == fits


def test_folders_without_end_are_left_alone(clone: Clone) -> None:
    folder = os.open(clone.project, os.O_RDONLY)
    for _ in range(600):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    result = call(["check", *CHOSEN, "."])
    assert "folders deep; left alone" in result.output
    assert call(["fix", "--yes", *CHOSEN, "pkg"]).exit_code in (0, 1)
    assert (clone.project / "pkg/b.py").read_bytes() != PROJECT["pkg/b.py"]


def test_a_log_is_told_without_control_characters(clone: Clone) -> None:
    for number in range(300):
        clone.put(f".fullgraph/runs/{number + 1}/run.json", b'{"command": "\\u001b[2Jfix", "number": 1}')
    assert len(call(["log"]).output.splitlines()) < 150

"""Every command, in each hostile clone: nothing outside the project and nothing in `.git` changes by a byte."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fullgraph.codemods.rewrite.seal import make_secret
from fullgraph.codemods.ui.cli import main
from tests.attack.clones import CLONES, PROJECT, Row, honest
from tests.ui.running import SAMPLE

CHOSEN = ["--codemod", str(SAMPLE), "--select", "call_fast", "--jobs", "1", "--no-cache"]
READING = [["check", *CHOSEN, "."], ["log"], ["log", "--format", "json"], ["at", "pkg/a.py:2:5"], ["fix", *CHOSEN, "."]]
READING += [["doctor", "--python", "none"], ["agent", "install", "--print"]]
WRITING = [["fix", "--yes", *CHOSEN, "pkg"], ["recover"], ["undo"], ["undo", "1"], ["agent", "install"]]
FIXED = b"def two():\n    fast()\n"


def snapshot(folder: Path) -> dict[str, tuple[int, bytes | str | None]]:
    """Everything below a folder: kind and mode, and the bytes or where a link leads to."""
    found: dict[str, tuple[int, bytes | str | None]] = {}
    for inner, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(inner, name)
            mode = path.lstat().st_mode
            held = os.readlink(path) if stat.S_ISLNK(mode) else path.read_bytes() if stat.S_ISREG(mode) else None
            found[str(path.relative_to(folder))] = mode, held
    return found


def call(command: list[str], codes: tuple[int, ...] = (0, 1, 2)) -> Result:
    result = CliRunner().invoke(main, command)
    assert isinstance(result.exception, SystemExit | None), (command, result.exc_info)
    assert result.exit_code in codes, (command, result.output)
    assert "Traceback" not in result.output
    assert "\x1b" not in result.output
    return result


@pytest.mark.parametrize("row", CLONES, ids=lambda row: row.name)
def test_nothing_outside_is_touched(row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FULLGRAPH_STATE", str(tmp_path / "state"))
    make_secret()
    clone = honest(tmp_path / "project", tmp_path / "outside")
    row.build(clone)
    monkeypatch.chdir(clone.project)
    outside, git, whole = snapshot(clone.outside), snapshot(clone.project / ".git"), snapshot(clone.project)
    for command in READING:
        call(command)
        assert snapshot(clone.project) == whole, command
    for number, command in enumerate(WRITING):
        result = call(command)
        assert snapshot(clone.outside) == outside, command
        assert snapshot(clone.project / ".git") == git, command
        if not number:
            is_fixed = (clone.project / "pkg/b.py").read_bytes() == FIXED
            assert is_fixed == row.works, result.output
    assert (clone.project / "pkg/b.py").read_bytes() == PROJECT["pkg/b.py"]


def test_the_bank_is_large_enough() -> None:
    assert len({row.name for row in CLONES}) == len(CLONES) >= 40

"""The key of a run: whoever has only the project cannot write a run that is recovered or undone."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.seal import make_secret, read_secret, state_folder
from fullgraph.codemods.rewrite.undo import undo
from tests.rewrite.running import change_of, mark_interrupted, write_files


@pytest.fixture
def written(root: Path) -> Path:
    """A project with one run."""
    write_files(root, {"a.py": b"old\n"})
    Journal(root).write(change_of(root, {"a.py": b"new\n"}))
    return root


def is_refused(root: Path, number: int = 1) -> bool:
    """Whether a run is neither listed, nor recovered, nor undone."""
    before = (root / "a.py").read_bytes()
    journal = Journal(root)
    assert journal.recover() is None
    assert number not in [run.number for run in journal.runs()]
    with pytest.raises(FullgraphError, match=rf"run {number} was not written here"):
        undo(journal, [str(number)])
    return (root / "a.py").read_bytes() == before and number in [held.number for held in journal.foreign()]


def test_the_secret_is_made_once_and_only_its_user_reads_it(written: Path) -> None:
    file = state_folder() / "secret"
    assert make_secret() == read_secret() == file.read_bytes()
    assert len(file.read_bytes()) == 32
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_reader_makes_no_secret(root: Path) -> None:
    assert (Journal(root).runs(), Journal(root).warning(), read_secret()) == ([], "", b"")
    assert not state_folder().exists()


def test_a_run_of_another_user_is_not_written_here(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLGRAPH_STATE", str(written.parent / "other"))
    assert is_refused(written)
    make_secret()
    assert is_refused(written)


def test_an_interrupted_run_of_another_user_is_not_touched(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark_interrupted(written)
    (written / "a.py").write_bytes(b"old\n")
    monkeypatch.setenv("FULLGRAPH_STATE", str(written.parent / "other"))
    assert is_refused(written)


@pytest.mark.parametrize("way", ["moved", "copied"])
def test_a_run_of_another_folder_is_not_written_here(written: Path, way: str) -> None:
    other = written.parent / "other"
    shutil.move(written, other) if way == "moved" else shutil.copytree(written, other)
    assert is_refused(other)


def test_a_run_under_another_number_is_not_written_here(written: Path) -> None:
    (written / ".fullgraph/runs/1").rename(written / ".fullgraph/runs/2")
    assert is_refused(written, 2)


def test_every_byte_of_the_entry_counts(written: Path) -> None:
    entry = written / ".fullgraph/runs/1/entry"
    whole = entry.read_bytes()
    for position in range(0, len(whole), 7):
        entry.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        assert Journal(written).runs() == []
    entry.write_bytes(whole)
    assert len(Journal(written).runs()) == 1


def test_a_project_that_is_reached_through_a_link_is_the_same(written: Path) -> None:
    (written.parent / "link").symlink_to(written)
    assert len(Journal(written.parent / "link").runs()) == 1


@pytest.mark.parametrize("what", ["short", "link", "folder", "file for the folder"])
def test_a_state_folder_that_keeps_no_secret_is_one_line(root: Path, what: str) -> None:
    write_files(root, {"a.py": b"old\n"})
    state = state_folder()
    if what == "file for the folder":
        state.write_bytes(b"")
    else:
        state.mkdir()
    if what == "short":
        (state / "secret").write_bytes(b"short")
    elif what == "link":
        (state / "secret").symlink_to(root / "a.py")
    elif what == "folder":
        (state / "secret").mkdir()
    with pytest.raises(
        FullgraphError, match=r"cannot keep the key .*FULLGRAPH_STATE names another.*nothing was written$"
    ):
        Journal(root).write(change_of(root, {"a.py": b"new\n"}))
    assert (root / "a.py").read_bytes() == b"old\n"
    assert Journal(root).foreign() == []


def test_the_state_folder_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FULLGRAPH_STATE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "fullgraph" or os.name == "nt"

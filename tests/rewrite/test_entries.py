"""What the journal says of its runs: all that stand, in their order, and nothing that leads elsewhere."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from codemods.model import FullgraphError
from codemods.rewrite.atomic import replace_file
from codemods.rewrite.entry import DONE, dump_run, load_run
from codemods.rewrite.journal import Journal
from codemods.rewrite.lock import locked, make_folder
from codemods.rewrite.undo import fixed_since, is_in_force, undo
from tests.rewrite.running import change_of, write, write_files
from tests.rewrite.sample import SwapCall, UnwrapNest


def write_times(root: Path, times: int) -> None:
    for number in range(times):
        Journal(root).write(change_of(root, {"a.py": f"x = {number}\n".encode()}))


def test_runs_are_listed_by_number(root: Path) -> None:
    write_files(root, {"a.py": "x\n"})
    write_times(root, 11)
    assert [run.number for run in Journal(root).runs()] == list(range(1, 12))


def test_a_number_is_never_given_twice(root: Path) -> None:
    """Also where an earlier run was removed by hand."""
    write_files(root, {"a.py": "x\n"})
    write_times(root, 2)
    (root / ".fullgraph/runs/1").rename(root / "away")
    assert Journal(root).write(change_of(root, {"a.py": b"y\n"})).number == 3


def test_a_run_that_was_rolled_back_is_no_run(root: Path) -> None:
    write_files(root, {"a.py": "x\n"})
    write_times(root, 1)
    entry = root / ".fullgraph/runs/1/entry.json"
    entry.write_bytes(entry.read_bytes().replace(b'"done"', b'"rolled back"'))
    assert Journal(root).runs() == []
    with pytest.raises(FullgraphError, match="there is no run 1"):
        Journal(root).run(1)


def held(root: Path, **changes: object) -> bytes:
    """An entry as it is on the disk, with some fields changed; None takes one out."""
    write_files(root, {"a.py": "x\n"})
    write_times(root, 1)
    entry = json.loads(dump_run(Journal(root).run(1))) | changes
    return json.dumps({key: value for key, value in entry.items() if value is not None}).encode()


def test_a_run_of_an_earlier_version_is_a_command_of_its_own(root: Path) -> None:
    run = load_run(7, held(root, command=None, created=None, removed=None, folders=None))
    assert (run.command, run.created, run.removed, run.folders, run.state) == (7, (), (), (), DONE)


@pytest.mark.parametrize("path", ["/etc/passwd", "../a.py", "pkg/../../a.py"])
@pytest.mark.parametrize("field", ["paths", "folders"])
def test_a_path_that_leads_out_of_the_project_is_damage(root: Path, field: str, path: str) -> None:
    with pytest.raises(ValueError, match="leads out of the project"):
        load_run(1, held(root, **{field: [path]}))


def test_all_bits_of_the_mode_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("old")
    (tmp_path / "a.py").chmod(0o1755)
    replace_file(tmp_path / "a.py", b"new")
    assert stat.S_IMODE((tmp_path / "a.py").stat().st_mode) == 0o1755


# The lock


@pytest.mark.parametrize(("before", "after"), [(None, "*\n"), ("", "*\n"), ("mine\n", "mine\n")])
def test_the_journal_keeps_itself_out_of_git_unless_the_user_says_otherwise(
    tmp_path: Path, before: str | None, after: str
) -> None:
    if before is not None:
        write_files(tmp_path, {"journal/.gitignore": before})
    make_folder(tmp_path / "journal")
    assert (tmp_path / "journal/.gitignore").read_text() == after


def test_nobody_is_named_once_the_lock_is_free(tmp_path: Path) -> None:
    with locked(tmp_path, 0):
        assert (tmp_path / "holder").read_text().startswith("process ")
    assert not (tmp_path / "holder").exists()
    with locked(tmp_path, 0):
        pass


# What stands


def test_the_way_out_of_a_conflict_is_named_the_newest_run_first(root: Path) -> None:
    write_files(root, {"a.py": "old()\nnest(nest(1))\n", "b.py": "x\n"})
    write(root, SwapCall())
    write(root, UnwrapNest())
    Journal(root).write(change_of(root, {"b.py": b"y\n"}))
    write(root, UnwrapNest())
    journal = Journal(root)
    assert fixed_since(journal, ["1"], {"a.py"}) == [4, 2]
    assert fixed_since(journal, ["1", "2"], {"a.py"}) == [4]
    assert fixed_since(journal, ["2"], {"b.py"}) == [3]
    undo(journal, ["4"])
    assert fixed_since(journal, ["1"], {"a.py"}) == [2]


def test_what_an_undone_undo_took_back_stands_again(root: Path) -> None:
    write_files(root, {"a.py": "old()\n"})
    write(root, SwapCall())
    for name in ("1", "2", "3"):
        undo(Journal(root), [name])
    runs = Journal(root).runs()
    assert [is_in_force(run, runs) for run in runs] == [False, True, False, True]

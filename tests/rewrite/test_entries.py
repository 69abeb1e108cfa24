"""What the journal says of its runs: all that stand, in their order, and nothing that leads elsewhere."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.atomic import replace_at
from fullgraph.codemods.rewrite.entry import (
    DONE,
    HEAD,
    LARGEST,
    LARGEST_FOREIGN,
    Run,
    close_envelope,
    dump_run,
    load_run,
    pack,
    unpack,
)
from fullgraph.codemods.rewrite.folder import BarredError
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.lock import locked, make_folder
from fullgraph.codemods.rewrite.seal import read_secret
from fullgraph.codemods.rewrite.undo import fixed_since, is_in_force, undo
from tests.rewrite.running import change_of, rewrite_entry, write, write_files
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
    rewrite_entry(root, state="rolled back")
    assert Journal(root).runs() == []
    with pytest.raises(FullgraphError, match="there is no run 1"):
        Journal(root).run(1)


BARRED = [
    *(
        "/etc/passwd",
        "../a.py",
        "pkg/../../a.py",
        "a//b.py",
        "./a.py",
        "",
        "a\0b.py",
        ".git/config",
        "pkg/.git/hooks/x",
    ),
    *(".GIT/config", ".git./config", ".git /config", ".g\u200cit/config", "GIT~1/config", ".git::$DATA/x", ".hg/hgrc"),
    *(".fullgraph/lock", ".Fullgraph/runs/1/entry", ".git"),
]


@pytest.mark.parametrize("path", BARRED)
def test_a_path_that_no_run_may_touch_is_damage(path: str) -> None:
    for run in (Run(1, "fix", "", DONE, {path: ""}, {path: ""}), Run(1, "fix", "", DONE, folders=(path,))):
        with pytest.raises(BarredError, match=r"leads out of the project|which no run enters"):
            load_run(1, dump_run(run), is_ours=True)


def test_an_entry_is_what_was_dumped() -> None:
    digest = "0" * 64
    run = Run(
        3, "undo", "now", DONE, {"a.py": digest, "b.py": ""}, {"a.py": "", "b.py": digest}, (), ("1.2",), 2, ("c",)
    )
    assert load_run(3, dump_run(run), is_ours=True) == run
    assert (run.created, run.removed) == (("b.py",), ("a.py",))


WRONG = [
    {"kind": 3},
    {"before": []},
    {"before": {"a.py": "../../x"}},
    {"after": {"b.py": ""}},
    {"undoes": [3]},
    {"command": "x"},
    {"folders": 3},
    {"state": None},
    {"findings": 3},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_an_entry_with_wrong_types_is_damaged(root: Path, wrong: dict[str, object]) -> None:
    write_files(root, {"a.py": "x\n"})
    write_times(root, 1)
    held = json.loads(unpack(dump_run(Journal(root).run(1)), LARGEST)) | wrong
    seal_payload(root, 1, pack(json.dumps(held).encode()))
    assert Journal(root).runs() == []
    assert "is damaged" in Journal(root).foreign()[0].problem


def test_an_entry_that_unpacks_to_too_much_is_damaged(root: Path) -> None:
    head = HEAD + b"0" * 16 + b" " + b"0" * 64 + b"\n"
    write_files(root, {".fullgraph/runs/1/entry": head + pack(b"[" * (LARGEST_FOREIGN + 1))})
    assert "too much to unpack" in Journal(root).foreign()[0].problem


def seal_payload(root: Path, number: int, payload: bytes) -> None:
    entry = root / f".fullgraph/runs/{number}/entry"
    entry.write_bytes(close_envelope(read_secret(), root, number, payload))


def test_all_bits_of_the_mode_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("old")
    (tmp_path / "a.py").chmod(0o1755)
    replace_at(tmp_path / "a.py", b"new")
    assert stat.S_IMODE((tmp_path / "a.py").stat().st_mode) == 0o1755


# The lock


@pytest.mark.parametrize("name", [".gitignore", ".ignore"])
@pytest.mark.parametrize(("before", "after"), [(None, "*\n"), ("", "*\n"), ("mine\n", "mine\n")])
def test_the_journal_keeps_itself_out_of_git_and_searches_unless_the_user_says_otherwise(
    tmp_path: Path, before: str | None, after: str, name: str
) -> None:
    if before is not None:
        write_files(tmp_path, {f"journal/{name}": before})
    make_folder(tmp_path / "journal").close()
    assert (tmp_path / "journal" / name).read_text() == after


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

"""Writing: on disk before anything is touched, old or new at every instant, one process at a time."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fullgraph.codemods.model import Change, FullgraphError, SourceError
from fullgraph.codemods.rewrite.atomic import LEFTOVER, leftover_of
from fullgraph.codemods.rewrite.entry import pack
from fullgraph.codemods.rewrite.file_step import FileStep
from fullgraph.codemods.rewrite.journal import Journal, digest_of
from fullgraph.codemods.rewrite.undo import undo
from tests.rewrite.running import (
    change_of,
    in_child,
    kill_at_every_step,
    mark_interrupted,
    read_files,
    rewrite_entry,
    write,
    write_files,
)
from tests.rewrite.sample import SwapCall

OLD = {"a.py": b"old a\n", "pkg/b.py": b"old b\r\n", "pkg/deep/c.py": b"old c"}
NEW = {path: data.replace(b"old", b"new") for path, data in OLD.items()}
CONFIG = {"pyproject.toml": b""}


def reset(root: Path) -> None:
    """A project with the old files and no journal."""
    shutil.rmtree(root)
    root.mkdir()
    write_files(root, OLD | CONFIG)


def is_old_or_new(root: Path) -> bool:
    return all((root / path).read_bytes() in (OLD[path], NEW[path]) for path in OLD)


def leftovers(root: Path) -> list[Path]:
    return list(root.rglob(f"*{LEFTOVER}"))


def write_new(root: Path) -> None:
    Journal(root).write(change_of(root, NEW))


def reset_to_written(root: Path) -> None:
    reset(root)
    write_new(root)


# Killed


def test_killed_at_any_step_of_a_write_every_file_is_old_or_new_and_the_next_command_settles_it(root: Path) -> None:
    reset(root)
    outcomes = set()
    steps = 0
    for _ in kill_at_every_step(lambda: write_new(root)):
        steps += 1
        assert is_old_or_new(root)
        recovery = Journal(root).recover()
        outcomes.add(recovery.outcome if recovery else "")
        assert read_files(root) in (OLD | CONFIG, NEW | CONFIG)
        assert not leftovers(root)
        assert Journal(root).recover() is None
        if Journal(root).runs():
            assert read_files(root) == NEW | CONFIG
            undo(Journal(root), ["1"])
        assert read_files(root) == OLD | CONFIG
        reset(root)
    assert steps > 40
    assert outcomes == {"", "finished"}


def test_killed_at_any_step_of_an_undo_it_can_still_be_undone(root: Path) -> None:
    reset_to_written(root)
    for _ in kill_at_every_step(lambda: undo(Journal(root), ["1"])):
        assert is_old_or_new(root)
        Journal(root).recover()
        assert not leftovers(root)
        if len(Journal(root).runs()) == 2:
            assert read_files(root) == OLD | CONFIG
            undo(Journal(root), ["2"])
        assert read_files(root) == NEW | CONFIG
        undo(Journal(root), ["1"])
        assert read_files(root) == OLD | CONFIG
        reset_to_written(root)


@pytest.mark.parametrize("written", range(len(NEW) + 1))
def test_killed_at_any_step_of_the_recovery_the_next_recovery_settles_it(root: Path, written: int) -> None:
    def reset_to_interrupted() -> None:
        reset(root)
        interrupt(root, written)

    reset_to_interrupted()
    for _ in kill_at_every_step(lambda: Journal(root).recover()):
        assert is_old_or_new(root)
        Journal(root).recover()
        assert read_files(root) == NEW | CONFIG
        assert not leftovers(root)
        undo(Journal(root), ["1"])
        assert read_files(root) == OLD | CONFIG
        reset_to_interrupted()


def interrupt(root: Path, written: int) -> None:
    """A run that died when some of its files were written and the next one was half written."""
    write_new(root)
    mark_interrupted(root)
    for path in list(OLD)[written:]:
        (root / path).write_bytes(OLD[path])
    for path in list(OLD)[written : written + 1]:
        file = root / path
        file.with_name(leftover_of(file.name)).write_bytes(NEW[path][:2])


def test_killed_in_the_middle_of_a_single_file_it_is_still_old(root: Path) -> None:
    big = {"a.py": b"# new\n" * 2_000}
    for limit in (0, 1, 3, 200, 600):
        reset(root)
        killed = in_child(lambda: Journal(root).write(change_of(root, big)), partial(die_beyond, limit))
        assert killed == -signal.SIGXFSZ
        assert (root / "a.py").read_bytes() == OLD["a.py"]
        has_begun = bool(Journal(root).interrupted())
        Journal(root).recover()
        assert read_files(root) == OLD | CONFIG | (big if has_begun else {})
        assert not leftovers(root)


def die_beyond(size: int) -> None:
    """Die of the first byte that a file grows beyond the size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


# Before the first file is touched


def test_everything_is_synced_before_the_first_file_is_touched(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Follows the real calls: whatever the journal holds at the first replacement has been synced by then."""
    write_files(root, OLD)
    synced: set[str] = set()
    missing: list[str] = []
    fsync, make = os.fsync, FileStep.make

    def note_sync(descriptor: int) -> None:
        name = os.readlink(f"/proc/self/fd/{descriptor}").replace(leftover_of("entry"), "entry")
        synced.add(name.replace("/.fullgraph/new", "/.fullgraph/runs/1"))
        fsync(descriptor)

    def note_make(step: FileStep) -> None:
        if not missing:
            run = root / ".fullgraph/runs/1"
            held = [root, run.parent.parent, run.parent, run, *run.rglob("*")]
            missing.extend(str(path) for path in held if str(path) not in synced)
            missing.append("looked")
        make(step)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(FileStep, "make", note_make)
    write_new(root)
    assert missing == ["looked"]


def test_the_entry_on_disk_says_writing_until_all_files_are_new(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(root, OLD)
    states = []
    make = FileStep.make

    def note_make(step: FileStep) -> None:
        states.append(Journal(root).interrupted())
        make(step)
        states.append(Journal(root).interrupted())

    monkeypatch.setattr(FileStep, "make", note_make)
    write_new(root)
    assert states == [1] * 6
    assert Journal(root).interrupted() == 0


# What is kept


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o640, 0o200])
def test_the_mode_is_kept_by_write_and_undo(root: Path, mode: int) -> None:
    write_files(root, OLD)
    (root / "a.py").chmod(mode)
    write_new(root)
    assert stat.S_IMODE((root / "a.py").stat().st_mode) == mode
    undo(Journal(root), ["1"])
    assert stat.S_IMODE((root / "a.py").stat().st_mode) == mode


def test_a_private_file_is_private_in_the_journal_too(root: Path) -> None:
    write_files(root, OLD)
    (root / "a.py").chmod(0o600)
    write_new(root)
    held = list((root / ".fullgraph/runs/1").iterdir())
    assert len(held) == 7
    assert {stat.S_IMODE(file.stat().st_mode) for file in held} == {0o600}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_the_owner_is_kept(root: Path) -> None:
    write_files(root, OLD)
    os.chown(root / "a.py", 1234, 2345)
    write_new(root)
    status = (root / "a.py").stat()
    assert (status.st_uid, status.st_gid) == (1234, 2345)


def test_the_journal_keeps_itself_out_of_git(root: Path) -> None:
    write_files(root, OLD)
    subprocess.run(["git", "init", "-q", root], check=True)
    write_new(root)
    said = subprocess.run(["git", "status", "--porcelain", "-uall"], cwd=root, capture_output=True, check=True).stdout
    assert b".fullgraph" not in said


@pytest.mark.parametrize("name", ["with space.py", "new\nline.py", "-dash.py", "ünï.py", os.fsdecode(b"\xff\xfe.py")])
def test_any_name_can_be_written_and_undone(root: Path, name: str) -> None:
    write_files(root, {f"d/{name}": "x = old()\n"})
    run = write(root, SwapCall())
    assert (root / "d" / name).read_bytes() == b"x = new()\n"
    assert Journal(root).run(run.number).paths == (f"d/{name}",)
    undo(Journal(root), ["1"])
    assert (root / "d" / name).read_bytes() == b"x = old()\n"


# Refused


def refuse(root: Path, change: Change, words: str, kind: type[FullgraphError] = SourceError) -> None:
    """The change is refused in these words, and nothing is written."""
    files = read_files(root)
    with pytest.raises(kind, match=words):
        Journal(root).write(change)
    assert read_files(root) == files
    assert Journal(root).runs() == []
    assert Journal(root).recover() is None
    assert not leftovers(root)


def test_a_file_that_changed_since_the_plan_stops_the_run(root: Path) -> None:
    write_files(root, OLD)
    change = change_of(root, NEW)
    (root / "pkg/b.py").write_bytes(b"edited meanwhile\n")
    refuse(root, change, r"^pkg/b.py: changed on disk meanwhile; nothing was written$")


def test_a_file_that_is_gone_stops_the_run(root: Path) -> None:
    write_files(root, OLD)
    change = change_of(root, NEW)
    (root / "pkg/b.py").unlink()
    refuse(root, change, r"^pkg/b.py: No such file or directory; nothing was written$")


def test_a_file_that_became_a_link_stops_the_run(root: Path, tmp_path: Path) -> None:
    write_files(root, OLD)
    change = change_of(root, NEW)
    (root / "a.py").rename(tmp_path / "elsewhere.py")
    (root / "a.py").symlink_to(tmp_path / "elsewhere.py")
    refuse(root, change, "a.py: a link, which is not followed; nothing was written")
    assert (tmp_path / "elsewhere.py").read_bytes() == OLD["a.py"]


def test_a_read_only_file_stops_the_run_for_root_too(root: Path) -> None:
    write_files(root, OLD)
    (root / "pkg/b.py").chmod(0o444)
    refuse(root, change_of(root, NEW), "pkg/b.py: not writable; nothing was written")


@pytest.mark.skipif(os.getuid() != 0, reason="drops root's rights in a child")
def test_a_folder_that_is_not_writable_stops_the_run(root: Path) -> None:
    write_files(root, OLD)
    open_to_nobody(root)
    (root / "pkg").chmod(0o555)
    assert in_child(lambda: refuse(root, change_of(root, NEW), "pkg/b.py: not writable"), become_nobody) == 0


@pytest.mark.skipif(os.getuid() != 0, reason="drops root's rights in a child")
def test_a_root_that_is_not_writable_is_said_in_one_line(root: Path) -> None:
    write_files(root, OLD)
    open_to_nobody(root)
    root.chmod(0o555)

    def attempt() -> None:
        refuse(root, change_of(root, NEW), "cannot keep a journal: Permission denied", FullgraphError)

    assert in_child(attempt, become_nobody) == 0


def become_nobody() -> None:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def open_to_nobody(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        os.chown(path, 65534, 65534)
    for outer in root.parents:
        if outer.stat().st_uid == os.getuid() and len(outer.parts) > 2:
            outer.chmod(outer.stat().st_mode | 0o055)


# Going wrong half way


def test_a_full_disk_leaves_nothing_half_written(root: Path) -> None:
    """The last file does not fit: the limit is real, and raises as a full disk does."""
    big = {"a.py": b"# new\n", "pkg/b.py": b"# new\n" * 50_000}
    for limit in (1, 100, 1_000, 100_000):
        write_files(root, OLD)

        def attempt() -> None:
            refuse(root, change_of(root, big), "File too large; nothing was written", FullgraphError)

        assert in_child(attempt, partial(raise_beyond, limit)) == 0


def raise_beyond(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def fail_at(number: int, error: Callable[[], BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the replacement of the n-th file of the project fail; the disk itself stays real."""
    rename = os.replace
    count = 0

    def replace(source: str, target: str, **folders: Any) -> None:
        nonlocal count
        if target.endswith(".py"):
            count += 1
            if count == number:
                raise error()
        rename(source, target, **folders)

    monkeypatch.setattr(os, "replace", replace)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_ctrl_c_half_way_rolls_back_at_once(root: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    write_files(root, OLD)
    fail_at(number, KeyboardInterrupt, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        write_new(root)
    assert read_files(root) == OLD | CONFIG
    assert not leftovers(root)
    assert Journal(root).runs() == []
    assert Journal(root).recover() is None


def test_an_error_of_the_system_half_way_is_one_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(root, OLD)
    fail_at(2, lambda: OSError(errno.ENOSPC, "No space left on device"), monkeypatch)
    refuse(root, change_of(root, NEW), "No space left on device; nothing was written", FullgraphError)


def test_when_rolling_back_fails_too_the_next_command_finishes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(root, OLD)
    with monkeypatch.context() as patched:
        for number in (2, 2):
            fail_at(number, lambda: OSError(errno.ENOSPC, "No space left on device"), patched)
        with pytest.raises(FullgraphError, match="run 1 is written in part; `fullgraph recover` finishes it"):
            write_new(root)
    assert is_old_or_new(root)
    recovery = Journal(root).recover()
    assert recovery is not None
    assert recovery.outcome == "finished"
    assert read_files(root) == NEW | CONFIG


def test_ctrl_c_while_the_journal_is_written_leaves_no_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(root, OLD)
    fsync = os.fsync
    copies = []

    def interrupt_second_copy(descriptor: int) -> None:
        if (name := os.readlink(f"/proc/self/fd/{descriptor}")).endswith(".gz"):
            copies.append(name)
        if len(copies) == 2:
            raise KeyboardInterrupt
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", interrupt_second_copy)
    with pytest.raises(KeyboardInterrupt):
        write_new(root)
    assert Journal(root).recover() is None
    assert not any((root / ".fullgraph/runs").iterdir())
    assert not (root / ".fullgraph/new").exists()


# Recovering


def test_an_edit_made_after_the_crash_is_kept_when_the_run_is_rolled_back(root: Path) -> None:
    lines = [b"one\n", b"old\n", b"two\n", b"three\n", b"four\n"]
    write_files(root, {"a.py": b"".join(lines), "b.py": b"old\n"})
    new = b"".join(lines).replace(b"old", b"new")
    Journal(root).write(change_of(root, {"a.py": new, "b.py": b"new\n"}))
    mark_interrupted(root, 1)
    (root / "a.py").write_bytes(new + b"mine\n")
    recovery = Journal(root).recover()
    assert recovery is not None
    assert recovery.outcome == "rolled back, because a file has been edited since"
    assert (root / "a.py").read_bytes() == b"".join(lines) + b"mine\n"
    assert (root / "b.py").read_bytes() == b"old\n"


def test_an_edit_on_the_same_line_after_the_crash_is_left_and_named(root: Path) -> None:
    write_files(root, {"a.py": b"old\n", "b.py": b"old\n"})
    Journal(root).write(change_of(root, {"a.py": b"new\n", "b.py": b"new\n"}))
    mark_interrupted(root, 1)
    (root / "a.py").write_bytes(b"mine\n")
    recovery = Journal(root).recover()
    assert recovery is not None
    assert recovery.outcome.endswith("it could not be taken out of a.py:1")
    assert read_files(root) == CONFIG | {"a.py": b"mine\n", "b.py": b"old\n"}


def test_a_file_deleted_after_the_crash_stays_deleted(root: Path) -> None:
    write_files(root, OLD)
    write_new(root)
    mark_interrupted(root, 1)
    (root / "a.py").unlink()
    recovery = Journal(root).recover()
    assert recovery is not None
    assert recovery.outcome.startswith("rolled back")
    assert read_files(root) == {path: data for path, data in (OLD | CONFIG).items() if path != "a.py"}


def test_a_write_settles_an_interrupted_run_first_and_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(root, OLD)
    write_new(root)
    mark_interrupted(root, 1)
    change = Change({"a.py": NEW["a.py"]}, {"a.py": b"newest\n"})
    assert Journal(root).write(change).number == 2
    assert "run 1 had been interrupted: finished" in capsys.readouterr().err


# Damaged

DAMAGES = [b"", b"{", b"fullgraph run 3 \n", b"fullgraph run 3 00\n\x1f\x8b", b"\xff\xfe", b'{"a":' * 2_000]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_no_run_and_in_nobodys_way(root: Path, damage: bytes) -> None:
    write_files(root, OLD)
    write_new(root)
    (root / ".fullgraph/runs/1/entry").write_bytes(damage)
    journal = Journal(root)
    assert (journal.recover(), journal.runs(), journal.warning()) == (None, [], "")
    [held] = journal.foreign()
    assert held.problem.startswith("not written here, or is damaged")
    assert journal.write(Change({"a.py": NEW["a.py"]}, {"a.py": b"newest\n"})).number == 2


def test_a_damaged_entry_in_the_middle_leaves_the_others_usable(root: Path) -> None:
    write_files(root, {"a.py": "old()\n", "b.py": "pass\n"})
    write(root, SwapCall())
    undo(Journal(root), ["1"])
    write(root, SwapCall())
    (root / ".fullgraph/runs/1/entry").write_bytes(b"{")
    assert [run.number for run in Journal(root).runs()] == [2, 3]
    undo(Journal(root), ["3"])
    assert (root / "a.py").read_bytes() == b"old()\n"
    with pytest.raises(FullgraphError, match="is damaged"):
        undo(Journal(root), ["1"])


@pytest.mark.parametrize("name", ["²", "٣", "0", "01", "9" * 10, "9" * 255, "-1", "1 ", "1.damaged"])
def test_what_is_no_number_of_a_run_is_none(root: Path, name: str) -> None:
    write_files(root, OLD | {f".fullgraph/runs/{name}/entry": b"{"})
    write_new(root)
    assert [run.number for run in Journal(root).runs()] == [1]


def test_a_number_that_something_else_has_is_passed_over(root: Path) -> None:
    write_files(root, OLD | {f".fullgraph/runs/{name}/entry": b"{" for name in ("1", "2", "999999999")})
    write_new(root)
    assert [run.number for run in Journal(root).runs()] == [3]


def test_an_entry_that_leads_out_of_the_project_is_damaged(root: Path, tmp_path: Path) -> None:
    write_files(root, OLD)
    (tmp_path / "victim.py").write_bytes(b"mine\n")
    write_new(root)
    run = Journal(root).run(1)
    rewrite_entry(root, state="writing", before={"../victim.py": run.after["a.py"]}, after={"../victim.py": ""})
    assert Journal(root).recover() is None
    assert (tmp_path / "victim.py").read_bytes() == b"mine\n"


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_run_that_lost_a_copy_is_taken_out_of_the_other_files(root: Path, is_damaged: bool) -> None:
    write_files(root, OLD)
    write_new(root)
    mark_interrupted(root, 1)
    copy = root / f".fullgraph/runs/1/{digest_of(OLD['a.py'])}.gz"
    copy.write_bytes(pack(b"planted")) if is_damaged else copy.unlink()
    recovery = Journal(root).recover()
    assert recovery is not None
    said = "rolled back, because some of its copies are lost; it could not be taken out of a.py"
    assert recovery.outcome == said
    assert read_files(root) == OLD | CONFIG | {"a.py": NEW["a.py"]}
    assert Journal(root).recover() is None


def test_a_lost_copy_is_named_by_an_undo(root: Path) -> None:
    write_files(root, OLD)
    write_new(root)
    (root / f".fullgraph/runs/1/{digest_of(OLD['a.py'])}.gz").unlink()
    with pytest.raises(FullgraphError, match=r"run 1 has lost its copy of a\.py: No such file"):
        undo(Journal(root), ["1"])


def test_an_unknown_run_is_named(root: Path) -> None:
    with pytest.raises(FullgraphError, match="there is no run 7"):
        Journal(root).run(7)


# Two at once

HOLD = """
import sys, time
from pathlib import Path
from fullgraph.codemods.rewrite.lock import locked
with locked(Path(sys.argv[1]) / ".fullgraph", 10):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def hold_lock(root: Path, seconds: float) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, root, str(seconds)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_a_second_run_waits_for_the_first_and_says_for_whom(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(root, OLD)
    with hold_lock(root, 0.5) as holder:
        started = time.monotonic()
        write_new(root)
        assert time.monotonic() - started > 0.2
    assert f"waiting for process {holder.pid}" in capsys.readouterr().err
    assert read_files(root) == NEW | CONFIG


def test_a_second_run_that_waits_too_long_says_who_holds_the_lock(root: Path) -> None:
    write_files(root, OLD)
    with hold_lock(root, 30) as holder:
        with pytest.raises(FullgraphError, match=f"locked by process {holder.pid} .*; nothing was written"):
            Journal(root, wait_seconds=0.1).write(change_of(root, NEW))
        holder.kill()
    write_new(root)
    assert read_files(root) == NEW | CONFIG


def test_runs_of_many_processes_come_one_after_the_other(root: Path) -> None:
    write_files(root, {"count.txt": b"0"})

    def count_up() -> None:
        for _ in range(5):
            while True:
                number = int((root / "count.txt").read_bytes())
                try:
                    Journal(root).write(Change({"count.txt": b"%d" % number}, {"count.txt": b"%d" % (number + 1)}))
                    break
                except SourceError:
                    continue

    processes = [start_child(count_up) for _ in range(3)]
    assert [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes] == [0, 0, 0]
    assert (root / "count.txt").read_bytes() == b"15"
    assert len(Journal(root).runs()) == 15


def start_child(action: Callable[[], object]) -> int:
    process = os.fork()
    if not process:
        os._exit(in_child(action))
    return process


def test_a_reader_does_not_disturb_a_run_under_way(root: Path) -> None:
    """While a run holds the lock and is not finished, `recover` waits for it instead of rolling it back."""
    write_files(root, OLD)
    write_new(root)
    mark_interrupted(root, 1)
    with hold_lock(root, 30) as holder:
        with pytest.raises(FullgraphError, match="is locked by"):
            Journal(root, wait_seconds=0.1).recover()
        assert Journal(root).warning() == "run 1 is being written at the moment"
        holder.kill()
    assert Journal(root).recover() is not None

"""What a run may touch: below the root, past no link, in no repository of its own, whatever the file system."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fullgraph.codemods.model import Change, Finding, FullgraphError, SourceError, Span
from fullgraph.codemods.rewrite import folder as folders
from fullgraph.codemods.rewrite.atomic import leftover_of
from fullgraph.codemods.rewrite.folder import BarredError, Folder
from fullgraph.codemods.rewrite.inside import (
    create_new,
    parts_of,
    place_of,
    read_inside,
    why_not_creatable,
    why_not_writable,
)
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.undo import undo
from fullgraph.codemods.run import leave_unwritable
from tests.rewrite.running import change_of, findings_in, in_child, look, mark_interrupted, write_files
from tests.rewrite.sample import SwapCall


@pytest.fixture(params=[True, False])
def descriptors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With descriptors, and as on a system that has none."""
    monkeypatch.setattr(folders, "HAS_DESCRIPTORS", request.param)
    return bool(request.param)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    write_files(tmp_path / "outside", {"a.py": b"mine\n", "deep/b.py": b"mine\n"})
    return tmp_path / "outside"


def refuse(root: Path, change: Change, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        Journal(root).write(change)
    assert Journal(root).runs() == []


def is_untouched(outside: Path) -> bool:
    found = {file.relative_to(outside).as_posix(): file.read_bytes() for file in outside.rglob("*") if file.is_file()}
    return found == {"a.py": b"mine\n", "deep/b.py": b"mine\n"}


# Links


@pytest.mark.usefixtures("descriptors")
@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("linked/a.py", b"mine\n", b"new\n"),
        ("linked/a.py", b"mine\n", None),
        ("linked/new.py", None, b"new\n"),
        ("linked/new/new.py", None, b"new\n"),
        ("pkg/linked/b.py", b"mine\n", b"new\n"),
        ("link.py", b"mine\n", b"new\n"),
        ("link.py", b"mine\n", None),
    ],
)
def test_no_file_is_made_replaced_or_removed_past_a_link(
    root: Path, outside: Path, path: str, before: bytes | None, after: bytes | None
) -> None:
    (root / "pkg").mkdir()
    (root / "linked").symlink_to(outside)
    (root / "pkg/linked").symlink_to(outside / "deep")
    (root / "link.py").symlink_to(outside / "a.py")
    refuse(root, Change({path: before}, {path: after}), "a link, which is not followed")
    assert is_untouched(outside)


@pytest.mark.usefixtures("descriptors")
def test_a_file_is_written_taken_back_and_finished_with_and_without_descriptors(root: Path) -> None:
    write_files(root, {"pkg/a.py": b"old\n"})
    Journal(root).write(Change({"pkg/a.py": b"old\n", "new/b.py": None}, {"pkg/a.py": b"new\n", "new/b.py": b"b\n"}))
    mark_interrupted(root)
    (root / "pkg/a.py").write_bytes(b"old\n")
    assert str(Journal(root).recover()).find("finished") > 0
    assert ((root / "pkg/a.py").read_bytes(), (root / "new/b.py").read_bytes()) == (b"new\n", b"b\n")


def test_a_folder_that_becomes_a_link_before_an_undo_is_refused(root: Path, outside: Path) -> None:
    write_files(root, {"pkg/a.py": b"mine\n"})
    Journal(root).write(change_of(root, {"pkg/a.py": b"new\n"}))
    (root / "pkg").rename(root / "away")
    (root / "pkg").symlink_to(outside)
    (outside / "a.py").write_bytes(b"new\n")
    with pytest.raises(FullgraphError, match="a link, which is not followed; nothing was changed"):
        undo(Journal(root), ["1"])
    assert (outside / "a.py").read_bytes() == b"new\n"


def test_a_folder_that_is_swapped_for_a_link_while_it_is_open_stays_the_folder(root: Path, outside: Path) -> None:
    write_files(root, {"pkg/a.py": b"old\n"})
    with place_of(root, "pkg/a.py") as (folder, name):
        (root / "pkg").rename(root / "away")
        (root / "pkg").symlink_to(outside)
        folder.remove(name)
    assert is_untouched(outside)
    assert not (root / "away/a.py").exists()


def test_an_empty_folder_past_a_link_is_not_removed(root: Path, outside: Path) -> None:
    Journal(root).write(Change({"new/b.py": None}, {"new/b.py": b"b\n"}))
    (outside / "empty").mkdir()
    mark_interrupted(root)
    (root / "new/b.py").unlink()
    (root / "new").rmdir()
    (root / "new").symlink_to(outside / "empty")
    Journal(root).recover()
    assert (outside / "empty").is_dir()
    assert (root / "new").is_symlink()


def test_what_a_user_asks_for_is_not_made_past_a_link(root: Path, outside: Path) -> None:
    (root / "scenarios").symlink_to(outside)
    with pytest.raises(BarredError, match="a link"):
        create_new(root, root / "scenarios/new.py", b"")
    create_new(root, outside / "named/new.py", b"")
    assert (outside / "named/new.py").exists()


# Repositories


@pytest.mark.parametrize("marks", [[".git/HEAD"], [".git"], ["HEAD", "objects/x"]])
def test_nothing_is_written_in_a_repository_of_its_own(root: Path, marks: list[str]) -> None:
    write_files(root, {"sub/pkg/a.py": b"old()\n", **{f"sub/{mark}": b"gitdir: x\n" for mark in marks}})
    refuse(root, change_of(root, {"sub/pkg/a.py": b"new()\n"}), "in a repository of its own; nothing was written")
    refuse(root, Change({"sub/b.py": None}, {"sub/b.py": b"new()\n"}), "in a repository of its own")


def test_a_finding_in_a_repository_of_its_own_is_left_alone_and_no_error(root: Path) -> None:
    write_files(root, {"sub/a.py": "old()\n", "sub/.git": "gitdir: x\n", "b.py": "old()\n"})
    left, barred = leave_unwritable(look(root, SwapCall()), root)
    reasons = {finding.path: finding.left_alone for finding in findings_in(left)}
    assert reasons == {"b.py": "", "sub/a.py": "would have to change sub/a.py, which is in a repository of its own"}
    assert barred == []


def test_a_root_that_is_a_repository_is_written(root: Path) -> None:
    write_files(root, {"a.py": b"old\n", ".git/HEAD": b""})
    assert Journal(root).write(change_of(root, {"a.py": b"new\n"})).number == 1


# Names


def test_names_of_windows_are_refused_there(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = ["a\\b.py", "c:/x.py", "c:x.py", "a.py.", "a.py ", "pkg./a.py", "nul", "con.py", "pkg/aux.txt", "lpt1", 'a"b']
    assert all(parts_of(path) for path in bad)
    monkeypatch.setattr(os, "name", "nt")
    for path in bad:
        with pytest.raises(BarredError):
            parts_of(path)
    assert parts_of("pkg/console.py") == ["pkg", "console.py"]


@pytest.mark.parametrize("size", [200, 240, 245, 250, 255])
def test_a_name_at_the_limit_is_written_and_taken_back(root: Path, size: int) -> None:
    name = "n" * (size - 3) + ".py"
    write_files(root, {name: b"old\n"})
    before, after = {name: b"old\n", f"new/{name}": None}, {name: b"new\n", f"new/{name}": b"b\n"}
    Journal(root).write(Change(before, after, (Finding("sample", name, Span(0, 0), "", ""),)))
    undo(Journal(root), ["1"])
    assert (root / name).read_bytes() == b"old\n"
    assert not (root / "new").exists()


def test_a_name_beyond_the_limit_stops_the_run_before_it_begins(root: Path) -> None:
    name = "n" * 253 + ".py"
    refuse(root, Change({name: None}, {name: b""}), "File name too long; nothing was written")
    refuse(root, Change({f"{name}/a.py": None}, {f"{name}/a.py": b""}), "File name too long; nothing was written")


def test_a_path_beyond_the_limit_of_the_system_is_reached(root: Path) -> None:
    path = "/".join(["d" * 250] * 20) + "/a.py"
    assert read_inside(root, path) is None
    assert why_not_writable(root, path) == "No such file or directory"


def test_a_folder_in_the_place_of_the_new_bytes_is_one_line(root: Path) -> None:
    write_files(root, {"a.py": b"old\n", "b.py": b"old\n"})
    (root / leftover_of("b.py")).mkdir()
    with pytest.raises(FullgraphError, match="a folder that is in the way; remove it"):
        Journal(root).write(change_of(root, {"a.py": b"new\n", "b.py": b"new\n"}))
    assert (root / "a.py").read_bytes() == b"old\n"
    assert (Journal(root).runs(), Journal(root).warning()) == ([], "")


# Neither files nor folders


def test_a_pipe_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / "a.py")
    with Folder.at(root) as folder, pytest.raises(BarredError, match="not a plain file"):
        folder.read("a.py")
    assert why_not_writable(root, "a.py") == "not a plain file"
    assert why_not_creatable(root, "a.py/b.py") == "not a folder"


@pytest.mark.parametrize("name", ["lock", "holder", ".gitignore", ".ignore", "runs", ""])
@pytest.mark.parametrize("kind", ["link", "pipe", "other"])
def test_what_is_the_journals_own_and_something_else_is_refused_in_one_line(
    root: Path, outside: Path, name: str, kind: str
) -> None:
    write_files(root, {"a.py": b"old\n"})
    if name:
        (root / ".fullgraph").mkdir()
    place = root / ".fullgraph" / name if name else root / ".fullgraph"
    is_folder = name in ("", "runs")
    if kind == "link":
        place.symlink_to(outside if is_folder else outside / "a.py")
    elif kind == "pipe":
        os.mkfifo(place)
    elif is_folder:
        place.write_bytes(b"")
    else:
        place.mkdir()
    with pytest.raises(FullgraphError, match=rf"{name}: (a link|not a)") as refused:
        Journal(root).write(change_of(root, {"a.py": b"new\n"}))
    assert "\n" not in str(refused.value)
    assert (root / "a.py").read_bytes() == b"old\n"
    assert is_untouched(outside)


def test_a_lock_that_is_a_hard_link_is_not_emptied(root: Path, outside: Path) -> None:
    write_files(root, {"a.py": b"old\n"})
    (root / ".fullgraph").mkdir()
    os.link(outside / "a.py", root / ".fullgraph/lock")
    os.link(outside / "a.py", root / ".fullgraph/holder")
    assert in_child(lambda: Journal(root).write(change_of(root, {"a.py": b"new\n"}))) == 0
    assert is_untouched(outside)

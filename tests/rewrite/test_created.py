"""Changes that create files: absent or complete at every instant, taken back as a whole, never over somebody's file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fullgraph import Unsure
from fullgraph.codemods.model import Change, Edit, Finding, FullgraphError, SourceError, Span
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.as_json import dump_finding, load_finding
from fullgraph.codemods.rewrite.atomic import LEFTOVER, leftover_of
from fullgraph.codemods.rewrite.diff import apply_patch, patch
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.plan import plan
from fullgraph.codemods.rewrite.undo import UndoConflictError, undo, undone_findings
from fullgraph.codemods.rewrite.walk import plant_trees
from fullgraph.codemods.run import leave_unwritable, respecting
from tests.rewrite.running import (
    findings_in,
    in_child,
    kill_at_every_step,
    look,
    mark_interrupted,
    planned,
    project_of,
    read_files,
    rewrite_entry,
    write,
    write_files,
)
from tests.rewrite.sample import BorrowHelper, BorrowOther

HOME, TEXT = BorrowHelper.home, BorrowHelper.text.encode()
OLD = {"a.py": b"x = borrow()\ny = borrow()\n\nz = 1\n", "pyproject.toml": b""}
IMPORT = b"from extra.lending import borrowed\n"


def folders(root: Path) -> set[str]:
    found = (path for path in root.rglob("*") if path.is_dir() and ".fullgraph" not in path.parts)
    return {path.relative_to(root).as_posix() for path in found}


def reset(root: Path) -> None:
    shutil.rmtree(root)
    write_files(root, OLD)


def put(file: Path, kind: str, data: bytes) -> None:
    if kind == "folder":
        file.mkdir()
    elif kind == "link":
        file.symlink_to("nowhere")
    else:
        file.write_bytes(data)


def new_files(root: Path) -> dict[str, bytes]:
    """The project after the sample codemod."""
    project = project_of(root)
    findings = findings_in(look(root, BorrowHelper()))
    return {**read_files(root), **plan(findings, project, [BorrowHelper()]).written}


# Planning


def test_a_file_that_is_not_there_is_created_and_shared_by_the_findings(root: Path) -> None:
    write_files(root, OLD)
    change = planned(root, BorrowHelper())
    assert change.before == {"a.py": OLD["a.py"], HOME: None}
    assert change.after[HOME] == TEXT
    assert len(change.applied) == 2
    assert change.left_out == ()


def test_the_same_file_already_there_needs_no_edit_whatever_its_line_endings(root: Path) -> None:
    write_files(root, OLD | {HOME: TEXT.replace(b"\n", b"\r\n")})
    assert planned(root, BorrowHelper()).after.keys() == {"a.py"}


def test_another_file_there_leaves_the_finding_alone(root: Path) -> None:
    write_files(root, OLD | {HOME: b"mine\n"})
    findings = findings_in(look(root, BorrowHelper()))
    assert [finding.left_alone for finding in findings] == [
        f"{HOME}:1: this file would have to be created, and another one is there"
    ] * 2


@pytest.mark.parametrize("kind", ["folder", "link", "file"])
def test_whatever_stands_at_the_path_is_another_file(root: Path, kind: str) -> None:
    put(root / "x.py", kind, b"\0")
    with pytest.raises(Unsure, match="another one is there"):
        Project(root, []).new_file("x.py", "")


def test_a_file_in_the_place_of_a_folder_is_in_the_way(root: Path) -> None:
    write_files(root, {"tests": b"no folder\n"})
    with pytest.raises(Unsure, match=r"tests:1: tests/unit/test_a\.py would have to be created"):
        Project(root, []).new_file("tests/unit/test_a.py", "")


def test_a_name_in_other_letter_case_is_in_the_way(root: Path) -> None:
    files = {"pkg/Steps.py": b"mine\n"}
    with pytest.raises(Unsure, match=r"pkg/Steps\.py:1: pkg/steps\.py would have to be created"):
        Project(root, files, files).new_file("pkg/steps.py", "x = 1\n")


@pytest.mark.parametrize(
    ("path", "newline"),
    [("crlf/new.py", "\r\n"), ("crlf/in/ner/new.py", "\r\n"), ("lf/new.py", "\n"), ("tests/new.py", "\n")],
)
def test_lines_end_as_in_the_files_around(root: Path, path: str, newline: str) -> None:
    files = {"a.py": b"1\n", "crlf/__init__.py": b"", "crlf/b.py": b"1\r\n2\n", "lf/c.py": b"1\n"}
    (edit,) = Project(root, files, files).new_file(path, "x = 1\ny = 2\n")
    assert edit.new_text == f"x = 1{newline}y = 2{newline}"


def test_of_two_texts_for_one_file_the_first_is_taken(root: Path) -> None:
    write_files(root, OLD)
    one, other = BorrowHelper(), BorrowOther()
    change = planned(root, one, other)
    assert change.after[HOME] in (TEXT, BorrowOther.text.encode())
    assert {finding.codemod for finding in change.applied} != {"borrow_helper", "borrow_other"}
    assert all(reason.startswith("overlaps") for _, reason in change.left_out)


def test_an_insertion_into_an_existing_file_is_no_creation(root: Path) -> None:
    insertion, creation = Edit("x.py", Span(0, 0), "a"), Edit("x.py", Span(0, 0), "a", creates=True)
    assert creation.clashes(insertion)
    assert not insertion.clashes(Edit("x.py", Span(0, 0), "b"))


def test_a_file_that_appears_between_finding_and_planning_is_refused(root: Path) -> None:
    write_files(root, OLD)
    findings = findings_in(look(root, BorrowHelper()))
    write_files(root, {HOME: b"mine\n"})
    change = plan(findings, project_of(root), [BorrowHelper()])
    assert not change.applied
    assert {reason for _, reason in change.left_out} == {f"{HOME} would have to be created, and is there by now"}


def test_a_created_file_must_parse(root: Path) -> None:
    edits = Project(root, []).new_file("x.py", "def (:\n")
    change = plan([Finding("c", "a.py", Span(0, 0), "", "", edits)], project_of(root), [])
    assert "would not be valid" in change.left_out[0][1]


def test_a_project_with_a_change_laid_over_it_knows_the_new_module(root: Path) -> None:
    write_files(root, OLD)
    project = project_of(root).laid_over({"extra/__init__.py": b"", HOME: TEXT})
    assert HOME in project.files
    assert project.path_of("extra.lending") == HOME
    assert project.mentions("borrowed") == [HOME]
    assert project.new_file(HOME, TEXT.decode()) == ()


def test_a_creating_edit_survives_the_journal_and_the_cache(root: Path) -> None:
    write_files(root, OLD)
    for finding in findings_in(look(root, BorrowHelper())):
        assert load_finding(json.loads(json.dumps(dump_finding(finding)))) == finding
    for _ in range(2):
        assert any(edit.creates for f in findings_in(look(root, BorrowHelper(), use_cache=True)) for edit in f.edits)


def test_a_cached_answer_is_not_given_once_the_file_is_there(root: Path) -> None:
    write_files(root, OLD)
    look(root, BorrowHelper(), use_cache=True)
    write_files(root, {HOME: TEXT})
    assert not any(edit.creates for f in findings_in(look(root, BorrowHelper(), use_cache=True)) for edit in f.edits)


def test_the_folder_for_tests_is_part_of_the_question_that_is_cached(root: Path) -> None:
    write_files(root, OLD)
    look(root, BorrowHelper(), use_cache=True)
    results = look(root, BorrowHelper(tests="checks"), use_cache=True)
    assert "checks/test_lending.py" in findings_in(results)[0].paths()


# Writing


def test_the_file_and_its_folder_are_made_and_taken_back(root: Path) -> None:
    write_files(root, OLD)
    run = write(root, BorrowHelper())
    assert run.created == (HOME,)
    assert (root / HOME).read_bytes() == TEXT
    assert (root / "a.py").read_bytes() == IMPORT + b"\nx = borrowed()\ny = borrowed()\n\nz = 1\n"
    undo(Journal(root), ["1"])
    assert read_files(root) == OLD
    assert folders(root) == set()


def test_a_second_run_is_quiet(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    assert findings_in(look(root, BorrowHelper())) == []


def test_killed_at_any_step_of_a_write_the_file_is_absent_or_complete(root: Path) -> None:
    reset(root)
    expected = new_files(root)
    outcomes = set()
    for _ in kill_at_every_step(lambda: write(root, BorrowHelper())):
        assert not (root / HOME).exists() or (root / HOME).read_bytes() == TEXT
        recovery = Journal(root).recover()
        outcomes.add(recovery.outcome if recovery else "")
        assert read_files(root) in (OLD, expected)
        assert folders(root) in (set(), {"extra"})
        assert (root / "extra").exists() == (root / HOME).exists()
        if Journal(root).runs():
            undo(Journal(root), ["1"])
        assert read_files(root) == OLD
        assert folders(root) == set()
        reset(root)
    assert "finished" in outcomes


def test_killed_at_any_step_of_an_undo_it_is_settled_and_can_be_undone(root: Path) -> None:
    reset(root)
    expected = new_files(root)
    write(root, BorrowHelper())
    for _ in kill_at_every_step(lambda: undo(Journal(root), ["1"])):
        Journal(root).recover()
        assert not list(root.rglob(f"*{LEFTOVER}"))
        assert (root / "extra").exists() == (root / HOME).exists()
        if len(Journal(root).runs()) == 2:
            assert read_files(root) == OLD
            undo(Journal(root), ["2"])
        assert read_files(root) == expected
        reset(root)
        write(root, BorrowHelper())


@pytest.mark.parametrize("edited", [False, True])
def test_killed_at_any_step_of_the_recovery_the_next_one_settles_it(root: Path, edited: bool) -> None:
    def interrupt() -> None:
        reset(root)
        write(root, BorrowHelper())
        mark_interrupted(root)
        (root / HOME).unlink()
        (root / "extra" / leftover_of("lending.py")).write_bytes(TEXT[:3])
        if edited:
            (root / "a.py").write_bytes((root / "a.py").read_bytes() + b"# mine\n")

    reset(root)
    expected = OLD | {"a.py": OLD["a.py"] + b"# mine\n"} if edited else new_files(root)
    interrupt()
    for _ in kill_at_every_step(lambda: Journal(root).recover()):
        Journal(root).recover()
        assert read_files(root) == expected
        assert (root / "extra").exists() == (not edited)
        interrupt()


def test_rolling_back_removes_the_file_again_and_its_folder(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    mark_interrupted(root)
    (root / "a.py").write_bytes(b"# mine\n" * 9)
    recovery = Journal(root).recover()
    assert recovery is not None
    assert recovery.outcome.startswith("rolled back")
    assert folders(root) == set()


def test_rolling_back_keeps_a_created_file_that_was_edited_and_names_it(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    mark_interrupted(root)
    (root / HOME).write_bytes(TEXT + b"# mine\n")
    recovery = Journal(root).recover()
    assert recovery is not None
    assert recovery.outcome.endswith(f"it could not be taken out of {HOME}")
    assert read_files(root) == OLD | {HOME: TEXT + b"# mine\n"}


@pytest.mark.parametrize("what", ["file", "folder", "link"])
def test_what_appears_at_the_path_after_the_plan_is_never_overwritten(root: Path, what: str) -> None:
    write_files(root, OLD)
    change = planned(root, BorrowHelper())
    (root / "extra").mkdir()
    put(root / HOME, what, b"mine\n")
    with pytest.raises(SourceError, match="created by somebody else meanwhile; nothing was written"):
        Journal(root).write(change)
    assert (root / "a.py").read_bytes() == OLD["a.py"]
    assert os.path.lexists(root / HOME)
    assert not (root / HOME).is_file() or (root / HOME).read_bytes() == b"mine\n"


@pytest.mark.parametrize("has_links", [True, False])
def test_what_appears_at_the_very_last_instant_is_not_overwritten_either(
    root: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    write_files(root, OLD)
    change = planned(root, BorrowHelper())
    link = os.link

    def appear(source: str, target: str, **folders: Any) -> None:
        (root / HOME).write_bytes(b"mine\n")
        if not has_links:
            raise PermissionError(1, "Operation not permitted")
        link(source, target, **folders)

    monkeypatch.setattr(os, "link", appear)
    with pytest.raises(FullgraphError, match="File exists; nothing was written"):
        Journal(root).write(change)
    assert read_files(root) == OLD | {HOME: b"mine\n"}


def test_a_file_system_without_links_gets_the_file_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: str, **folders: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write_files(root, OLD)
    write(root, BorrowHelper())
    assert (root / HOME).read_bytes() == TEXT
    assert not list(root.rglob(f"*{LEFTOVER}"))


def test_a_folder_that_is_a_link_out_of_the_project_gets_no_file(root: Path, tmp_path: Path) -> None:
    write_files(root, OLD)
    change = planned(root, BorrowHelper())
    (tmp_path / "outside").mkdir()
    (root / "extra").symlink_to(tmp_path / "outside")
    with pytest.raises(SourceError, match="cannot be created there"):
        Journal(root).write(change)
    assert not any((tmp_path / "outside").iterdir())


def test_a_file_in_the_place_of_the_folder_stops_the_run(root: Path) -> None:
    write_files(root, OLD)
    change = planned(root, BorrowHelper())
    write_files(root, {"extra": b"a file"})
    with pytest.raises(SourceError, match="cannot be created there"):
        Journal(root).write(change)
    assert read_files(root) == OLD | {"extra": b"a file"}


@pytest.mark.skipif(os.getuid() != 0, reason="drops root's rights in a child")
def test_a_finding_is_left_alone_if_its_file_cannot_be_created(root: Path) -> None:
    write_files(root, OLD)
    results = look(root, BorrowHelper())
    (root / "extra").mkdir(mode=0o555)
    left, barred = leave_unwritable(results, root)
    assert barred == [HOME]
    assert findings_in(left)[0].left_alone == f"would have to change {HOME}, which is not writable"
    (root / "extra").rmdir()
    assert leave_unwritable(results, root)[1] == []


def test_an_excluded_folder_may_get_a_new_file(root: Path) -> None:
    write_files(root, OLD)
    assert all(finding.is_fixable for finding in findings_in(respecting(look(root, BorrowHelper()), ["extra"])))


def test_ctrl_c_half_way_leaves_neither_file_nor_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(root, OLD)
    change = planned(root, BorrowHelper())
    link = os.link

    def interrupt(source: str, target: str, **folders: Any) -> None:
        link(source, target, **folders)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Journal(root).write(change)
    assert read_files(root) == OLD
    assert folders(root) == set()


def test_a_new_file_has_the_mode_that_the_user_gives_new_files(root: Path) -> None:
    write_files(root, OLD)

    def write_with_umask() -> None:
        os.umask(0o027)
        write(root, BorrowHelper())

    assert in_child(write_with_umask) == 0
    assert (root / HOME).stat().st_mode & 0o777 == 0o640


def test_an_empty_file_can_be_created_and_taken_back(root: Path) -> None:
    write_files(root, OLD)
    edits = project_of(root).new_file("pkg/__init__.py", "")
    change = plan([Finding("c", "a.py", Span(0, 0), "", "", edits)], project_of(root), [])
    Journal(root).write(change)
    assert (root / "pkg/__init__.py").read_bytes() == b""
    undo(Journal(root), ["1"])
    assert read_files(root) == OLD


def test_an_interrupted_run_whose_folder_became_a_file_is_rolled_back(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    mark_interrupted(root)
    shutil.rmtree(root / "extra")
    write_files(root, {"extra": b"mine"})
    recovery = Journal(root).recover()
    assert recovery is not None
    assert recovery.outcome.startswith("rolled back")
    assert read_files(root) == OLD | {"extra": b"mine"}
    assert Journal(root).recover() is None


def test_an_interrupted_undo_that_cannot_be_rolled_back_names_the_file(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    undo(Journal(root), ["1"])
    mark_interrupted(root, 2)
    write_files(root, {"extra": b"mine", "a.py": b"# all new\n"})
    recovery = Journal(root).recover()
    assert recovery is not None
    assert HOME in recovery.outcome
    assert read_files(root) == OLD | {"extra": b"mine", "a.py": b"# all new\n"}


@pytest.mark.parametrize("path", ["../out.py", "/out.py", "a/../../out.py", "./a.py", "a//b.py"])
def test_a_path_that_is_not_below_the_root_is_not_created(root: Path, path: str) -> None:
    with pytest.raises(Unsure, match="not a path below"):
        Project(root, []).new_file(path, "")


def test_an_entry_whose_folders_lead_out_of_the_project_is_damaged(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    rewrite_entry(root, folders=("../extra",))
    with pytest.raises(FullgraphError, match="damaged"):
        Journal(root).run(1)


# Taking back


def test_one_of_two_findings_taken_back_leaves_the_shared_file(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    undo(Journal(root), ["1.1"])
    assert (root / HOME).read_bytes() == TEXT
    undo(Journal(root), ["1.2"])
    assert read_files(root) == OLD


def test_an_undo_taken_back_brings_the_file_back(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    written = read_files(root)
    undo(Journal(root), ["1"])
    undo(Journal(root), ["2"])
    assert read_files(root) == written
    undo(Journal(root), ["3"])
    assert read_files(root) == OLD
    assert folders(root) == set()


def test_an_edited_file_is_a_conflict_that_changes_nothing(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    (root / HOME).write_bytes(TEXT + b"# mine\n")
    files = read_files(root)
    with pytest.raises(UndoConflictError, match=f"edited since at {HOME}; nothing was changed"):
        undo(Journal(root), ["1"])
    assert read_files(root) == files


def test_markers_leave_an_edited_file_in_place_and_take_back_the_rest(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    (root / HOME).write_bytes(TEXT + b"# mine\n")
    undo(Journal(root), ["1"], markers=True)
    assert read_files(root) == OLD | {HOME: TEXT + b"# mine\n"}


def test_a_file_that_the_user_deleted_needs_no_undo(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    shutil.rmtree(root / "extra")
    undo(Journal(root), ["1"])
    assert read_files(root) == OLD


def test_a_file_that_somebody_made_meanwhile_is_not_overwritten_by_the_undo_of_an_undo(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    undo(Journal(root), ["1"])
    write_files(root, {HOME: b"mine\n"})
    with pytest.raises(UndoConflictError, match=HOME):
        undo(Journal(root), ["2"])
    assert read_files(root) == OLD | {HOME: b"mine\n"}


def test_a_file_that_a_later_run_uses_stays_until_that_is_taken_back(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    write_files(root, {"b.py": b"z = borrow()\n"})
    write(root, BorrowHelper())
    with pytest.raises(
        UndoConflictError, match=rf"{HOME} would be removed, and b\.py:1 imports it; nothing was changed"
    ):
        undo(Journal(root), ["1"])
    assert (root / HOME).exists()
    undo(Journal(root), ["2", "1"])
    assert read_files(root) == OLD | {"b.py": b"z = borrow()\n"}


@pytest.mark.parametrize(
    "line",
    [
        "import extra.lending",
        "from extra import lending",
        "from extra import lending as bank, other",
        "def f():\n    from extra.lending import borrowed",
        "try:\n    import extra.lending as bank\nexcept ImportError:\n    bank = None",
    ],
)
def test_a_file_that_the_user_imports_by_now_is_not_removed(root: Path, line: str) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    write_files(root, {"mine.py": line + "\n"})
    with pytest.raises(UndoConflictError, match=r"mine\.py:\d imports it"):
        undo(Journal(root), ["1"])
    undo(Journal(root), ["1"], markers=True)
    assert (root / HOME).exists()
    assert (root / "a.py").read_bytes() == OLD["a.py"]


def test_what_a_file_that_has_to_stay_imports_stays_too(root: Path) -> None:
    write_files(root, OLD)
    texts = {"pkg/inner.py": "x = 1\n", "pkg/outer.py": "from pkg.inner import x\n"}
    edits = tuple(edit for path, text in texts.items() for edit in project_of(root).new_file(path, text))
    Journal(root).write(plan([Finding("c", "a.py", Span(0, 0), "", "", edits)], project_of(root), []))
    write_files(root, {"mine.py": "import pkg.outer\n"})
    with pytest.raises(UndoConflictError) as refused:
        undo(Journal(root), ["1"])
    assert [(one.path, one.needed) for one in refused.value.conflicts] == [
        ("pkg/outer.py", "mine.py:1"),
        ("pkg/inner.py", "pkg/outer.py:1"),
    ]
    (root / "mine.py").unlink()
    undo(Journal(root), ["1"])
    assert read_files(root) == OLD


def test_a_relative_import_is_seen_too(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    write_files(root, {"extra/mine.py": "from .lending import borrowed\n"})
    with pytest.raises(UndoConflictError, match=r"extra/mine\.py:1 imports it"):
        undo(Journal(root), ["1"])


def test_a_word_that_only_looks_like_the_module_keeps_nothing(root: Path) -> None:
    write_files(root, OLD | {"mine.py": b"# lending\nlending = 'extra.lending'\nimport lending\n"})
    write(root, BorrowHelper())
    undo(Journal(root), ["1"])
    assert not (root / "extra").exists()


def test_compiled_code_of_the_file_does_not_keep_its_folder(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    write_files(root, {"extra/__pycache__/lending.cpython-311.pyc": b""})
    undo(Journal(root), ["1"])
    assert folders(root) == set()


def test_a_folder_with_anything_of_the_user_stays(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    write_files(root, {"extra/notes.txt": b"mine"})
    undo(Journal(root), ["1"])
    assert read_files(root) == OLD | {"extra/notes.txt": b"mine"}


def test_an_empty_folder_that_was_there_before_stays(root: Path) -> None:
    write_files(root, OLD)
    (root / "extra").mkdir()
    write(root, BorrowHelper())
    undo(Journal(root), ["1"])
    assert folders(root) == {"extra"}


names = st.sampled_from(["1", "1.1", "1.2", "2", "3", "4", "5"])


@given(st.lists(names, max_size=7))
@example(["1.1", "2", "1", "3", "4"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_taken_back_the_file_is_there_as_long_as_a_finding_stands(root: Path, names: list[str]) -> None:
    reset(root)
    write(root, BorrowHelper())
    for name in names:
        try:
            undo(Journal(root), [name])
        except FullgraphError:
            continue
        gone = undone_findings(Journal(root)).get(1, set())
        assert (root / HOME).exists() == (len(gone) < 2)
        assert (root / "extra").exists() == (len(gone) < 2)
        assert (root / "a.py").read_bytes().count(b" = borrowed()") == 2 - len(gone)


contents = st.sampled_from([None, b"", b"one\n", b"one\ntwo\n"])
states = st.dictionaries(st.sampled_from(["a.py", "d/b.py", "d/e/c.py"]), contents, min_size=3)


@given(st.lists(states, min_size=2, max_size=4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_change_of_files_that_come_and_go_can_be_written_and_taken_back(
    root: Path, states: list[dict[str, bytes | None]]
) -> None:
    shutil.rmtree(root)
    write_files(root, {"pyproject.toml": b"", **{path: data for path, data in states[0].items() if data is not None}})
    seen = [read_files(root)]
    for before, after in pairwise(states):
        changed = [path for path in after if before[path] != after[path]]
        change = Change({path: before[path] for path in changed}, {path: after[path] for path in changed})
        Journal(root).write(change, "undo")
        there = {path: data for path, data in after.items() if data is not None}
        assert read_files(root) == {"pyproject.toml": b"", **there}
        seen.append(read_files(root))
    for number in range(len(seen) - 1, 0, -1):
        run = Journal(root).run(number)
        back = {side: {path: Journal(root).bytes_of(run, side, path) for path in run.paths} for side in SIDES}
        Journal(root).write(Change(back["after"], back["before"]), "undo")
        assert read_files(root) == seen[number - 1]


SIDES = ("before", "after")


def test_a_recovery_that_creates_or_removes_files_is_seen_by_the_command_that_did_it(root: Path) -> None:
    write_files(root, OLD)
    write(root, BorrowHelper())
    [tree], _ = plant_trees([root])
    undo(Journal(root), ["1"])
    tree.look_again([HOME, "a.py"])
    assert sorted(tree.entries) == ["a.py"]
    undo(Journal(root), ["2"])
    tree.look_again([HOME, "a.py"])
    assert sorted(tree.entries) == ["a.py", HOME]


# Patches


def git_apply(root: Path, text: bytes, *flags: str) -> None:
    done = subprocess.run(["git", "apply", *flags, "-"], cwd=root, input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


PATHS = ["new.py", "deep/er/new.py", "with space.py", "dé/ü.py", 'quo"te.py', "tab\there.py"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("data", [b"", b"x\n", b"x", b"-- a/x\n++ b/x\ndiff --git a/x b/x\nnew file mode 100644\n"])
def test_git_applies_a_patch_that_creates_a_file_and_takes_it_back(root: Path, path: str, data: bytes) -> None:
    write_files(root, {"a.py": b"a\n", "b.py": b"b\n"})
    text = patch({"a.py": b"a\n", path: None, "z.py": None}, {"a.py": b"A\n", path: data, "z.py": b"z\n"})
    git_apply(root, text)
    assert (root / path).read_bytes() == data
    assert (root / "z.py").read_bytes() == b"z\n"
    git_apply(root, text, "-R")
    assert not (root / path).exists()
    assert (root / "a.py").read_bytes() == b"a\n"


def test_git_applies_it_in_a_project_below_the_root_of_the_repository(root: Path) -> None:
    subprocess.run(["git", "init", "-q", root], check=True)
    inner = root / "apps/web"
    write_files(inner, {"pkg/a.py": b"a\n"})
    text = patch({"pkg/a.py": b"a\n", "pkg/new.py": None}, {"pkg/a.py": b"A\n", "pkg/new.py": b"new\n"})
    git_apply(inner, text)
    assert (inner / "pkg/new.py").read_bytes() == b"new\n"
    git_apply(inner, text, "-R")
    assert not (inner / "pkg/new.py").exists()


def test_git_applies_a_patch_that_removes_a_file(root: Path) -> None:
    write_files(root, {"a.py": b"a\n", "empty.py": b""})
    git_apply(root, patch({"a.py": b"a\n", "empty.py": b""}, {"a.py": None, "empty.py": None}))
    assert read_files(root) == {"pyproject.toml": b""}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("data", [b"", b"x\n", b"x", b"+++ b/x\n@@ -1 +1 @@\n"])
def test_a_patch_that_creates_a_file_is_read_back(path: str, data: bytes) -> None:
    before: dict[str, bytes | None] = {"a.py": b"a\n", path: None}
    after: dict[str, bytes | None] = {"a.py": b"A\n", path: data}
    assert apply_patch(before, patch(before, after)) == after


def test_a_new_file_may_be_changed_or_taken_out_of_an_edited_patch() -> None:
    before: dict[str, bytes | None] = {"a.py": b"a\n", "new.py": None}
    text = patch(before, {"a.py": b"A\n", "new.py": b"one\ntwo\n"})
    assert apply_patch(before, text.replace(b"+two\n", b"+2\n"))["new.py"] == b"one\n2\n"
    assert apply_patch(before, text[: text.index(b"--- /dev/null")])["new.py"] is None

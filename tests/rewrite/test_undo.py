"""Taking back: byte for byte, by three-way merge, whole runs and single findings, in any order and again."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.merge import merge
from fullgraph.codemods.rewrite.undo import UndoConflictError, undo, undone_findings
from tests.rewrite.running import read_files, write, write_files
from tests.rewrite.sample import RenameField, ShareImport, SwapCall, UnwrapNest

BODY = "".join(f"a{number} = {number}\n" for number in range(8))
TEXT = f"{BODY}x = old()\n{BODY}y = old()\n{BODY}"


def back(root: Path, *names: str, markers: bool = False) -> int:
    return undo(Journal(root), names, markers=markers).number


def read(root: Path, path: str = "a.py") -> str:
    return (root / path).read_bytes().decode()


# Byte for byte

LAYOUTS = {
    "plain": TEXT.encode(),
    "crlf": TEXT.replace("\n", "\r\n").encode(),
    "lone cr": TEXT.replace("\n", "\r").encode(),
    "mixed": TEXT.replace("\n", "\r\n", 5).encode(),
    "no final newline": b"x = old()",
    "bom": codecs.BOM_UTF8 + TEXT.encode(),
    "latin-1": b"# coding: latin-1\n# \xe9\n" + TEXT.encode(),
    "form feed": b"\x0c\n" + TEXT.encode(),
}


@pytest.mark.parametrize("raw", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_undo_restores_the_bytes(root: Path, raw: bytes) -> None:
    write_files(root, {"a.py": raw})
    write(root, SwapCall())
    assert (root / "a.py").read_bytes() == raw.replace(b"old", b"new")
    back(root, "1")
    assert (root / "a.py").read_bytes() == raw


@pytest.mark.parametrize("raw", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_one_finding_can_be_taken_back(root: Path, raw: bytes) -> None:
    write_files(root, {"a.py": raw})
    write(root, SwapCall())
    back(root, "1.1")
    assert (root / "a.py").read_bytes() == raw.replace(b"old", b"new").replace(b"new", b"old", 1)


def test_all_files_of_a_cross_file_finding_come_back(root: Path) -> None:
    files = {"a.py": b"class C:\n    field: int = 0\n", "b.py": b"c.field = 1\n", "pkg/d.py": b"print(c.field)\n"}
    write_files(root, files)
    write(root, RenameField())
    assert b".renamed" in (root / "pkg/d.py").read_bytes()
    back(root, "1.1")
    assert read_files(root) == files | {"pyproject.toml": b""}


# After edits elsewhere


def test_edits_made_since_stay(root: Path) -> None:
    write_files(root, {"a.py": TEXT})
    write(root, SwapCall())
    write_files(root, {"a.py": "import mine\n" + read(root).replace("a3 = 3\n", "", 1) + "z = 1"})
    back(root, "1")
    assert read(root) == "import mine\n" + TEXT.replace("a3 = 3\n", "", 1) + "z = 1"


def test_edits_made_since_stay_in_a_file_with_crlf(root: Path) -> None:
    write_files(root, {"a.py": TEXT.replace("\n", "\r\n")})
    write(root, SwapCall())
    write_files(root, {"a.py": (root / "a.py").read_bytes() + b"z = 1\r\n"})
    back(root, "1")
    assert (root / "a.py").read_bytes() == TEXT.replace("\n", "\r\n").encode() + b"z = 1\r\n"


def test_a_collision_changes_nothing_and_names_the_lines(root: Path) -> None:
    write_files(root, {"a.py": TEXT, "b.py": "old()\n"})
    write(root, SwapCall())
    write_files(root, {"a.py": read(root).replace("x = new()", "x = new(1)\nmore = 2")})
    files = read_files(root)
    with pytest.raises(UndoConflictError, match=r"edited since at a\.py:9-10; nothing was changed") as caught:
        back(root, "1")
    assert "--conflict markers" in str(caught.value)
    assert read_files(root) == files
    assert len(Journal(root).runs()) == 1


def test_a_collision_with_a_later_run_names_that_run(root: Path) -> None:
    write_files(root, {"a.py": "x = nest(old())\n", "b.py": "x = nest(1)\n"})
    write(root, SwapCall())
    write(root, UnwrapNest())
    with pytest.raises(
        UndoConflictError, match=r"nothing was changed\. `undo 2` takes back what was fixed there since"
    ):
        back(root, "1")
    back(root, "2.1")
    back(root, "1")
    assert read(root) == "x = nest(old())\n"


def test_markers_show_both_versions_and_can_be_undone(root: Path) -> None:
    write_files(root, {"a.py": TEXT})
    write(root, SwapCall())
    mine = read(root).replace("x = new()", "x = new(1)")
    write_files(root, {"a.py": mine})
    back(root, "1", markers=True)
    assert read(root).startswith(f"{BODY}<<<<<<< now\nx = new(1)\n=======\nx = old()\n>>>>>>> undone\na0 = 0\n")
    assert read(root).endswith(f"y = old()\n{BODY}")
    back(root, "2")
    assert read(root) == mine


def test_markers_are_whole_lines_where_the_file_ends_without_one(root: Path) -> None:
    write_files(root, {"a.py": b"x = 1\r\ny = old()"})
    write(root, SwapCall())
    write_files(root, {"a.py": b"x = 1\r\ny = newer()"})
    back(root, "1", markers=True)
    expected = b"x = 1\r\n<<<<<<< now\r\ny = newer()\r\n=======\r\ny = old()\r\n>>>>>>> undone\r\n"
    assert (root / "a.py").read_bytes() == expected


def test_what_was_reverted_by_hand_needs_no_undo(root: Path) -> None:
    write_files(root, {"a.py": TEXT})
    write(root, SwapCall())
    write_files(root, {"a.py": TEXT})
    run = undo(Journal(root), ["1"])
    assert run.paths == ()
    assert read(root) == TEXT


def test_what_was_half_reverted_by_hand_is_finished(root: Path) -> None:
    write_files(root, {"a.py": TEXT})
    write(root, SwapCall())
    write_files(root, {"a.py": TEXT.replace("y = old", "y = new")})
    back(root, "1")
    assert read(root) == TEXT


def test_a_file_deleted_since_is_named_and_the_others_stay(root: Path) -> None:
    write_files(root, {"a.py": "old()\n", "b.py": "old()\n"})
    write(root, SwapCall())
    (root / "a.py").unlink()
    with pytest.raises(FullgraphError, match=r"a\.py: No such file or directory; nothing was changed"):
        back(root, "1")
    assert read(root, "b.py") == "new()\n"
    back(root, "1.2")
    assert read(root, "b.py") == "old()\n"


# Undo of undo


def test_an_undo_can_be_undone_and_that_too(root: Path) -> None:
    write_files(root, {"a.py": TEXT})
    write(root, SwapCall())
    for number in range(1, 6):
        assert back(root, str(number)) == number + 1
        assert read(root) == (TEXT if number % 2 else TEXT.replace("old", "new"))


def test_an_undone_undo_keeps_edits_made_in_between(root: Path) -> None:
    write_files(root, {"a.py": TEXT})
    write(root, SwapCall())
    write_files(root, {"a.py": read(root) + "first = 1\n"})
    back(root, "1")
    write_files(root, {"a.py": "second = 2\n\n\n" + read(root)})
    back(root, "2")
    assert read(root) == "second = 2\n\n\n" + TEXT.replace("old", "new") + "first = 1\n"


def test_what_has_been_taken_back_cannot_be_taken_back_again(root: Path) -> None:
    write_files(root, {"a.py": TEXT})
    write(root, SwapCall())
    back(root, "1.1")
    with pytest.raises(FullgraphError, match=r"1\.1 has been taken back already"):
        back(root, "1.1")
    back(root, "1")
    with pytest.raises(FullgraphError, match="1 has been taken back already"):
        back(root, "1")
    back(root, "3")
    with pytest.raises(FullgraphError, match="3 has been taken back already"):
        back(root, "3")


@pytest.mark.parametrize("name", ["9", "1.3", "1.0", "x", "1.x", "", "1.1.1", "-1", "\u00b2"])
def test_a_name_that_means_nothing_is_refused(root: Path, name: str) -> None:
    write_files(root, {"a.py": TEXT})
    write(root, SwapCall())
    with pytest.raises(FullgraphError, match="`fullgraph log` lists them"):
        back(root, name)
    assert len(Journal(root).runs()) == 1


# One finding of several

SHARED = "import os\n\nx = bare()\ny = 1\nz = bare()\n"


@pytest.fixture
def shared(root: Path) -> Path:
    """Two findings that share the edit which adds an import."""
    write_files(root, {"a.py": SHARED})
    write(root, ShareImport())
    assert "import tools\n" in read(root)
    assert read(root).count("tools.bare()") == 2
    return root


def test_a_shared_edit_stays_as_long_as_one_finding_needs_it(shared: Path) -> None:
    back(shared, "1.1")
    assert "x = bare()" in read(shared)
    assert "z = tools.bare()" in read(shared)
    assert "import tools" in read(shared)
    back(shared, "1.2")
    assert read(shared) == SHARED


def test_findings_taken_back_together_take_the_shared_edit_with_them(shared: Path) -> None:
    back(shared, "1.1", "1.2")
    assert read(shared) == SHARED


def test_the_rest_of_a_run_can_follow_one_of_its_findings(shared: Path) -> None:
    back(shared, "1.2")
    back(shared, "1")
    assert read(shared) == SHARED


def test_an_undone_finding_comes_back_with_the_shared_edit(shared: Path) -> None:
    written = read(shared)
    back(shared, "1.1")
    back(shared, "1.2")
    back(shared, "2")
    assert "x = tools.bare()" in read(shared)
    assert "import tools" in read(shared)
    assert "z = bare()" in read(shared)
    back(shared, "3")
    assert read(shared) == written


def test_the_log_knows_what_is_taken_back(shared: Path) -> None:
    back(shared, "1.2")
    assert undone_findings(Journal(shared)) == {1: {1}}
    back(shared, "2")
    assert not undone_findings(Journal(shared)).get(1)
    back(shared, "1")
    assert undone_findings(Journal(shared))[1] == {0, 1}


def test_a_finding_brought_back_after_the_rest_of_its_run_was_taken_back_stands(root: Path) -> None:
    write_files(root, {"a.py": "old()\n", "b.py": "old()\n", "c.py": "old()\n"})
    write(root, SwapCall())
    back(root, "1.2")
    back(root, "1")
    back(root, "2")
    assert [read(root, path) for path in ("a.py", "b.py", "c.py")] == ["old()\n", "new()\n", "old()\n"]
    assert undone_findings(Journal(root))[1] == {0, 2}


# Several runs on one file


@pytest.mark.parametrize("order", ["123", "132", "213", "231", "312", "321"])
def test_several_runs_on_one_file_are_undone_in_any_order(root: Path, order: str) -> None:
    text = f"import os\n\n{BODY}x = old()\n{BODY}y = nest(nest(1))\n{BODY}z = bare()\n"
    write_files(root, {"a.py": text})
    write(root, SwapCall())
    write(root, ShareImport())
    write(root, UnwrapNest())
    for name in order:
        back(root, name)
    assert read(root) == text


def test_several_runs_are_undone_by_one_command_whatever_their_order(root: Path) -> None:
    text = "x = old() + nest(1) + bare()\n"
    write_files(root, {"a.py": text})
    write(root, SwapCall())
    write(root, ShareImport())
    write(root, UnwrapNest())
    back(root, "1", "3", "2")
    assert read(root) == text


def test_an_earlier_run_on_the_same_line_is_a_conflict_until_the_later_is_gone(root: Path) -> None:
    text = "x = old() + nest(1)\n"
    write_files(root, {"a.py": text})
    write(root, SwapCall())
    write(root, UnwrapNest())
    with pytest.raises(UndoConflictError):
        back(root, "1")
    back(root, "2")
    back(root, "1")
    assert read(root) == text


def test_an_undo_taken_back_brings_nothing_back_that_another_undo_keeps_away(root: Path) -> None:
    text = "x = old()\n"
    write_files(root, {"a.py": text})
    write(root, SwapCall())
    for name in ("1", "2", "1", "3", "2"):
        back(root, name)
    assert read(root) == text


# Laws


@given(st.lists(st.sampled_from(["1", "1.1", "1.2", "1.3", "2", "3", "4", "5"]), max_size=6))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_taken_back_in_whatever_order_the_text_is_what_stands(root: Path, names: list[str]) -> None:
    text = f"import os\n\nx = bare()\n{BODY}y = bare()\n{BODY}z = bare()\n"
    start_again(root, text)
    for name in names:
        try:
            back(root, name)
        except FullgraphError:
            continue
        gone = undone_findings(Journal(root)).get(1, set())
        assert [f"{letter} = tools" in read(root) for letter in "xyz"] == [index not in gone for index in range(3)]
        assert ("import tools" in read(root)) == (len(gone) < 3)
    gone = undone_findings(Journal(root)).get(1, set())
    if len(gone) < 3:
        back(root, "1")
    assert read(root) == text


def start_again(root: Path, text: str) -> None:
    import shutil

    shutil.rmtree(root / ".fullgraph", ignore_errors=True)
    write_files(root, {"a.py": text})
    write(root, ShareImport())


lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\r\n", b"\n"]), max_size=12)


@given(lines, lines)
def test_a_merge_with_an_untouched_side_is_the_other_side(base: list[bytes], other: list[bytes]) -> None:
    old, new = b"".join(base), b"".join(other)
    assert merge("a.py", old, old, new) == (new, [])
    assert merge("a.py", old, new, old) == (new, [])
    assert merge("a.py", old, new, new) == (new, [])


@given(lines, lines, lines)
def test_a_merge_keeps_lines_of_both_sides_or_says_where_it_cannot(
    base: list[bytes], mine: list[bytes], theirs: list[bytes]
) -> None:
    merged, conflicts = merge("a.py", b"".join(base), b"".join(mine), b"".join(theirs))
    assert merged is not None
    assert bool(conflicts) == (b"<<<<<<< now" in merged)
    for conflict in conflicts:
        assert 1 <= conflict.first <= conflict.last <= max(1, len(mine) + 1)


def test_markers_end_as_the_lines_around_them() -> None:
    merged, [conflict] = merge("a.py", b"x\r\nnew\r\ny\r\n", b"x\r\nmine\r\ny\r\n", b"x\r\nold\r\ny\r\n")
    assert str(conflict) == "a.py:2"
    assert merged == b"x\r\n<<<<<<< now\r\nmine\r\n=======\r\nold\r\n>>>>>>> undone\r\ny\r\n"

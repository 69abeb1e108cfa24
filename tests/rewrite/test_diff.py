"""Patches: git applies them, and an edited one is read back."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.diff import apply_patch, patch
from tests.rewrite.running import Files, read_files, write_files

LINES = [f"line {number}" for number in range(12)]
TEXT = "".join(f"{line}\n" for line in LINES).encode()

PAIRS = {
    "in the middle": (TEXT, TEXT.replace(b"line 5", b"LINE 5")),
    "at the start": (TEXT, b"import x\n" + TEXT),
    "at the end": (TEXT, TEXT + b"more\n"),
    "far apart": (TEXT, TEXT.replace(b"line 1\n", b"").replace(b"line 10", b"LINE 10")),
    "crlf": (TEXT.replace(b"\n", b"\r\n"), TEXT.replace(b"line 5", b"LINE 5").replace(b"\n", b"\r\n")),
    "mixed endings": (TEXT + b"a\r\nb\rc\n", TEXT + b"a\r\nB\rc\n"),
    "no final newline": (TEXT[:-1], TEXT[:-1].replace(b"line 11", b"LINE 11")),
    "final newline added": (TEXT[:-1], TEXT),
    "final newline removed": (TEXT, TEXT[:-1]),
    "no newline, edit elsewhere": (TEXT[:-1], TEXT[:-1].replace(b"line 2\n", b"")),
    "from empty": (b"", b"x\n"),
    "from empty, no newline": (b"", b"x"),
    "to empty": (b"x\n", b""),
    "latin-1": (b"# coding: latin-1\nx = '\xe9'\n", b"# coding: latin-1\ny = '\xe9\xff'\n"),
    "form feed": (b"a\n\x0c\nb\n", b"a\n\x0c\nc\n"),
    "unicode line breaks": ("a\u2028b\x85c\n".encode(), "a\u2028B\x85c\n".encode()),
    "looks like a patch": (b"-- a/x\n++ b/x\n@@ -1 +1 @@\n", b"-- a/y\n++ b/y\n@@ -2 +2 @@\n"),
    "deleted line looks like a header": (b"-- a/f.py\nx\n", b"++ b/f.py\nx\n"),
    "blank lines": (b"\n\n\nx\n\n\n", b"\n\n\ny\n\n\n"),
}
PATHS = ["f.py", "with space.py", "dé/ü.py", "tab\there.py", "new\nline.py", 'quo"te.py', "back\\slash.py", "-dash.py"]


def git_apply(root: Path, text: bytes) -> None:
    done = subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=root, input=text, capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("before", "after"), PAIRS.values(), ids=PAIRS.keys())
def test_git_applies_the_patch(root: Path, before: bytes, after: bytes) -> None:
    write_files(root, {"f.py": before})
    git_apply(root, patch({"f.py": before}, {"f.py": after}))
    assert (root / "f.py").read_bytes() == after


@pytest.mark.parametrize("path", [*PATHS, os.fsdecode(b"not utf-8 \xff.py"), "bell\a.py", "delete\x7f.py"])
def test_git_applies_a_patch_of_a_file_with_any_name(root: Path, path: str) -> None:
    write_files(root, {path: TEXT})
    after = TEXT.replace(b"line 5", b"LINE 5")
    text = patch({path: TEXT}, {path: after})
    git_apply(root, text)
    assert (root / path).read_bytes() == after
    assert apply_patch({path: TEXT}, text) == {path: after}


def test_git_applies_a_patch_of_many_files(root: Path) -> None:
    before = {path: old for path, (old, _) in zip(PATHS, PAIRS.values(), strict=False)}
    after = {path: new for path, (_, new) in zip(PATHS, PAIRS.values(), strict=False)}
    write_files(root, before)
    (root / "pyproject.toml").unlink()
    git_apply(root, patch(before, after))
    assert read_files(root) == after


def test_a_file_that_stays_is_not_in_the_patch() -> None:
    assert patch({"a.py": b"x", "b.py": b"y"}, {"a.py": b"x", "b.py": b"y"}) == b""


pieces = st.sampled_from([b"a", b"b", b"-- a/f.py", b"++ b/f.py", b"@@ -1 +1 @@", b"", b"#", b"\\ No", b"\r", b"\xe9"])
ends = st.sampled_from([b"\n", b"\n", b"\r\n"])
contents = st.builds(
    lambda lines, last: b"".join(line + end for line, end in lines) + last,
    st.lists(st.tuples(pieces, ends), max_size=25),
    st.sampled_from([b"", b"", b"end", b"#"]),
)


@given(before=contents, after=contents)
@example(before=b"-- a/f.py\n", after=b"++ b/f.py\n")
@settings(max_examples=500, deadline=None)
def test_a_patch_read_back_is_the_change(before: bytes, after: bytes) -> None:
    assert apply_patch({"f.py": before}, patch({"f.py": before}, {"f.py": after})) == {"f.py": after}


@given(before=contents, after=contents, count=st.integers(0, 99))
@settings(max_examples=300, deadline=None)
def test_counts_in_the_headers_do_not_matter(before: bytes, after: bytes, count: int) -> None:
    text = patch({"f.py": before}, {"f.py": after})
    wrong = re.sub(rb"(?m)^@@ -(\d+),\d+ \+(\d+),\d+ @@$", rb"@@ -\1,%d +\2,%d @@" % (count, count), text)
    assert apply_patch({"f.py": before}, wrong) == {"f.py": after}


tame = contents.map(
    lambda raw: raw.replace(b"-- a/f.py", b"c").replace(b"++ b/f.py", b"d")
)  # lines like another file's header are ambiguous


@given(st.dictionaries(st.sampled_from(PATHS), st.tuples(tame, tame), min_size=1))
@settings(max_examples=150, deadline=None)
def test_many_files_are_read_back(pairs: dict[str, tuple[bytes, bytes]]) -> None:
    before: Files = {path: old for path, (old, _) in pairs.items()}
    after: Files = {path: new for path, (_, new) in pairs.items()}
    assert apply_patch(before, patch(before, after)) == after


# Edited by hand

EDITED = patch({"f.py": TEXT}, {"f.py": TEXT.replace(b"line 5", b"LINE 5")})


def edited(old: bytes, new: bytes) -> bytes | None:
    assert EDITED.count(old) == 1
    return apply_patch({"f.py": TEXT}, EDITED.replace(old, new))["f.py"]


def test_another_text_may_be_written() -> None:
    assert edited(b"+LINE 5\n", b"+mine\n+and mine\n") == TEXT.replace(b"line 5\n", b"mine\nand mine\n")


def test_a_removed_line_may_be_kept() -> None:
    assert edited(b"-line 5\n", b" line 5\n") == TEXT.replace(b"line 5\n", b"line 5\nLINE 5\n")


def test_an_added_line_may_be_dropped() -> None:
    assert edited(b"+LINE 5\n", b"") == TEXT.replace(b"line 5\n", b"")


def test_comments_are_not_read() -> None:
    assert edited(b"@@ -", b"# a comment\n@@ -") == TEXT.replace(b"line 5", b"LINE 5")
    assert edited(b"+LINE 5\n", b"# a comment\n+LINE 5\n") == TEXT.replace(b"line 5", b"LINE 5")


def test_an_editor_may_take_blanks_off_empty_lines() -> None:
    before = b"\r\n\na\n\n\n"
    text = patch({"f.py": before}, {"f.py": before.replace(b"a", b"b")})
    stripped = re.sub(rb"(?m)^ (?=\r?$)", b"", text)
    assert stripped != text
    assert apply_patch({"f.py": before}, stripped) == {"f.py": before.replace(b"a", b"b")}


def test_an_editor_may_take_off_the_last_line_break() -> None:
    before, after = b"a\nb\n", b"a\nB\n"
    text = patch({"f.py": before}, {"f.py": after})
    assert apply_patch({"f.py": before}, text.rstrip(b"\n")) == {"f.py": after}


def test_a_patch_without_hunks_changes_nothing() -> None:
    assert apply_patch({"f.py": TEXT}, b"") == {"f.py": TEXT}
    assert apply_patch({"f.py": TEXT}, b"# all gone\n") == {"f.py": TEXT}


def test_all_hunks_of_one_of_two_files_may_be_deleted() -> None:
    before = {"a.py": b"a\n", "b.py": b"b\n"}
    text = patch(before, {"a.py": b"A\n", "b.py": b"B\n"})
    without_second = text[: text.rindex(b"@@ -")]
    assert apply_patch(before, without_second) == {"a.py": b"A\n", "b.py": b"b\n"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b" line 4\n", b" line four\n", r"f\.py: the edited patch does not fit at line 3"),
        (b"-line 5\n", b"line 5\n", r"begins with none of"),
        (b"@@ -3,7 +3,7 @@", b"@@ around here @@", "is no hunk header"),
        (b"--- a/f.py", b"--- a/g.py", r"names g\.py, which is not part of this finding"),
        (b"--- a/f.py\n+++ b/f.py\n", b"", "has lost the line"),
        (b"@@ -3,7", b"@@ -300,7", "does not fit at line 300"),
    ],
)
def test_what_does_not_fit_is_said(old: bytes, new: bytes, words: str) -> None:
    with pytest.raises(FullgraphError, match=words):
        edited(old, new)


def test_a_hunk_given_twice_does_not_fit() -> None:
    header, hunk = EDITED.split(b"@@ -", 1)
    with pytest.raises(FullgraphError, match="does not fit"):
        apply_patch({"f.py": TEXT}, header + (b"@@ -" + hunk) * 2)


def test_a_long_file_with_many_equal_lines_takes_no_time() -> None:
    lines = [b"\n" if number % 3 else b"line %d\n" % number for number in range(40_000)]
    changed = [b"first\n", *lines[1:20_000], b"middle\n", *lines[20_000:-1], b"last\n"]
    before, after = {"f.py": b"".join(lines)}, {"f.py": b"".join(changed)}
    started = time.process_time()
    assert apply_patch(before, patch(before, after)) == after
    assert time.process_time() - started < 5


def test_a_new_function_ends_with_its_blank_lines() -> None:
    before = b"import a\n\n\ndef g():\n    pass\n"
    after = b"import a\n\n\ndef f():\n    pass\n\n\ndef g():\n    pass\n"
    added = [line for line in patch({"a.py": before}, {"a.py": after}).splitlines()[3:] if line.startswith(b"+")]
    assert added == [b"+def f():", b"+    pass", b"+", b"+"]


def test_a_hunk_that_takes_no_line_stands_behind_the_line_that_it_names() -> None:
    """As `git diff -U0` writes it, or a person who has deleted the lines around."""
    text = b"--- a/f.py\n+++ b/f.py\n@@ -2,0 +3 @@\n+new\n"
    assert apply_patch({"f.py": b"1\n2\n3\n"}, text) == {"f.py": b"1\n2\nnew\n3\n"}


def test_new_files_come_behind_the_others() -> None:
    text = patch({"a.py": None, "b.py": b"x\n"}, {"a.py": b"new\n", "b.py": b"y\n"})
    assert text.index(b"+++ b/b.py") < text.index(b"+++ b/a.py")

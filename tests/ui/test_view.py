"""The view of a finding: its badge, its frame, its fix as a small diff."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fullgraph.codemods.model import Edit, Finding, Safety, Span
from fullgraph.codemods.source import decode
from fullgraph.codemods.ui.at.place import Lines
from fullgraph.codemods.ui.excerpts import fix_of, frame_of
from fullgraph.codemods.ui.view import Assumed, Badge, CodeLine, State, View, view_of

TEXT = "import a\n\n\ndef f(x):\n    y = slow(\n        x\n    )\n    return slow(y)"


def lines_of(text: str, path: str = "a.py") -> Lines:
    return Lines(decode(path, text.encode()))


def span_of(text: str, part: str) -> Span:
    start = text.rindex(part)
    return Span(start, start + len(part))


def finding(text: str, *changes: tuple[str, str], path: str = "a.py") -> Finding:
    edits = tuple(Edit(path, span_of(text, old), new) for old, new in changes)
    return Finding("call_fast", path, Span(0, 1), "f", "waits", edits, line=1, column=1)


def diff(text: str, *changes: tuple[str, str], path: str = "a.py") -> list[str]:
    lines = lines_of(text, path)
    [part] = fix_of(finding(lines.text, *changes, path=path), lambda path: lines)
    return [f"{line.number}{line.sign}{line.text}" for hunk in part.hunks for line in hunk]


@pytest.mark.parametrize(
    ("states", "badge"),
    [
        ((), Badge.SAFE),
        ((State.OBSERVED,), Badge.OBSERVED),
        ((State.OBSERVED, State.OPEN), Badge.UNSAFE),
    ],
)
def test_a_badge_follows_from_what_is_assumed(states: tuple[State, ...], badge: Badge) -> None:
    view = View("call_fast", "waits", assumptions=tuple(Assumed("x is a tensor", state) for state in states))
    assert view.badge is badge
    assert replace(view, is_fixable=False).badge is Badge.LEFT


def test_a_caveat_is_an_open_assumption_and_a_reason_says_why_it_was_left() -> None:
    unsafe = replace(finding(TEXT, ("slow", "fast")), safety=Safety.UNSAFE, caveat="x is read twice")
    assert list(view_of(unsafe).remarks()) == [("unsafe", "x is read twice")]
    assert list(view_of(unsafe, "declined").remarks()) == [("left alone", "declined")]
    assert "fix --select call_fast" in view_of(unsafe).help


def test_the_characters_of_a_finding_are_marked_on_the_last_line_without_a_break() -> None:
    assert frame_of(lines_of(TEXT), span_of(TEXT, "slow(y)")) == (CodeLine(8, "    return slow(y)", marked=(11, 18)),)


def test_a_span_over_lines_is_marked_without_its_indentation() -> None:
    start = TEXT.index("y = slow")
    marked = frame_of(lines_of(TEXT), Span(start, TEXT.index("    return") - 1))
    assert [(line.number, line.text[slice(*line.marked or ())]) for line in marked] == [
        (5, "y = slow("),
        (6, "x"),
        (7, ")"),
    ]


def test_of_a_function_only_the_head_is_shown() -> None:
    assert [line.text for line in frame_of(lines_of(TEXT), Span(TEXT.index("def"), len(TEXT)))] == ["def f(x):"]


def test_a_file_that_has_shrunk_since_has_no_frame_and_no_fix() -> None:
    found = finding(TEXT, ("slow(y)", "fast(y)"))
    assert frame_of(lines_of("x"), span_of(TEXT, "slow(y)")) == ()
    assert fix_of(found, lambda path: lines_of("x")) == ()
    assert fix_of(found, lambda path: None) == ()


def test_a_diff_holds_the_lines_that_change_and_counts_added_lines_in_the_new_text() -> None:
    assert diff(TEXT, ("import a\n", "import a\nimport b\n"), ("slow(y)", "fast(y)")) == [
        "2+import b",
        "8-    return slow(y)",
        "9+    return fast(y)",
    ]


def test_edits_of_one_line_are_one_change() -> None:
    assert diff("a(b)\r\nc", ("a", "x"), ("b", "y")) == ["1-a(b)", "1+x(y)"]


def test_lines_between_two_changes_of_one_edit_are_kept() -> None:
    assert diff(TEXT, ("y = slow(\n        x\n    )", "z = slow(\n        x\n    ).y")) == [
        "5-    y = slow(",
        "5+    z = slow(",
        "6         x",
        "7-    )",
        "7+    ).y",
    ]


def test_a_new_file_is_shown_as_added_lines() -> None:
    made = replace(finding(TEXT), edits=(Edit("b.py", Span(0, 0), "x = 1\ny = 2\n", creates=True),))
    [part] = fix_of(made, lambda path: None)
    assert (part.path, part.is_new, [line.text for line in part.hunks[0]]) == ("b.py", True, ["x = 1", "y = 2"])


def test_lines_of_a_notebook_count_in_their_cell() -> None:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": f"x = {n}\nslow({n})"} for n in (1, 2)]
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    lines = lines_of(book, "a.ipynb")
    assert [line.number for line in frame_of(lines, span_of(lines.text, "slow(2)"))] == [2]
    assert diff(book, ("slow(1)", "z\nfast(1)"), ("slow(2)", "fast(2)"), path="a.ipynb") == [
        "2-slow(1)",
        "2+z",
        "3+fast(1)",
        "2-slow(2)",
        "2+fast(2)",
    ]


def test_changes_with_one_line_between_them_are_one_hunk() -> None:
    assert diff("a\nb\nc\n", ("a", "x"), ("c", "z")) == ["1-a", "1+x", "2 b", "3-c", "3+z"]

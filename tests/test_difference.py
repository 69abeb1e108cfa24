"""The edits between two texts."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fullgraph.codemods.difference import replacements
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.source import splice_text

LINES = st.lists(st.sampled_from(["a = f(b, c)", "a = g(b, c)", "", "  return x", "é\u2028\x0c", "x y z"]))
TEXTS = st.builds(lambda lines, end: end.join(lines), LINES, st.sampled_from(["\n", "\r\n", "\r"]))


def spliced(old: str, new: str) -> str:
    return splice_text(old, [Edit("", span, text) for span, text in replacements(old, new)])


@given(TEXTS | st.text("ab \r\n"), TEXTS | st.text("ab \r\n"))
def test_the_edits_make_one_text_of_the_other(old: str, new: str) -> None:
    assert spliced(old, new) == new


@given(TEXTS, TEXTS)
def test_edits_do_not_touch(old: str, new: str) -> None:
    spans = [span for span, _ in replacements(old, new)]
    assert spans == sorted(spans)
    assert not any(one.overlaps(other) for one, other in pairwise(spans))


def test_the_same_text_needs_no_edit() -> None:
    assert list(replacements("a\r\nb", "a\r\nb")) == []


def test_only_the_changed_words_of_a_line_are_replaced() -> None:
    old = "import os\nvalue = old(first, old)\n"
    found = [(old[span.start : span.end], text) for span, text in replacements(old, old.replace("old", "new"))]
    assert found == [("old", "new"), ("old", "new")]


def test_a_line_with_little_in_common_is_replaced_in_one_piece() -> None:
    old, new = "x\nalpha beta\n", "x\n[gamma, delta, epsilon]\n"
    assert [text for _, text in replacements(old, new)] == ["[gamma, delta, epsilon]"]


def test_a_line_changed_beside_inserted_lines_keeps_its_words() -> None:
    old, new = "import os\nx = sum([])\n", "import os\nfrom math import fsum\n\nx = fsum([])\n"
    assert [text for _, text in replacements(old, new)] == ["from math import fsum\n\n", "fsum"]


def test_two_insertions_at_one_point_are_one_edit() -> None:
    ((_, text),) = replacements("a\nx = f(1)\n", "a\nzzz\nawait x = f(1)\n")
    assert text == "zzz\nawait "


def test_an_inserted_line_replaces_nothing() -> None:
    ((span, text),) = replacements("a\nb\n", "a\nnew\nb\n")
    assert (span.start, span.end, text) == (2, 2, "new\n")


def test_a_long_file_changed_at_both_ends_is_quick() -> None:
    body = "".join(f"def f{number}():\n    return None\n\n\n" for number in range(10_000))
    started = time.process_time()
    assert spliced(f"old\n{body}old\n", f"new\n{body}new\n") == f"new\n{body}new\n"
    assert time.process_time() - started < 5


def test_a_line_that_shares_half_of_its_words_keeps_them() -> None:
    assert list(replacements("a+b\n", "c+d\n")) == [(Span(0, 1), "c"), (Span(2, 3), "d")]

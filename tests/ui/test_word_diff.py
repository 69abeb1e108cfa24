"""The diff of the review: numbers, words, colours, and nothing lost at any width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from fullgraph.codemods.ui.review.shown import file_lines
from fullgraph.codemods.ui.review.word_diff import Row, diff_rows, shown_line

LINES = st.lists(st.sampled_from(["x = 1", "y = f(x)", "", "    return torch.ones(3).sum()", "\tz = 'ä'"]), max_size=12)


def encoded(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def marked_words(row: Row) -> list[str]:
    return [row.text[first:last] for first, last in row.marks]


def test_only_the_words_that_changed_are_marked() -> None:
    rows = diff_rows(b"a = 1\nb = slow(x, y)\n", b"a = 1\nb = fast(x, y)\n")
    assert [(row.sign, row.old, row.new) for row in rows] == [(" ", 1, 1), ("-", 2, 0), ("+", 0, 2)]
    assert [marked_words(row) for row in rows] == [[], ["slow"], ["fast"]]


def test_a_line_that_is_another_as_a_whole_has_no_marks() -> None:
    rows = diff_rows(b"a = 1\n", b"print(every, thing, new)\n")
    assert all(not row.marks for row in rows)


def test_what_is_left_out_between_two_changes_is_one_row() -> None:
    before = [f"line{number}" for number in range(30)]
    after = ["first", *before[1:-1], "last"]
    signs = "".join(row.sign for row in diff_rows(encoded(before), encoded(after)))
    assert signs == "-+   @   -+"


@given(LINES, LINES)
def test_the_rows_are_the_lines_of_both_sides_at_their_numbers(old: list[str], new: list[str]) -> None:
    for row in diff_rows(encoded(old), encoded(new)):
        if row.old:
            assert row.text == shown_line(old[row.old - 1].encode())
        if row.new:
            assert row.text == shown_line(new[row.new - 1].encode())
        assert all(row.text[first:last].strip() for first, last in row.marks)
    assert (encoded(old) == encoded(new)) == (not diff_rows(encoded(old), encoded(new)))


@given(LINES, LINES, st.integers(30, 60))
def test_lines_that_are_cut_hold_the_whole_text(old: list[str], new: list[str], width: int) -> None:
    shown = list(file_lines("a.py", encoded(old), encoded(new), width))
    rows = diff_rows(encoded(old), encoded(new))
    assert all(line.cell_len <= width for line in shown)
    assert len(shown) >= len(rows)


@pytest.mark.parametrize("raw", [b"x = '\x1b[31m'\n", b"x = '\xe9'\n", b"x = '\xe2\x80\xae'\n"])
def test_what_a_terminal_would_act_on_is_spelt_out(raw: bytes) -> None:
    (line,) = file_lines("a.py", None, raw, 80)
    assert not set(line.plain) & {"\x1b", "\u202e", "\udce9"}


def test_code_in_a_string_that_began_far_above_is_no_code() -> None:
    before = b'import os\nx = """\n' + b"text\n" * 20 + b'import os\n"""\n'
    first, *_ = file_lines("a.py", None, before, 80)
    after = before.replace(b'os\n"', b'sys\n"')
    added = next(line for line in file_lines("a.py", before, after, 80) if "+ " in line.plain)
    assert "import" in first.plain
    assert "import" in added.plain
    assert style_of("import", first) != style_of("import", added)


def style_of(word: str, line: Text) -> list[str]:
    at = line.plain.index(word)
    return [str(span.style) for span in line.spans if span.start <= at < span.end]

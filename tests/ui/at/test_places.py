"""Places: what people and editors write, and which characters it means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fullgraph.codemods.model import Finding, FullgraphError, Span
from fullgraph.codemods.source import decode
from fullgraph.codemods.ui.at.place import Lines, Place, Position, is_there, read_place

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["import torch\n", "x = 1"]},
        {"cell_type": "code", "source": ["y = 2\n", "z = '🔥'; w = 3"]},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def lines_of(text: str) -> Lines:
    return Lines(decode("a.py", text.encode()))


def numbers(text: str) -> tuple[str, int, int, int]:
    place = read_place(text)
    return str(place.file), place.cell, place.line, place.column


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a.py", ("a.py", 0, 0, 0)),
        ("a.py:3", ("a.py", 0, 3, 0)),
        ("pkg/a.py:3:14", ("pkg/a.py", 0, 3, 14)),
        (r"C:\pkg\a.py:3:14", (r"C:\pkg\a.py", 0, 3, 14)),
        ("a.ipynb:2", ("a.ipynb", 2, 0, 0)),
        ("a.ipynb:2:3", ("a.ipynb", 2, 3, 0)),
        ("a.ipynb:cell 2:3:1", ("a.ipynb", 2, 3, 1)),
        ("a.py:x", ("a.py:x", 0, 0, 0)),
    ],
)
def test_numbers_behind_the_name_are_cell_line_and_column(text: str, meant: tuple[str, int, int, int]) -> None:
    assert numbers(text) == meant


def test_a_file_whose_name_ends_in_a_number_is_found_by_it(tmp_path: Path) -> None:
    (tmp_path / "odd:3").touch()
    assert read_place(f"{tmp_path}/odd:3").line == 0
    assert read_place(f"{tmp_path}/odd:3:4").file == tmp_path / "odd"


@pytest.mark.parametrize(("text", "said"), [("a.py:0", "from 1"), ("a.py:3:0", "from 1"), ("a.py:1:2:3", "too many")])
def test_a_place_that_cannot_be_is_an_error(text: str, said: str) -> None:
    with pytest.raises(FullgraphError, match=said):
        read_place(text)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_line_is_meant_without_its_break(newline: str) -> None:
    text = newline.join(["ab", "🔥d", ""])
    lines = lines_of(text)
    span = lines.asked(read_place("a.py:2"))
    assert text[span.start : span.end] == "🔥d"
    assert lines.position(span.start + 1) == Position(2, 2)


def test_the_cursor_may_stand_behind_the_last_character_and_no_further() -> None:
    lines = lines_of("ab\ncd")
    assert lines.asked(read_place("a.py:2:3")) == Span(5, 5)
    with pytest.raises(FullgraphError, match=r"line 2 ends at column 3; there is no column 4 .*characters, not bytes"):
        lines.asked(read_place("a.py:2:4"))


def test_the_empty_line_at_the_end_is_a_line_and_there_is_none_behind_it() -> None:
    lines = lines_of("ab\n")
    assert lines.asked(read_place("a.py:2")) == Span(3, 3)
    with pytest.raises(FullgraphError, match=r"a\.py ends at line 2; there is no line 3"):
        lines.asked(read_place("a.py:3"))


def test_cells_have_lines_of_their_own() -> None:
    source = decode("a.ipynb", json.dumps(NOTEBOOK).encode())
    lines = Lines(source)
    span = lines.asked(read_place("a.ipynb:3:2:10"))
    assert source.text[span.start :].startswith("w = 3")
    assert lines.position(span.start) == Position(2, 10, cell=3)
    whole = lines.asked(read_place("a.ipynb:cell 2"))
    assert source.text[whole.start : whole.end] == "import torch\nx = 1"


@pytest.mark.parametrize(
    ("cell", "line", "said"), [(1, 1, "the cells that do: 2, 3"), (9, 1, "2, 3"), (2, 3, "line 2")]
)
def test_a_cell_without_python_is_named(cell: int, line: int, said: str) -> None:
    lines = Lines(decode("a.ipynb", json.dumps(NOTEBOOK).encode()))
    with pytest.raises(FullgraphError, match=said):
        lines.asked(Place("", Path("a.ipynb"), line, 0, cell))


@pytest.mark.parametrize(
    ("asked", "is_so"),
    [
        (Span(4, 4), False),
        (Span(5, 5), True),
        (Span(8, 8), True),
        (Span(9, 9), False),
        (Span(0, 5), True),
        (Span(0, 4), False),
        (Span(7, 12), True),
        (Span(8, 12), False),
        (Span(9, 12), False),
        (Span(0, 12), True),
    ],
)
def test_a_cursor_just_behind_a_finding_is_there_and_a_line_that_begins_there_is_not(asked: Span, is_so: bool) -> None:
    """The finding stands on characters 5 to 7."""
    assert is_there(Finding("call_fast", "a.py", Span(5, 8), "one", "slow"), asked) is is_so


@pytest.mark.parametrize("asked", [Span(5, 5), Span(5, 9), Span(0, 5)])
def test_a_finding_without_characters_is_where_it_stands(asked: Span) -> None:
    assert is_there(Finding("call_fast", "a.py", Span(5, 5), "one", "slow"), asked)

"""Positions as clients count them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position

from fullgraph.codemods.lsp.positions import Lines
from fullgraph.codemods.model import Span

TEXT = "a = '🌱'\r\nb = 'ä'; c\x0cd\rlast"


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 10), ("utf-16", 8), ("utf-32", 7)])
def test_an_emoji_counts_as_the_client_counts_it(encoding: str, column: int) -> None:
    assert Lines(TEXT, encoding).position(TEXT.index("'\r")) == Position(0, column - 1)
    assert Lines(TEXT, encoding).offset(Position(0, column - 1)) == TEXT.index("'\r")


def test_lines_end_at_line_breaks_and_not_at_form_feeds() -> None:
    assert Lines(TEXT).position(TEXT.index("d")) == Position(1, TEXT.index("d") - TEXT.index("b"))
    assert Lines(TEXT).position(TEXT.index("last")) == Position(2, 0)


def test_a_position_behind_the_end_of_its_line_is_that_end() -> None:
    assert Lines(TEXT).offset(Position(0, 99)) == TEXT.index("\r\n")
    assert Lines(TEXT).offset(Position(99, 0)) == len(TEXT)
    assert Lines(TEXT).offset(Position(3, 0)) == len(TEXT)
    assert Lines("").offset(Position(0, 5)) == 0


def test_a_position_inside_an_emoji_is_before_it() -> None:
    assert Lines(TEXT).offset(Position(0, 6)) == TEXT.index("🌱")


@given(st.text(alphabet="a🌱ä\n\r\x0c\u2028", max_size=30), st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.data())
def test_a_character_comes_back_from_its_position(text: str, encoding: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n":
        return  # between the two there is no position
    lines = Lines(text, encoding)
    assert lines.offset(lines.position(offset)) == offset
    assert lines.span(lines.range(Span(0, offset))) == Span(0, offset)

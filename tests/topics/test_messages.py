"""How the calls that log_without_break writes are laid out."""

from __future__ import annotations

import pytest

from fullgraph.codemods.module import Module
from fullgraph.codemods.source import decode
from fullgraph.codemods.topics.messages.layout import WIDTH, laid_out, quoted


def written(text: str) -> list[str]:
    """The lines of a call with one text, in a function."""
    module = Module(decode("module.py", b"def step():\n    pass\n"))
    statement = module.tree.body[0].body[0]  # type: ignore[attr-defined]
    return laid_out(module, statement, "_info", [text]).split("\n")


def test_a_call_may_fill_the_line_and_is_broken_where_it_would_not_fit() -> None:
    room = WIDTH - len('    _info("")')
    full, over = f'"{"x" * room}"', f'"{"x" * (room + 1)}"'
    assert written(full) == [f"_info({full})"]
    assert written(over) == ["_info(", f"        {over},", "    )"]


def test_a_long_text_is_cut_at_spaces_and_stays_the_same_text() -> None:
    text = f'"{"many words " * 20}"'
    head, *lines, tail = written(text)
    assert (head, tail) == ("_info(", "    )")
    assert all(len(line) <= WIDTH for line in lines)
    assert "".join(line.strip().rstrip(",").strip('"') for line in lines) == text.strip('"')


@pytest.mark.parametrize("text", ["plain", "it's", 'say "so"', "both ' and \"", "a\nb", "back\\slash"])
def test_a_quoted_text_reads_the_same_in_double_quotes(text: str) -> None:
    shown = quoted(text)
    assert shown.startswith('"')
    assert eval(shown) == text

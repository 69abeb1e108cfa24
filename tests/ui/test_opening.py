"""How editors are told the line to open."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.ui.review.opening import command_for, editor

FILE = Path("/p/a.py")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["vim"], ["vim", "+7", "/p/a.py"]),
        (["/usr/bin/nvim", "-R"], ["/usr/bin/nvim", "-R", "+7", "/p/a.py"]),
        (["emacsclient", "-t"], ["emacsclient", "-t", "+7", "/p/a.py"]),
        (["code"], ["code", "--wait", "--goto", "/p/a.py:7:3"]),
        (["hx"], ["hx", "/p/a.py:7:3"]),
        (["my-editor"], ["my-editor", "/p/a.py"]),
    ],
)
def test_an_editor_is_told_the_line_in_its_own_way(words: list[str], expected: list[str]) -> None:
    assert command_for(words, FILE, 7, 3) == expected


def test_visual_comes_before_editor_and_may_hold_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "nano")
    monkeypatch.setenv("VISUAL", "'my editor' -n")
    assert editor() == ["my editor", "-n"]
    monkeypatch.delenv("VISUAL")
    assert editor() == ["nano"]


def test_words_that_are_no_command_are_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "'unclosed")
    with pytest.raises(FullgraphError, match=r"\$VISUAL or \$EDITOR names an editor"):
        editor()

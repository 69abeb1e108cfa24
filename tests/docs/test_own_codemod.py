"""`docs/own-codemod.md`, followed literally."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.following import Command, commands, follow, is_shown, write
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "own-codemod.md"
BEFORE = "import torch.nn.functional as F\n"


def test_the_page_leads_from_an_empty_folder_to_a_proven_codemod(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = follow(PAGE, tmp_path)
    assert [command.text.split()[1] for command in done if command.text.startswith("fullgraph")] == [
        *("check", "fix", "check", "explain", "fix", "check", "undo")
    ]
    assert (tmp_path / "gate.py").read_text().startswith(BEFORE)


def test_the_codemod_of_the_page_has_the_house_style(tmp_path: Path) -> None:
    """It is short, and its documentation says what it leaves alone."""
    text = PAGE.read_text().split("```python use_torch_activations.py\n")[-1].partition("```")[0]
    assert len(text.splitlines()) <= 45
    assert "Left alone:" in text


@pytest.mark.parametrize(
    ("shown", "said", "holds"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nc\n", False),
        ("a\n...\nz\n", "a\nb\nc\nz\n", True),
        ("a\n...\nz\n", "a\nz\n", True),
        ("a\n...\nz\n", "a\nb\n", False),
        ("4 passed in ...\n", "4 passed in 0.01s\n", True),
        ("4 passed in ...\n", "3 passed in 0.01s\n", False),
        ("a\n", "a\nb\n", False),
        ("", "whatever\n", True),
    ],
)
def test_output_is_compared_with_what_the_page_shows(shown: str, said: str, holds: bool) -> None:
    assert is_shown(shown, said) == holds


def test_a_block_holds_commands_and_what_they_print() -> None:
    assert commands("$ a\nb\nc\n$ d\n") == [Command("a", "b\nc\n"), Command("d", "")]
    with pytest.raises(AssertionError, match="without a command"):
        commands("b\n")


def test_a_block_can_replace_the_last_method(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "class A:\n    x = 1\n\n    def f(self):\n        pass\n")
    write(tmp_path, "a.py -1", "    def g(self):\n        return 1\n")
    assert (tmp_path / "a.py").read_text() == "class A:\n    x = 1\n\n    def g(self):\n        return 1\n"

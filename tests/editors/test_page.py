"""The page about editors: it names every file, and what it quotes is what the files hold."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.ui.at.asking import TEXT, ask, at, write_files

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "editors.md").read_text()
CALLS = re.findall(r"^fullgraph at (\S+)(.*?) +#", PAGE, re.MULTILINE)


def test_every_file_for_an_editor_is_linked_and_every_link_leads_somewhere() -> None:
    linked = set(re.findall(r"\]\(\.\./(editors/[^)]*)\)", PAGE))
    assert all((ROOT / path).exists() for path in linked)
    folders = {f"editors/{path.name}" for path in (ROOT / "editors").iterdir()}
    assert {"/".join(path.split("/")[:2]) for path in linked} == folders


def test_the_lines_for_helix_are_those_of_the_file() -> None:
    (quoted,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert tomllib.loads(quoted) == tomllib.loads((ROOT / "editors/helix/languages.toml").read_text())


def test_the_calls_on_the_page_are_all_known() -> None:
    assert len(CALLS) == 7


@pytest.mark.parametrize(("place", "options"), CALLS)
def test_the_calls_on_the_page_work(place: str, options: str, tmp_path: Path) -> None:
    padding = "\n" * 38
    notebook = '{"cells": [%s], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    cells = ", ".join(['{"cell_type": "code", "source": ["import torch\\n", "x = 1"]}'] * 3)
    text = TEXT.replace("\n\n\n@", f"\n\n\n{padding}@", 1)
    root = write_files(tmp_path, {"src/model.py": text, "notes.ipynb": notebook % cells})
    words = options.removesuffix("< buffer").split()
    buffer = text.encode() if "--stdin" in words else None
    given = [word for word in words if word not in ("--stdin", "--json")]
    if "--json" in words:
        assert ask(root, place, *given, buffer=buffer)["error"] == ""
    else:
        assert at(root, place, *given, buffer=buffer).returncode == 0
    assert ((root / "src/model.py").read_text() == text) == ("--apply" not in words or "--stdin" in words)

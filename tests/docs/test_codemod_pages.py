"""The pages of the codemods are made from the code, are current, and lose nothing of it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fullgraph.codemods.registry import bundled
from fullgraph.codemods.ui.explain import settings_of
from fullgraph.codemods.ui.measured import stored_rows

ROOT = Path(__file__).parent.parent.parent
PAGES = ROOT / "docs" / "codemods"
EVERY = pytest.mark.parametrize("name", sorted(bundled()))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as they would be made now."""
    docs = tmp_path_factory.mktemp("pages")
    folder = docs / "codemods"
    folder.mkdir()
    (folder / "gone_codemod.md").write_text("a codemod that is no more\n")
    subprocess.run([sys.executable, ROOT / "scripts" / "docs.py", docs], check=True)
    return folder


def test_there_is_a_page_for_every_codemod_and_no_other(made: Path) -> None:
    assert {file.stem for file in made.iterdir()} == {"README", *bundled()}


def test_the_pages_are_current(made: Path) -> None:
    stored = {file.name: file.read_text() for file in PAGES.iterdir()}
    assert stored == {file.name: file.read_text() for file in made.iterdir()}, "`make docs` writes them anew"


def test_the_index_names_every_codemod_once(made: Path) -> None:
    named = re.findall(r"^\| \[`(\w+)`\]\((\w+)\.md\)", (made / "README.md").read_text(), re.MULTILINE)
    assert sorted(named) == [(name, name) for name in sorted(bundled())]


@EVERY
def test_a_page_says_every_line_of_the_docstring(made: Path, name: str) -> None:
    shown = squeezed(text_of((made / f"{name}.md").read_text()))
    said = (inspect.getdoc(bundled()[name]) or "").replace("Left alone:", "")
    lines = [line.strip().removeprefix("- ").replace("`", "") for line in said.splitlines()]
    assert [line for line in lines if squeezed(line) not in shown] == []


@EVERY
def test_a_page_has_the_options_the_measurements_and_an_example(made: Path, name: str) -> None:
    page = (made / f"{name}.md").read_text()
    for setting in settings_of(bundled()[name]):
        assert re.search(rf"(?m)^\| `{setting.name}` \|.*\| .+ \|$", page)
    for case, row in stored_rows(name):
        assert (
            f"| [{case}](../../fixtures/{name}/{case}) | {row['torch']} | {row['device']} | {row['ruling']} |" in page
        )
    assert "```diff\n--- a/" in page or "```diff\n--- /dev/null" in page


@EVERY
def test_nothing_of_a_docstring_is_taken_for_a_mark(made: Path, name: str) -> None:
    """No emphasis, quote or HTML comes out of a `*`, a `>` or a `<` in the text."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse((made / f"{name}.md").read_text().partition("-->")[2])
    kinds = {one.type for token in tokens for one in (token, *(token.children or ()))}
    assert not kinds & {"em_open", "strong_open", "blockquote_open", "html_block", "html_inline", "code_block"}


def text_of(page: str) -> str:
    """What a reader sees of a page."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    return "".join(one.content for token in tokens for one in token.children or ())


def squeezed(text: str) -> str:
    return "".join(text.split())

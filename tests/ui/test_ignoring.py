"""`check --add-ignore`: comments at the findings, written and undone like any run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ui.running import FILES, run, texts


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("slow()\n", "slow()  # fullgraph: ignore[call_fast]\n"),
        ("slow()", "slow()  # fullgraph: ignore[call_fast]"),
        ("slow()  \r\nx = 1\r\n", "slow()  # fullgraph: ignore[call_fast]  \r\nx = 1\r\n"),
        ("slow()  # noqa\n", "slow()  # noqa  # fullgraph: ignore[call_fast]\n"),
        ("nest(slow())\n", "nest(slow())  # fullgraph: ignore[call_fast, flatten_nest]\n"),
        (
            "nest(slow())  # fullgraph: ignore[flatten_nest]\n",
            "nest(slow())  # fullgraph: ignore[flatten_nest, call_fast]\n",
        ),
        ('slow("""\n""")\n', 'slow("""\n""")  # fullgraph: ignore[call_fast]\n'),
        ("slow(\n    1)\n", "slow(  # fullgraph: ignore[call_fast]\n    1)\n"),
        ("x = slow() + \\\n    slow()\n", "x = slow() + \\\n    slow()  # fullgraph: ignore[call_fast]\n"),
    ],
)
def test_a_comment_stands_where_there_is_room(project: Path, before: str, after: str) -> None:
    file = project / "pkg" / "a.py"
    file.write_bytes(before.encode())
    result = run(project, "check", "--add-ignore", "pkg/a.py")
    assert file.read_bytes().decode() == after
    assert result.code == ("\\\n" in before), "a line that a backslash ends has no room"


def test_what_was_silenced_is_found_no_more_and_undo_takes_the_comments_back(project: Path) -> None:
    assert run(project, "check", "--add-ignore", "--all").code == 0
    assert run(project, "check").code == 0
    run(project, "undo")
    assert texts(project) == {path: text for path, text in FILES.items() if path.startswith("pkg/")}


def test_only_what_is_shown_gets_a_comment(project: Path) -> None:
    run(project, "check", "--add-ignore")
    assert "slow(*items)\n" in texts(project)["pkg/a.py"]
    assert run(project, "check").out == ""


def test_a_cell_of_a_notebook_gets_its_comment(project: Path) -> None:
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": ["slow()\n", "x"],
    }
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "book.ipynb").write_text(json.dumps(book, indent=1))
    assert run(project, "check", "--add-ignore", "book.ipynb").code == 0
    held = json.loads((project / "book.ipynb").read_text())
    assert held["cells"][0]["source"][0] == "slow()  # fullgraph: ignore[call_fast]\n"

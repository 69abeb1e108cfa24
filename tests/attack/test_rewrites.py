"""No wrong rewrite is called equivalent, no no-op is praised, no right rewrite is refused.

A tenth is asked with each commit, all of them in `make test-all` and `make attack`.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from tests.attack.bank import all_rewrites, classes, rows
from tests.attack.running import ask
from tests.chosen import is_chosen

ALL = all_rewrites()


def item(title: str) -> Any:
    marks = [] if is_chosen(title) else [pytest.mark.everything]
    if ALL[title].is_fresh:
        marks.append(pytest.mark.processes)
    return pytest.param(title, marks=marks)


@pytest.mark.parametrize("title", [item(title) for title in ALL])
def test_no_rewrite_gets_a_verdict_that_it_does_not_deserve(title: str, tmp_path: Path) -> None:
    answer = ask(ALL[title], tmp_path / "project")
    assert ALL[title].allows(answer.ruling), f"{answer.ruling}: {answer.sentence}"


def test_every_row_changes_a_program_into_another_one() -> None:
    for title, row in ALL.items():
        assert ast.parse(row.after), title
        assert ast.parse(row.scenario), title
        assert row.after != row.before, title


def test_names_are_not_used_twice() -> None:
    given = sum(len(rows(folder, name)) for folder in ("wrong", "harmless") for name in classes(folder))
    assert len(ALL) == given

"""A change is taken for the findings whose edits it shows, whoever made it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph import Codemod
from fullgraph.codemods.model import Finding
from fullgraph.codemods.rewrite.explained import explained, project_before
from tests.cases import Case, all_cases, apply

SPEAKING = [
    case
    for case in all_cases()
    if type(case.codemod()).purposes is not Codemod.purposes and case.is_changing and "tests" not in case.config
]


def seen_in(case: Case, findings: list[Finding]) -> list[Finding]:
    return explained(case.project(), apply(case.before, findings), [case.codemod()])


@pytest.mark.parametrize("case", SPEAKING, ids=lambda case: case.name)
def test_a_change_has_the_purposes_of_the_findings_that_made_it(case: Case) -> None:
    speak = case.codemod().purposes
    if case.fixable:
        assert speak(seen_in(case, case.fixable)) == speak(case.fixable)
        assert speak(seen_in(case, case.fixable[:1])) == speak(case.fixable[:1])


def test_a_change_of_other_lines_has_none() -> None:
    case = next(case for case in SPEAKING if case.codemod_name == "disable_compile")
    before = {path: raw + b"\nUNRELATED = 1\n" for path, raw in case.before.items()}
    assert explained(case.project(), before, [case.codemod()]) == []


def test_a_file_that_is_new_is_not_in_the_project_before(tmp_path: Path) -> None:
    for name in ("old.py", "new.py", "other.py"):
        (tmp_path / name).write_text("x = 2\n")
    project = project_before(tmp_path, {"old.py": b"x = 1\n", "new.py": None})
    assert project.files == ("old.py", "other.py")
    assert project.read("old.py") == b"x = 1\n"

"""Which findings are alternatives, and in which order they are asked about."""

from __future__ import annotations

from pathlib import Path

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Edit, Finding, Span
from fullgraph.codemods.project import Project
from fullgraph.codemods.ui.review.rivals import arranged, rivals_among

TEXT = "aa(1, 2)\nbb()\ncc()\n"


class Repairs(Codemod):
    """Reaches one graph."""

    repairs_breaks = True


class Reads(Codemod):
    """Breaks less."""


class Isolates(Codemod):
    """Is a break itself."""

    isolates = True


CODEMODS = (Repairs(), Reads(), Isolates())


def finding(codemod: str, line: int, first: int, last: int, symbol: str = "f") -> Finding:
    """On a line, replacing these characters."""
    edits = (Edit("a.py", Span(first, last), codemod),)
    key = f"{codemod}{line}"
    return Finding(codemod, "a.py", Span(first, last), symbol, "m", edits, line=line, last_line=line, key=key)


def pairs(tmp_path: Path, *findings: Finding) -> set[frozenset[str]]:
    (tmp_path / "a.py").write_text(TEXT)
    found = rivals_among(findings, CODEMODS, Project(tmp_path, ["a.py"]))
    return {frozenset((key, other)) for key, others in found.items() for other in others}


def test_two_codemods_that_want_the_same_characters_of_a_line_are_alternatives(tmp_path: Path) -> None:
    assert pairs(tmp_path, finding("repairs", 1, 0, 2), finding("reads", 1, 0, 8)) == {
        frozenset(("repairs1", "reads1"))
    }


def test_two_things_in_one_line_are_no_alternatives(tmp_path: Path) -> None:
    assert not pairs(tmp_path, finding("repairs", 1, 0, 2), finding("reads", 1, 3, 4))


def test_what_can_be_written_one_after_the_other_is_no_alternative(tmp_path: Path) -> None:
    assert not pairs(tmp_path, finding("reads", 1, 0, 14), finding("repairs", 2, 9, 11))


def test_isolation_is_an_alternative_to_all_that_stands_on_its_lines(tmp_path: Path) -> None:
    found = pairs(tmp_path, finding("isolates", 1, 0, 12), finding("repairs", 2, 9, 11), finding("reads", 3, 14, 16))
    assert found == {frozenset(("isolates1", "repairs2"))}


def test_isolation_of_a_whole_function_is_one_to_all_in_it(tmp_path: Path) -> None:
    decorator = finding("isolates", 1, 0, 0)
    inner, other = finding("repairs", 2, 9, 11, "f.<locals>.g"), finding("reads", 3, 14, 16, "ff")
    assert pairs(tmp_path, decorator, inner, other) == {frozenset(("isolates1", "repairs2"))}


def test_what_gets_further_is_asked_about_first_and_all_else_stays_in_order(tmp_path: Path) -> None:
    first, isolating = finding("reads", 3, 14, 16), finding("isolates", 1, 0, 12)
    read, repair = finding("reads", 1, 3, 4), finding("repairs", 2, 9, 11)
    given = [isolating, read, repair, first]
    (tmp_path / "a.py").write_text(TEXT)
    rivals = rivals_among(given, CODEMODS, Project(tmp_path, ["a.py"]))
    assert arranged(given, rivals, CODEMODS) == [repair, read, isolating, first]

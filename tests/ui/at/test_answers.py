"""From what stands at a place to an exit code, one finding to apply, and an answer that can be given again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fullgraph.codemods.model import Change, Edit, Finding, FullgraphError, Span
from fullgraph.codemods.project import Project
from fullgraph.codemods.ui.at.as_text import new_text
from fullgraph.codemods.ui.at.command import Answer, open_desk, pick, why_not
from fullgraph.codemods.ui.at.place import Place
from fullgraph.codemods.ui.at.remembered import EVERYWHERE, covers, extent_of, pair
from fullgraph.codemods.ui.at.saying import exit_code

FIXABLE = Finding("call_fast", "a.py", Span(0, 4), "one", "slow", (Edit("a.py", Span(0, 4), "fast"),), key="k1")
BARE = replace(FIXABLE, edits=(), left_alone="a star", key="k2")


def answer(root: Path, **given: object) -> Answer:
    return Answer(Place("a.py", Path("a.py")), Project(root, {"a.py"}), "a.py", **given)  # type: ignore[arg-type]


def test_the_exit_code_says_what_is_left_to_do(tmp_path: Path) -> None:
    change = Change(applied=(FIXABLE,))
    assert exit_code(answer(tmp_path)) == 0
    assert exit_code(answer(tmp_path, findings=[FIXABLE])) == 1
    assert exit_code(answer(tmp_path, findings=[BARE])) == 1
    assert exit_code(answer(tmp_path, findings=[FIXABLE], change=change)) == 0
    assert exit_code(answer(tmp_path, findings=[FIXABLE], change=change, error="half read")) == 2
    assert exit_code(answer(tmp_path, error="not read")) == 2


def test_a_finding_is_named_by_its_number_or_its_key() -> None:
    other = replace(FIXABLE, key="k3")
    assert pick([FIXABLE, other], "1") is FIXABLE
    assert pick([FIXABLE, other], "2") is other
    assert pick([FIXABLE, other], "k3") is other


@pytest.mark.parametrize(
    ("findings", "wanted", "said"),
    [
        ([], "1", "there is no finding at this place"),
        ([FIXABLE], "2", "there is one finding at this place"),
        ([FIXABLE, BARE], "0", "there are 2 findings at this place"),
        ([FIXABLE, BARE], "k", "there are 2 findings at this place"),
        ([FIXABLE, BARE], "2", "call_fast leaves this alone: a star"),
    ],
)
def test_what_cannot_be_applied_is_an_error(findings: list[Finding], wanted: str, said: str) -> None:
    with pytest.raises(FullgraphError, match=f"--apply {wanted}: {said}"):
        pick(findings, wanted)


def test_a_buffer_alone_cannot_show_what_changes_other_files(tmp_path: Path) -> None:
    own = Change({"a.py": b"slow"}, {"a.py": b"fast"}, (FIXABLE,))
    assert new_text(answer(tmp_path, change=own)) == b"fast"
    both = replace(own, before={**own.before, "b.py": b""}, after={**own.after, "b.py": b"x"})
    with pytest.raises(FullgraphError, match=r"this finding changes b\.py too"):
        new_text(answer(tmp_path, change=both))


@pytest.mark.parametrize(
    ("name", "buffer", "said"),
    [
        ("new.py", b"x", ""),
        ("new.ipynb", b"{}", ""),
        ("script", b"#!/usr/bin/env python\n", ""),
        ("script", b"x = 1\n", "not a Python file"),
        ("notes.txt", b"x", "not a Python file"),
        ("new.py", None, "no such file"),
    ],
)
def test_a_buffer_needs_a_name_or_a_first_line_of_python(
    tmp_path: Path, name: str, buffer: bytes | None, said: str
) -> None:
    reason = why_not(tmp_path / name, buffer)
    assert reason.startswith(said) if said else not reason


def test_a_link_inside_the_project_is_the_file_that_it_leads_to(tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside.py"
    root.mkdir()
    (root / "pyproject.toml").touch()
    (root / "real.py").write_text("x = 1\n")
    outside.write_text("x = 1\n")
    (root / "link.py").symlink_to("real.py")
    (root / "out.py").symlink_to(outside)
    assert [open_desk(root / name, None).path for name in ("link.py", "real.py")] == ["real.py", "real.py"]
    with pytest.raises(FullgraphError, match="a link that leads out of the project"):
        open_desk(root / "out.py", None)


def held(asked: Span, extent: Span) -> dict[str, object]:
    return {"asked": pair(asked), "extent": pair(extent)}


def test_an_answer_holds_for_what_lies_inside_its_statements_and_not_at_their_edges() -> None:
    """At an edge the neighbour begins, and of that nothing is known."""
    known = held(Span(15, 15), Span(10, 20))
    asked = [Span(11, 11), Span(19, 19), Span(11, 19), Span(10, 10), Span(20, 20), Span(9, 12), Span(19, 21)]
    assert [covers(known, one) for one in asked] == [True, True, True, False, False, False, False]


def test_an_answer_holds_for_the_same_question_and_one_about_all_for_each() -> None:
    assert covers(held(Span(10, 10), Span(10, 20)), Span(10, 10))
    assert covers(held(EVERYWHERE, EVERYWHERE), Span(0, 0))
    assert not covers(held(Span(15, 15), Span(10, 20)), EVERYWHERE)


def test_an_answer_goes_over_every_statement_that_its_place_touches(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 2\n\n\nz = 3\n")
    project = Project(tmp_path, {"a.py"})
    assert extent_of(None, project, "a.py") == EVERYWHERE
    assert extent_of(Span(8, 8), project, "a.py").end < 14
    wide = extent_of(Span(2, 16), project, "a.py")
    assert wide.start == 0
    assert wide.end >= 19

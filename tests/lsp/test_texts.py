"""From a file to the texts of a client and back: positions, edits, bytes, and what is remembered of them."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from pathlib import Path

import pytest
from lsprotocol import types

from fullgraph.codemods.lsp.actions import actions_for, touches
from fullgraph.codemods.lsp.buffers import buffer_bytes
from fullgraph.codemods.lsp.diagnostics import diagnose, line_span
from fullgraph.codemods.lsp.edits import Abilities, Composer, joined
from fullgraph.codemods.lsp.fixing import Fixed, OnlyOne
from fullgraph.codemods.lsp.pages import Page, cells_page, text_page
from fullgraph.codemods.lsp.projects import LiveProject
from fullgraph.codemods.lsp.settings import ClientSettings
from fullgraph.codemods.lsp.undoing import KEPT, Memory, is_saved, step_back
from fullgraph.codemods.model import Edit, Finding, FullgraphError, Safety, Span
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.source import decode

TEXT = "x = 1\n\n  slow()  \nslow()\n"
EDIT = Edit("a.py", Span(18, 22), "fast")
SAFE = Finding("call_fast", "a.py", Span(18, 24), "<module>", "slow() waits", (EDIT,), key="k1")
UNSAFE = Finding(
    "call_fast", "a.py", Span(9, 15), "<module>", "slow() waits", (EDIT,), Safety.UNSAFE, "it may raise", key="k2"
)
BARE = Finding("call_fast", "a.py", Span(9, 15), "<module>", "slow() waits", left_alone="a star", key="k3")


def page_of(text: str = TEXT) -> Page:
    return text_page(decode("a.py", text.encode()), "file:///a.py", 1, "utf-16")


def span_of(*numbers: int) -> types.Range:
    first, start, last, end = numbers
    return types.Range(types.Position(first, start), types.Position(last, end))


# Ranges


def test_a_cursor_at_either_end_of_a_finding_touches_it() -> None:
    one = span_of(2, 4, 2, 8)
    assert touches(one, span_of(2, 4, 2, 4))
    assert touches(one, span_of(2, 8, 2, 8))
    assert touches(one, span_of(1, 9, 2, 4))
    assert touches(one, span_of(0, 0, 9, 0))
    assert not touches(one, span_of(2, 9, 2, 9))
    assert not touches(one, span_of(1, 9, 2, 3))
    assert not touches(one, span_of(3, 0, 3, 9))


@pytest.mark.parametrize(
    ("line", "meant"), [(1, "x = 1"), (2, ""), (3, "slow()"), (4, "slow()"), (0, None), (5, None), (99, None)]
)
def test_a_line_is_shown_without_the_space_around_it(line: int, meant: str | None) -> None:
    span = line_span(page_of(), line)
    assert TEXT[span.start : span.end] == (meant or "")
    assert meant is not None or span == Span(0, 0)


def test_an_error_stands_at_its_line_and_without_one_at_the_first() -> None:
    def line_of(error: str) -> int:
        [(_, shown)] = diagnose(FileResult("a.py", error=error), page_of())
        return shown.range.start.line

    assert line_of("line 3: invalid syntax") == 2
    assert line_of("cannot be parsed") == 0


def test_only_what_can_be_fixed_is_a_warning() -> None:
    shown = [one for _, one in diagnose(FileResult("a.py", (SAFE, UNSAFE, BARE)), page_of())]
    levels = types.DiagnosticSeverity
    assert [one.severity for one in shown] == [levels.Warning, levels.Warning, levels.Information]
    assert [one.message.splitlines()[1:] for one in shown] == [[], ["unsafe: it may raise"], ["left alone: a star"]]


# Actions


def actions(*findings: Finding, scope: str) -> list[tuple[types.CodeAction, bool]]:
    """What is offered for one finding or for the file, and whether it takes unsafe ones."""
    document = types.TextDocumentIdentifier("file:///a.py")
    params = types.CodeActionParams(document, span_of(0, 0, 9, 0), types.CodeActionContext([]))
    offered = actions_for(FileResult("a.py", findings), page_of(), params)
    return [(one, one.data["unsafe"]) for one in offered if one.data and one.data["scope"] == scope]


def test_fixing_all_offers_the_unsafe_ones_apart() -> None:
    assert [(one.title, unsafe) for one, unsafe in actions(SAFE, UNSAFE, BARE, scope="file")] == [
        ("Fix the safe finding in this file", False),
        ("Fix all 2 findings in this file, 1 of them unsafe", True),
    ]
    assert [one.title for one, _ in actions(UNSAFE, scope="file")] == [
        "Fix all 1 findings in this file, 1 of them unsafe"
    ]
    assert not actions(BARE, scope="file")


def test_only_safe_fixes_are_preferred_and_only_they_go_without_a_word() -> None:
    fixes = [one for one, _ in actions(SAFE, UNSAFE, BARE, scope="finding")]
    assert [(one.is_preferred, one.title.endswith(" (unsafe)")) for one in fixes] == [(True, False), (False, True)]


def test_one_finding_is_meant_by_its_key(tmp_path: Path) -> None:
    project = Project(tmp_path, ())
    assert OnlyOne("k2").choose([SAFE, UNSAFE, BARE], project) == [UNSAFE]
    assert OnlyOne("k3").choose([SAFE, UNSAFE, BARE], project) == []


# Edits


def test_edits_that_touch_are_one_and_in_order() -> None:
    given = [(Span(9, 9), "c"), (Span(4, 6), "b"), (Span(0, 4), "a"), (Span(7, 8), "d")]
    assert joined(given) == [(Span(0, 6), "ab"), (Span(7, 8), "d"), (Span(9, 9), "c")]


def composed(fixed: Fixed, *operations: str, annotations: bool = False, confirm: bool = False) -> types.WorkspaceEdit:
    def page(path: str, raw: bytes) -> Page:
        return text_page(decode(path, raw), f"file:///{path}", 3, "utf-16")

    able = Abilities(bool(operations), annotations, frozenset(operations))
    return Composer(able, page, lambda path: f"file:///{path}").compose(fixed, confirm=confirm)


def test_an_editor_that_cannot_make_files_is_told_so() -> None:
    fixed = Fixed({"new.py": None}, {"new.py": b"x = 1\n"}, [SAFE], rounds=1)
    made = composed(fixed, "create").document_changes
    assert made is not None
    assert [type(one) for one in made] == [types.CreateFile, types.TextDocumentEdit]
    for able in ((), ("delete",)):
        with pytest.raises(FullgraphError, match=r"new\.py would have to be created, and this editor cannot"):
            composed(fixed, *able)


def test_a_file_that_goes_is_deleted() -> None:
    fixed = Fixed({"old.py": b"x"}, {"old.py": None}, rounds=1)
    made = composed(fixed, "delete").document_changes
    assert made is not None
    assert [type(one) for one in made] == [types.DeleteFile]
    with pytest.raises(FullgraphError, match="would have to be deleted"):
        composed(fixed, "create")


def test_an_annotation_tells_what_is_unsafe_and_asks_only_if_told_to() -> None:
    fixed = Fixed({"a.py": TEXT.encode()}, {"a.py": TEXT.encode()}, [SAFE, UNSAFE], rounds=1)
    for confirm in (True, False):
        notes = composed(fixed, "create", annotations=True, confirm=confirm).change_annotations
        assert notes is not None
        note = notes["call_fast"]
        assert (note.description, note.needs_confirmation) == ("it may raise", confirm)
    assert composed(fixed, "create").change_annotations is None


def test_after_a_second_round_the_texts_are_compared_and_the_edits_of_the_first_are_not_used() -> None:
    fixed = Fixed({"a.py": b"slow()"}, {"a.py": b"fast(2)"}, [SAFE], rounds=2)
    assert fixed.edits("a.py") == []
    fixed.rounds = 1
    assert fixed.edits("a.py") == [EDIT]
    assert fixed.edits("b.py") == []
    assert (fixed.codemods("a.py"), fixed.codemods("b.py")) == (["call_fast"], [])


def test_cells_keep_their_own_uris_whatever_stands_between_them() -> None:
    cells = [
        {"cell_type": "markdown", "source": "# Title"},
        {"cell_type": "code", "source": "x = 1"},
        {"cell_type": "code", "source": "slow()"},
    ]
    source = decode("a.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode())
    page = cells_page(source, [("cell:1", 1), ("cell:2", 2), ("cell:3", 3)], "utf-16")
    start = source.text.index("slow")
    where = page.locate(Span(start, start + 4))
    assert (where.uri, where.range) == ("cell:3", span_of(0, 0, 0, 4))
    assert [sheet.version for sheet in page.sheets] == [2, 3]


# Bytes


@pytest.mark.parametrize(
    ("text", "on_disk", "raw"),
    [
        ("x = 'é'", b"", "x = 'é'".encode()),
        ("# coding: latin-1\nx = 'é'", b"", b"# coding: latin-1\nx = '\xe9'"),
        ("x = 1", BOM_UTF8 + b"x = 2", BOM_UTF8 + b"x = 1"),
        ("\ufeffx = 1", BOM_UTF8 + b"x = 2", BOM_UTF8 + b"x = 1"),
        ("x = 1", b"x = 2", b"x = 1"),
        ("# coding: latin-1\nx = '☃'", b"", "# coding: latin-1\nx = '☃'".encode()),
        ("# coding: klingon\n", b"", b"# coding: klingon\n"),
    ],
)
def test_a_buffer_is_in_the_bytes_that_saving_it_would_write(text: str, on_disk: bytes, raw: bytes) -> None:
    assert buffer_bytes("a.py", text, on_disk) == raw


def test_a_notebook_is_utf_8_whatever_its_code_says() -> None:
    text = '{"cells": []}\n# coding: latin-1 é'
    assert buffer_bytes("a.ipynb", text) == text.encode()


# What was offered and made


def test_what_was_made_last_is_taken_back_first_and_by_project() -> None:
    memory, first, second, other = Memory(), Fixed(), Fixed(), Fixed()
    here, there = Path("/here"), Path("/there")
    for root, fixed in ((here, first), (here, second), (there, other)):
        memory.note_made(memory.offer(root, fixed))
    assert memory.last(None) == (there, other)
    found = memory.last(here)
    assert found is not None
    assert found[1] is second
    assert memory.last(Path("/nowhere")) is None


def test_what_was_only_offered_was_not_made() -> None:
    memory = Memory()
    memory.offer(Path("/here"), Fixed())
    memory.note_made("99")
    assert memory.last(None) is None


def test_only_so_many_changes_are_remembered_the_newest_of_them() -> None:
    memory = Memory()
    names = [memory.offer(Path(f"/{number}"), Fixed()) for number in range(KEPT + 1)]
    assert [*memory.offered] == names[1:]
    for name in names:
        memory.note_made(name)
    memory.note_made(memory.offer(Path("/last"), Fixed()))
    assert (len(memory.made), memory.made[0][0], memory.made[-1][0]) == (KEPT, Path("/2"), Path("/last"))


def test_a_step_back_keeps_what_was_typed_elsewhere_and_leaves_files_that_are_back_already(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a.py").write_bytes(b"fast()\nx = 1\ny = 1\n")
    (tmp_path / "b.py").write_bytes(b"slow()\n")
    fixed = Fixed(
        {"a.py": b"slow()\nx = 1\ny = 1\n", "b.py": b"slow()\n"},
        {"a.py": b"fast()\nx = 1\ny = 1\n", "b.py": b"fast()\n"},
    )
    live = LiveProject(tmp_path, ClientSettings())
    back = step_back(fixed, live, {"a.py": b"fast()\nx = 1\ny = 2\n"})
    assert (back.before, back.after) == (
        {"a.py": b"fast()\nx = 1\ny = 2\n"},
        {"a.py": b"slow()\nx = 1\ny = 2\n"},
    )
    with pytest.raises(FullgraphError, match="edited since, so nothing was taken back"):
        step_back(fixed, live, {"a.py": b"faster()\nx = 1\ny = 1\n"})


def test_a_buffer_is_saved_if_the_file_holds_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    assert is_saved(tmp_path / "a.py", b"x = 1\n")
    assert not is_saved(tmp_path / "a.py", b"x = 2\n")
    assert not is_saved(tmp_path / "gone.py", b"x = 1\n")

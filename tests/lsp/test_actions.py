"""Code actions: what is offered, and what it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from fullgraph.codemods.lsp.actions import FIX_ALL, FIX_FILE, FIX_PROJECT, is_wanted
from tests.lsp.client import Editor, uri_of
from tests.lsp.conftest import Start
from tests.ui.running import texts


def at_line(line: int) -> types.Range:
    return types.Range(types.Position(line, 0), types.Position(line, 40))


def notes_of(edit: types.WorkspaceEdit) -> list[types.ChangeAnnotation]:
    return list((edit.change_annotations or {}).values())


async def only(used: Editor, uri: str, kind: str) -> types.CodeAction:
    [action] = [one for one in await used.actions(uri, only=kind) if one.kind == kind]
    return action


async def test_a_finding_is_fixed_alone(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        await used.diagnostics(uri)
        [action] = [one for one in await used.actions(uri, at_line(1)) if one.kind == types.CodeActionKind.QuickFix]
        assert action.title == "call_fast: slow() waits"
        assert action.is_preferred
        assert [found.message for found in action.diagnostics or ()] == ["slow() waits"]
        assert action.edit is None
        before = used.texts[uri]
        await used.make(action)
        assert used.texts[uri] == before.replace("slow()", "fast()", 1)
        assert not any(note.needs_confirmation for note in notes_of(used.applied[0]))


async def test_an_unsafe_finding_is_never_preferred_and_asks_first(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        [action] = [one for one in await used.actions(uri, at_line(8)) if one.kind == types.CodeActionKind.QuickFix]
        assert action.title.endswith("(unsafe)")
        assert not action.is_preferred
        resolved = await used.resolve(action)
    assert resolved.edit
    [note] = notes_of(resolved.edit)
    assert note == types.ChangeAnnotation("call_fast", True, "fast() may read its argument twice")


async def test_a_finding_that_is_left_alone_offers_nothing(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        assert not [one for one in await used.actions(uri, at_line(9)) if one.kind == types.CodeActionKind.QuickFix]


async def test_fix_all_takes_what_is_safe_in_the_file(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        action = await only(used, uri, FIX_ALL)
        assert action.title == "Fix all 2 safe findings in this file"
        await used.make(action)
        assert used.texts[uri].count("fast(") == 2
        assert "slow(item)" in used.texts[uri]
        unsafe = await only(used, uri, FIX_FILE)
        assert unsafe.title == "Fix all 1 findings in this file, 1 of them unsafe"
        await used.make(unsafe)
        assert "fast(item)" in used.texts[uri]


async def test_saving_fixes_no_other_file_by_itself(start: Start, project: Path) -> None:
    """Editors run everything below source.fixAll when they save."""
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        assert {one.kind for one in await used.actions(uri, only="source.fixAll")} == {FIX_ALL}


async def test_the_project_is_fixed_over_several_files_with_a_preview(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "b.py")
        used.type(uri, "slow()", "slow()  # unsaved")
        await used.make(await only(used, uri, FIX_PROJECT))
        edit, after = used.applied[0], used.texts[uri]
    assert edit.document_changes
    documents = [change.text_document for change in edit.document_changes if isinstance(change, types.TextDocumentEdit)]
    assert {document.uri: document.version for document in documents} == {
        uri_of(project / "pkg" / "a.py"): None,
        uri: 2,
        uri_of(project / "pkg" / "c.py"): None,
    }
    assert all(note.needs_confirmation for note in notes_of(edit))
    assert {note.label for note in notes_of(edit)} == {"call_fast", "call_fast, rename_shared"}
    assert after == "from pkg.c import common\n\n\ndef two():\n    common()\n    fast()  # unsaved\n"
    assert texts(project)["pkg/c.py"] == "def common():\n    return fast() or 1\n"
    assert "slow(item)" in texts(project)["pkg/a.py"]


async def test_a_new_file_is_part_of_the_edit(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "d.py", "BIG = 1\n")
        await used.make(await only(used, uri, FIX_ALL))
        assert used.texts[uri] == "from pkg.new.constants import BIG\n"
    assert (project / "pkg" / "new" / "constants.py").read_text() == "BIG = 1\n"


async def test_findings_that_overlap_are_met_again(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "d.py", "nest(nest(nest(1)))\n")
        await used.make(await only(used, uri, FIX_ALL))
        assert used.texts[uri] == "flat(flat(flat(1)))\n"


async def test_an_editor_that_cannot_resolve_gets_the_edit_at_once(start: Start, project: Path) -> None:
    def change(capabilities: types.ClientCapabilities) -> None:
        capabilities.text_document.code_action.resolve_support = None  # type: ignore[union-attr]

    async with start(project, change=change) as used:
        uri = used.open(project / "pkg" / "a.py")
        found = await used.actions(uri, at_line(1))
        assert all(action.edit for action in found)
        assert FIX_PROJECT not in {action.kind for action in found}
        assert (await only(used, uri, FIX_PROJECT)).edit


async def test_an_editor_without_document_changes_gets_plain_ones(start: Start, project: Path) -> None:
    def change(capabilities: types.ClientCapabilities) -> None:
        capabilities.workspace.workspace_edit = None  # type: ignore[union-attr]

    async with start(project, change=change) as used:
        uri = used.open(project / "pkg" / "a.py")
        action = await used.resolve(await only(used, uri, FIX_ALL))
        assert action.edit
        assert list(action.edit.changes or ()) == [uri]
        assert not action.edit.document_changes
        used.type(uri, "def one", "BIG = 1\n\n\ndef one")
        action = await used.resolve(await only(used, uri, FIX_ALL))
        assert action.edit is None
        shown = used.messages
    assert shown == ["fullgraph: pkg/new/constants.py would have to be created, and this editor cannot create files"]


async def test_a_finding_that_is_gone_changes_nothing(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "d.py", "slow()\n")
        [action, *_] = await used.actions(uri)
        used.type(uri, "slow", "quick")
        resolved = await used.resolve(action)
        assert resolved.edit is None
        assert used.messages == ["fullgraph: there is nothing to fix"]


async def test_a_finding_is_fixed_where_it_has_moved_to(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "d.py", "x = 1\nslow()\n")
        [action, *_] = await used.actions(uri)
        used.type(uri, "x = 1\n", "x = 1\ny = '🌱'\n")
        await used.make(action)
        assert used.texts[uri] == "x = 1\ny = '🌱'\nfast()\n"


@pytest.mark.parametrize(
    ("kind", "asked", "is_so"),
    [
        (FIX_ALL, None, True),
        (FIX_ALL, ["source"], True),
        (FIX_ALL, ["source.fixAll"], True),
        (FIX_ALL, ["source.fixAll.fullgraph"], True),
        (FIX_ALL, ["source.fixAll.full"], False),
        (FIX_ALL, ["quickfix"], False),
        (FIX_PROJECT, ["source.fixAll"], False),
        ("quickfix", [types.CodeActionKind.QuickFix], True),
        ("quickfix", [""], True),
    ],
)
def test_kinds_are_asked_for_with_all_below_them(kind: str, asked: Any, is_so: bool) -> None:
    assert is_wanted(kind, asked) is is_so

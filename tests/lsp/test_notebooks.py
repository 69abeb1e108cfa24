"""Notebooks: cell by cell, and as the text that they are."""

from __future__ import annotations

import json
from pathlib import Path

from lsprotocol import types

from tests.lsp.client import Editor, uri_of
from tests.lsp.conftest import Start

CELLS = ["import pkg\n%matplotlib inline", "# Growth 🌱", "def grow():\n    return '🌱', slow()\n\nslow()"]
KINDS = [types.NotebookCellKind.Code, types.NotebookCellKind.Markup, types.NotebookCellKind.Code]


def write_notebook(file: Path) -> Path:
    cells = [
        {"cell_type": "markdown" if text.startswith("#") else "code", "source": text.splitlines(keepends=True)}
        for text in CELLS
    ]
    file.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    return file


def cell_uri(file: Path, number: int) -> str:
    return f"vscode-notebook-cell:{file.as_posix()}#W{number}"


def open_notebook(used: Editor, file: Path) -> list[str]:
    """Open a notebook as VS Code does: the cells have URIs of their own."""
    uris = [cell_uri(file, number) for number in range(len(CELLS))]
    languages = ["markdown" if kind is types.NotebookCellKind.Markup else "python" for kind in KINDS]
    items = [
        types.TextDocumentItem(uri, language, 1, text)
        for uri, language, text in zip(uris, languages, CELLS, strict=True)
    ]
    for item in items:
        used.texts[item.uri], used.versions[item.uri] = item.text, 1
    cells = [types.NotebookCell(kind, uri) for kind, uri in zip(KINDS, uris, strict=True)]
    notebook = types.NotebookDocument(uri_of(file), "jupyter-notebook", 1, cells)
    code = [item for item in items if item.language_id == "python"]
    used.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, code))
    return uris


def type_in_cell(used: Editor, file: Path, uri: str, text: str) -> None:
    used.texts[uri] = text
    used.versions[uri] += 1
    content = types.NotebookDocumentCellContentChanges(
        types.VersionedTextDocumentIdentifier(used.versions[uri], uri),
        [types.TextDocumentContentChangeWholeDocument(text)],
    )
    change(used, file, types.NotebookDocumentCellChanges(text_content=[content]))


def change(used: Editor, file: Path, cells: types.NotebookDocumentCellChanges) -> None:
    document = types.VersionedNotebookDocumentIdentifier(2, uri_of(file))
    used.client.notebook_document_did_change(
        types.DidChangeNotebookDocumentParams(document, types.NotebookDocumentChangeEvent(cells=cells))
    )


def close(used: Editor, file: Path, uris: list[str]) -> None:
    used.client.notebook_document_did_close(
        types.DidCloseNotebookDocumentParams(
            types.NotebookDocumentIdentifier(uri_of(file)), [types.TextDocumentIdentifier(uri) for uri in uris]
        )
    )
    used.texts.clear()


async def test_findings_stand_in_their_cells(start: Start, project: Path) -> None:
    file = write_notebook(project / "look.ipynb")
    async with start(project) as used:
        first, _, last = uris = open_notebook(used, file)
        found = await used.diagnostics(last)
        assert [used.text_at(last, one.range) for one in found] == ["slow()", "slow()"]
        assert [one.range.start.line for one in found] == [1, 3]
        assert await used.diagnostics(first) == []
        type_in_cell(used, file, first, "import pkg\nslow()")
        [found_first] = await used.diagnostics(first)
        assert found_first.range.start.line == 1
        close(used, file, uris)
        await used.until(lambda: used.seen[last][1] == [])


async def test_a_finding_of_a_cell_is_fixed_in_it(start: Start, project: Path) -> None:
    file = write_notebook(project / "look.ipynb")
    async with start(project) as used:
        uris = open_notebook(used, file)
        await used.diagnostics(uris[2])
        [action, *_] = [one for one in await used.actions(uris[2]) if one.kind == types.CodeActionKind.QuickFix]
        edit = (await used.resolve(action)).edit
        assert edit
        [changed] = edit.document_changes or ()
        assert isinstance(changed, types.TextDocumentEdit)
        assert (changed.text_document.uri, changed.text_document.version) == (uris[2], 1)
        assert [getattr(one, "new_text", "") for one in changed.edits] == ["fast"]
        assert used.text_at(uris[2], changed.edits[0].range) == "slow"
        close(used, file, uris)


async def test_cells_that_come_and_go_are_followed(start: Start, project: Path) -> None:
    file = write_notebook(project / "look.ipynb")
    async with start(project) as used:
        uris = open_notebook(used, file)
        await used.diagnostics(uris[2])
        fresh = cell_uri(file, 9)
        used.texts[fresh], used.versions[fresh] = "slow(1)", 1
        array = types.NotebookCellArrayChange(0, 1, [types.NotebookCell(types.NotebookCellKind.Code, fresh)])
        structure = types.NotebookDocumentCellChangeStructure(
            array,
            did_open=[types.TextDocumentItem(fresh, "python", 1, "slow(1)")],
            did_close=[types.TextDocumentIdentifier(uris[0])],
        )
        change(used, file, types.NotebookDocumentCellChanges(structure=structure))
        assert len(await used.diagnostics(fresh)) == 1
        await used.until(lambda: used.seen[uris[0]][1] == [])
        close(used, file, [fresh, *uris[1:]])


async def test_a_notebook_that_is_open_as_text_shows_where_its_json_says_it(start: Start, project: Path) -> None:
    file = write_notebook(project / "look.ipynb")
    before = file.read_text()
    assert r"\ud83c" in before
    async with start(project) as used:
        uri = used.open(file, language="json")
        found = await used.diagnostics(uri)
        assert [used.text_at(uri, one.range) for one in found] == ["slow()", "slow()"]
        [action] = await used.actions(uri, only="source.fixAll.fullgraph")
        await used.make(action)
        assert used.texts[uri] == before.replace("slow()", "fast()")


async def test_a_notebook_is_changed_from_elsewhere(start: Start, project: Path) -> None:
    file = project / "look.ipynb"
    cell = {"cell_type": "code", "source": ["from pkg.c import shared\n", "shared()"]}
    file.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    async with start(project) as used:
        uri = used.open(project / "pkg" / "c.py")
        [action] = [one for one in await used.actions(uri) if one.title.startswith("rename_shared")]
        made = await used.make(action)
    assert json.loads(made[uri_of(file)])["cells"][0]["source"] == ["from pkg.c import common\n", "common()"]

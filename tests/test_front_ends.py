"""The same findings and the same edits, byte for byte, whichever way one comes to fullgraph."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codemods.lsp.actions import FIX_PROJECT
from codemods.lsp.positions import Lines
from codemods.notebook import NotebookSource
from codemods.registry import bundled
from codemods.rewrite.walk import find_root
from tests.cases import FIXTURES, all_cases
from tests.front_ends import Said, files_of, fixed_by_cli, found_by_cli, source_of, write_case
from tests.lsp.client import Editor, editor, uri_of

NAMES = sorted(bundled())


@pytest.mark.parametrize("codemod", NAMES)
async def test_the_editor_finds_and_fixes_what_the_command_line_does(codemod: str, tmp_path: Path) -> None:
    async with editor(tmp_path) as used:
        for case in all_cases(codemod):
            root = write_case(case, tmp_path / case.folder.name)
            other = write_case(case, tmp_path / f"{case.folder.name}-cli")
            said, fixed = await found_by_editor(used, root), await fixed_by_editor(used, root)
            assert said == found_by_cli(other), case.name
            assert fixed == fixed_by_cli(other), case.name
            shutil.rmtree(root)


async def test_the_demo_is_the_same_in_the_editor_and_on_the_command_line(tmp_path: Path) -> None:
    root, other = tmp_path / "editor", tmp_path / "cli"
    for folder in (root, other):
        shutil.copytree(FIXTURES / "demo", folder)
    async with editor(root) as used:
        said, fixed = await found_by_editor(used, root), await fixed_by_editor(used, root)
    assert said
    assert said == found_by_cli(other)
    assert fixed == fixed_by_cli(other)


async def found_by_editor(used: Editor, root: Path) -> list[Said]:
    """What stands in the diagnostics of all files."""
    said = []
    for path in files_of(root):
        text = text_of(root, path)
        uri = used.open(root / path, text)
        for found in await used.diagnostics(uri):
            assert found.data is not None, found.message
            key = str(found.data["key"])
            line, column = place_in(root, path, Lines(text).offset(found.range.start))
            said.append(Said(path, line, column, str(found.code), key, found.message.splitlines()[0]))
    return sorted(said)


async def fixed_by_editor(used: Editor, root: Path) -> dict[str, bytes]:
    """The project after the action that fixes all of it; what is in buffers is saved as an editor saves it."""
    uris = {uri_of(root / path): path for path in files_of(root)}
    for uri in {find_root(root / path): uri for uri, path in uris.items()}.values():
        [offered] = await used.actions(uri, only=f"{FIX_PROJECT}.unsafe")
        if edit := (await used.resolve(offered)).edit:
            used.apply(edit)
    for uri, path in uris.items():
        source = source_of(root, path)
        (root / path).write_bytes(source.prefix + used.texts[uri].encode(source.encoding))
        used.close(uri)
    return files_of(root)


def text_of(root: Path, path: str) -> str:
    """A file as an editor shows it: without a byte order mark, in the encoding that it declares."""
    source = source_of(root, path)
    return source.json if isinstance(source, NotebookSource) else source.text


def place_in(root: Path, path: str, offset: int) -> tuple[int, int]:
    """The line and column that the command line gives to a character that the editor has."""
    source = source_of(root, path)
    if isinstance(source, NotebookSource):
        offset = next(at for at in range(len(source.text) + 1) if source.file_offset(at) == offset)
    starts = Lines(source.text).starts
    line = sum(start <= offset for start in starts)
    return line, offset - starts[line - 1] + 1

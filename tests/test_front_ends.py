"""The same findings and the same edits, byte for byte, whichever way one comes to fullgraph."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fullgraph.codemods.lsp.actions import FIX_PROJECT
from fullgraph.codemods.registry import bundled
from fullgraph.codemods.rewrite.walk import find_root
from tests.cases import FIXTURES, all_cases
from tests.front_ends import (
    Said,
    files_of,
    fixed_by_cli,
    fixed_by_server,
    found_by_cli,
    found_by_server,
    said_by,
    source_of,
    text_of,
    write_case,
)
from tests.lsp.client import Editor, editor, uri_of

each_codemod = pytest.mark.parametrize("codemod", sorted(bundled()))


@each_codemod
def test_the_server_finds_and_fixes_what_the_command_line_does(codemod: str, tmp_path: Path) -> None:
    for case in all_cases(codemod):
        root, other = (write_case(case, tmp_path / case.folder.name / name) for name in ("server", "cli"))
        assert found_by_server(root) == found_by_cli(other), case.name
        assert fixed_by_server(root) == fixed_by_cli(other), case.name


@each_codemod
async def test_an_editor_is_told_and_given_the_same(codemod: str, tmp_path: Path) -> None:
    """Through the protocol, with buffers that are open: the case with the most findings stands for all."""
    case = max(all_cases(codemod), key=lambda case: len(case.fixable))
    root, other = (write_case(case, tmp_path / name) for name in ("editor", "cli"))
    async with editor(root) as used:
        assert await found_by_editor(used, root) == found_by_cli(other)
        assert await fixed_by_editor(used, root) == fixed_by_cli(other)


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
        said += [said_by(root, path, found) for found in await used.diagnostics(uri)]
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

"""Undo as a command."""

from __future__ import annotations

from pathlib import Path

from fullgraph.codemods.lsp.actions import FIX_ALL, FIX_PROJECT
from tests.lsp.client import Editor
from tests.lsp.conftest import Start
from tests.ui.running import run, texts


async def undo(used: Editor, uri: str) -> str:
    return str(await used.command("fullgraph.undo", {"uri": uri}))


async def make(used: Editor, uri: str, kind: str) -> None:
    [action] = [one for one in await used.actions(uri, only=kind) if one.kind == kind]
    await used.make(action)


async def test_an_action_is_taken_back_in_all_its_files(start: Start, project: Path) -> None:
    before = texts(project)
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        await make(used, uri, FIX_PROJECT)
        assert texts(project) != before
        assert await undo(used, uri) == "Took back call_fast, rename_shared."
        assert used.texts[uri] == before["pkg/a.py"]
    assert texts(project) == before


async def test_what_was_typed_since_stays(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        before = used.texts[uri]
        await make(used, uri, FIX_ALL)
        used.type(uri, "class Thing", "class Better")
        await undo(used, uri)
        assert used.texts[uri] == before.replace("class Thing", "class Better")


async def test_a_collision_changes_nothing_and_names_the_line(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        await make(used, uri, FIX_ALL)
        used.type(uri, "    fast()\n", "    faster()\n")
        now = used.texts[uri]
        assert await undo(used, uri) == "edited since, so nothing was taken back: pkg/a.py:2"
        assert used.texts[uri] == now


async def test_a_new_file_goes_again(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "d.py", "BIG = 1\n")
        await make(used, uri, FIX_ALL)
        assert (project / "pkg" / "new" / "constants.py").exists()
        await undo(used, uri)
        assert used.texts[uri] == "BIG = 1\n"
    assert not (project / "pkg" / "new" / "constants.py").exists()


async def test_actions_are_taken_back_one_by_one_the_last_first(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "d.py", "slow()\nnest(1)\n")
        for title in ("call_fast", "flatten_nest"):
            [action] = [one for one in await used.actions(uri) if one.title.startswith(title)]
            await used.make(action)
        assert used.texts[uri] == "fast()\nflat(1)\n"
        await undo(used, uri)
        assert used.texts[uri] == "fast()\nnest(1)\n"
        await undo(used, uri)
        assert used.texts[uri] == "slow()\nnest(1)\n"
        assert await undo(used, uri) == "there is nothing to take back"


async def test_without_actions_the_last_run_of_the_command_line_is_taken_back(start: Start, project: Path) -> None:
    before = texts(project)
    run(project, "fix", "--yes")
    fixed = texts(project)
    assert fixed != before
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        used.type(uri, "return 1", "return 2")
        assert await undo(used, uri) == "save pkg/a.py first: undo works on the files"
        assert texts(project) == fixed
        used.type(uri, "return 2", "return 1")
        assert (await undo(used, uri)).startswith("Took back run 1 in pkg/a.py")
    assert texts(project) == before
    assert '"in_force"' in run(project, "log", "--format", "json").out

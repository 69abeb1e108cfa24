"""Which project a file belongs to, and which settings hold there."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from fullgraph.codemods.lsp.projects import LiveProject, root_of
from fullgraph.codemods.lsp.settings import ClientSettings
from tests.lsp.client import Editor, uri_of
from tests.lsp.conftest import NAMES, Start

ONLY_NEST = "[tool.fullgraph]\nselect = ['flatten_nest']\n"


async def codes(used: Editor, uri: str) -> list[object]:
    return [found.code for found in await used.diagnostics(uri)]


def configure(used: Editor, **settings: object) -> None:
    """What an editor does when its user changes the settings."""
    used.client.set_configuration({"fullgraph": settings})
    used.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"fullgraph": settings}))


def changed_on_disk(used: Editor, *files: Path) -> None:
    events = [types.FileEvent(uri_of(file), types.FileChangeType.Changed) for file in files]
    used.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))


def test_the_nearest_root_counts_then_the_nearest_folder(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    folders = [tmp_path, tmp_path / "outer"]
    assert root_of(inner / "a.py", folders) == tmp_path / "outer"
    assert root_of(inner / "a.py", []) == inner
    (tmp_path / "pyproject.toml").touch()
    assert root_of(inner / "a.py", folders) == tmp_path
    (inner / "pyproject.toml").touch()
    assert root_of(inner / "a.py", folders) == inner


def test_a_home_folder_is_no_project_but_what_stands_in_it_belongs_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").mkdir()
    for name in ("a.py", "b.py", "notes.txt", "src/c.py"):
        (tmp_path / name).touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert {*LiveProject(tmp_path, ClientSettings()).planted().entries} == {"a.py", "b.py"}
    (tmp_path / "pyproject.toml").touch()
    assert {*LiveProject(tmp_path, ClientSettings()).planted().entries} == {"a.py", "b.py", "src/c.py"}


@pytest.mark.parametrize("name", ["a%00b.py", "a" * 3000 + ".py"])
async def test_a_name_that_no_disk_holds_is_looked_at_and_is_in_nobodys_way(
    start: Start, project: Path, name: str
) -> None:
    async with start(project) as used:
        odd = used.open(f"file:///odd/{name}", "slow()\n")
        uri = used.open(project / "pkg" / "a.py")
        assert "call_fast" in await codes(used, uri)
        assert await codes(used, odd) == ["call_fast"]


async def test_a_folder_without_a_marker_is_a_project(start: Start, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "c.py").write_text("def shared():\n    return 1\n")
    (tmp_path / "two" / "b.py").write_text("from one.c import shared\n\nshared()\n")
    async with start(tmp_path, encodings=["utf-16"]) as used:
        uri = used.open(tmp_path / "one" / "c.py")
        [action, *_] = await used.actions(uri)
        made = await used.make(action)
    assert made[uri_of(tmp_path / "two" / "b.py")] == "from one.c import common\n\ncommon()\n"


async def test_a_file_without_a_folder_is_looked_at(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "alone.py"
    file.write_text("slow()\n")
    async with start() as used:
        assert await codes(used, used.open(file)) == ["call_fast"]


async def test_a_text_without_a_file_is_looked_at_and_fixed(start: Start) -> None:
    async with start() as used:
        uri = used.open("untitled:Untitled-1", "slow()\n")
        assert await codes(used, uri) == ["call_fast"]
        [action, *_] = await used.actions(uri)
        await used.make(action)
        assert used.texts[uri] == "fast()\n"


async def test_two_folders_have_their_own_settings(start: Start, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, text in ((one, ONLY_NEST), (two, "[tool.fullgraph]\nselect = ['call_fast']\n")):
        folder.mkdir()
        (folder / "pyproject.toml").write_text(text)
        (folder / "a.py").write_text("slow(nest())\n")
    async with start(one, two, settings={}) as used:
        assert await codes(used, used.open(one / "a.py")) == ["flatten_nest"]
        assert await codes(used, used.open(two / "a.py")) == ["call_fast"]


async def test_a_changed_pyproject_counts_at_once(start: Start, project: Path) -> None:
    (project / "d.py").write_text("slow(nest())\n")
    async with start(project, settings={}) as used:
        uri = used.open(project / "d.py")
        assert await codes(used, uri) == ["call_fast", "flatten_nest"]
        (project / "pyproject.toml").write_text(ONLY_NEST)
        changed_on_disk(used, project / "pyproject.toml")
        await used.until(lambda: [found.code for found in used.seen[uri][1]] == ["flatten_nest"])
        patterns = {
            watcher["globPattern"]
            for one in used.registered
            for watcher in one.register_options["watchers"]  # type: ignore[index]
        }
    assert {"**/pyproject.toml", "**/*.py", "**/*.ipynb"} <= patterns


async def test_a_wrong_pyproject_is_told_once_and_the_last_right_one_counts(start: Start, project: Path) -> None:
    (project / "pyproject.toml").write_text(ONLY_NEST)
    async with start(project, settings={}) as used:
        uri = used.open(project / "d.py", "slow(nest())\n")
        assert await codes(used, uri) == ["flatten_nest"]
        (project / "pyproject.toml").write_text("[tool.fullgraph]\nselekt = []\n")
        for number in range(3):
            used.type(uri, "nest()", f"nest({number})")
            assert await codes(used, uri) == ["flatten_nest"]
            used.type(uri, f"nest({number})", "nest()")
        await used.diagnostics(uri)
        assert len(used.messages) == 1
        assert "[tool.fullgraph] has no key 'selekt'; did you mean 'select'?" in used.messages[0]


async def test_settings_of_the_editor_win_and_can_be_changed(start: Start, project: Path) -> None:
    (project / "pyproject.toml").write_text(ONLY_NEST)
    async with start(project, settings={"select": ["call_fast"]}) as used:
        uri = used.open(project / "d.py", "slow(nest())\n")
        assert await codes(used, uri) == ["call_fast"]
        configure(used, select=NAMES, ignore=["flatten_nest"], options={"call_fast": {"to": "quick", "loud": True}})
        await used.until(lambda: "this is loud" in used.seen[uri][1][0].message)
        [action, *_] = [one for one in await used.actions(uri) if one.title.startswith("call_fast")]
        await used.make(action)
        assert used.texts[uri] == "quick(nest())\n"


async def test_wrong_settings_are_told_and_the_old_ones_count_on(start: Start, project: Path) -> None:
    async with start(project, settings={"select": ["call_fast"]}) as used:
        uri = used.open(project / "d.py", "slow(nest())\n")
        await used.diagnostics(uri)
        configure(used, select=["call_faster"])
        await used.until(lambda: used.messages)
        assert "there is no codemod 'call_faster'; did you mean 'call_fast'?" in used.messages[0]
        used.type(uri, "nest()", "nest(1)")
        assert await codes(used, uri) == ["call_fast"]


async def test_a_file_that_others_write_is_seen(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "c.py")
        await used.diagnostics(uri)
        (project / "pkg" / "e.py").write_text("import pkg.c\n\npkg.c.shared()\n")
        changed_on_disk(used, project / "pkg" / "e.py")
        [action] = [one for one in await used.actions(uri) if one.title.startswith("rename_shared")]
        made = await used.make(action)
    assert made[uri_of(project / "pkg" / "e.py")] == "import pkg.c\n\npkg.c.common()\n"


async def test_excluded_files_are_not_changed_from_elsewhere(start: Start, project: Path) -> None:
    async with start(project, settings={"select": NAMES, "exclude": ["b.py"]}) as used:
        uri = used.open(project / "pkg" / "c.py")
        [renamed, _] = await used.diagnostics(uri)
        assert "left alone: would have to change pkg/b.py, which is excluded" in renamed.message
        assert await codes(used, used.open(project / "pkg" / "b.py")) == []

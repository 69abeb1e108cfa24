"""A server that knows the sample codemods, and a project for them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.lsp.client import Editor, editor, listen
from tests.ui.running import write_project

SAMPLE = Path(__file__).parent.parent / "ui" / "sample_codemod.py"
MORE = '''

class BreakDown(Codemod):
    """Fails. Left alone: the rest."""

    needles = (b"boom",)

    def find(self, module, project):
        raise KeyError("boom")


class TakeLong(Codemod):
    """Takes a while. Left alone: the rest."""

    needles = (b"long_wait",)

    def find(self, module, project):
        import time

        time.sleep(0.4)
        yield module.finding(self.name, module.tree.body[0], f"{len(module.text)} characters")


class MakeFile(Codemod):
    """Puts a constant into a file of its own. Left alone: the rest."""

    needles = (b"BIG = ",)

    def find(self, module, project):
        for node in module.nodes(ast.Assign) if "new" not in module.path else ():
            made = project.new_file("pkg/new/constants.py", "BIG = 1\\n")
            edits = (module.replace(node, "from pkg.new.constants import BIG"), *made)
            yield module.finding(self.name, node, "BIG belongs elsewhere", edits=edits)
'''
NAMES = ["call_fast", "flatten_nest", "rename_shared", "break_down", "take_long", "make_file"]

Start = Callable[..., AbstractAsyncContextManager[Editor]]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that offers the sample codemods as an installed distribution would."""
    folder = tmp_path_factory.mktemp("site")
    info = folder / "sample-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fullgraph.codemods]\nall = sample_module\n")
    (folder / "sample_module.py").write_text(SAMPLE.read_text() + MORE)
    return folder


def finding(site: Path) -> dict[str, str]:
    """The sample codemods, and the code under test where another folder than the installed one is named."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared(site: Path) -> AsyncIterator[Editor]:
    """One server for all tests that ask for nothing special: starting one takes longer than most of them."""
    async with editor(settings={"select": NAMES}, env=finding(site)) as used:
        yield used


@pytest.fixture
def start(site: Path, shared: Editor) -> Start:
    """Starts an editor on folders, with the sample codemods unless the settings say otherwise."""

    def begin(*folders: Path, settings: Any = None, **given: Any) -> AbstractAsyncContextManager[Editor]:
        if settings is None and not given:
            return another(shared)
        chosen = {"select": NAMES} if settings is None else settings
        return editor(*folders, settings=chosen, env=finding(site), **given)

    return begin


@asynccontextmanager
async def another(shared: Editor) -> AsyncIterator[Editor]:
    """An editor that knows nothing of those before it, on their server."""
    used = Editor(shared.client)
    used.capabilities = shared.capabilities
    listen(shared.client, used)
    yield used
    for uri in list(used.texts):
        used.close(uri)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project")

"""A project with findings, and the SDK's own client: in this process, and to a server of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from fullgraph.codemods.mcp.roots import Roots
from fullgraph.codemods.mcp.server import make_server
from fullgraph.codemods.mcp.tools import Desk
from tests.test_api import BEFORE, SCENARIO
from tests.ui.running import COMMAND, environment

MANY = 45


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    (folder / "spread.py").write_text(BEFORE)
    (folder / "scenario.py").write_text(SCENARIO)
    return folder


@pytest.fixture
def many(root: Path) -> Path:
    """A project with so many findings that they take several pages."""
    body = BEFORE.partition("\n\n\n")[2]
    parts = [body.replace("low_and_high", f"low_and_high_{number}") for number in range(MANY)]
    (root / "spread.py").write_text("\n\n".join(["import torch\n", *parts]))
    return root


@asynccontextmanager
async def client(root: Path, *, read_only: bool = False) -> AsyncIterator[Client]:
    async with Client(make_server(Desk(Roots.around([root]), sys.executable), read_only=read_only)) as connected:
        yield connected


@asynccontextmanager
async def by_stdio(root: Path, *words: str) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=str(COMMAND), args=["mcp", *words, "--python", sys.executable], cwd=root, env=environment()
    )
    async with Client(server) as connected:
        yield connected


async def ask(connected: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structure of an answer, which the client has held against the schema; the text says the same."""
    result = await connected.call_tool(tool, arguments)
    held: dict[str, Any] = result.structured_content or {}
    (content,) = result.content
    assert json.loads(content.text) == held  # type: ignore[union-attr]
    assert bool(result.is_error) == ("error" in held), held
    return held

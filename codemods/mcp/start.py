"""From the command line to a server on standard input and output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fullgraph.codemods.model import FullgraphError


def serve(paths: Sequence[Path], python: str, *, read_only: bool) -> None:
    """Serve one agent until it closes the connection."""
    from fullgraph.codemods.mcp.roots import Roots

    roots = Roots.around(paths or [Path.cwd()])
    try:
        from fullgraph.codemods.mcp.server import make_server
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in ("mcp", "mcp_types", "anyio", "pydantic"):
            raise FullgraphError("the package mcp is not installed; pip install 'fullgraph[mcp]'") from error
        raise
    from fullgraph.codemods.mcp.tools import Desk

    make_server(Desk(roots, python), read_only=read_only).run("stdio")

"""The commands for editors."""

from __future__ import annotations

import gc
import sys

import click

AT_EPILOG = (
    "Lines, columns and cells count from 1; columns count characters, not bytes. Exit codes: 0 nothing found there, or "
    "applied; 1 findings; 2 wrong usage, or a file that cannot be read or written."
)


@click.command(epilog=AT_EPILOG)
@click.argument("place", metavar="FILE[:LINE[:COL]]")
@click.option("--json", "as_json", is_flag=True, help="For programs; codemods/ui/at/at.schema.json says what it holds.")
@click.option("--stdin", is_flag=True, help="The text is on standard input, as it would be saved; FILE is its name.")
@click.option(
    "--apply", "wanted", metavar="N", default="", help="Write finding N (or its key); with --stdin, print it."
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of earlier answers.")
def at(place: str, as_json: bool, stdin: bool, wanted: str, no_cache: bool) -> None:
    """Findings and edits at one place; in a notebook FILE[:CELL[:LINE[:COL]]]."""
    gc.disable()  # the process is over before collecting would pay
    from fullgraph.codemods.ui.at.saying import say

    buffer = sys.stdin.buffer.read() if stdin else None
    sys.exit(say(place, buffer, wanted, as_json=as_json, use_cache=not no_cache))


@click.command()
@click.option("--tcp", "port", type=click.IntRange(0, 65535), metavar="PORT", help="Serve one client on this port.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --tcp: the address to listen on.")
def lsp(port: int | None, host: str) -> None:
    """Serve an editor by the language server protocol, on standard input and output."""
    from fullgraph.codemods.lsp.start import leave, serve_port, serve_streams

    leave(serve_streams() if port is None else serve_port(host, port))

"""The commands about the surroundings: what is there, and who else may use it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from fullgraph.codemods.ui.cli.options import color_option, format_option


@click.command(epilog="Exit codes: 0 check and prove have all they need; 1 something is missing; 2 wrong usage.")
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--python", default="", metavar="PATH", help="The interpreter that has your torch.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of [tool.fullgraph] instead, for editors.")
@format_option
@color_option
def doctor(path: Path, python: str, schema: bool, form: str, color: str) -> None:
    """Say what is there and what is missing: torch, device, compiler, configuration, evidence, and what to do next."""
    if schema:
        import json

        from fullgraph.codemods.ui.config_schema import config_schema

        click.echo(json.dumps(config_schema(), indent=2))
        return
    from fullgraph.codemods.ui.doctor.command import doctor

    sys.exit(doctor(path, python, form, color))


@click.command()
@click.argument("roots", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option("--python", default="", metavar="PATH", help="The interpreter that has your torch.")
@click.option("--read-only", is_flag=True, help="Only check, explain and diff: nothing is written, no code is run.")
def mcp(roots: tuple[Path, ...], python: str, read_only: bool) -> None:
    """Serve a coding agent by the Model Context Protocol, on standard input and output (needs fullgraph[mcp]).

    It looks at, and writes in, the projects that PATHS lie in (default: the current folder), and nowhere else.
    """
    from fullgraph.codemods.mcp.start import serve

    serve(roots, python, read_only=read_only)

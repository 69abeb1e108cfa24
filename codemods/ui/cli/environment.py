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


@click.group()
def agent() -> None:
    """Coding agents: what they need to know fullgraph."""


@agent.command(
    "install", epilog="Exit codes: 0 all is there; 1 a file is left to you, with what to add; 2 wrong usage."
)
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    type=click.Choice(["claude", "codex", "cursor", "copilot", "gemini", "any"]),
    help="Whose files to write (repeatable). Default: the hosts whose folders the project has, else .agents/skills.",
)
@click.option("--skill-only", is_flag=True, help="Only the skill, not the entry of the MCP server.")
@click.option("--print", "prints", is_flag=True, help="Print the files and write nothing.")
def install_agent(path: Path, hosts: tuple[str, ...], skill_only: bool, prints: bool) -> None:
    """Write the skill, and the entry of the MCP server, into the project around PATH.

    A file of yours is added to if nothing in it is lost, and else left: what to add is printed.
    """
    from fullgraph.codemods.ui.agent.install import install

    sys.exit(install(path, hosts, skill_only=skill_only, prints=prints))

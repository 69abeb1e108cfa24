"""The page of every command, and their index: what click knows of it (description, options, exit codes), an example."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click
from markdown_text import cell, escape

from fullgraph.codemods.ui.cli import main

INTRODUCTION = """\
# The commands

`fullgraph COMMAND --help` says the same on a terminal."""

USUAL_CODES = "Exit codes: 0 done; 2 wrong usage, or something that cannot be read or written; 130 stopped by Ctrl-C."
EXAMPLES = {
    "agent install": (
        "A skill and the MCP server for the coding agents that the project has folders of:",
        "fullgraph agent install",
    ),
    "at": ("What is found on line 21, for an editor:", "fullgraph at src/model.py:21 --json"),
    "audit": (
        "Which outputs of compiled calls are kept longer than CUDA graphs allow:",
        "fullgraph audit scenarios/train_step.py",
    ),
    "capture": (
        "Store three real calls of a function, then repeat them before and after a change:",
        "fullgraph capture model.net:Net.forward -- python train.py\nfullgraph prove model.net:Net.forward",
    ),
    "check": (
        "Everything below `src`; then what a run showed to cost most, first:",
        "fullgraph check src\nfullgraph check --observed .fullgraph/observed.json",
    ),
    "ci": (
        "Only lines that a branch has changed, as annotations on GitHub and as SARIF:",
        "fullgraph ci --since origin/main --output github --output sarif=fullgraph.sarif",
    ),
    "doctor": ("What is here, what is missing, and what to do next:", "fullgraph doctor"),
    "explain": ("What one codemod does, with a diff:", "fullgraph explain batch_host_reads"),
    "fix": (
        "Ask about each finding; then write without asking what a scenario proves:",
        "fullgraph fix src\nfullgraph fix --yes --prove scenarios/train_step.py",
    ),
    "harness": (
        "A script and a test that compare the compiled model with the plain one:",
        "fullgraph harness model.net:Net --config config.toml",
    ),
    "list": ("All codemods:", "fullgraph list"),
    "log": ("What was written here:", "fullgraph log"),
    "lsp": ("For an editor, on standard input and output:", "fullgraph lsp"),
    "mcp": (
        "For a coding agent, on standard input and output, without anything that writes:",
        "fullgraph mcp --read-only",
    ),
    "observe": (
        "Run a program as it is, and write a page with its hottest lines and its timeline:",
        "fullgraph observe --html page.html -- python train.py",
    ),
    "prove": (
        "The files as they are against those before the last fix, as a page:",
        "fullgraph prove scenarios/train_step.py --report report.html",
    ),
    "recover": ("After a crash in the middle of a fix:", "fullgraph recover"),
    "scenario new": ("A first draft, to be read and corrected:", "fullgraph scenario new model.net:Net"),
    "ticket fix": (
        "Fix what a folder of tickets names, if a scenario proves it:",
        "fullgraph ticket fix tickets --yes --prove scenarios/train_step.py",
    ),
    "ticket show": ("Which place and which codemod a ticket means:", "fullgraph ticket show tickets/T-7.md"),
    "undo": ("The last command; then one finding of run 3:", "fullgraph undo\nfullgraph undo 3.1"),
}


def all_commands(group: click.Group = main, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by the words that call it."""
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{before}{name} ")
        elif not command.hidden:
            yield f"{before}{name}", command


def command_pages() -> dict[str, str]:
    pages = {file_of(name): command_page(name, command) for name, command in all_commands()}
    return {"README.md": commands_index(), **pages}


def file_of(name: str) -> str:
    return f"{name.replace(' ', '-')}.md"


def commands_index() -> str:
    rows = [
        f"| [`fullgraph {name}`]({file_of(name)}) | {paragraphs_of(command)[0]} |" for name, command in all_commands()
    ]
    return "\n\n".join([INTRODUCTION, "\n".join(["| command | what it does |", "|---|---|", *rows])])


def command_page(name: str, command: click.Command) -> str:
    said, shown = EXAMPLES[name]
    pieces = " ".join(command.collect_usage_pieces(click.Context(command)))
    sections = [f"# fullgraph {name}", *paragraphs_of(command), f"```text\nfullgraph {name} {pieces}\n```"]
    sections += ["## Example", said, f"```\n{shown}\n```", *options_table(command), *ending(command)]
    return "\n\n".join(sections)


def paragraphs_of(command: click.Command) -> list[str]:
    return [as_text(one) for one in inspect.cleandoc(command.help or "").split("\n\n")]


def options_table(command: click.Command) -> Iterator[str]:
    context = click.Context(command)
    records = [one.get_help_record(context) for one in command.params if isinstance(one, click.Option)]
    rows = [f"| `{cell(left)}` | {cell(as_text(right))} |" for left, right in filter(None, records)]
    if rows:
        yield "## Options"
        yield "\n".join(["| option | |", "|---|---|", *rows])


def ending(command: click.Command) -> Iterator[str]:
    """What the help ends with: the exit codes as a list, and the sentences around them."""
    epilog = " ".join((command.epilog or "").split())
    epilog = epilog if "Exit code" in epilog else f"{epilog} {USUAL_CODES}".strip()
    yield "## Exit codes"
    for part in filter(None, re.split(r"(Exit codes?: (?:[^.]|\.\S)*\.)\s*", epilog)):
        head, found, codes = part.partition(": ")
        if found and head.startswith("Exit code"):
            yield "\n".join(f"- {as_text(code)}" for code in re.split(r"; (?=\d)", codes.rstrip(".")))
        else:
            yield as_text(part.strip())


def as_text(text: str) -> str:
    return escape(" ".join(text.split()))

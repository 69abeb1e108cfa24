"""The pages of the commands are made from their help, are current, and lose nothing of it."""

from __future__ import annotations

import re

import click
import pytest
from docs_commands import EXAMPLES, all_commands, command_pages, file_of

from tests.docs.pages import ROOT

PAGES = ROOT / "docs" / "commands"
COMMANDS = dict(all_commands())
EVERY = pytest.mark.parametrize("name", COMMANDS)


def test_there_is_a_page_for_every_command_and_no_other() -> None:
    assert {file.name for file in PAGES.iterdir()} == {"README.md", *map(file_of, COMMANDS)}


def test_the_pages_are_current() -> None:
    for name, text in command_pages().items():
        assert (PAGES / name).read_text().partition("-->")[2].strip() == text, f"{name}: `make docs` writes it anew"


def test_every_command_has_an_example_of_itself() -> None:
    assert EXAMPLES.keys() == COMMANDS.keys(), "scripts/docs_commands.py has one for each"
    assert all(f"fullgraph {name}" in shown for name, (_, shown) in EXAMPLES.items())


@EVERY
def test_a_page_has_the_description_the_options_and_the_exit_codes(name: str) -> None:
    command = COMMANDS[name]
    page = (PAGES / file_of(name)).read_text()
    plain = " ".join(page.replace("\\", "").split())
    assert " ".join((command.help or "").split()) in plain
    for option in (one for one in command.params if isinstance(one, click.Option)):
        assert f"--{max(option.opts, key=len).lstrip('-')}" in page
        assert " ".join((option.help or "").split()) in plain.replace("|", "")
    codes = re.findall(r"(?m)^- (\d+) ", page.partition("## Exit codes")[2])
    assert codes == re.findall(r"(?:: |; )(\d+) ", command.epilog or ": 0 ; 2 ; 130 ") or name == "observe"

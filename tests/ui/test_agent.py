"""`agent install`: the skill and the server's entry, where hosts look, and never over a user's file."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

import click
import pytest

from fullgraph.codemods.ui.agent.hosts import HOSTS, skill_text
from tests.ui.running import run

ENTRY = {"command": "fullgraph", "args": ["mcp"]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


def entry_in(root: Path, name: str) -> object:
    host = HOSTS[name]
    text = (root / host.config).read_text()
    held = tomllib.loads(text) if host.config.endswith(".toml") else json.loads(text)
    return held[host.table]["fullgraph"]


@pytest.mark.parametrize("name", HOSTS)
def test_a_host_gets_the_skill_and_the_server_and_a_second_time_nothing(root: Path, name: str) -> None:
    done = run(root, "agent", "install", "--host", name)
    assert (done.code, done.err) == (0, "")
    assert (root / HOSTS[name].skill).read_text() == skill_text()
    if HOSTS[name].config:
        assert entry_in(root, name) == ({"type": "stdio"} if name == "copilot" else {}) | ENTRY
        assert f"written: {HOSTS[name].config}\n" in done.out
    before = {file: file.stat().st_mtime_ns for file in root.rglob("*") if file.is_file()}
    again = run(root, "agent", "install", "--host", name)
    assert set(re.findall(r"(?m)^([\w ]+):", again.out)) == {"there already"}
    assert {file: file.stat().st_mtime_ns for file in root.rglob("*") if file.is_file()} == before


def test_without_a_name_the_hosts_are_those_that_the_project_has(root: Path) -> None:
    assert run(root, "agent", "install").out == "written: .agents/skills/fullgraph/SKILL.md\n"
    (root / ".cursor").mkdir()
    (root / ".claude").mkdir()
    run(root, "agent", "install")
    assert entry_in(root, "claude") == entry_in(root, "cursor") == ENTRY
    assert not (root / ".gemini").exists()


def test_what_else_a_file_holds_stays(root: Path) -> None:
    (root / ".mcp.json").write_text('{\n    "mcpServers": {"other": {"command": "größe"}},\n    "x": [1]\n}\n')
    (root / ".codex").mkdir()
    (root / ".codex/config.toml").write_text("# mine\nmodel = 'm'\n\n[mcp_servers.other]\ncommand = 'o'\n")
    done = run(root, "agent", "install", "--host", "claude", "--host", "codex")
    assert (done.code, done.out.count("added to: ")) == (0, 2)
    held = json.loads((root / ".mcp.json").read_text())
    assert held == {"mcpServers": {"other": {"command": "größe"}, "fullgraph": ENTRY}, "x": [1]}
    assert '\n    "mcpServers"' in (root / ".mcp.json").read_text()
    assert (root / ".codex/config.toml").read_text().startswith("# mine\nmodel = 'm'\n\n[mcp_servers.other]\n")
    assert entry_in(root, "codex") == ENTRY


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("claude", '{"mcpServers": {"fullgraph": {"command": "mine"}}}', "an entry 'fullgraph' of its own"),
        ("claude", '{"mcpServers": []}', "no table 'mcpServers'"),
        ("copilot", '{\n  // mine\n  "servers": {}\n}', "comments would be lost"),
        ("codex", "mcp_servers = {}\n", "cannot be added at its end"),
        ("codex", "model = \n", "it cannot be read"),
    ],
)
def test_a_file_that_cannot_be_added_to_is_left_with_what_to_add(root: Path, name: str, text: str, reason: str) -> None:
    file = root / HOSTS[name].config
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    done = run(root, "agent", "install", "--host", name)
    assert (done.code, file.read_text()) == (1, text)
    assert reason in done.out
    assert "fullgraph" in done.out.partition("add to it:")[2]


def test_a_skill_that_the_user_has_edited_stays(root: Path) -> None:
    run(root, "agent", "install")
    file = root / ".agents/skills/fullgraph/SKILL.md"
    file.write_text("mine\n")
    done = run(root, "agent", "install")
    assert (done.code, file.read_text()) == (1, "mine\n")


def test_printing_writes_nothing(root: Path) -> None:
    done = run(root, "agent", "install", "--host", "claude", "--host", "codex", "--print")
    assert done.code == 0
    assert "# .codex/config.toml\n[mcp_servers.fullgraph]\n" in done.out
    assert sorted(os.listdir(root)) == ["pyproject.toml"]


@pytest.mark.parametrize("link", [".claude", ".claude/skills", ".mcp.json"])
def test_no_link_is_followed(root: Path, link: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    target = outside / "there"
    target.write_text("{}") if link.endswith(".json") else target.mkdir()
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(target)
    done = run(root, "agent", "install", "--host", "claude")
    assert done.code == 2
    assert "a link, which is not followed" in done.err
    assert [file for file in outside.rglob("*") if file.is_file() and file.read_text() != "{}"] == []
    assert not (root / ".claude/skills/fullgraph/SKILL.md").exists()


# The skill itself


def test_the_skill_is_short_and_says_when_it_is_for() -> None:
    text = skill_text()
    assert len(text.splitlines()) < 150
    yaml = pytest.importorskip("yaml")
    head = yaml.safe_load(text.split("---\n")[1])
    assert head.keys() == {"name", "description"}
    assert head["name"] == "fullgraph"
    assert 100 < len(head["description"]) <= 1024
    assert "fullgraph prove" in head["description"]


def test_every_command_in_the_skill_exists() -> None:
    from fullgraph.codemods.ui.cli import main

    named = re.findall(r"`?fullgraph ([a-z]+)(?: ([a-z]+))?((?: [^`#|\n]*)?)", skill_text())
    commands = [(first, second, rest) for first, second, rest in named if first in main.commands]
    assert len(commands) > 15
    for first, second, rest in commands:
        command: click.Command = main.commands[first]
        if isinstance(command, click.Group):
            command = command.commands[second]
        known = {flag for parameter in command.params for flag in parameter.opts}
        given = set(re.findall(r"(?<!\S)(--[a-z-]+)", rest.partition(" -- ")[0]))
        assert given <= known, (first, given - known)

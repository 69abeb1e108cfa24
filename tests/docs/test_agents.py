"""`docs/agents.md`, followed literally; the hook on it does what the page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from fullgraph.codemods.ui.agent.hosts import HOSTS
from tests.docs.following import follow
from tests.docs.pages import ROOT, blocks
from tests.recipes.conftest import SAFE, git
from tests.ui.running import COMMAND

PAGE = ROOT / "docs" / "agents.md"


def test_the_page_judges_a_wrong_change_and_a_right_one(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = follow(PAGE, tmp_path)
    assert [command.text.split()[1] for command in done] == ["init", "prove", "prove", "agent", "explain"]
    assert (tmp_path / ".claude/skills/fullgraph/SKILL.md").is_file()


def hook(folder: Path, **told: object) -> subprocess.CompletedProcess[str]:
    (text,) = [text for language, text in blocks(PAGE) if language == "json"]
    command = json.loads(text)["hooks"]["Stop"][0]["hooks"][0]["command"]
    environment = {**os.environ, "PATH": f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, input=json.dumps(told), capture_output=True, text=True
    )


def test_the_hook_sends_an_agent_back_once_for_lines_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(SAFE)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    assert hook(tmp_path, stop_hook_active=False).returncode == 0, "what was committed is not the agent's"
    (tmp_path / "new.py").write_text(SAFE)
    sent_back = hook(tmp_path, stop_hook_active=False)
    assert (sent_back.returncode, sent_back.stdout) == (2, "")
    assert "new.py:5:12" in sent_back.stderr
    assert "old.py" not in sent_back.stderr
    assert hook(tmp_path, stop_hook_active=True).returncode == 0


def test_the_tables_have_every_host_and_every_tool() -> None:
    page = PAGE.read_text()
    rows = dict(re.findall(r"(?m)^\| `(\w+)` \| `([^`]+)/` \|", page))
    assert rows == {name: host.skills for name, host in HOSTS.items()}
    configs = set(re.findall(r"(?m)^\| `\w+` \| `[^`]+/` \| `([^`]+)` \|$", page))
    assert configs == {host.config for host in HOSTS.values() if host.config}
    pytest.importorskip("mcp")
    from fullgraph.codemods.mcp.server import HINTS
    from fullgraph.codemods.mcp.tools import TOOLS

    tools = re.findall(r"(?m)^\| `(\w+)` \| [^|`]*(?:`[^`]+`[^|`]*)*\| ([^|]*) ?\| ([^|]*) ?\|$", page)
    assert [name for name, _, _ in tools] == list(TOOLS)
    for name, writes, runs in tools:
        assert HINTS[name].read_only_hint == (not writes.strip() and not runs.strip())
        assert bool(HINTS[name].destructive_hint) == bool(writes.strip())
        assert bool(HINTS[name].open_world_hint) == bool(runs.strip())

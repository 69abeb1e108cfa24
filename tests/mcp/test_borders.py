"""What an agent cannot do: leave the project, wait for ever, or get more than it can read."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from fullgraph.codemods.mcp import calling
from fullgraph.codemods.mcp.limits import MOST, fit, size, text_page
from fullgraph.codemods.mcp.roots import Roots
from fullgraph.codemods.model import FullgraphError
from tests.mcp.conftest import ask, client
from tests.ui.running import COMMAND, environment


def test_paths_stay_inside_whatever_way_they_go(root: Path, tmp_path: Path) -> None:
    roots = Roots.around([root])
    (root / "out").symlink_to(tmp_path)
    assert roots.inside("spread.py") == root / "spread.py"
    for outside in ("..", "../x.py", "/etc/passwd", "out/x.py", str(tmp_path)):
        with pytest.raises(FullgraphError, match="outside of"):
            roots.inside(outside)
        with pytest.raises(FullgraphError, match="outside of"):
            roots.scenario(f"{outside}/test_x.py::test_y")
    assert roots.scenario("package.module:function") == "package.module:function"


async def test_no_tool_looks_or_writes_outside(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text((root / "spread.py").read_text())
    async with client(root) as agent:
        for tool, arguments in (
            ("check", {"paths": ["../other.py"]}),
            ("diff", {"paths": [str(other)]}),
            ("fix", {"paths": ["../other.py"]}),
            ("fix", {"prove": ["../other.py"]}),
            ("prove", {"scenarios": [str(other)]}),
            ("undo", {"project": ".."}),
            ("observe", {"command": ["true"], "project": "/"}),
        ):
            assert "outside of" in (await ask(agent, tool, **arguments))["error"]
    assert not (tmp_path / ".fullgraph").exists()


async def test_a_program_that_hangs_is_ended(root: Path) -> None:
    (root / "hang.py").write_text("import pathlib, time\npathlib.Path('began').touch()\ntime.sleep(600)\n")
    async with client(root) as agent:
        began = time.monotonic()
        seen = await ask(agent, "observe", command=["python", "hang.py"], time_limit=8)
    assert time.monotonic() - began < 8 + calling.GRACE + 10
    assert (root / "began").exists()
    assert "stopped after 8 seconds" in (seen.get("error") or seen["notices"][-1])
    assert not running("hang.py")


async def test_a_call_that_nobody_waits_for_ends_its_process(root: Path) -> None:
    (root / "hang.py").write_text("import pathlib, time\npathlib.Path('began').touch()\ntime.sleep(600)\n")
    async with client(root) as agent, anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: agent.call_tool("observe", {"command": ["python", "hang.py"]}))
        while not (root / "began").exists():
            await anyio.sleep(0.1)
        tasks.cancel_scope.cancel()
    for _ in range(200):
        if not running("hang.py"):
            return
        await anyio.sleep(0.1)
    raise AssertionError("the program outlived the call")


def running(name: str) -> bool:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return any(line.endswith(name) for line in listed.splitlines())


def test_every_call_has_a_limit() -> None:
    from fullgraph.codemods.mcp.tools import TOOLS

    for tool in TOOLS:
        assert 0 < calling.limit_of(tool, {}) <= calling.MOST + calling.START
        assert calling.limit_of(tool, {"time_limit": 1e9}) <= calling.MOST + calling.START


def test_an_answer_is_cut_to_what_can_be_read_and_says_so() -> None:
    answer: dict[str, Any] = {
        "verdicts": [{"ruling": "proven", "graphs": [{"guards": ["x" * 50] * 40}] * 60, "diff": "+line\n" * 9000}],
        "notices": ["short"],
    }
    cut = fit(answer)
    assert size(cut) <= MOST
    assert (cut["verdicts"][0]["ruling"], cut["notices"]) == ("proven", ["short"])
    assert any("verdicts[0].diff: " in line for line in cut["cut"])
    assert any("verdicts[0].graphs" in line for line in cut["cut"])
    assert fit({"notices": ["short"]}) == {"notices": ["short"], "cut": []}


def test_a_page_that_is_cut_is_followed_by_the_rest() -> None:
    findings = [{"key": str(number), "message": "x" * 300} for number in range(200)]
    cut = fit({"findings": findings, "total": 200, "offset": 100, "next_offset": None})
    shown = len(cut["findings"])
    assert 0 < shown < 200
    assert (cut["next_offset"], cut["cut"]) == (100 + shown, [])


def test_a_text_is_parted_at_the_ends_of_lines() -> None:
    text = "".join(f"line {number}\n" for number in range(1000))
    part = text_page(text, 0, 100)
    assert part["text"].endswith("\n")
    assert text_page(text, part["next_offset"], 100)["text"].startswith("line ")
    assert text_page("x" * 300, 0, 100)["next_offset"] == 100


def test_nothing_but_protocol_is_on_standard_output(root: Path) -> None:
    """A codemod or a user's file that prints does not disturb the protocol."""
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    called = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "check", "arguments": {}}}
    process = subprocess.Popen(
        [COMMAND, "mcp"], cwd=root, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(json.dumps(one) + "\n" for one in (asked, told, called)))
    process.stdin.flush()
    lines = [json.loads(process.stdout.readline()) for _ in range(2)]
    process.stdin.close()
    assert [line["id"] for line in lines] == [1, 2]
    assert process.stdout.read() == ""
    assert process.wait(60) == 0


def test_without_the_extra_the_command_says_what_to_install(root: Path, tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "mcp.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')\n")
    told = environment(PYTHONPATH=str(tmp_path / "hidden"))
    done = subprocess.run(
        [COMMAND, "mcp"], cwd=root, env=told, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fullgraph: the package mcp is not installed; pip install 'fullgraph[mcp]'\n"

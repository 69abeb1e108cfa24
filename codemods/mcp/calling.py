"""A call that ends: its work is done by a process of its own, which is ended when its time is over or nobody waits."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio
from anyio.abc import Process

from fullgraph.codemods.ui.failure import failure

LIMITS = {"check": 600.0, "explain": 60.0, "diff": 900.0, "undo": 120.0}
"""Seconds for calls that have no limit of their own."""

MOST = 3600.0
START = 120.0
"""Seconds on top of what an agent grants: for starting, and for looking at the project."""

GRACE = 20.0
"""Seconds that a process has to end by itself and to tell what it has seen."""

BEAT = 10.0
"""Seconds between two signs of life."""

Beat = Callable[[float, float], Awaitable[None]]


def limit_of(tool: str, arguments: dict[str, Any]) -> float:
    """A scenario that is tried for several findings takes its time for each; no call takes more than the most."""
    if tool in LIMITS:
        return LIMITS[tool]
    granted = max(1.0, min(float(arguments.get("time_limit") or MOST), MOST))
    times = max(1, len(arguments.get("scenarios") or ())) * (3 if arguments.get("prove") else 1)
    return min(granted * times, MOST) + (0 if tool == "observe" else START)


async def call(tool: str, request: dict[str, Any], limit: float, beat: Beat) -> dict[str, Any]:
    """The answer of the process, or that its time is over."""
    command = [sys.executable, "-m", "fullgraph.codemods.mcp.child"]
    process = await anyio.open_process(command, stderr=None, start_new_session=True)
    heard: list[bytes] = []
    try:
        with anyio.move_on_after(limit) as scope:
            await converse(process, json.dumps(request).encode(), heard, limit, beat)
        if scope.cancelled_caught:
            process.terminate()
            with anyio.move_on_after(GRACE):
                await listen(process, heard)
    finally:
        await end(process)
    return read(tool, b"".join(heard), limit, is_late=scope.cancelled_caught)


async def converse(process: Process, request: bytes, heard: list[bytes], limit: float, beat: Beat) -> None:
    assert process.stdin is not None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keep_beating, limit, beat)
        with suppress(anyio.BrokenResourceError):
            await process.stdin.send(request)
            await process.stdin.aclose()
        await listen(process, heard)
        tasks.cancel_scope.cancel()


async def listen(process: Process, heard: list[bytes]) -> None:
    assert process.stdout is not None
    async for part in process.stdout:
        heard.append(part)


async def keep_beating(limit: float, beat: Beat) -> None:
    """A host that hears nothing for a while may take a call for dead."""
    passed = 0.0
    while True:
        await anyio.sleep(BEAT)
        passed += BEAT
        await beat(passed, limit)


async def end(process: Process) -> None:
    """The process is gone, with all of its group, when this returns."""
    with anyio.CancelScope(shield=True):
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
            with anyio.move_on_after(GRACE):
                await process.wait()
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        await process.aclose()


def read(tool: str, heard: bytes, limit: float, *, is_late: bool) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = json.loads(heard)
    except ValueError:
        if is_late:
            said = (
                f"{tool} was stopped after {limit:.0f} seconds; give a longer `time_limit`, or fewer paths or scenarios"
            )
            return failure(said, 124, tool)
        return failure(f"{tool} ended without an answer; its last words are in the log of the server", 1, tool)
    if is_late and "notices" in answer:
        answer["notices"].append(f"stopped after {limit:.0f} seconds; this is what was seen until then")
    return answer

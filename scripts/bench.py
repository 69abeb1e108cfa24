"""fullgraph against other tools on the same real tree in the same run: the Python files of the installed torch.

The machine may be noisy: the tools take turns, the median counts, and what is reported is the ratio to ruff.
TorchFix pins an old LibCST, so the others live in an environment of their own, `.bench/venv`.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

BENCH = Path(__file__).parent.parent / ".bench"
TREE = BENCH / "tree"
OTHERS = BENCH / "venv"
FULLGRAPH = Path(sys.executable).with_name("fullgraph")
LIMIT = 120
"""Seconds after which a tool is stopped; its time is then a lower bound."""

AST_GREP_PATTERN = "for $KEY in $DICT.keys():\n    $$$BODY"


@dataclass
class Tool:
    """A command with what it must not lean on. `repeat` is small for the slow ones."""

    name: str
    command: list[str]
    repeat: int
    before: Callable[[], None] = lambda: None
    environment: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    cpu: float = 0.0
    was_stopped: bool = False
    peak_mb: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument(
        "--fast", action="store_true", help="without TorchFix and LibCST's runner, which take up to two minutes each"
    )
    arguments = parser.parse_args()
    files, size = make_tree()
    make_environment()
    tools = [tool for tool in all_tools(arguments.repeat) if tool.repeat > 1 or not arguments.fast]
    for turn in range(arguments.repeat):
        for tool in tools:
            if turn < tool.repeat:
                measure(tool)
    report(tools, files, size)


def make_tree() -> tuple[int, int]:
    """A copy of torch's Python files, outside any folder that a tool would skip by its name."""
    source = Path(sysconfig.get_path("purelib")) / "torch"
    files = sorted(source.rglob("*.py"))
    if not TREE.exists():
        for file in files:
            copy = TREE / "torch" / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        (TREE / "pyproject.toml").touch()
    return len(files), sum(file.stat().st_size for file in files)


def make_environment() -> None:
    if not (OTHERS / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", OTHERS], check=True)
        wanted = ["ruff", "ast-grep-cli", "torchfix", "libcst"]
        subprocess.run([OTHERS / "bin/python", "-m", "pip", "install", "--quiet", *wanted], check=True)
        (OTHERS / "done").touch()


def all_tools(repeat: int) -> list[Tool]:
    bin_folder = OTHERS / "bin"
    cache = {"FULLGRAPH_CACHE": str(BENCH / "cache")}
    clean = lambda: shutil.rmtree(BENCH / "cache", ignore_errors=True)  # noqa: E731
    check = [str(FULLGRAPH), "check", "--quiet", "torch"]
    return [
        Tool("ruff, no cache", [str(bin_folder / "ruff"), "check", "--isolated", "--no-cache", "-q", "torch"], repeat),
        Tool("fullgraph, cold", check, repeat, clean, cache),
        Tool("fullgraph, warm", check, repeat, lambda: None, cache),
        Tool("fullgraph, no cache", [*check, "--no-cache"], repeat),
        Tool(
            "ast-grep, one pattern",
            [str(bin_folder / "ast-grep"), "run", "-p", AST_GREP_PATTERN, "-l", "py", "torch"],
            repeat,
        ),
        Tool(
            "LibCST runner, no-op",
            [str(bin_folder / "python"), "-m", "libcst.tool", "codemod", "noop.NOOPCommand", "torch"],
            1,
        ),
        Tool("TorchFix", [str(bin_folder / "torchfix"), "torch"], 1),
    ]


def measure(tool: Tool) -> None:
    """Run a tool once; its time, the processor time of all its processes, and its largest process."""
    tool.before()
    started = time.perf_counter()
    process = subprocess.Popen(
        tool.command,
        cwd=TREE,
        env={**os.environ, **tool.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    status, usage = wait(process.pid, started + LIMIT)
    process.returncode = os.waitstatus_to_exitcode(status)
    tool.seconds.append(time.perf_counter() - started)
    tool.cpu = usage.ru_utime + usage.ru_stime
    tool.peak_mb = max(tool.peak_mb, usage.ru_maxrss / 1024)
    tool.was_stopped = process.returncode == -signal.SIGKILL
    if process.returncode not in (0, 1) and not tool.was_stopped:
        sys.exit(f"{tool.name} failed with exit code {process.returncode}")
    print(f"  {tool.name}: {tool.seconds[-1]:.2f} s", file=sys.stderr)


def wait(pid: int, deadline: float) -> tuple[int, resource.struct_rusage]:
    """Wait for a process; one that is still at it at the deadline is stopped, with all that it started."""
    while time.perf_counter() < deadline:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return status, usage
        time.sleep(0.005)
    os.killpg(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    return status, usage


def report(tools: list[Tool], files: int, size: int) -> None:
    base = statistics.median(tools[0].seconds)
    print(f"{files} files, {size / 1e6:.0f} MB, {os.cpu_count()} cores; median seconds, ratio to ruff")
    print(f"{'tool':<24}{'seconds':>9}{'ratio':>8}{'files/s':>10}{'CPU s':>8}{'peak MB':>9}{'runs':>6}")
    for tool in tools:
        seconds = statistics.median(tool.seconds)
        bound = ">" if tool.was_stopped else " "
        rate = f"{'<' if tool.was_stopped else ''}{files / seconds:.0f}"
        used = f"{'?':>8}{'?':>9}" if tool.was_stopped else f"{tool.cpu:>8.1f}{tool.peak_mb:>9.0f}"
        print(
            f"{tool.name:<24}{bound}{seconds:>8.2f}{bound}{seconds / base:>7.2f}{rate:>10}{used}{len(tool.seconds):>6}"
        )


if __name__ == "__main__":
    main()

"""Environments with one version of transformers each, and processes that end when their time is over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / ".bench"
TORCH = "torch==2.13.0"
"""torchvision is left out: its build on PyPI does not load with the torch for CPUs."""

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


@dataclass(frozen=True)
class Ending:
    """How a process ended: `problem` is empty if it did what it was for."""

    code: int
    seconds: float
    text: str
    problem: str


def make_environment(version: str) -> Path:
    """The python of an environment with this version of transformers; `newest` is whatever the index has."""
    folder = BENCH / f"transformers-{version}"
    python, stamp = folder / "bin" / "python", folder / ".installed"
    if not stamp.exists():
        wanted = "transformers" if version == "newest" else f"transformers=={version}"
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([*pip, TORCH], check=True)
        subprocess.run([*pip, TORCH, wanted], check=True)
        stamp.touch()
    return python


def run(command: Sequence[str | Path], folder: Path, first: Path | None, limit: float) -> Ending:
    """Run in a folder, `first` being looked into before all other places that Python imports from."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [*map(str, command)],
        cwd=folder,
        env=environment(folder, first),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        return Ending(process.returncode, time.perf_counter() - start, text, f"stopped after {limit:.0f} s")
    seconds = time.perf_counter() - start
    return Ending(process.returncode, seconds, text, last_line(text, process.returncode) if process.returncode else "")


def environment(folder: Path, first: Path | None) -> dict[str, str]:
    """Inductor keeps nothing from one process to the next, so that every start is a cold one."""
    places = [*([first] if first else []), ROOT / "scripts", ROOT]
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "PYTHONWARNINGS")}
    caches = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
    inductor = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    return {**kept, **OFFLINE, **caches, **inductor, "PYTHONPATH": os.pathsep.join(map(str, places))}


def last_line(text: str, code: int) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"exit code {code}: {lines[-1][:200]}" if lines else f"exit code {code}"

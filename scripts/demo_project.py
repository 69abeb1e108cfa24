"""What both demos do with their copy of a bundled project: ask fullgraph, and look whether a byte has changed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FULLGRAPH = Path(sys.executable).with_name("fullgraph")


def copy_project(name: str, to: Path) -> Path:
    shutil.copytree(ROOT / "fixtures" / name, to, ignore=shutil.ignore_patterns("__pycache__"))
    return to


def answer(project: Path, *arguments: str) -> dict[str, Any]:
    """What a command says to programs."""
    command = [str(FULLGRAPH), *arguments, "--format", "json", "--quiet"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"{' '.join(command)} says:\n{done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def snapshot(project: Path) -> dict[str, bytes]:
    files = (file for file in sorted(project.rglob("*")) if file.is_file())
    names = ((file.relative_to(project).as_posix(), file) for file in files)
    return {name: file.read_bytes() for name, file in names if not name.startswith(".fullgraph/")}


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    return [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]


def conclude(claims: dict[str, bool]) -> int:
    """The exit code: 0 if all of it holds."""
    print("What this showed:")
    for claim, holds in claims.items():
        print(f"  {'yes' if holds else 'NO '}  {claim}")
    return 0 if all(claims.values()) else 1

"""Runs the tests that a codemod has written into a project, as its users would."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.zygote import TORCH


def run_tests(root: Path, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """pytest in a process of its own, without the plugins of ours; `path` is where its packages are."""
    given = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return TORCH.run(given, root, PYTHONPATH=str(path or root), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")


def outcome(root: Path, *arguments: str) -> str:
    """What pytest says at its end: `2 failed, 9 passed`."""
    return run_tests(root, *arguments).stdout.splitlines()[-1].partition(" in ")[0]

"""The files for taplo: its own linter takes a right configuration and marks a wrong one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent.parent / "editors" / "toml"

pytestmark = pytest.mark.skipif(not shutil.which("taplo"), reason="taplo is not installed")


def lint(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(FOLDER / "fullgraph.schema.json", folder)
    shutil.copy(FOLDER / "taplo.toml", folder / ".taplo.toml")
    (folder / "pyproject.toml").write_text(text)
    return subprocess.run(["taplo", "lint", "pyproject.toml"], cwd=folder, capture_output=True, text=True)


def test_a_right_configuration_is_taken_among_other_tables(tmp_path: Path) -> None:
    right = "[project]\nname = 'x'\n[tool.ruff]\nline-length = 100\n[tool.fullgraph]\nselect = ['batch_host_reads']\n"
    assert lint(tmp_path, right).returncode == 0


def test_a_mistake_is_marked(tmp_path: Path) -> None:
    done = lint(tmp_path, "[tool.fullgraph]\nselet = ['batch_host_reads']\n")
    assert done.returncode == 1
    assert "'selet' was unexpected" in done.stdout + done.stderr

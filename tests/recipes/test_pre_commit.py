"""The hooks, by a real pre-commit that installs this project as users' pre-commit does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import blocks
from tests.recipes.conftest import FIXED, ROOT, SAFE, git

pytestmark = pytest.mark.everything

pytest.importorskip("pre_commit")

FULLGRAPH = Path(sys.executable).with_name("fullgraph")
CLEAN = "def add(a, b):\n    return a + b\n"
UNSAFE = """\
import torch


def numbers(rows):
    return [row.item() for row in rows]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps what it has installed, once for all tests here."""
    return tmp_path_factory.mktemp("pre-commit")


class Hooks:
    """pre-commit in a project whose hooks come from a clone of this one."""

    def __init__(self, project: Path, clone: Path, environment: dict[str, str]) -> None:
        self.project, self.clone, self.environment = project, clone, environment

    def configure(self, hook: str, *arguments: str) -> None:
        listed = ", ".join(f'"{argument}"' for argument in arguments)
        (self.project / ".pre-commit-config.yaml").write_text(
            f"repos:\n  - repo: {self.clone}\n    rev: {git(self.clone, 'rev-parse', 'HEAD')}\n"
            f"    hooks:\n      - id: {hook}\n        args: [{listed}]\n"
        )

    def paste(self, text: str) -> None:
        """A configuration as somebody wrote it down, with the address and the version of the clone."""
        pasted = re.sub(r"repo: \S+", f"repo: {self.clone}", text)
        pasted = re.sub(r"rev: \S+", f"rev: {git(self.clone, 'rev-parse', 'HEAD')}", pasted)
        (self.project / ".pre-commit-config.yaml").write_text(pasted)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pre_commit", "run", "--verbose", *arguments]
        return subprocess.run(command, cwd=self.project, env=self.environment, capture_output=True, text=True)


@pytest.fixture
def hooks(project: Path, clone: Path, offline: dict[str, str], home: Path) -> Hooks:
    return Hooks(project, clone, {**offline, "PRE_COMMIT_HOME": str(home)})


def test_the_lines_of_the_page_work_as_they_stand_there(hooks: Hooks, project: Path) -> None:
    (lines,) = [text for _, text in blocks(ROOT / "docs" / "ci.md") if text.startswith("repos:")]
    hooks.paste(lines)
    first = hooks.run("--all-files")
    assert first.returncode == 1, first.stdout + first.stderr
    assert "batch_host_reads" in first.stdout
    assert (project / "nets" / "range.py").read_text() == FIXED
    git(project, "add", "--all")
    second = hooks.run("--all-files")
    assert second.returncode == 0, second.stdout + second.stderr
    assert second.stdout.count("Passed") == 2


def test_check_names_the_findings_and_changes_nothing(hooks: Hooks, project: Path) -> None:
    hooks.configure("fullgraph-check")
    done = hooks.run("--all-files")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "nets/range.py:5:12: batch_host_reads:" in done.stdout
    assert (project / "nets" / "range.py").read_text() == SAFE


def test_fix_writes_what_is_safe_and_then_passes(hooks: Hooks, project: Path) -> None:
    hooks.configure("fullgraph-fix")
    first = hooks.run("--all-files")
    assert first.returncode == 1, first.stdout + first.stderr
    assert "files were modified by this hook" in first.stdout
    assert (project / "nets" / "range.py").read_text() == FIXED
    git(project, "add", "--all")
    second = hooks.run("--all-files")
    assert second.returncode == 0, second.stdout + second.stderr


def test_fix_is_not_stopped_by_what_only_a_person_can_decide(hooks: Hooks, project: Path) -> None:
    (project / "nets" / "range.py").write_text(UNSAFE)
    git(project, "add", "--all")
    hooks.configure("fullgraph-fix")
    done = hooks.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "batch_host_reads" in done.stdout
    assert (project / "nets" / "range.py").read_text() == UNSAFE


def test_only_files_that_are_about_to_be_committed_are_looked_at(hooks: Hooks, project: Path) -> None:
    (project / "nets" / "sum.py").write_text(CLEAN)
    git(project, "add", "--all")
    hooks.configure("fullgraph-check")
    done = hooks.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "range.py" not in done.stdout


def test_a_baseline_silences_what_is_known(hooks: Hooks, project: Path) -> None:
    known = ("ci", "--baseline", "known.json", "--update-baseline")
    subprocess.run([FULLGRAPH, *known], cwd=project, check=True, capture_output=True)
    hooks.configure("fullgraph-check", "--baseline", "known.json")
    done = hooks.run("--all-files")
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_was_fixed_by_the_hook_can_be_undone(hooks: Hooks, project: Path) -> None:
    hooks.configure("fullgraph-fix")
    hooks.run("--all-files")
    assert (project / "nets" / "range.py").read_text() == FIXED
    subprocess.run([FULLGRAPH, "undo"], cwd=project, check=True, capture_output=True)
    assert (project / "nets" / "range.py").read_text() == SAFE


def test_the_manifest_is_one_that_pre_commit_accepts() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")

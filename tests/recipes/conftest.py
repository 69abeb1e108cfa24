"""A clone of this project to install from, without a network, and a project that a pipeline looks at."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SHIPPED = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    ".pre-commit-hooks.yaml",
    "fullgraph",
    "codemods",
    "validate",
    "docs/codemods",
    "skills",
)
SAFE = """\
import torch


def low_and_high(values: torch.Tensor) -> tuple[float, float]:
    return values.min().item(), values.max().item()
"""
FIXED = """\
import torch


def low_and_high(values: torch.Tensor) -> tuple[float, float]:
    values_min, values_max = torch.stack(values.aminmax()).tolist()
    return values_min, values_max
"""


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    command = ["git", *settings, "-c", "commit.gpgSign=false", *arguments]
    done = subprocess.run(command, cwd=folder, env=outside_git(), capture_output=True, text=True, check=True)
    return done.stdout.strip()


def outside_git() -> dict[str, str]:
    """The environment without what git sets while it runs hooks."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files as they are now, committed, as a hook or an action is fetched; of the fixtures only a few."""
    folder = tmp_path_factory.mktemp("source") / "fullgraph"
    folder.mkdir()
    for name in (*SHIPPED, "fixtures/use_public_compiler_api"):
        copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "as it is")
    return folder


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


@pytest.fixture
def offline() -> dict[str, str]:
    return offline_environment()


def offline_environment() -> dict[str, str]:
    """An environment in which pip finds everything that fullgraph needs, here, and asks no index."""
    pytest.importorskip("hatchling")
    packages = [path for path in sys.path if path.endswith("site-packages")]
    return {
        **outside_git(),
        "PYTHONPATH": os.pathsep.join(packages),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a safe finding that was committed, and nothing else."""
    folder = tmp_path / "project"
    (folder / "nets").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[project]\nname = 'nets'\n")
    (folder / "nets" / "range.py").write_text(SAFE)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder

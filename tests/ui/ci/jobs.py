"""`fullgraph ci` in a repository of its own, in this process unless a signal has to reach it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fullgraph.codemods.ui.cli import main
from tests.ui.running import COMMAND, SAMPLE, environment, write_project

PATIENCE = 180
"""Seconds after which a job that does not come as far as it should is a failure."""


@dataclass(frozen=True)
class Result:
    """How a job ended and what it said."""

    code: int
    out: str
    err: str
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)


class Repository:
    """A git repository with the sample project in it. Nobody's own git settings count."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "Somebody")
        self.git("config", "user.email", "somebody@example.com")

    def git(self, *arguments: str, given: bytes = b"") -> str:
        done = subprocess.run(["git", *arguments], cwd=self.root, input=given, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return os.fsdecode(done.stdout)

    def commit(self, message: str = "work") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD").strip()

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def subjects(self) -> list[str]:
        return self.git("log", "--format=%s").splitlines()


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cache, no git settings and no summary of whoever runs the tests."""
    monkeypatch.setenv("FULLGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """The sample project, committed; it is also where we stand."""
    root = write_project(tmp_path / "project")
    monkeypatch.chdir(root)
    made = Repository(root)
    made.commit("start")
    return made


def ci(*arguments: str) -> Result:
    """`fullgraph ci` with the sample codemods, where we stand."""
    return run("ci", "--codemod", str(SAMPLE), *arguments)


def run(*arguments: str) -> Result:
    done = CliRunner().invoke(main, list(arguments))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Result(done.exit_code, done.stdout, done.stderr, done.stdout_bytes)


def start(root: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """The command in a process of its own."""
    return subprocess.Popen(
        [COMMAND, "ci", *arguments], cwd=root, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def wait_for(file: Path, process: subprocess.Popen[bytes]) -> None:
    """Until a job has come so far that this file is there."""
    deadline = time.monotonic() + PATIENCE
    while not file.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def places(result: Result) -> list[str]:
    """Where the findings of a job's log stand."""
    return re.findall(r"^(\S.*?:(?:\d+|cell \d+):\d+): ", result.out, re.MULTILINE)

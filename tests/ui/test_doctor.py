"""`doctor` says what is there, what is missing, and what to do next."""

from __future__ import annotations

import json
import os
import sys
import venv
from pathlib import Path

import jsonschema
import pytest

from fullgraph.codemods.ui.doctor.command import SCHEMA, examine
from fullgraph.codemods.ui.doctor.model import FINE, NOTE, PROBLEM
from tests.rewrite.running import mark_interrupted
from tests.ui.running import run, write_project


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "CXX"):
        monkeypatch.delenv(name, raising=False)
    return write_project(tmp_path)


def test_with_everything_there_the_next_step_is_to_check(root: Path) -> None:
    pytest.importorskip("torch")
    done = run(root, "doctor", "--python", sys.executable, "--format", "json")
    told = json.loads(done.out)
    jsonschema.validate(told, json.loads(SCHEMA.read_text()))
    facts = {fact["name"]: fact for fact in told["facts"]}
    assert [name for name, fact in facts.items() if fact["state"] == PROBLEM] == []
    assert (done.code, told["next"]) == (0, "fullgraph check")
    assert facts["torch"]["version"].startswith("2.")
    assert (facts["python"]["found"], facts["python"]["executable"]) == ("--python", sys.executable)


def test_an_environment_without_torch_is_a_problem_with_a_way_out(root: Path) -> None:
    venv.create(root / ".venv", with_pip=False, symlinks=True)
    checkup = examine(root)
    python = str(root / ".venv" / "bin" / "python")
    assert (checkup.fact("python").state, checkup.fact("python").data["found"]) == (FINE, "the project's .venv")
    assert checkup.fact("torch").state == PROBLEM
    assert (checkup.exit_code, checkup.next) == (1, f"{python} -m pip install torch")
    assert "To be repaired first: torch" in run(root, "doctor").out


def test_a_module_of_the_project_is_not_taken_for_torch(root: Path) -> None:
    (root / "torch.py").write_text("raise SystemExit('imported')\n")
    venv.create(root / ".venv", with_pip=False, symlinks=True)
    assert "No module named 'torch'" in examine(root).fact("torch").text


def test_an_interpreter_that_cannot_be_run_is_a_problem(root: Path) -> None:
    done = run(root, "doctor", "--python", "no/such/python")
    assert done.code == 1
    assert "cannot be run: No such file or directory" in " ".join(done.out.split())


def test_a_mistake_in_the_configuration_is_told(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.fullgraph.options.batch_host_reads]\nlevle = 'all'\n")
    fact = examine(root, sys.executable).fact("config")
    assert (fact.state, fact.fix) == (PROBLEM, "fullgraph doctor --schema")
    assert "did you mean 'level'?" in fact.text


def test_an_interrupted_run_comes_first(root: Path) -> None:
    run(root, "fix", "--yes")
    assert examine(root, sys.executable).fact("journal").data["runs"] >= 1
    mark_interrupted(root)
    checkup = examine(root, sys.executable)
    assert (checkup.fact("journal").state, checkup.next) == (PROBLEM, "fullgraph recover")


def test_what_was_observed_is_told_and_whether_files_changed_since(root: Path) -> None:
    pytest.importorskip("torch")
    (root / "main.py").write_text("import torch\nprint(torch.ones(2).sum().item())\n")
    assert examine(root, sys.executable).fact("evidence").state == NOTE
    assert run(root, "observe", "--", sys.executable, "main.py").code == 0
    checkup = examine(root, sys.executable)
    assert checkup.fact("evidence").data["stale"] == []
    assert checkup.next == f"fullgraph check --observed {os.path.join('.fullgraph', 'observed.json')}"
    (root / "main.py").write_text("import torch\n")
    assert examine(root, sys.executable).fact("evidence").data["stale"] == ["main.py"]


def test_a_missing_compiler_is_a_problem(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("CXX", "no-such-compiler")
    fact = examine(root, sys.executable).fact("compiler")
    assert fact.state == PROBLEM
    assert fact.text.startswith("there is no no-such-compiler")


def test_git_is_asked_for_the_branch_and_what_is_not_committed(root: Path) -> None:
    from tests.recipes.conftest import git

    assert examine(root, "no-python").fact("git").state == NOTE
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "first")
    assert examine(root, "no-python").fact("git").text == "main, clean"
    (root / "pkg" / "a.py").write_text("")
    assert examine(root, "no-python").fact("git").data == {"branch": "main", "changed": 1}


def test_an_interpreter_that_came_with_the_repository_is_not_run(root: Path) -> None:
    from tests.recipes.conftest import git

    python = root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\ntouch ran\n")
    python.chmod(0o755)
    git(root, "init", "--quiet")
    git(root, "add", "--force", ".venv")
    fact = examine(root).fact("python")
    assert (fact.state, fact.fix) == (PROBLEM, "fullgraph doctor --python PATH")
    assert "came with the repository" in fact.text
    assert list(root.rglob("ran")) == []

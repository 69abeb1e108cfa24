"""A pipeline runs everything where proofs may come out otherwise than in the last whole run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from which_tests import ROOT, chosen, contents

from tests.conftest import rests_on_validator


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout after a whole run that has passed."""
    (tmp_path / "validate").mkdir()
    (tmp_path / "validate" / "judge.py").write_text("1")
    (tmp_path / "codemods.py").write_text("1")
    pin(tmp_path, "2.13.0")
    (tmp_path / "stamp.json").write_text(json.dumps(contents(tmp_path)))
    return tmp_path


def pin(tree: Path, version: str) -> None:
    (tree / "pyproject.toml").write_text(f'[project.optional-dependencies]\ndev = ["pytest", "torch=={version}"]\n')


def which(tree: Path) -> str:
    return chosen(tree, tree / "stamp.json")


def test_a_usual_change_needs_the_usual_tests(tree: Path) -> None:
    assert which(tree) == "test"
    (tree / "codemods.py").write_text("2")
    assert which(tree) == "test"


def test_another_validator_needs_everything(tree: Path) -> None:
    (tree / "validate" / "judge.py").write_text("2")
    assert which(tree) == "test-all"


@pytest.mark.parametrize(
    "path",
    ["tests/validate/test_a.py", "editors/extension.ts", "codemods/executors/local.py", "ci/gitlab.yml", "action.yml"],
)
def test_another_extension_executor_or_recipe_needs_everything(path: str, tree: Path) -> None:
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text("2")
    assert which(tree) == "test-all"


def test_another_torch_needs_everything(tree: Path) -> None:
    pin(tree, "2.14.0")
    assert which(tree) == "test-all"


def test_another_python_needs_everything(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert which(tree) == "test-all"


def test_without_a_whole_run_everything_is_run(tree: Path) -> None:
    (tree / "stamp.json").unlink()
    assert which(tree) == "test-all"


def test_what_rests_on_the_validator_alone_sees_no_codemods() -> None:
    folder = ROOT / "tests" / "validate"
    assert rests_on_validator(folder / "test_judge.py")
    assert not rests_on_validator(folder / "test_harness.py")
    assert not rests_on_validator(ROOT / "tests" / "ui" / "test_proof.py")

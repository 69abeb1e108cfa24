"""The GitHub action: its steps are run as a runner runs them, with the variables that GitHub sets."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.recipes.conftest import ROOT, git, offline_environment

pytestmark = pytest.mark.everything

yaml = pytest.importorskip("yaml")

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
INSTALL, CI, UPLOAD = ACTION["runs"]["steps"]
SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"], "python": ["python"]}
"""How GitHub starts them: https://docs.github.com/actions/reference/workflow-syntax-for-github-actions"""

NEW = """\
import torch


def mean_and_std(values: torch.Tensor) -> tuple[float, float]:
    return values.mean().item(), values.std().item()
"""


@dataclass
class Runner:
    """As much of a runner as composite actions need: inputs filled in, steps run in turn, files for what they say."""

    workspace: Path
    folder: Path
    source: Path
    environment: dict[str, str]
    said: str = ""

    def __post_init__(self) -> None:
        (self.folder / "temp").mkdir(parents=True)
        for name in ("path", "output", "summary"):
            (self.folder / name).touch()

    def run(self, step: dict[str, Any] = CI, **inputs: str) -> int:
        """One step; its exit code."""
        given = {name: item["default"] for name, item in ACTION["inputs"].items()}
        return self.step(step, given | {name.replace("_", "-"): value for name, value in inputs.items()})

    def step(self, step: dict[str, Any], given: dict[str, str]) -> int:
        script = self.folder / "script"
        script.write_text(step["run"])
        own = {name: self.filled(value, given) for name, value in step["env"].items()}
        done = subprocess.run(
            [*SHELLS[step["shell"]], script],
            cwd=self.workspace,
            env={**self.environment, **self.files(), **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said += done.stdout
        return done.returncode

    def filled(self, value: str, given: dict[str, str]) -> str:
        value = value.replace("${{ github.action_path }}", str(self.source))
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], value)

    def files(self) -> dict[str, str]:
        added = (self.folder / "path").read_text().split()
        return {
            "PATH": os.pathsep.join([*reversed(added), self.environment["PATH"]]),
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_PATH": str(self.folder / "path"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_WORKSPACE": str(self.workspace),
        }

    @property
    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, clone: Path) -> str:
    """What the first step adds to the path, once for all tests here."""
    folder = tmp_path_factory.mktemp("installed")
    runner = Runner(folder, folder / "runner", clone, offline_environment())
    assert runner.run(INSTALL, python=sys.executable) == 0, runner.said
    return (runner.folder / "path").read_text()


@pytest.fixture
def runner(tmp_path: Path, project: Path, clone: Path, installed: str, offline: dict[str, str]) -> Runner:
    runner = Runner(project, tmp_path / "runner", clone, offline)
    (runner.folder / "path").write_text(installed)
    return runner


def test_fullgraph_is_installed_apart_from_the_job_s_python(installed: str) -> None:
    assert (Path(installed.strip()) / "fullgraph").is_file()
    assert Path(installed.strip()).parent.parent.name == "temp"


def test_a_finding_fails_the_job_and_is_told_in_every_form(runner: Runner, project: Path) -> None:
    code = runner.run()
    assert code == 1, runner.said
    assert re.search(r"(?m)^::error file=nets/range\.py,line=5,", runner.said)
    assert "nets/range.py" in runner.summary
    assert runner.outputs["exit-code"] == "1"
    assert runner.outputs["findings"] == "1"
    (run,) = json.loads((project / "fullgraph.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["batch_host_reads"]


def test_the_patch_that_it_leaves_can_be_applied(runner: Runner, project: Path) -> None:
    runner.run(fail_on="none", sarif="out/report.sarif")
    git(project, "apply", runner.outputs["patch"])
    assert "aminmax" in (project / "nets" / "range.py").read_text()
    assert (project / "out" / "report.sarif").is_file()


def test_only_what_has_changed_since_counts(runner: Runner, project: Path) -> None:
    (project / "nets" / "spread.py").write_text(NEW)
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "second")
    assert runner.run(since="HEAD~1", paths="'nets' nets/spread.py") == 1, runner.said
    assert "spread.py" in runner.said
    assert "range.py" not in runner.said


def test_arguments_are_split_as_a_shell_splits_them_and_run_nothing(runner: Runner, project: Path) -> None:
    code = runner.run(arguments="--exclude 'a b.py' --ignore batch_host_reads $(touch made)")
    assert code == 2
    assert not (project / "made").exists()
    assert runner.outputs["exit-code"] == "2"


@pytest.mark.parametrize("name", ["paths", "arguments"])
def test_a_quote_that_is_not_closed_is_one_line(runner: Runner, name: str) -> None:
    assert runner.run(CI, **{name: "it's"}) == 2
    assert runner.said == f"::error title=fullgraph::{name}: No closing quotation\n"


def test_a_job_that_cannot_begin_tells_nothing_of_the_one_before(runner: Runner) -> None:
    runner.run()
    (runner.folder / "output").write_text("")
    assert runner.run(since="nowhere") == 2
    assert runner.outputs["findings"] == "0"
    (runner.folder / "output").write_text("")
    assert runner.run(arguments="--no-such-option") == 2
    assert "findings" not in runner.outputs


def test_the_report_is_uploaded_only_if_that_is_wanted() -> None:
    assert "inputs.upload-sarif == 'true'" in UPLOAD["if"]
    assert UPLOAD["with"]["sarif_file"] == "${{ inputs.sarif }}"
    assert ACTION["inputs"]["upload-sarif"]["default"] == "false"


def test_every_input_is_used_and_every_one_that_is_used_is_declared() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(ACTION["inputs"])


def test_no_input_is_pasted_into_a_script() -> None:
    """GitHub fills `${{ }}` in before the shell reads the script, so a value could be code."""
    assert not any("${{" in step.get("run", "") for step in ACTION["runs"]["steps"])

"""The GitLab include: its script is run as a job runs it, with the variables that GitLab sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.recipes.conftest import ROOT, git

pytestmark = pytest.mark.everything

yaml = pytest.importorskip("yaml")

JOB = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text())["fullgraph"]
CLEAN = "def add(a, b):\n    return a + b\n"


def run_job(project: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The lines of `script` in one shell that stops at the first failure; fullgraph is the one that is installed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    set_up = {**JOB["variables"], "CI_PROJECT_DIR": str(project), **variables}
    return subprocess.run(
        ["sh", "-e", "-c", "\n".join(JOB["script"])],
        cwd=project,
        env={**os.environ, "PATH": path, **set_up},
        capture_output=True,
        text=True,
    )


def test_a_finding_fails_the_job_and_stands_in_both_reports(project: Path) -> None:
    done = run_job(project)
    assert done.returncode == 1, done.stderr
    (entry,) = json.loads((project / JOB["artifacts"]["reports"]["codequality"]).read_text())
    assert entry["location"]["path"] == "nets/range.py"
    suite = ElementTree.parse(project / JOB["artifacts"]["reports"]["junit"]).getroot()
    assert len(list(suite.iter("failure"))) == 1


def test_in_a_merge_request_only_its_own_lines_count(project: Path) -> None:
    base = git(project, "rev-parse", "HEAD")
    (project / "nets" / "sum.py").write_text(CLEAN)
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "second")
    assert run_job(project).returncode == 1
    done = run_job(project, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((project / "gl-code-quality-report.json").read_text()) == []


def test_more_options_and_paths_can_be_given(project: Path) -> None:
    assert run_job(project, FULLGRAPH_ARGUMENTS="--fail-on none --max-findings 3").returncode == 0
    assert run_job(project, FULLGRAPH_PATHS="nets nets/range.py").returncode == 1
    assert run_job(project, FULLGRAPH_PATHS="nets gone").returncode == 2


def test_what_is_given_is_split_and_run_by_no_shell(project: Path) -> None:
    (project / "nets" / "a.txt").touch()
    done = run_job(project, FULLGRAPH_ARGUMENTS="--exclude nets/* $(touch${IFS}made) ;touch made", FULLGRAPH_PATHS=".")
    assert "$(touch${IFS}made): error: no such file or folder" in done.stderr
    assert not (project / "made").exists()
    assert run_job(project, FULLGRAPH_ARGUMENTS="--exclude nets/*").returncode == 0


def test_without_a_source_the_job_says_what_is_missing(project: Path) -> None:
    (install,) = JOB["before_script"]
    done = subprocess.run(["sh", "-e", "-c", install], cwd=project, env={"PATH": "/usr/bin:/bin"}, capture_output=True)
    assert done.returncode != 0
    assert b"FULLGRAPH_SOURCE: set it to what pip installs fullgraph from" in done.stderr


def test_the_whole_history_is_fetched() -> None:
    """Otherwise git does not know the commit that lines are compared with."""
    assert JOB["variables"]["GIT_DEPTH"] == "0"
    assert set(JOB["artifacts"]["reports"]) == {"codequality", "junit"}
    assert JOB["artifacts"]["when"] == "always"

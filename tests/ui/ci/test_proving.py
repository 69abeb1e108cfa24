"""Proofs in a pipeline: what they keep, what the commit says of them, and the exit code."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from fullgraph.codemods.ui.ci.message import message_for
from fullgraph.codemods.ui.ci.model import CiReport, Policy
from fullgraph.codemods.ui.ci.outputs import FORMS, rendered
from fullgraph.validate.model import Ruling
from tests.ui.ci.jobs import Repository, run
from tests.ui.ci.test_forms import VALIDATOR
from tests.ui.sample_codemod import CallFast
from tests.ui.sample_verdicts import hostile, neutral
from tests.ui.test_proof import WRONG, project

PROVE = ("--prove", "scenario.py", "--backend", "eager", "--untimed", "--python", sys.executable)


def provable(folder: Path, codemod: str, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A fixture with a scenario, in a repository."""
    folder.mkdir()
    made = Repository(project(folder, codemod, "basic"))
    made.commit("start")
    monkeypatch.chdir(folder)
    return made


def test_what_is_proven_is_committed_with_its_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = provable(tmp_path / "project", "disable_compile", monkeypatch)
    outputs = ("--output", "json", "--report", str(tmp_path / "out.html"))
    held = run("ci", "module.py", "--select", "disable_compile", "--commit", *outputs, *PROVE).json
    VALIDATOR.validate(held)
    assert (held["exit_code"], [proof["ruling"] for proof in held["proofs"]]) == (0, ["proven"])
    assert [commit["codemod"] for commit in held["ci"]["commits"]] == ["disable_compile"]
    message = repository.git("log", "-1", "--format=%B")
    assert message.startswith("fullgraph: disable_compile in 1 file\n")
    assert "\nVerdict: proven: " in message
    assert "graph breaks 2 > 1" in message
    assert "\nScenario: scenario.py. Ran on cpu" in message
    assert "Not proven" not in message
    assert (tmp_path / "out.html").exists()


def test_verdicts_fail_a_job_unless_nothing_does() -> None:
    said = [neutral()]
    assert CiReport(verdicts=said).exit_code == 3
    assert CiReport(verdicts=said, keep_neutral=True).exit_code == 0
    assert CiReport(verdicts=said, policy=Policy("none")).exit_code == 0
    assert CiReport(verdicts=said, policy=Policy("none"), errors=[("x", "y")]).exit_code == 2


def test_a_verdict_with_hostile_text_is_harmless_in_every_form() -> None:
    said = [replace(hostile(), ruling=Ruling.PROVEN)]
    report = CiReport(verdicts=said)
    for form in FORMS:
        assert isinstance(rendered(report, form), bytes)
    page = MarkdownIt("commonmark").render(rendered(report, "markdown").decode())
    assert "<script" not in page
    assert "&lt;script&gt;alert('x')&lt;/script&gt;&amp;amp;" in page
    message = message_for(CallFast(), [], said)
    assert not any(ord(character) < 32 and character != "\n" for character in message)


def test_what_is_neutral_is_neither_written_nor_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = provable(tmp_path / "project", "iterate_constant_keys", monkeypatch)
    result = run("ci", "module.py", "--commit", *PROVE)
    assert result.code == 3
    assert "not written: neutral: equivalent on 3 cases" in result.out
    assert repository.subjects() == ["start"]
    assert repository.git("status", "--porcelain") == ""


def test_what_is_different_fails_and_is_told_in_the_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = provable(tmp_path / "project", "disable_compile", monkeypatch)
    repository.write("own.py", WRONG)
    repository.write("module.py", "def model(x):\n    return x.sum()\n")
    repository.write(
        "scenario.py",
        "import torch\nfrom module import model\n\n\ndef build(device):\n    return model\n\n\n"
        "def cases(device, seed):\n    return [(torch.ones(3),)]\n",
    )
    repository.commit()
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = run("ci", "module.py", "--codemod", "own.py", "--output", "patch", *PROVE)
    assert (result.code, result.out) == (3, "")
    assert (repository.root / "module.py").read_text() == "def model(x):\n    return x.sum()\n"
    assert summary.read_text().startswith("## fullgraph: not proven\n")
    assert "- **different**: `scenario.py`: " in summary.read_text()


def test_a_scenario_that_cannot_be_read_is_undecided_and_still_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provable(tmp_path / "project", "disable_compile", monkeypatch)
    result = run("ci", "module.py", "--select", "disable_compile", "--output", "json", "--prove", "nowhere.py")
    assert result.code == 4
    VALIDATOR.validate(result.json)
    assert result.json["ci"]["undecided"]
    assert len(result.json["findings"]) == 1
    assert "fullgraph: undecided: " in result.err

"""The tutorials, followed literally."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.following import Command, follow
from tests.docs.pages import ROOT

DOCS = ROOT / "docs"


def verbs(done: list[Command]) -> list[str]:
    return [command.text.split()[1] for command in done if command.text.startswith("fullgraph")]


def test_the_tutorial_leads_from_a_training_run_to_a_proven_fix_and_back(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = follow(DOCS / "tutorial-training.md", tmp_path)
    assert verbs(done) == ["observe", "check", "fix", "prove", "undo"]
    assert "torch.where" not in (tmp_path / "walker" / "policy.py").read_text()
    page = (tmp_path / "page.html").read_text()
    assert "select_without_branch" in page
    assert "no codemod yet" in page
    assert "Proven" in (tmp_path / "report.html").read_text()


def test_the_tutorial_leads_from_a_ticket_to_a_proven_fix_and_back(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = follow(DOCS / "tutorial.md", tmp_path)
    assert verbs(done) == ["ticket", "check", "scenario", "ticket", "prove", "undo"]
    assert "_scorer_telemetry" not in (tmp_path / "arm" / "scorer.py").read_text()
    assert "Proven" in (tmp_path / "report.html").read_text()

"""`docs/tutorial.md`, followed literally."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.following import follow
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "tutorial.md"


def test_the_tutorial_leads_from_a_ticket_to_a_proven_fix_and_back(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = follow(PAGE, tmp_path)
    assert [command.text.split()[1] for command in done if command.text.startswith("fullgraph")] == [
        *("ticket", "check", "scenario", "ticket", "prove", "undo")
    ]
    assert "_scorer_telemetry" not in (tmp_path / "arm" / "scorer.py").read_text()
    assert "Proven" in (tmp_path / "report.html").read_text()

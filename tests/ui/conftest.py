"""A project with findings of every sort, and a cache that no other test sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui.running import write_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FULLGRAPH_CACHE", str(tmp_path / "cache"))
    return write_project(tmp_path / "project")

"""A project of its own for every test, and a cache that no other test sees."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory: thousands of fsyncs would take long on a disk, and prove no more."""
    folder = Path(tempfile.mkdtemp(prefix="fullgraph-", dir=MEMORY))
    yield folder
    for inner, folders, _ in os.walk(folder):
        for name in folders:
            if not os.path.islink(Path(inner, name)):
                os.chmod(Path(inner, name), 0o700)
    shutil.rmtree(folder)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project."""
    monkeypatch.setenv("FULLGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FULLGRAPH_STATE", str(tmp_path / "state"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    return folder

"""What the modules of a project hold: which modules count, which names, and what functions and classes keep."""

from __future__ import annotations

import sys
import textwrap
import types
from pathlib import Path
from typing import Any

import pytest

from fullgraph.validate.worker.recording.surroundings import read_surroundings

TEXT = """
    import enum
    import functools
    import json

    import torch

    MODEL = torch.nn.Linear(2, 2)
    counts = {"steps": 0}

    class Mode(enum.Enum):
        FAST = 1

    class Net:
        seen = []

        def forward(self, x, limit=3, cache={}):
            return x

        @staticmethod
        def make():
            return Net()

    def step(x, history=[]):
        return x

    def plain(x, limit=3):
        return x

    @functools.lru_cache
    def cached(x, memory=[]):
        return x

    step.calls = 0
    compiled = torch.compile(step)
    shorten = json.dumps
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    (tmp_path / "training.py").write_text(textwrap.dedent(TEXT))
    return load(tmp_path / "training.py", monkeypatch)


def load(file: Path, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    made = types.ModuleType(file.stem)
    made.__file__ = str(file)
    monkeypatch.setitem(sys.modules, file.stem, made)
    exec(compile(file.read_text(), str(file), "exec"), vars(made))
    return made


def names(root: Path) -> dict[str, Any]:
    return {
        path.removeprefix("surroundings['training.").removesuffix("']"): value
        for path, value in read_surroundings([str(root)]).items()
        if path.startswith("surroundings['training.")
    }


def test_variables_are_told_and_so_is_what_is_imported_under_another_name(
    module: types.ModuleType, tmp_path: Path
) -> None:
    found = names(tmp_path)
    assert found["MODEL"] is module.MODEL
    assert found["counts"] is module.counts
    assert found["shorten"] is module.shorten


def test_of_classes_and_functions_only_what_can_change_is_told(module: types.ModuleType, tmp_path: Path) -> None:
    """No constant default, no imported module, no member of an enumeration."""
    assert list(names(tmp_path)) == [
        *("MODEL", "Net.forward", "Net.seen", "cached", "compiled", "counts", "shorten", "step")
    ]


def test_a_compiled_function_is_that_function(module: types.ModuleType, tmp_path: Path) -> None:
    assert names(tmp_path)["compiled"] is module.step


def test_private_names_come_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "training.py").write_text("_a = 1\nb = 2\n")
    load(tmp_path / "training.py", monkeypatch)
    assert names(tmp_path) == {"b": 2, "_a": 1}
    assert list(names(tmp_path)) == ["b", "_a"]


def test_modules_elsewhere_and_installed_ones_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "project" / ".venv" / "site-packages"
    for folder in (inside, tmp_path / "project-two"):
        folder.mkdir(parents=True)
        (folder / f"of_{folder.name.replace('-', '_')}.py").write_text("value = 1\n")
        load(next(folder.glob("*.py")), monkeypatch)
    first, second = (read_surroundings([str(tmp_path / name)]) for name in ("project", "project-two"))
    assert second.keys() - first.keys() == {"surroundings['of_project_two.value']"}
    assert not first.keys() - second.keys()


def test_a_file_can_be_a_root_of_its_own(module: types.ModuleType, tmp_path: Path) -> None:
    assert list(read_surroundings([str(tmp_path / "training.py")])) == list(read_surroundings([str(tmp_path)]))

"""Codemods that other distributions offer by entry points."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from fullgraph.codemods.registry import all_codemods, codemod_named, installed

CODE = """
from fullgraph import Codemod


class TidyUp(Codemod):
    "Tidies. Left alone: the rest."


class SweepUp(Codemod):
    "Sweeps. Left alone: the rest."
"""


@pytest.fixture(autouse=True)
def _fresh_registry() -> Iterator[None]:
    all_codemods.cache_clear()
    yield
    all_codemods.cache_clear()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("first_module", "second_module", "broken_module"):
        sys.modules.pop(name, None)


def install(site: Path, name: str, entry_points: str, code: str = "") -> None:
    """What pip would have put there."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[fullgraph.codemods]\n{entry_points}\n")
    (site / f"{name}_module.py").write_text(code)
    importlib.invalidate_caches()


def test_an_entry_point_may_name_a_class_or_a_module(site: Path) -> None:
    install(site, "first", "tidy = first_module:TidyUp", CODE)
    install(site, "second", "all = second_module", CODE.replace("Up", "Down"))
    assert {"tidy_up", "tidy_down", "sweep_down"} <= installed().keys()
    assert "sweep_up" not in installed()
    assert codemod_named("tidy_up").__module__ == "first_module"


@pytest.mark.parametrize(
    ("entry", "code", "said"),
    [
        ("bad = gone_module", "", "ModuleNotFoundError: No module named 'gone_module'"),
        ("bad = broken_module:Missing", "", "AttributeError"),
        ("bad = broken_module", "1 / 0", "ZeroDivisionError: division by zero"),
        ("bad = broken_module", "raise SystemExit", "SystemExit"),
        ("bad = broken_module", "x = 1", "'broken_module' holds no codemod"),
        ("bad = broken_module:x", "class x: ...", "'x' holds no codemod"),
    ],
)
def test_a_broken_one_is_a_warning_that_names_its_distribution(site: Path, entry: str, code: str, said: str) -> None:
    install(site, "broken", entry, code)
    install(site, "first", "tidy = first_module:TidyUp", CODE)
    with pytest.warns(UserWarning, match="codemod 'bad' of broken cannot be loaded: ") as caught:
        assert "tidy_up" in installed()
    assert len(caught) == 1
    assert said in str(caught[0].message)
    assert "\n" not in str(caught[0].message)


def test_without_any_nothing_is_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        installed()

"""What has to be copied of a package so that a folder on PYTHONPATH takes its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.model import FullgraphError, Unsure
from codemods.rewrite.copies import Copies
from codemods.rewrite.units import Unit, companions, unit_around, unit_of

FILES = [
    "site-packages/pkg/__init__.py",
    "site-packages/pkg/inner/mod.py",
    "site-packages/space/name/__init__.py",
    "site-packages/space/name/mod.py",
    "site-packages/space/bare.py",
    "site-packages/alone.py",
    "elsewhere/pkg/__init__.py",
    "elsewhere/pkg/mod.py",
    "elsewhere/bare/deep/mod.py",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in FILES:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("file", "module", "unit"),
    [
        ("site-packages/pkg/__init__.py", "", "pkg"),
        ("site-packages/pkg/inner/mod.py", "", "pkg"),
        ("site-packages/space/name/mod.py", "", "space/name"),
        ("site-packages/space/bare.py", "space.bare", "space/bare.py"),
        ("site-packages/alone.py", "alone", "alone.py"),
        ("elsewhere/pkg/mod.py", "", "pkg"),
        ("elsewhere/bare/deep/mod.py", "bare.deep.mod", "bare/deep/mod.py"),
        ("elsewhere/pkg/mod.py", "renamed", "pkg"),
    ],
)
def test_the_unit_is_the_first_package_on_the_way(folder: Path, file: str, module: str, unit: str) -> None:
    home = folder / file.partition("/")[0]
    assert unit_of(folder / file, module) == Unit(home, unit)


def test_a_place_that_somebody_names_may_be_a_folder(folder: Path) -> None:
    home = folder / "site-packages"
    assert unit_around(home / "pkg" / "inner") == Unit(home, "pkg")
    assert unit_around(home / "space") == Unit(home, "space")


def test_what_is_no_file_has_no_unit(folder: Path) -> None:
    with pytest.raises(Unsure, match="archive, or gone"):
        unit_of(folder / "site-packages/gone.py")


def test_metadata_of_older_installers_goes_along(folder: Path) -> None:
    home = folder / "site-packages"
    (home / "pkg-1.egg-info").mkdir()
    (home / "pkg-1.egg-info" / "top_level.txt").write_text("pkg\n")
    (home / "broken-1.dist-info").mkdir()
    assert companions(Unit(home, "pkg")) == ["pkg-1.egg-info"]
    assert companions(Unit(home, "alone.py")) == []


def test_packages_of_one_name_are_not_mixed(folder: Path, tmp_path: Path) -> None:
    copies = Copies(tmp_path / "new")
    copies.hold([Unit(folder / "site-packages", "pkg")])
    with pytest.raises(FullgraphError, match=r"a copy of .*site-packages/pkg is there"):
        copies.hold([Unit(folder / "elsewhere", "pkg")])
    assert (tmp_path / "new/pkg/inner/mod.py").is_file()


def test_a_copy_that_was_interrupted_is_no_copy(folder: Path, tmp_path: Path) -> None:
    """What is incomplete never has its own name; the next run begins anew."""
    copies = Copies(tmp_path / "new")
    left = tmp_path / "new/.fullgraph/incoming/pkg/half"
    left.mkdir(parents=True)
    copies.hold([Unit(folder / "site-packages", "pkg")])
    assert not left.exists()
    assert not (tmp_path / "new/pkg/half").exists()


def test_damaged_marks_are_named(tmp_path: Path) -> None:
    (tmp_path / "fullgraph-copies.json").write_text("{")
    with pytest.raises(FullgraphError, match="damaged"):
        Copies(tmp_path).origin("pkg")

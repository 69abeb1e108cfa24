"""What has to be copied of a package so that a folder on PYTHONPATH takes its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.codemods.model import FullgraphError, Unsure
from fullgraph.codemods.rewrite.copies import Copies
from fullgraph.codemods.rewrite.units import Unit, companions, unit_around, unit_of

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


# The folder of copies


def test_copies_are_put_into_a_new_or_an_empty_folder_or_their_own(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").touch()
    (tmp_path / "file").touch()
    held = Copies(tmp_path / "held")
    held.hold([Unit(folder / "site-packages", "pkg")])
    said = {name: Copies(tmp_path / name).refuse([]) for name in ("new", "empty", "held", "mine", "file")}
    assert said["new"] == said["empty"] == said["held"] == ""
    assert "fullgraph has made no copies in it" in said["mine"]
    assert said["file"] == "a file; name a folder"


@pytest.mark.parametrize("place", ["venv/copies", "venv/lib/site-packages/copies", "home/copies", "home"])
def test_no_copy_is_put_into_an_environment(tmp_path: Path, place: str) -> None:
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv/pyvenv.cfg").touch()
    assert Copies(tmp_path / place).refuse([tmp_path / "home"]).startswith("inside an environment")


def test_a_copy_can_be_written_to_and_holds_no_link_and_nothing_compiled(folder: Path, tmp_path: Path) -> None:
    package = folder / "site-packages/pkg"
    (package / "__pycache__").mkdir()
    (package / "__pycache__/mod.pyc").touch()
    (package / "inner/again").symlink_to(package)
    (package / "link.py").symlink_to(package / "__init__.py")
    (package / "inner/mod.py").chmod(0o444)
    Copies(tmp_path / "new").hold([Unit(folder / "site-packages", "pkg")])
    copied = tmp_path / "new/pkg"
    assert not any(path.is_symlink() or path.name == "__pycache__" for path in copied.rglob("*"))
    assert (copied / "link.py").is_file()
    assert (copied / "inner/mod.py").stat().st_mode & 0o200


def test_a_copy_counts_once_it_is_complete(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copies, unit = Copies(tmp_path / "new"), Unit(folder / "site-packages", "pkg")

    def fail(source: Path, target: Path) -> None:
        raise OSError("no space")

    with monkeypatch.context() as patched:
        patched.setattr("fullgraph.codemods.rewrite.copies.copy", fail)
        with pytest.raises(OSError, match="no space"):
            copies.hold([unit])
    assert copies.origin("pkg") == ""
    copies.hold([unit])
    assert copies.origin("pkg") == str(unit.place)


def test_something_else_of_that_name_is_never_taken_for_a_copy(folder: Path, tmp_path: Path) -> None:
    copies = Copies(tmp_path / "new")
    copies.hold([Unit(folder / "site-packages", "alone.py")])
    (tmp_path / "new/pkg").mkdir()
    with pytest.raises(FullgraphError, match="something else is there"):
        copies.hold([Unit(folder / "site-packages", "pkg")])

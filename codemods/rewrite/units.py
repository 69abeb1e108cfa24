"""What is imported as one thing of an installed package: the part that a copy on PYTHONPATH has to hold in full."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.rewrite.walk import INSTALLED


@dataclass(frozen=True, order=True)
class Unit:
    """A package's folder or a module's file, by its path below `home`, the folder that Python finds it in."""

    home: Path
    path: str

    @property
    def place(self) -> Path:
        return self.home / self.path


def unit_of(file: Path, module: str = "") -> Unit:
    """The unit that a file belongs to. `module` is what it was imported as, where that is known.

    Of a package that is spread over several folders (it has no `__init__.py`), it is the first part below that has one.
    """
    if not file.is_file():
        raise Unsure("it is not there as a file: it is in an archive, or gone")
    home = home_by_name(file, module) or home_by_folder(file) or home_by_packages(file.parent)
    return unit_below(home, file)


def unit_around(place: Path) -> Unit:
    """The unit of a file or a folder that somebody names; of a folder above all packages, it is that folder."""
    return unit_below(home_by_folder(place) or home_by_packages(place if place.is_dir() else place.parent), place)


def unit_below(home: Path, place: Path) -> Unit:
    """The first package on the way down; without one, the place itself."""
    below = place.relative_to(home)
    for path in reversed((below, *below.parents[:-1])):
        if is_package(home / path):
            return Unit(home, path.as_posix())
    return Unit(home, below.as_posix())


def is_package(folder: Path) -> bool:
    return any(folder.glob("__init__.*"))


def home_by_name(file: Path, module: str) -> Path | None:
    """The folder that `a.b.c` counts from; None where the path does not end like the name."""
    parts = module.split(".") if module else []
    own = list(file.parent.parts if file.stem == "__init__" else (*file.parent.parts, file.stem))
    return Path(*own[: -len(parts)]) if parts and own[-len(parts) :] == parts else None


def home_by_folder(file: Path) -> Path | None:
    return next((folder for folder in file.parents if folder.name in INSTALLED), None)


def home_by_packages(folder: Path) -> Path:
    while is_package(folder):
        folder = folder.parent
    return folder


# What comes with it


def companions(unit: Unit) -> list[str]:
    """What stands beside a unit and has to go with it: libraries that it loads by their place, and its metadata."""
    found: set[str] = set()
    for folder in sorted(unit.home.glob("*.dist-info")):
        files = recorded(folder)
        if any(is_part(name, unit.path) for name in files):
            tops = {name.partition("/")[0] for name in files}
            found |= {folder.name} | {top for top in tops if top.endswith(".libs") and (unit.home / top).is_dir()}
    top = unit.path.partition("/")[0].removesuffix(".py")
    return sorted(found | {folder.name for folder in unit.home.glob("*.egg-info") if names_top(folder, top)})


def is_part(name: str, path: str) -> bool:
    return name == path or name.startswith(f"{path}/")


def recorded(folder: Path) -> list[str]:
    """The files of a distribution, as its installer noted them."""
    try:
        with (folder / "RECORD").open(encoding="utf-8", newline="") as stream:
            return list(first_cells(csv.reader(stream)))
    except (OSError, ValueError, csv.Error):
        return []


def first_cells(rows: Iterator[list[str]]) -> Iterator[str]:
    return (row[0] for row in rows if row)


def names_top(folder: Path, top: str) -> bool:
    try:
        return top in (folder / "top_level.txt").read_text("utf-8").split()
    except (OSError, ValueError):
        return False

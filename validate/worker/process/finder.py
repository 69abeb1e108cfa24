"""Finding modules in a tree of which some files are only in the overlay, and some only on the disk."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Any


class Finder(importlib.abc.MetaPathFinder):
    """Finds what the disk alone would not show: modules that are only in the overlay, and what a missing file uncovers.

    All other modules are left to Python.
    """

    def __init__(self, known: dict[str, bytes | None]) -> None:
        self.fresh = {path for path, data in known.items() if data is not None and not os.path.exists(path)}
        self.gone = {path for path, data in known.items() if data is None and os.path.exists(path)}
        self.folders = {folder for path in self.fresh for folder in missing_folders(path)}
        self.lost = lost_folders(self.gone, self.fresh)
        self.names = {name_of(path) for path in (*self.fresh, *self.gone, *self.folders, *self.lost)}

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        tail = fullname.rpartition(".")[2]
        if tail not in self.names:
            return None
        bases = [os.path.join(folder or os.getcwd(), tail) for folder in (sys.path if path is None else path)]
        if not any(self.concerns(base) for base in bases):
            return None
        return self.find_file(fullname, bases) or self.find_folders(fullname, bases)

    def concerns(self, base: str) -> bool:
        """Whether the disk alone would give a wrong answer."""
        reals = {os.path.realpath(file) for file in files_of(base)}
        return os.path.realpath(base) in self.folders | self.lost or not reals.isdisjoint(self.fresh | self.gone)

    def find_file(self, fullname: str, bases: Sequence[str]) -> Any:
        """A module or a package, in the first folder that has one on this side."""
        for base, file in [(folder, file) for folder in bases for file in files_of(folder)]:
            real = os.path.realpath(file)
            if real in self.fresh or (os.path.isfile(real) and real not in self.gone):
                inside = [base] if file.endswith("__init__.py") else None
                return importlib.util.spec_from_file_location(fullname, file, submodule_search_locations=inside)
        return None

    def find_folders(self, fullname: str, bases: Sequence[str]) -> Any:
        """A package without a file of its own. Python must not look any further: it would find a file that is gone."""
        found = [base for base in bases if self.has_folder(base)]
        if not found:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = found
        return spec

    def has_folder(self, base: str) -> bool:
        real = os.path.realpath(base)
        return real in self.folders or (os.path.isdir(real) and real not in self.lost)


def files_of(base: str) -> tuple[str, str]:
    return os.path.join(base, "__init__.py"), base + ".py"


def name_of(path: str) -> str:
    """The last part of the name under which a file or a folder is imported."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name == "__init__.py" else os.path.splitext(name)[0]


def lost_folders(gone: set[str], fresh: set[str]) -> set[str]:
    """The folders on the disk that hold nothing but files that are not there on this side."""
    lost: set[str] = set()
    for path in sorted(gone, key=len, reverse=True):
        while (path := os.path.dirname(path)) not in lost and holds_only(path, gone | lost):
            if any(file.startswith(path + os.sep) for file in fresh):
                break
            lost.add(path)
    return lost


def holds_only(folder: str, paths: set[str]) -> bool:
    names = set(os.listdir(folder)) - {"__pycache__"}
    return all(os.path.join(folder, name) in paths for name in names)


def missing_folders(path: str) -> list[str]:
    """The folders above a file that are not on the disk."""
    folders = []
    while not os.path.isdir(path := os.path.dirname(path)):
        folders.append(path)
    return folders

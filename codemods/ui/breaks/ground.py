"""Where the lines of observed breaks may be rewritten: in a project, in a copy of a package, or nowhere, and why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fullgraph.codemods.model import Finding, Site, Unsure
from fullgraph.codemods.rewrite.copies import Copies
from fullgraph.codemods.rewrite.units import Unit, unit_below, unit_of
from fullgraph.codemods.rewrite.walk import COPIES, INSTALLED, Tree, add_file, find_root, walk
from fullgraph.codemods.ui.breaks.seen import Line, Seen, list_breaks


class Spot(NamedTuple):
    """A line that may be rewritten: the root of its tree, and the path below."""

    root: Path
    path: str
    line: int


@dataclass
class Ground:
    """The files that lead to breaks, by the names of the report: where each stands, or why it stays as it is."""

    observed: Mapping[str, Any]
    seen: list[Seen] = field(default_factory=list)
    spots: dict[str, tuple[Path, str]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.seen = list_breaks(self.observed)

    @property
    def names(self) -> list[str]:
        return sorted({line.file for seen in self.seen for way in seen.ways for line in way if line.file})

    @property
    def own(self) -> list[str]:
        """The files of the project that was observed."""
        return [name for name in self.names if not Path(name).is_absolute() and not is_installed(Path(name))]

    def file(self, name: str) -> Path:
        """A file as the report means it: below the root of the run, or else of the project that we stand in."""
        root = Path(self.observed.get("root") or ".")
        return (root if root.is_absolute() and root.is_dir() else find_root(Path.cwd())) / name

    # Where they stand

    def claim(self, tree: Tree) -> None:
        """Let a project's files be rewritten where they stand."""
        for name in self.names:
            path = Path(name)
            if path.is_absolute() and path.is_relative_to(tree.root):
                path = path.relative_to(tree.root)
            if name not in self.spots and path.as_posix() in tree.entries:
                self.place(name, tree, path.as_posix())

    def place(self, name: str, tree: Tree, path: str) -> None:
        if reason := self.why_stale(name, tree.root / path):
            self.reasons[name] = reason
        elif path not in tree.targets:
            self.reasons[name] = "it is not among the files to look at"
        else:
            self.spots[name] = (tree.root, path)
            self.reasons.pop(name, None)

    def leave_out(self, tree: Tree) -> None:
        """Take back what the tree has been told to leave out since."""
        for name, (root, path) in list(self.spots.items()):
            if root == tree.root and path not in tree.targets:
                del self.spots[name]
                self.reasons[name] = "it is excluded"

    def why_stale(self, name: str, file: Path) -> str:
        """Lines of a text that has changed since may be others now."""
        known = self.observed["files"].get(name) or self.observed["others"].get(name) or {}
        if not known.get("sha256"):
            return "the report does not say which text ran: observe again"
        try:
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
        except OSError as error:
            return f"not readable: {error.strerror}"
        return "" if digest == known["sha256"] else "it has changed since it was observed: observe again"

    def claim_copies(self, copies: Copies) -> Iterator[tuple[Tree, set[Unit]]]:
        """Let files of installed packages be rewritten in copies: a tree of those that are to be looked at, for each
        folder that they stand in, and what would have to be copied of it."""
        trees: dict[Path, tuple[Tree, set[Unit]]] = {}
        for name in self.names:
            if name in self.spots or name in self.reasons or not self.is_others(name, copies):
                continue
            try:
                unit, path = self.find_unit(name, copies)
            except Unsure as unsure:
                self.reasons[name] = str(unsure)
                continue
            tree, units = trees.setdefault(unit.home, (Tree(unit.home), set()))
            plant(tree, unit)
            if path in tree.entries:
                tree.targets.add(path)
                units.add(unit)
                self.place(name, tree, path)
        yield from (pair for pair in trees.values() if pair[0].targets)

    def is_others(self, name: str, copies: Copies) -> bool:
        return name not in self.own or self.file(name).is_relative_to(copies.folder)

    def find_unit(self, name: str, copies: Copies) -> tuple[Unit, str]:
        """The unit of a file, and its path: in the copies if it stands there, or was copied there before."""
        file = self.file(name)
        if file.is_relative_to(copies.folder):
            return unit_below(copies.folder, file), file.relative_to(copies.folder).as_posix()
        unit = unit_of(file, self.module(name))
        path = file.relative_to(unit.home).as_posix()
        copied = copies.origin(unit.path) == str(unit.place)
        return (Unit(copies.folder, unit.path) if copied else unit), path

    def module(self, name: str) -> str:
        return str(self.observed["others"].get(name, {}).get("module", ""))

    # What is asked of it

    def sites(self, root: Path) -> tuple[Site, ...]:
        """The lines in the files of one tree on which graphs broke, or that called what broke."""
        found = {(spot, seen.id, seen.guards) for seen in self.seen for way in seen.ways for spot in self.along(way)}
        here = {Site(spot.path, spot.line, id_, guards) for spot, id_, guards in found if spot.root == root}
        return tuple(sorted(here))

    def along(self, way: tuple[Line, ...]) -> list[Spot]:
        """The lines of a way that may be rewritten, the deepest first."""
        return [Spot(*self.spots[line.file], line.line) for line in way if line.file in self.spots]

    def by_spot(self) -> dict[tuple[Path, str], str]:
        """The names of the report, by where the files stand."""
        return {spot: name for name, spot in self.spots.items()}

    def why_not(self, name: str) -> str:
        """Why a file stays as it is."""
        if name in self.reasons or not name:
            return self.reasons.get(name, "it is in no file")
        file = self.file(name)
        if is_installed(file) or name not in self.own:
            beside = next((folder for folder in file.parents if (folder / COPIES).is_file()), None)
            return f"it is not the project's: --into {beside or 'DIR'} rewrites a copy of its package"
        return "it is not among the files to look at"


def is_installed(file: Path) -> bool:
    return any(part in INSTALLED for part in file.parts)


def plant(tree: Tree, unit: Unit) -> None:
    """Put the files of a unit into a tree."""
    if unit.place.is_dir():
        if f"{unit.path}/" not in tree.folders:
            walk(tree, unit.place)
    else:
        add_file(tree, unit.path, unit.place)


def stands_at(finding: Finding, spot: Spot) -> bool:
    """Whether a finding covers a line."""
    return finding.path == spot.path and finding.line <= spot.line <= max(finding.line, finding.last_line)

"""The trees that a command looks at: projects where they stand, and packages that are rewritten in a copy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fullgraph.codemods.model import Change, FullgraphError
from fullgraph.codemods.rewrite.copies import Copies, is_in_environment
from fullgraph.codemods.rewrite.entry import Run
from fullgraph.codemods.rewrite.journal import Journal, Sign
from fullgraph.codemods.rewrite.units import Unit, unit_around
from fullgraph.codemods.rewrite.walk import Tree, add_targets, find_root, plant_trees, refuse, without_links
from fullgraph.codemods.run import writer_for
from fullgraph.codemods.ui.breaks.ground import Ground, plant

Wrong = list[tuple[str, str]]


@dataclass(frozen=True)
class Copying:
    """Writes a change of packages into copies of them, which are made before the first is written."""

    copies: Copies
    units: frozenset[Unit]
    journal: Journal = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "journal", Journal(self.copies.folder))
        object.__setattr__(self, "_write", writer_for(self.journal))

    @property
    def folder(self) -> Path:
        return self.copies.folder

    def write(self, change: Change, sign: Sign | None = None) -> Run | None:
        touched = {unit for unit in self.units for path in change.after if is_in(path, unit)}
        self.copies.hold(unit for unit in touched if unit.home != self.folder)
        run: Run | None = self._write(change, sign)  # type: ignore[attr-defined]
        return run


def is_in(path: str, unit: Unit) -> bool:
    return path == unit.path or path.startswith(f"{unit.path}/")


@dataclass(frozen=True)
class Field:
    """One tree. `copying`: where what is written goes, if not there. `sites_only`: nothing but breaks is repaired."""

    tree: Tree
    copying: Copying | None = None
    sites_only: bool = False


def fields_in_place(paths: Sequence[Path], ground: Ground | None) -> tuple[list[Field], Wrong]:
    trees, wrong = plant_trees(paths or (Path(),))
    for tree in trees if ground else ():
        ground.claim(tree)  # type: ignore[union-attr]
    return [Field(tree) for tree in trees], wrong


def fields_into(folder: Path, paths: Sequence[Path], ground: Ground | None) -> tuple[list[Field], Wrong]:
    """Packages first: what they are found to break on is not looked for in their callers.

    Without paths, only the files that hold observed lines are looked at, the project's own too.
    """
    copies = Copies(Path(os.path.realpath(folder)))
    installed = [path for path in paths if is_installed(path)]
    if not installed and ground is None:
        raise FullgraphError(
            "--into is for packages that are installed: give --observed REPORT.json, or paths in such a package"
        )
    others = [path for path in paths if path not in installed]
    own, wrong = own_fields(others, bool(paths), ground)
    named, wrong_named = named_fields(installed, copies)
    if ground:
        for one in named:
            ground.claim(one.tree)
    seen = [Field(tree, Copying(copies, frozenset(units)), True) for tree, units in claims(ground, copies)]
    packages = [*named, *seen]
    if reason := copies.refuse({one.tree.root for one in packages} - {copies.folder}):
        raise FullgraphError(f"{folder}: {reason}")
    return [*packages, *own], [*wrong, *wrong_named]


def claims(ground: Ground | None, copies: Copies) -> Iterator[tuple[Tree, set[Unit]]]:
    return ground.claim_copies(copies) if ground else iter(())


def own_fields(paths: Sequence[Path], is_told: bool, ground: Ground | None) -> tuple[list[Field], Wrong]:
    """The project's: as ever where paths are given, else the files with observed lines."""
    if is_told or ground is None:
        return fields_in_place(paths, ground) if paths else ([], [])
    if not ground.own:
        return [], []
    trees, wrong = plant_trees([find_root(Path.cwd())])
    for tree in trees:
        tree.targets &= set(ground.own)
        ground.claim(tree)
    return [Field(tree, sites_only=True) for tree in trees if tree.targets], wrong


def named_fields(paths: Sequence[Path], copies: Copies) -> tuple[list[Field], Wrong]:
    """Installed packages that were given as paths."""
    found: dict[Path, tuple[Tree, set[Unit]]] = {}
    wrong = [(str(path), reason) for path in paths if (reason := refuse(path))]
    for path in (path for path in paths if not refuse(path)):
        real = without_links(path)
        unit = unit_around(real)
        if copies.origin(unit.path) == str(unit.place):
            real = copies.folder / real.relative_to(unit.home)
            unit = Unit(copies.folder, unit.path)
        tree, units = found.setdefault(unit.home, (Tree(unit.home), set()))
        plant(tree, unit)
        add_targets(tree, real)
        units.add(unit)
    return [Field(tree, Copying(copies, frozenset(units))) for tree, units in found.values()], wrong


def is_installed(path: Path) -> bool:
    """Whether a path lies in an environment, or in copies of what is there."""
    return is_in_environment(Path(os.path.realpath(path)))

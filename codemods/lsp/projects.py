"""The projects that open files belong to, kept warm: what was parsed of other files stays between two looks."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.lsp.settings import ClientSettings
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.asking import ENOUGH
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.shelf import DiskShelf, LiveShelf
from fullgraph.codemods.rewrite.walk import MARKERS, NEVER, SUFFIXES, Tree, find_root, matching, walk, without_links
from fullgraph.codemods.run import look_at
from fullgraph.codemods.ui.config import Config, read_config


def root_of(file: Path, folders: Iterable[Path]) -> Path:
    """The project that a file belongs to: the nearest root above it, else the nearest of the client's folders."""
    nearest = find_root(file)
    if any(os.path.lexists(nearest / marker) for marker in MARKERS):
        return nearest
    around = [folder for folder in folders if file.is_relative_to(folder)]
    return max(around, key=lambda folder: len(folder.parts)) if around else nearest


def is_common_ground(root: Path) -> bool:
    """Whether a folder holds the projects of many, and is none: only files right in it belong together."""
    shared = {Path.home(), *Path.home().parents, Path(os.path.realpath(tempfile.gettempdir()))}
    return root in shared and not any(os.path.lexists(root / marker) for marker in MARKERS)


def real_path(path: str) -> Path:
    return without_links(Path(path))


@dataclass
class LiveProject:
    """One project under an editor. Only one thread may use it at a time."""

    root: Path
    settings: ClientSettings
    tree: Tree | None = None
    config: Config = field(default_factory=Config)
    codemods: list[Codemod] = field(default_factory=list)
    problem: str = ""
    """What is wrong with the configuration; the last one that was right counts on."""

    project: Project | None = None
    known: dict[str, tuple[bytes, FileResult]] = field(default_factory=dict)
    """What was found in files of which the answer depends on them alone, with their bytes."""

    finders: dict[str, set[str]] = field(default_factory=dict)
    """The codemods that found something in a file when it was last looked at."""

    shelf: LiveShelf | None = None
    is_stale: bool = False
    """Whether the disk may have changed since it was looked at."""

    _read: tuple[object, ...] = ()

    def look(self, path: str, buffers: Mapping[str, bytes]) -> FileResult:
        """What `check` says of one file, with the buffers laid over the disk."""
        self.configure()
        if self.is_stale:
            self.refresh()
        raw = buffers.get(path)
        held, result = self.known.get(path, (None, FileResult(path)))
        if raw is not None and held == raw:
            return result
        if self.is_left_out(path):
            return FileResult(path)
        expected = self.finders.get(path, ())
        result = look_at(self.laid_over(buffers), path, self.codemods, self.exclude, expected=expected)
        self.laid_over(buffers).forget_trees_beyond(ENOUGH)
        self.finders[path] = {finding.codemod for finding in result.findings}
        if raw is not None and result.is_local and not result.error:
            self.known[path] = raw, result
        return result

    @property
    def exclude(self) -> tuple[str, ...]:
        return (*self.config.exclude, *self.settings.exclude)

    def is_left_out(self, path: str) -> bool:
        """Whether `check` on the whole project would pass over a file: excluded, ignored by git, or installed."""
        if NEVER.intersection((self.root / path).parts) or any(matching([path], self.exclude)):
            return True
        is_listed = path.endswith(SUFFIXES) and (self.root / path).exists()
        return is_listed and path not in self.planted().entries

    # Configuration

    def configure(self, settings: ClientSettings | None = None) -> None:
        """Read the configuration again if it is another one; one that is wrong changes nothing but `problem`."""
        self.settings = settings or self.settings
        stamp = (self.settings, *config_stamps(self.root))
        if stamp == self._read:
            return
        self._read = stamp
        self.known.clear()
        try:
            config = read_config(self.root)
            self.codemods = self.settings.codemods(config)
            self.config, self.problem = config, ""
        except FullgraphError as error:
            self.codemods = self.codemods or self.settings.codemods(Config())
            self.problem = str(error)

    # Files

    def planted(self) -> Tree:
        if self.tree is None:
            self.tree = Tree(self.root)
            if is_common_ground(self.root):
                self.tree.look_again(child.name for child in self.root.iterdir())
            elif self.root.is_dir():
                walk(self.tree, self.root)
        return self.tree

    def refresh(self) -> None:
        """Look at the disk again; what has not changed there is kept."""
        self.is_stale = False
        before, self.tree = self.planted().entries, None
        after = self.planted().entries
        changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        if changed and self.project:
            self.known.clear()
            self.project = self._renewed(self.project, self.project.overlay, changed)

    def laid_over(self, buffers: Mapping[str, bytes]) -> Project:
        """The project with these buffers."""
        if self.project is None:
            self.project = self._project(buffers)
        old = self.project.overlay
        changed = {path for path in {*old, *buffers} if old.get(path) != buffers.get(path)}
        if changed:
            self.project = self._renewed(self.project, buffers, changed)
        return self.project

    def _project(self, buffers: Mapping[str, bytes]) -> Project:
        self.shelf = self.shelf or LiveShelf(DiskShelf(self.root))
        return Project(self.root, {*self.planted().entries, *buffers}, buffers, self.shelf)

    def _renewed(self, old: Project, buffers: Mapping[str, bytes], changed: set[str]) -> Project:
        fresh = self._project(buffers)
        if fresh.files == old.files and not any(path.endswith("__init__.py") for path in changed):
            fresh.remember(old, changed)
        return fresh

    def apart(self) -> LiveProject:
        """The same project for another thread."""
        return replace(self, tree=None, project=None, known={}, _read=())


def config_stamps(root: Path) -> Iterable[object]:
    """What tells that pyproject.toml, here or above, has changed."""
    for folder in (root, *root.parents):
        try:
            status = os.stat(folder / "pyproject.toml")
        except OSError:
            continue
        return folder, status.st_mtime_ns, status.st_size, status.st_ino
    return ()

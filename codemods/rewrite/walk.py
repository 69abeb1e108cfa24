"""Which files: the project around the paths that the user gave, and the Python files in it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.project import is_test
from fullgraph.codemods.rewrite.folder import Identity, identity_of
from fullgraph.codemods.rewrite.ignore import Pattern, is_ignored, patterns_in, read_line, work_tree_above

FOLDER = ".fullgraph"
"""What fullgraph keeps in a project, at its root."""

MARKERS = ("pyproject.toml", FOLDER, "setup.py", "setup.cfg", ".git", ".hg")
INSTALLED = ("site-packages", "dist-packages")
COPIES = "fullgraph-copies.json"
"""Marks a folder that holds copies of installed packages: no part of the project around it."""

SUFFIXES = (".py", ".ipynb")
NEVER = {
    *(".git", ".hg", ".svn", FOLDER, ".venv", "venv", ".tox", ".nox", "node_modules", "__pycache__"),
    *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".ipynb_checkpoints", ".eggs", *INSTALLED),
}

DEEPEST = 200
OUTPUT = {"build", "dist"}
"""What builds leave at a project's root; deeper down these are names like any other."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file, by its path below the root. The stamp (times of content and status, size, inode) tells of changes."""

    path: str
    stamp: tuple[int, int, int, int]

    @property
    def size(self) -> int:
        return self.stamp[2]


@dataclass
class Tree:
    """The files of one project: all of them, those that the user asked about, and what was wrong on the way."""

    root: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    targets: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    """The targets that the user gave as files; no exclusion takes them away."""

    tests: set[str] = field(default_factory=set)
    """The targets that are tests although the user asked about no test."""

    errors: list[tuple[str, str]] = field(default_factory=list)
    """What is wrong with the paths that the user asked about, each with the reason."""

    identity: Identity | None = None
    """The root itself, by whatever path: another folder may stand there when something is written."""

    folders: set[str] = field(default_factory=set)
    wrong: dict[str, str] = field(default_factory=dict)

    def has_changed(self, path: str) -> bool:
        """Whether a file is no longer as it was when the tree was made."""
        try:
            return path in self.entries and stamp_of(os.stat(self.root / path)) != self.entries[path].stamp
        except OSError:
            return True

    def look_again(self, paths: Iterable[str]) -> None:
        """Take these files as they are now: something has been written since the tree was made."""
        for path in paths:
            self.entries.pop(path, None)
            if path.endswith(SUFFIXES) and (self.root / path).is_file():
                add_file(self, path, self.root / path)
        self.targets &= self.entries.keys()

    def leave_out_tests(self) -> int:
        """Look at no test that the user did not ask about as one; how many these are."""
        left = self.tests & self.targets - self.named
        self.targets -= left
        return len(left)

    def leave_out(self, globs: Sequence[str]) -> None:
        self.targets -= set(matching(self.targets - self.named, globs))


def plant_trees(paths: Sequence[Path]) -> tuple[list[Tree], list[tuple[str, str]]]:
    """The projects that the paths belong to; and the paths that are nothing to look at, each with the reason."""
    trees: dict[Path, Tree] = {}
    wrong: list[tuple[str, str]] = []
    for path in paths:
        reason = refuse(path)
        if reason:
            wrong.append((str(path), reason))
            continue
        real = without_links(path)
        root = find_root(real)
        if root not in trees:
            trees[root] = Tree(root, identity=identity_of(root))
            walk(trees[root], root)
        add_targets(trees[root], real)
    for root, tree in trees.items():
        for inner in trees:
            if root in inner.parents:
                yield_to(tree, trees[inner])
    return list(trees.values()), wrong


def yield_to(outer: Tree, inner: Tree) -> None:
    """A file that the user asked about twice belongs to the nearest project."""
    below = inner.root.relative_to(outer.root).as_posix()
    outer.targets -= {f"{below}/{path}" for path in inner.targets}


def without_links(path: Path) -> Path:
    """The path by its real folders. A file that is itself a link keeps its name."""
    return Path(os.path.realpath(path)) if path.is_dir() else Path(os.path.realpath(path.parent), path.name)


def leads_out(path: Path) -> bool:
    """Whether a link on the way to a path leads out of the project, or of the folder, that it stands in.

    A clone, and an archive that was unpacked, can bring such links. Those above the current folder are the user's own.
    """
    whole = Path(os.path.join(Path.cwd(), path))
    for part in (whole, *whole.parents):
        if part.is_symlink():
            home = find_root(part.parent)
            is_marked = any(os.path.lexists(home / marker) for marker in MARKERS)
            is_below = part.parent.is_relative_to(Path.cwd())
            if (is_marked or is_below) and not Path(os.path.realpath(part)).is_relative_to(os.path.realpath(home)):
                return True
    return False


def refuse(path: Path) -> str:
    """Why a path that the user gave cannot be looked at, or nothing."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return "a broken link" if os.path.islink(path) else "no such file or folder"
    except OSError as error:
        return f"not readable: {error.strerror}"
    if leads_out(path):
        return f"a link that leads out of the project; {os.path.realpath(path)} is what it stands for"
    if stat.S_ISDIR(mode):
        return ""
    if not stat.S_ISREG(mode):
        return "not a file or folder"
    is_python = path.suffix in SUFFIXES or has_python_shebang(path)
    return "" if is_python else "not a Python file (.py) or notebook (.ipynb)"


def has_python_shebang(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            line = file.readline(128)
    except OSError:
        return False
    return line.startswith(b"#!") and b"python" in line


def find_root(path: Path) -> Path:
    """The nearest folder that looks like a project's root; an installed package is a project of its own."""
    start = Path(os.path.abspath(path))
    folder = start if start.is_dir() else start.parent
    for outer in (folder, *folder.parents):
        if outer.parent.name in INSTALLED:
            return outer
        if outer.name in INSTALLED:
            break
        if any(os.path.lexists(outer / marker) for marker in MARKERS):
            return outer
    return folder


def walk(tree: Tree, folder: Path) -> None:
    """Put every Python file below a folder into the tree, as `.gitignore` allows."""
    above = work_tree_above(folder)
    inherited = [pattern for outer in above for pattern in patterns_in(outer)]
    if any(is_ignored(str(inner), True, inherited) for inner in (*above[1:], folder)):
        inherited = []  # the user asked for what git never looks into
    relative = "" if folder == tree.root else folder.relative_to(tree.root).as_posix() + "/"
    _walk(tree, str(folder), relative, inherited)


def _walk(tree: Tree, folder: str, relative: str, ignores: list[Pattern]) -> None:
    tree.folders.add(relative)
    if relative.count("/") > DEEPEST:
        tree.wrong[relative] = f"more than {DEEPEST} folders deep; left alone"
        return
    try:
        with os.scandir(folder) as scan:
            children = sorted(scan, key=lambda child: child.name)
    except OSError as error:
        tree.wrong[relative or "."] = f"not readable: {error.strerror}"
        return
    names = {child.name for child in children}
    if relative and not names.isdisjoint(("pyvenv.cfg", COPIES)):
        return
    if ".git" in names:
        ignores = []  # a work tree of its own
    if ".gitignore" in names or ".git" in names:
        ignores = [*ignores, *patterns_in(Path(folder))]
    for child in children:
        path = relative + child.name
        if child.is_dir(follow_symlinks=False):
            is_output = not relative and child.name in OUTPUT
            if child.name not in NEVER and not is_output and not is_ignored(child.path, True, ignores):
                _walk(tree, child.path, path + "/", ignores)
        elif child.name.endswith(SUFFIXES) and not is_ignored(child.path, False, ignores):
            add_file(tree, path, child)


def add_file(tree: Tree, path: str, child: os.DirEntry[str] | Path) -> None:
    """Put one file into the tree. A link inside the project stands for a file that is there anyway."""
    if child.is_symlink():
        target = os.path.realpath(child)
        if not Path(target).is_relative_to(os.path.realpath(tree.root)):
            tree.wrong[path] = f"links to {target}, outside the project; left alone"
        return
    try:
        status = child.stat()
    except OSError as error:
        tree.wrong[path] = f"not readable: {error.strerror}"
        return
    if stat.S_ISREG(status.st_mode):  # reading a pipe or a device might never end
        tree.entries[path] = Entry(path, stamp_of(status))


def stamp_of(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def add_targets(tree: Tree, path: Path) -> None:
    """Mark what the user asked about: the file itself, or everything below the folder."""
    relative = path.relative_to(tree.root).as_posix()
    if path.is_dir():
        below = "" if relative == "." else relative + "/"
        if below not in tree.folders:
            walk(tree, path)
        found = {name for name in tree.entries if name.startswith(below)}
        tree.targets |= found
        tree.tests = tree.tests - found if is_test(f"{below}_") else tree.tests | set(filter(is_test, found))
        asked = [name for name in tree.wrong if name.startswith(below)]
    else:
        add_named(tree, relative, path)
        asked = [relative] if relative in tree.wrong else []
    tree.errors += [(name, tree.wrong[name]) for name in asked if (name, tree.wrong[name]) not in tree.errors]


def add_named(tree: Tree, relative: str, path: Path) -> None:
    """Mark one file that the user gave by name; a link stands for what it links to."""
    if relative not in tree.entries:
        add_file(tree, relative, path)
    real = Path(os.path.realpath(path))
    if path.is_symlink() and real.is_relative_to(tree.root):
        relative = real.relative_to(tree.root).as_posix()
        add_file(tree, relative, real)
    tree.named |= {relative} & set(tree.entries)
    tree.targets |= tree.named


def matching(paths: Iterable[str], globs: Sequence[str]) -> Iterator[str]:
    """The paths that a list of globs names, as `.gitignore` would read them."""
    patterns = [pattern for glob in globs for pattern in read_glob(glob)]
    return (path for path in paths if patterns and is_named(path, patterns))


def read_glob(glob: str) -> list[Pattern]:
    try:
        found = list(read_line("", glob))
    except re.error as error:
        raise FullgraphError(f"--exclude: {glob!r} is no pattern: {error}") from error
    if not found and glob.startswith("!"):
        raise FullgraphError(f"--exclude: {glob!r} is no pattern")
    return found


def is_named(path: str, patterns: list[Pattern]) -> bool:
    """The file itself or a folder that it is in."""
    folders = accumulate(path.split("/")[:-1], "{}/{}".format)
    return any(is_ignored(folder, True, patterns) for folder in folders) or is_ignored(path, False, patterns)

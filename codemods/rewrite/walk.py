"""Which files: the project around the paths that the user gave, and the Python files in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.model import FullgraphError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MARKERS = ("pyproject.toml", ".fullgraph", "setup.py", "setup.cfg", ".git", ".hg")
INSTALLED = ("site-packages", "dist-packages")
SUFFIXES = (".py", ".ipynb")
NEVER = {
    *(".git", ".hg", ".svn", ".fullgraph", ".venv", "venv", ".tox", ".nox", "node_modules", "__pycache__"),
    *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".ipynb_checkpoints", ".eggs", *INSTALLED),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One file, by its path below the root, with what tells whether it has changed."""

    path: str
    stamp: tuple[int, int, int]

    @property
    def size(self) -> int:
        return self.stamp[1]


@dataclass
class Tree:
    """The files of one project: all of them, those that the user asked about, and what was wrong on the way."""

    root: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    targets: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    """The targets that the user gave as files; no exclusion takes them away."""

    errors: list[tuple[str, str]] = field(default_factory=list)

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
        root = find_root(path)
        if root not in trees:
            trees[root] = Tree(root)
            walk(trees[root], root)
        add_targets(trees[root], path.absolute())
    return list(trees.values()), wrong


def refuse(path: Path) -> str:
    """Why a path that the user gave cannot be looked at, or nothing."""
    if not path.exists():
        return "a broken link" if path.is_symlink() else "no such file or folder"
    if path.is_dir() or path.suffix in SUFFIXES or has_python_shebang(path):
        return ""
    return "not a Python file (.py) or notebook (.ipynb)" if path.is_file() else "not a file or folder"


def has_python_shebang(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            line = file.readline(128)
    except OSError:
        return False
    return line.startswith(b"#!") and b"python" in line


def find_root(path: Path) -> Path:
    """The nearest folder that looks like a project's root; an installed package is a project of its own."""
    start = path.absolute()
    start = Path(os.path.normpath(start))
    folder = start if start.is_dir() else start.parent
    for outer in (folder, *folder.parents):
        if outer.parent.name in INSTALLED:
            return outer
        if outer.name in INSTALLED:
            break
        if any((outer / marker).exists() for marker in MARKERS):
            return outer
    return folder


def walk(tree: Tree, folder: Path) -> None:
    """Put every Python file below a folder into the tree, as `.gitignore` allows."""
    inherited = [spec for outer in reversed(tree.root.parents) for spec in ignore_files(outer)]
    if not any((outer / ".git").exists() for outer in (tree.root, *tree.root.parents)):
        inherited = []
    relative = "" if folder == tree.root else folder.relative_to(tree.root).as_posix() + "/"
    _walk(tree, str(folder), relative, inherited)


def _walk(tree: Tree, folder: str, relative: str, ignores: list[Ignore]) -> None:
    try:
        with os.scandir(folder) as scan:
            children = sorted(scan, key=lambda child: child.name)
    except OSError as error:
        tree.errors.append((relative or ".", f"not readable: {error.strerror}"))
        return
    names = {child.name for child in children}
    if "pyvenv.cfg" in names and relative:
        return
    if ".gitignore" in names or ".git" in names:
        ignores = [*ignores, *ignore_files(Path(folder))]
    for child in children:
        path = relative + child.name
        if child.is_dir(follow_symlinks=False):
            if child.name not in NEVER and not (ignores and is_ignored(child.path + "/", ignores)):
                _walk(tree, child.path, path + "/", ignores)
        elif child.name.endswith(SUFFIXES) and not (ignores and is_ignored(child.path, ignores)):
            add_file(tree, path, child)


def add_file(tree: Tree, path: str, child: os.DirEntry[str] | Path) -> None:
    """Put one file into the tree. A link inside the project stands for a file that is there anyway."""
    if child.is_symlink():
        target = os.path.realpath(child)
        if Path(target).is_relative_to(os.path.realpath(tree.root)):
            return
        tree.errors.append((path, f"links to {target}, outside the project; left alone"))
        return
    try:
        status = child.stat()
    except OSError as error:
        tree.errors.append((path, f"not readable: {error.strerror}"))
        return
    tree.entries[path] = Entry(path, (status.st_mtime_ns, status.st_size, status.st_ino))


def add_targets(tree: Tree, path: Path) -> None:
    """Mark what the user asked about: the file itself, or everything below the folder."""
    path = Path(os.path.normpath(path))
    relative = path.relative_to(tree.root).as_posix()
    if path.is_dir():
        below = "" if relative == "." else relative + "/"
        if below and not any(name.startswith(below) for name in tree.entries):
            walk(tree, path)
        tree.targets |= {name for name in tree.entries if name.startswith(below)}
    else:
        if relative not in tree.entries:
            add_file(tree, relative, path)
        if path.is_symlink() and relative not in tree.entries:
            real = Path(os.path.realpath(path))
            if real.is_relative_to(tree.root):
                relative = real.relative_to(tree.root).as_posix()
        tree.named |= {relative} & set(tree.entries)
        tree.targets |= tree.named


def matching(paths: Iterable[str], globs: Sequence[str]) -> Iterator[str]:
    """The paths that a list of globs names, as `.gitignore` would read them."""
    if not globs:
        return iter(())
    from pathspec import GitIgnoreSpec

    matched: Iterator[str] = GitIgnoreSpec.from_lines(globs).match_files(paths)
    return matched


# .gitignore

Ignore = tuple[str, "GitIgnoreSpec"]


def ignore_files(folder: Path) -> list[Ignore]:
    """What `.gitignore` and `.git/info/exclude` in one folder say, with the folder that they count from."""
    found: list[Ignore] = []
    for name in (".git/info/exclude", ".gitignore"):
        try:
            lines = (folder / name).read_text(errors="replace").splitlines()
        except OSError:
            continue
        if any(line.strip() and not line.startswith("#") for line in lines):
            found.append((f"{folder}{os.sep}", compile_ignore(lines, folder / name)))
    return found


def compile_ignore(lines: list[str], file: Path) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise FullgraphError(f"{file}: {error}") from error


def is_ignored(path: str, ignores: list[Ignore]) -> bool:
    """Whether the innermost pattern that says anything about the path says to ignore it."""
    for base, spec in reversed(ignores):
        verdict = spec.check_file(path[len(base) :].replace(os.sep, "/")).include
        if verdict is not None:
            return verdict
    return False

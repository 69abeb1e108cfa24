"""Which lines have changed since a revision, as git tells it: commits, what is staged, what is not, and new files.

What counts is the difference to where the branch left that revision, so that what others have done there since does
not. In a file that was renamed, only its changed lines count. A submodule is compared with the commit that the
revision has for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.walk import SUFFIXES, Tree
from fullgraph.codemods.ui.ci.git import Repository

HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
ESCAPE = re.compile(r"\\([0-7]{3}|.)")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
DIFF = (
    *("diff", "--unified=0", "--inter-hunk-context=0", "--find-renames", "--text", "--no-color", "--no-relative"),
    *("--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--src-prefix=a/", "--dst-prefix=b/"),
)
PYTHON = tuple(f":(glob)**/*{suffix}" for suffix in SUFFIXES)

Ranges = list[tuple[int, int]]
"""First and last lines, counted from 1."""


@dataclass
class Changed:
    """The lines that have changed, by file."""

    lines: dict[Path, Ranges] = field(default_factory=dict)
    new: set[Path] = field(default_factory=set)
    """Files of which every line counts."""

    def touches(self, file: Path) -> bool:
        return file in self.new or bool(self.lines.get(file))

    def holds(self, file: Path, first: int, last: int) -> bool:
        """Whether one of these lines of a file has changed."""
        return file in self.new or any(begin <= last and first <= end for begin, end in self.lines.get(file, ()))


def changed_since(tree: Tree, revision: str, notify: Callable[[str], None]) -> Changed:
    """What has changed in the files that the user asked about."""
    try:
        repository = Repository.around(tree.root)
    except FullgraphError as error:
        raise FullgraphError(f"--since {revision}: {tree.root}: {error}") from error
    commit = find_commit(repository, revision)
    changed = Changed()
    add_changes(changed, repository, fork_point(repository, commit, revision, notify), tree, notify)
    return changed


def find_commit(repository: Repository, revision: str) -> str:
    if commit := repository.commit_of(revision):
        return commit
    if repository.is_shallow:
        raise FullgraphError(
            f"--since {revision}: this clone is shallow and does not have it; fetch it first "
            "(`fetch-depth: 0` of actions/checkout, `GIT_DEPTH: 0` of GitLab)"
        )
    remotes = repository.ask("for-each-ref", "--format=%(refname:short)", f"refs/remotes/*/{revision}").split()
    hint = f"; did you mean {remotes[0]}?" if remotes else ""
    raise FullgraphError(f"--since {revision}: git knows no such commit{hint}")


def fork_point(repository: Repository, commit: str, revision: str, notify: Callable[[str], None]) -> str:
    """Where the history of what is checked out left that of the commit; the commit itself if nobody knows."""
    try:
        return repository.ask("merge-base", commit, "HEAD").strip()
    except FullgraphError:
        why = "this clone is shallow" if repository.is_shallow else "their histories have nothing in common"
        notify(f"no common ancestor of {revision} and HEAD is known ({why}); compared with {revision} itself")
        return commit


def add_changes(changed: Changed, repository: Repository, base: str, tree: Tree, notify: Callable[[str], None]) -> None:
    """The changes in one repository, and in its submodules."""
    top = repository.top
    targets = {file: repository.path(file) for file in asked_about(tree, top)}
    index = repository.index()
    named = [f":(literal){path}" for path in targets.values() if not path.endswith(SUFFIXES)]
    shown = repository.ask(*DIFF, base, "--", *PYTHON, *named)
    changed.lines |= {top / path: ranges for path, ranges in parse_diff(shown).items()}
    inner = {path for path in index.submodules if any(name.startswith(f"{path}/") for name in targets.values())}
    below = tuple(f"{path}/" for path in inner)
    changed.new |= {file for file, path in targets.items() if path not in index.files and not path.startswith(below)}
    for path in sorted(inner):
        add_submodule(changed, repository, path, base, tree, notify)


def add_submodule(
    changed: Changed, outer: Repository, path: str, base: str, tree: Tree, notify: Callable[[str], None]
) -> None:
    """All of it is new if it was not there, or if what it was is not known here."""
    entry = outer.ask("ls-tree", "-z", base, "--", path).split()
    inner = Repository.around(outer.top / path)
    commit = inner.commit_of(entry[2]) if entry[1:2] == ["commit"] and inner.top != outer.top else ""
    if commit:
        add_changes(changed, inner, commit, tree, notify)
        return
    if entry:
        notify(f"the submodule {path} does not have the commit that it was at; all of its lines count as changed")
    changed.new |= set(asked_about(tree, outer.top / path))


def asked_about(tree: Tree, folder: Path) -> list[Path]:
    files = (tree.root / path for path in sorted(tree.targets))
    return [file for file in files if file.is_relative_to(folder)]


def parse_diff(shown: str) -> dict[str, Ranges]:
    """The lines that a diff without context adds or changes, by the file's new path."""
    found: dict[str, Ranges] = {}
    ranges: Ranges = []
    is_head = False
    for line in shown.split("\n"):
        if line.startswith("diff --git "):
            is_head, ranges = True, []
        elif is_head and line.startswith("+++ ") and line != "+++ /dev/null":
            found[unquoted(line.removeprefix("+++ ").rstrip("\t\r")).removeprefix("b/")] = ranges
        elif line.startswith("@@ "):
            is_head = False
            ranges += lines_of(line)
    return found


def lines_of(hunk: str) -> Iterable[tuple[int, int]]:
    match = HUNK.match(hunk)
    first, count = (int(match[1]), int(match[2] or 1)) if match else (0, 0)
    return [(first, first + count - 1)] if count else []


def unquoted(path: str) -> str:
    """A path as git writes it in a diff: in quotes if it holds a quote, a backslash or a control character."""
    if not path.startswith('"'):
        return path
    return ESCAPE.sub(unescaped, path[1:-1])


def unescaped(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code, 8)) if code.isdigit() else ESCAPED.get(code, code)

"""Where a file or a function went, by git's memory. Without git, or with none of it in time, nobody knows.

Git is only asked what it has stored: nothing is fetched, no program of its settings runs, and it takes seconds.
"""

from __future__ import annotations

import ast
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.git import environment, reading
from fullgraph.codemods.tickets.places.likeness import Comparison
from fullgraph.codemods.tickets.places.paths import common_end, parts_of
from fullgraph.codemods.tickets.places.symbols import Named, around_node

SECONDS, EACH = 8.0, 2.0
"""For all questions about one project together, and for each."""

STEPS = 6
"""Names that a file is followed through."""

STORED = ("--relative", "--no-ext-diff", "--no-textconv")
OUTPUT = 2_000_000
MOVED = 0.75
"""A function that is less like the old one than this is another one."""


@dataclass
class History:
    """What git knows about one project, asked until the time is over."""

    root: Path
    left: float = SECONDS

    def ask(self, *arguments: str) -> str:
        """Git's answer, or nothing."""
        if self.left <= 0:
            return ""
        began = time.monotonic()
        try:
            done = subprocess.run(
                [*reading(self.root), *arguments],
                capture_output=True,
                env=environment(),
                timeout=min(self.left, EACH),
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return ""
        finally:
            self.left -= time.monotonic() - began
        return done.stdout[:OUTPUT].decode(errors="replace") if done.returncode == 0 else ""

    def says_nothing(self, what: str) -> str:
        """A line for what was tried in vain."""
        return f"history: {'git took too long to be asked about' if self.left <= 0 else 'git knows of no'} {what}"

    def follow(self, written: str, files: tuple[str, ...]) -> tuple[str, str] | None:
        """The file of the project that a path was renamed to, and the old name that it was known by."""
        first = name = ""
        for _ in range(STEPS):
            moved = self.moved(name or written)
            if moved is None:
                return None
            first, name = first or moved[0], moved[1]
            if name in files:
                return name, first
        return None

    def moved(self, written: str) -> tuple[str, str] | None:
        """The old name of a file that ends like this, and the name that it was given."""
        parts = parts_of(written)
        renames = self.renames("diff", "--cached") if parts else {}
        for commit in self.deletions(parts[-1]) if parts else ():
            renames = {**self.renames("show", "--format=", commit), **renames}
        lengths = {old: common_end(parts, tuple(old.split("/"))) for old in renames}
        old = max(lengths, key=lambda name: lengths[name], default="")
        return (old, renames[old]) if lengths.get(old, 0) >= min(2, len(parts)) else None

    def deletions(self, name: str) -> list[str]:
        """The last commits in which a file of this name went away."""
        shown = self.ask(
            "log", *STORED, "--no-renames", "--diff-filter=D", "--format=%H", "-n", "5", "--", f":(glob)**/{name}"
        )
        return shown.split()

    def renames(self, *command: str) -> dict[str, str]:
        """The files that a change renames, by their old names."""
        words = self.ask(*command, "-z", *STORED, "-M", "--diff-filter=R", "--name-status").split("\0")
        return {
            words[number + 1]: words[number + 2]
            for number, word in enumerate(words[:-2])
            if word.strip()[:1] == "R" and word.strip()[1:].isdigit()
        }

    def old_function(self, name: str, paths: tuple[str, ...]) -> tuple[ast.AST, str] | None:
        """A function or class as it was before it lost its name, and the file that it was in."""
        for path in paths:
            if node := definition(self.ask("show", f"HEAD:./{path}"), name):
                return node, path
        for commit, path in self.removals(name, paths):
            if node := definition(self.ask("show", f"{commit}^:./{path}"), name):
                return node, path
        return None

    def removals(self, name: str, paths: tuple[str, ...]) -> list[tuple[str, str]]:
        """The last commits that changed how often a definition occurs, each with a file that they changed."""
        last = name.rpartition(".")[2]
        shown = self.ask(
            *("log", f"-G^[ \t]*(async def|def|class) {last}\\b", *STORED),
            *("--name-only", "--format=%x00%H", "-n", "5", "--", *paths),
        )
        found: list[tuple[str, str]] = []
        for record in shown.split("\0")[1:]:
            commit, *names = record.split("\n")
            found += [(commit.strip(), path) for path in names if path.endswith(".py")]
        return found[:10]


def definition(text: str, name: str) -> ast.AST | None:
    """The function or class of a dotted name in a text; of a method's class any name will do."""
    owner, _, last = name.rpartition(".")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found: list[tuple[str, ast.AST]] = []
    for outer in ast.walk(tree):
        for node in ast.iter_child_nodes(outer):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == last:
                found.append((getattr(outer, "name", ""), node))
    owned = [node for around, node in found if around == owner.rpartition(".")[2]] if owner else []
    rest = [node for _, node in found]
    return next(iter(owned or (rest if len(rest) == 1 else [])), None)


def renamed_to(project: Project, old: ast.AST, paths: list[str]) -> tuple[str, Named, float] | None:
    """The function that an old one has become: the most alike in these files, if it is alike enough."""
    comparison = Comparison()
    best: tuple[float, str, Named] | None = None
    for path in paths:
        module = project.module(path)
        for node in module.unordered(type(old)):
            score = comparison.likeness(old, node)
            named = around_node(module, node)
            if named and score >= MOVED and (best is None or score > best[0]):
                best = score, path, named
    return (best[1], best[2], best[0]) if best else None

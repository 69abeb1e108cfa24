"""What `.gitignore` says about a path, exactly as git reads it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from fullgraph.codemods.plain_file import read_plain_text

T = TypeVar("T")
TOKEN = re.compile(r"\*+|\[(?:!|\^)?\]?(?:\\.|[^\]\\])*\]|\\.|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of a `.gitignore` in the folder `base` (which ends with a separator)."""

    base: str
    is_negated: bool
    only_folders: bool
    regex: re.Pattern[str]

    def matches(self, path: str, is_folder: bool) -> bool:
        if self.only_folders and not is_folder:
            return False
        return self.regex.fullmatch(path[len(self.base) :].replace(os.sep, "/")) is not None


def is_ignored(path: str, is_folder: bool, patterns: list[Pattern]) -> bool:
    """Whether the last pattern that says anything about the path says to ignore it; its folders are not asked."""
    for pattern in reversed(patterns):
        if pattern.matches(path, is_folder):
            return not pattern.is_negated
    return False


def work_tree_above(folder: Path) -> list[Path]:
    """The folders above this one up to the top of its git work tree, the top first; none outside of one."""
    if is_work_tree(folder):
        return []
    for number, outer in enumerate(folder.parents):
        if is_work_tree(outer):
            return list(reversed(folder.parents[: number + 1]))
    return []


def is_work_tree(folder: Path) -> bool:
    return os.path.lexists(folder / ".git")


def patterns_in(folder: Path) -> Iterator[Pattern]:
    """What `.git/info/exclude` and then `.gitignore` in one folder say. Lines that cannot be read say nothing."""
    for name in (".git/info/exclude", ".gitignore"):
        file = folder / name
        with suppress(OSError):
            text = read_plain_text(file, "utf-8-sig", "surrogateescape")
            for line in text.split("\n"):
                with suppress(re.error):
                    yield from read_line(os.path.join(folder, ""), line)


def read_line(base: str, line: str) -> Iterator[Pattern]:
    line = re.sub(r"(?<!\\) +$", "", line)
    if not line or line.startswith("#"):
        return
    is_negated = line.startswith("!")
    glob = line[1:] if is_negated else line
    only_folders = glob.endswith("/")
    glob = glob.removesuffix("/")
    is_anchored = "/" in glob
    regex = ("" if is_anchored else "(?:.*/)?") + translate(glob.removeprefix("/"))
    if glob:
        yield Pattern(base, is_negated, only_folders, re.compile(regex, re.DOTALL))


def translate(glob: str) -> str:
    """A glob as a regular expression over a whole path.

    What stands between two stars is taken where it first fits, once and for all: that is enough, as it is of a fixed
    length, and with more tries a glob of many stars would have no end.
    """
    runs = split(list(split(TOKEN.findall(glob), "/")), ["**"])
    first, *others = ("/".join(map(translate_name, run)) for run in runs)
    if not others:
        return first
    *inner, last = others
    tries = "".join(f"(?>(?:[^/]+/)*?{run}/)" for run in inner if run)
    return f"{first and first + '/'}{tries}{'(?:.*/)?' + last if last else '.+'}"


def translate_name(tokens: list[str]) -> str:
    """A part of a path without its slashes."""
    runs = split(["*" if token.startswith("*") else token for token in tokens], "*")
    first, *others = ("".join(map(translate_token, run)) for run in runs)
    if not others:
        return first
    *inner, last = others
    tries = "".join(f"(?>[^/]*?{run})" for run in inner if run)
    return f"{first}{tries}[^/]*{last}"


def split(items: list[T], at: T) -> Iterator[list[T]]:
    run: list[T] = []
    for item in items:
        if item == at:
            yield run
            run = []
        else:
            run.append(item)
    yield run


def translate_token(token: str) -> str:
    """One character."""
    if token == "?":
        return "[^/]"
    if len(token) > 1 and token.startswith("["):
        return "(?!/)" + re.sub(r"^\[[!^]", "[^", token)
    return re.escape(token.removeprefix("\\") or token)

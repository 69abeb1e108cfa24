"""What tests replace while they run: `mock.patch("pkg.mod.name")`, `monkeypatch.setattr(mod, "name", ...)`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fullgraph.codemods.project import Project

BY_STRING = re.compile(rb"(?:patch|setattr|delattr)\(\s*['\"](\w+(?:\.\w+)+)['\"]")
BY_PARTS = re.compile(rb"(?:object|setattr|delattr)\(\s*(\w+(?:\.\w+)*)\s*,\s*['\"](\w+)['\"]")


def replacements(project: Project) -> dict[str, str]:
    """Every dotted name that some file replaces, with the line; of attributes the last two parts of the name."""
    return project.worked_out(replacements, lambda: dict(search(project)))


def search(project: Project) -> Iterator[tuple[str, str]]:
    for path, match in project.matches(BY_STRING):
        yield match[1].decode(), place(path, match)
    for path, match in project.matches(BY_PARTS):
        owner = match[1].decode(errors="replace").rpartition(".")[2]
        yield f"{owner}.{match[2].decode(errors='replace')}", place(path, match)


def place(path: str, match: re.Match[bytes]) -> str:
    newlines = match.string.count(b"\n", 0, match.start())
    return f"{path}:{newlines + 1}"

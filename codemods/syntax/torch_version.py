"""The oldest torch that a project says it supports, read from its own files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

REQUIREMENT = re.compile(r"^\s*torch\s*(?:\[[^\]]*\])?\s*\(?([^;#)]*)", re.I)
LOWER = re.compile(r"(>=|==|~=|===|>|\^|~)\s*v?(\d+(?:\.\d+)*)")
Version = tuple[int, ...]


def read_version(text: str) -> Version:
    """`2.8` and `2.8.0+cpu` as numbers; a text without numbers raises ValueError."""
    found = re.match(r"\s*v?(\d+(?:\.\d+)*)", text)
    if not found:
        raise ValueError(f"{text!r} is not a version")
    return tuple(int(part) for part in found.group(1).split("."))


def oldest_torch(root: Path) -> tuple[Version, str] | None:
    """The lowest version that the project's files allow, with the file that says so; None where none does.

    The first that names torch counts: pyproject.toml's dependencies, its optional ones, requirements*.txt, setup.cfg.
    """
    for name, groups in declared(root):
        for requirements in groups:
            bounds = [lower_bound(match.group(1)) for text in requirements if (match := REQUIREMENT.match(text))]
            if bounds:
                known = [bound for bound in bounds if bound is not None]
                return (min(known), name) if len(known) == len(bounds) else None
    return None


def declared(root: Path) -> Iterable[tuple[str, list[list[str]]]]:
    """Each file that may name torch, with its lists of requirements."""
    yield "pyproject.toml", pyproject_requirements(root / "pyproject.toml")
    for file in sorted(root.glob("requirements*.txt")):
        yield file.name, [read_lines(file)]
    yield "setup.cfg", [read_lines(root / "setup.cfg")]


def pyproject_requirements(file: Path) -> list[list[str]]:
    import tomllib

    try:
        config: dict[str, Any] = tomllib.loads("\n".join(read_lines(file)))
        project, poetry = config.get("project", {}), config.get("tool", {}).get("poetry", {})
        optional = [text for group in project.get("optional-dependencies", {}).values() for text in group]
        locked = [f"{name} {wanted_version(wanted)}" for name, wanted in poetry.get("dependencies", {}).items()]
        return [list(project.get("dependencies", [])), locked, optional]
    except (tomllib.TOMLDecodeError, AttributeError, TypeError):
        return []


def wanted_version(wanted: Any) -> str:
    """Poetry's version text: `^2.8`, or the `version` of a table; a bare number pins."""
    text = str(wanted.get("version", "") if isinstance(wanted, dict) else wanted)
    return f"=={text}" if text[:1].isdigit() else text


def lower_bound(specifier: str) -> Version | None:
    """The lowest version of `>=2.4,<3`; None without one."""
    bounds = [read_version(version) for _, version in LOWER.findall(specifier)]
    return max(bounds) if bounds else None


def read_lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []

"""Where a project keeps its tests: what pytest is told, else the folder that is there."""

from __future__ import annotations

import configparser
import os
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.plain_file import read_plain_text

USUAL = ("tests", "test")
INI = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))


def folder_for_tests(root: Path, given: str) -> str:
    """The folder for new tests, relative to the project's root; `given` is what --write-tests names, or nothing."""
    if given:
        return named_folder(root, Path(os.path.abspath(given)))
    known = [name for name in (*told_to_pytest(root), *USUAL) if is_inside(root, root / name)]
    found = next((name for name in known if (root / name).is_dir()), USUAL[0])
    return named_folder(root, root / found)


def named_folder(root: Path, folder: Path) -> str:
    if not is_inside(root, folder):
        raise FullgraphError(f"--write-tests: {folder} is not a folder below the project's root {root}")
    if os.path.lexists(folder) and not folder.is_dir():
        raise FullgraphError(f"--write-tests: {folder} is no folder")
    return Path(os.path.realpath(folder)).relative_to(os.path.realpath(root)).as_posix()


def is_inside(root: Path, folder: Path) -> bool:
    real, top = Path(os.path.realpath(folder)), Path(os.path.realpath(root))
    return real != top and real.is_relative_to(top)


def told_to_pytest(root: Path) -> list[str]:
    """The `testpaths` of the first file that configures pytest; one that cannot be read tells nothing."""
    for name, section in INI[:2]:
        if (root / name).is_file():
            return from_ini(root / name, section)
    if told := from_pyproject(root / "pyproject.toml"):
        return told
    return next((told for name, section in INI[2:] if (told := from_ini(root / name, section))), [])


def from_ini(file: Path, section: str) -> list[str]:
    parser = configparser.RawConfigParser()
    with suppress(OSError, configparser.Error, UnicodeDecodeError):
        parser.read(file, "utf-8")
        return parser.get(section, "testpaths", fallback="").split()
    return []


def from_pyproject(file: Path) -> list[str]:
    held: Any = {}
    with suppress(OSError, ValueError, RecursionError):
        held = tomllib.loads(read_plain_text(file))
    for key in ("tool", "pytest", "ini_options", "testpaths"):
        held = held.get(key, {}) if isinstance(held, dict) else {}
    paths = held.split() if isinstance(held, str) else held
    return [path for path in paths if isinstance(path, str)] if isinstance(paths, list) else []

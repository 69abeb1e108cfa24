"""The folders that a project's modules are imported from, as its build and its tests are told.

A table of such folders, relative to the project's root, says under which name each is imported: `{"src": ""}` where
`src/pkg/mod.py` is `pkg.mod`, `{"source": "pkg"}` where `source/mod.py` is `pkg.mod`.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from fullgraph.codemods.plain_file import read_plain_text

Roots = dict[str, str]

CUSTOMARY = ("", "src", "lib", "tests")
"""Folders that stand on sys.path by custom, unless they are packages."""

BUILD_FILES = ("pyproject.toml", "setup.cfg", "setup.py", "pytest.ini", ".pytest.ini", "tox.ini")
INI = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
INSTALLED_PATHS = (".venv/lib/python*/site-packages/*.pth", "venv/lib/python*/site-packages/*.pth")


def import_folders(root: Path) -> list[Path]:
    """The folders of a project that stand on sys.path when it is installed or tested; its root comes last."""
    found = [root / folder for folder, name in declared_roots(root).items() if folder and not name]
    lib = [root / "lib"] if any(root.glob("lib/*/__init__.py")) and not (root / "lib/__init__.py").is_file() else []
    return [path for path in dict.fromkeys([*found, root / "src", *lib, root]) if path.is_dir()]


def declared_roots(base: Path) -> Roots:
    """What the files beside a project's build say; a file that cannot be read says nothing."""
    return dict(_declared_roots(base, tuple(stamp(base / name) for name in BUILD_FILES)))


@lru_cache(maxsize=64)
def _declared_roots(base: Path, _stamps: tuple[int, ...]) -> Roots:
    said = [*from_pyproject(base), *from_ini(base), *from_setup(base), *from_installed(base)]
    named = {posixpath.normpath(folder.strip() or "."): name for folder, name in said}
    inside = {folder: name for folder, name in named.items() if not folder.startswith(("..", "/"))}
    return {"" if folder == "." else folder: name for folder, name in inside.items()}


def stamp(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def is_project(folder: Path) -> bool:
    """Whether a project of its own begins here; a pyproject.toml that only configures tools begins none."""
    if (folder / "setup.py").is_file():
        return True
    held = read_toml(folder / "pyproject.toml")
    return "project" in held or "build-system" in held or "poetry" in table(held, "tool")


def from_pyproject(base: Path) -> Iterator[tuple[str, str]]:
    tool = table(read_toml(base / "pyproject.toml"), "tool")
    yield from from_package_dir(table(tool, "setuptools", "package-dir"))
    for item in listed(tool, "poetry", "packages"):
        if isinstance(item, dict) and isinstance(item.get("from", ""), str):
            yield item.get("from", ""), ""
    for keys in (
        ("setuptools", "packages", "find", "where"),
        ("pdm", "build", "package-dir"),
        ("uv", "build-backend", "module-root"),
        ("maturin", "python-source"),
        ("pytest", "ini_options", "pythonpath"),
        ("pytest", "pythonpath"),
        ("hatch", "build", "dev-mode-dirs"),
    ):
        yield from ((folder, "") for folder in texts(listed(tool, *keys)))
    for keys in (("hatch", "build", "targets", "wheel"), ("hatch", "build"), ("scikit-build", "wheel")):
        yield from ((posixpath.dirname(folder.rstrip("/")), "") for folder in texts(listed(tool, *keys, "packages")))
        yield from from_package_dir({name: folder for folder, name in table(tool, *keys, "sources").items()})
        yield from ((folder, "") for folder in texts(listed(tool, *keys, "sources")))


def from_ini(base: Path) -> Iterator[tuple[str, str]]:
    for name, section in INI:
        yield from ((folder, "") for folder in read_ini(base / name, section, "pythonpath").split())
    lines = read_ini(base / "setup.cfg", "options", "package_dir").splitlines()
    pairs = [line.partition("=") for line in lines if "=" in line]
    yield from from_package_dir({name.strip(): folder.strip() for name, _, folder in pairs})
    where = read_ini(base / "setup.cfg", "options.packages.find", "where")
    yield from ((folder, "") for folder in where.replace(",", " ").split())


def from_setup(base: Path) -> Iterator[tuple[str, str]]:
    """What `setup.py` writes out: `package_dir={...}`, `find_packages("src")`. It is not run."""
    try:
        calls = [node for node in ast.walk(ast.parse(read_text(base / "setup.py"))) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError):
        return
    for call in calls:
        given = {keyword.arg: literal(keyword.value) for keyword in call.keywords}
        if isinstance(given.get("package_dir"), dict):
            yield from from_package_dir(given["package_dir"])
        if ast.unparse(call.func).endswith(("find_packages", "find_namespace_packages")):
            where = given.get("where", literal(call.args[0]) if call.args else "")
            yield from ((folder, "") for folder in texts([where]))


def from_installed(base: Path) -> Iterator[tuple[str, str]]:
    """The folders below a project that an editable install into its own environment has put on the path."""
    for file in (file for pattern in INSTALLED_PATHS for file in sorted(base.glob(pattern))):
        for line in read_text(file).splitlines():
            if line.startswith(f"{base}/"):
                yield Path(line).relative_to(base).as_posix(), ""


def from_package_dir(table: dict[Any, Any]) -> Iterator[tuple[str, str]]:
    """Setuptools' table of packages and their folders."""
    for name, folder in table.items():
        if isinstance(name, str) and isinstance(folder, str):
            yield folder, name


def read_ini(file: Path, section: str, key: str) -> str:
    import configparser

    parser = configparser.RawConfigParser()
    with suppress(configparser.Error):
        parser.read_string(read_text(file))
        return parser.get(section, key, fallback="")
    return ""


def read_toml(file: Path) -> dict[str, Any]:
    import tomllib

    with suppress(ValueError, RecursionError):
        return tomllib.loads(read_text(file))
    return {}


def read_text(file: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return read_plain_text(file)
    return ""


def table(held: Any, *keys: str) -> dict[str, Any]:
    found = value_at(held, keys)
    return found if isinstance(found, dict) else {}


def listed(held: Any, *keys: str) -> list[Any]:
    """A list, also one of a single text."""
    found = value_at(held, keys)
    return found.split() if isinstance(found, str) else found if isinstance(found, list) else []


def value_at(held: Any, keys: Iterable[str]) -> Any:
    for key in keys:
        held = held.get(key) if isinstance(held, dict) else None
    return held


def texts(values: Iterable[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str) and value]


def literal(node: ast.expr) -> Any:
    with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(node)
    return None

"""Which torch a project's code has to run on: what its environment has, what its lock files pin, what it declares."""

from __future__ import annotations

import configparser
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from fullgraph.codemods.plain_file import read_plain_text
from fullgraph.codemods.source_roots import table

GIVEN = "--torch"
ENVIRONMENTS = (".venv", "venv", "env")
ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX")
LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock")
LISTS = ("requirements*.txt", "requirements/*.txt", "requirements*.in", "constraints*.txt")
FLOORS = (">=", "==", "~=", "===", ">")
BARE = re.compile(r"^\s*(?:v|=)?(\d[\w.+]*)\s*$")
CARET = re.compile(r"[\^~]\s*(?=\d)")
STRING = re.compile(r"""["']([^"'\n]*)["']""")


@dataclass(frozen=True)
class Torch:
    """The oldest torch that code has to run on, and who says so: `--torch`, an environment, `pyproject.toml:12`."""

    version: Version
    source: str

    @property
    def is_given(self) -> bool:
        return self.source == GIVEN

    def is_at_least(self, version: str) -> bool:
        return Version(self.version.base_version) >= Version(version)

    def lacks(self, name: str, version: str) -> str:
        return f"torch {self.version.base_version} ({self.source}) has no {name} (new in {version})"


def torch_of(root: Path, given: str = "") -> Torch | None:
    """As the user says; else as the project's environment has it; else as it is locked; else as it is declared."""
    if given:
        return Torch(Version(given), GIVEN)
    return installed_torch(root) or locked_torch(root) or declared_torch(root)


def read_files(root: Path) -> list[Path]:
    """What the answer rests on, beside environments; not all of them need to be there."""
    lists = [file for pattern in LISTS for file in sorted(root.glob(pattern))]
    return [root / "pyproject.toml", *lists, root / "setup.cfg", root / "setup.py", *(root / name for name in LOCKS)]


# What is installed


def installed_torch(root: Path) -> Torch | None:
    """The torch of the project's own environment, or of the one that is active."""
    active = [Path(os.environ[name]) for name in ACTIVE if os.environ.get(name)]
    for environment in (*(root / name for name in ENVIRONMENTS), *active):
        folders = (*environment.glob("lib/python3*/site-packages"), environment / "Lib" / "site-packages")
        for metadata in (found for folder in folders for found in folder.glob("torch-*.dist-info")):
            version = metadata.name.removeprefix("torch-").removesuffix(".dist-info")
            if is_version(version):
                return Torch(Version(version), f"{environment.name}/")
    return None


def is_version(text: Any) -> bool:
    try:
        return isinstance(text, str) and bool(Version(text))
    except InvalidVersion:
        return False


# What is locked


def locked_torch(root: Path) -> Torch | None:
    for name in LOCKS:
        text = read_text(root / name)
        for version in locked_versions(name, text) if "torch" in text else ():
            if is_version(version):
                return Torch(Version(version), place_of(name, text, re.compile(r'"torch"')))
    return None


def locked_versions(name: str, text: str) -> Iterator[Any]:
    """The versions of the packages called torch."""
    try:
        held = json.loads(text) if name == "Pipfile.lock" else tomllib.loads(text)
        if name == "Pipfile.lock":
            yield held.get("default", {}).get("torch", {}).get("version", "").removeprefix("==")
        for package in held.get("package", held.get("packages", ())):
            if package.get("name") == "torch":
                yield package.get("version")
    except (ValueError, AttributeError, TypeError, RecursionError):
        return


# What is declared


def declared_torch(root: Path) -> Torch | None:
    """The lowest version that the first list of requirements which names torch allows; None if that has no bound."""
    for name, groups in declarations(root):
        for requirements in groups:
            floors = [floor_of(one) for one in requirements if canonicalize_name(one.name) == "torch"]
            if floors:
                known = [floor for floor in floors if floor is not None]
                if len(known) < len(floors):
                    return None
                text = read_text(root / name)
                return Torch(min(known), place_of(name, text, re.compile(r"""(?<![\w-])torch(?![\w-])""")))
    return None


def declarations(root: Path) -> Iterator[tuple[str, list[list[Requirement]]]]:
    """Each file that may name torch, with its lists of requirements."""
    yield "pyproject.toml", [parse_all(texts) for texts in pyproject_lists(read_text(root / "pyproject.toml"))]
    yield "setup.cfg", [parse_all(texts) for texts in setup_cfg_lists(read_text(root / "setup.cfg"))]
    for file in (file for pattern in LISTS for file in sorted(root.glob(pattern))):
        yield file.relative_to(root).as_posix(), [parse_all(re.sub(r"(^|\s)#.*", "", read_text(file)).splitlines())]
    yield "setup.py", [parse_all(found[1] for found in STRING.finditer(read_text(root / "setup.py")))]


def pyproject_lists(text: str) -> Iterator[list[str]]:
    """Lists of requirements in every dialect, what everybody needs first."""
    try:
        held = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    project, tool = table(held, "project"), table(held, "tool")
    poetry, pixi = table(tool, "poetry"), table(tool, "pixi")
    yield strings(project.get("dependencies"))
    for dependencies in (table(poetry, "dependencies"), table(pixi, "pypi-dependencies"), table(pixi, "dependencies")):
        yield [f"{name} {poetry_bound(wanted)}" for name, wanted in dependencies.items()]
    yield strings(table(tool, "flit", "metadata").get("requires"))
    groups = [table(project, "optional-dependencies"), table(held, "dependency-groups")]
    groups += [table(tool, "pdm", "dev-dependencies"), table(tool, "uv"), table(tool, "flit", "metadata")]
    yield [text for group in groups for value in group.values() for text in strings(value)]
    yield [text for each in table(tool, "hatch", "envs").values() for text in strings(each.get("dependencies"))]
    for group in (*table(poetry, "group").values(), {"dependencies": poetry.get("dev-dependencies")}):
        yield [f"{name} {poetry_bound(wanted)}" for name, wanted in table(group, "dependencies").items()]


def strings(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def poetry_bound(wanted: Any) -> str:
    """`^2.8` and `~2.8` as a lower bound; a bare number pins; of a table its `version`, of several the first."""
    wanted = wanted[0] if isinstance(wanted, list) and wanted else wanted
    text = str(wanted.get("version", "") if isinstance(wanted, dict) else wanted)
    text = "" if text.strip() == "*" else text
    return f"=={bare[1]}" if (bare := BARE.match(text)) else CARET.sub(">=", text)


def setup_cfg_lists(text: str) -> Iterator[list[str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    yield parser.get("options", "install_requires", fallback="").splitlines()
    extras = parser["options.extras_require"] if parser.has_section("options.extras_require") else {}
    yield [line for value in extras.values() for line in value.splitlines()]


def parse_all(texts: Iterable[str]) -> list[Requirement]:
    """What reads as a requirement: its name, extras, marker and bounds."""
    found = []
    for text in texts:
        try:
            found.append(Requirement(text.strip().rstrip("\\").split(" --hash")[0]))
        except InvalidRequirement:
            continue
    return found


def floor_of(requirement: Requirement) -> Version | None:
    """The lowest version that fits; None without a lower bound."""
    texts = [one.version.removesuffix(".*") for one in requirement.specifier if one.operator in FLOORS]
    return max((Version(text) for text in texts if is_version(text)), default=None)


# Files


def place_of(name: str, text: str, pattern: re.Pattern[str]) -> str:
    """`pyproject.toml:12`: the line in which torch is named."""
    found = pattern.search(text)
    return f"{name}:{text.count(chr(10), 0, found.start()) + 1}" if found else name


def read_text(file: Path) -> str:
    try:
        return read_plain_text(file, errors="replace")
    except OSError:
        return ""

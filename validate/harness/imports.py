"""What the script imports, and the names that are taken in it."""

from __future__ import annotations

import re
from importlib.resources import files

STANDARD = ("argparse", "contextlib", "gc", "json", "random", "sys", "tomllib", "unittest")
INSTALLED = ("torch", "yaml", "tomli", "omegaconf")
ALWAYS = {
    *((name, "") for name in STANDARD if name != "tomllib"),
    *(("collections", "Counter"), ("collections", "deque"), ("collections.abc", "Callable"), ("pathlib", "Path")),
    *(("dataclasses", "is_dataclass"), ("typing", "Any"), ("typing", "NamedTuple")),
    *(("torch", ""), ("torch._dynamo.utils", ""), ("torch._inductor.config", "")),
}


def template(name: str) -> str:
    return files("fullgraph.validate.harness").joinpath(name).read_text(encoding="utf-8")


def taken_names() -> set[str]:
    """What the script defines itself, and may not be hidden by an import."""
    found = re.findall(r"(?m)^(?:class|def) (\w+)|^([A-Z_]+)\b", template("script.py.txt"))
    imported = {name for module, name in ALWAYS if name} | {"SimpleNamespace", "OmegaConf"}
    return {name for pair in found for name in pair if name} | imported | {"build", "inputs", "torch", "namespace"}


def is_foreign(module: str) -> bool:
    """Whether it is there without the project's folders on the path."""
    return module.partition(".")[0] in {*INSTALLED, "types", "collections", *STANDARD}


def import_text(wanted: set[tuple[str, str]]) -> str:
    """The standard library, then what is installed."""
    is_installed = {True: set(), False: set()}  # type: dict[bool, set[tuple[str, str]]]
    for one in wanted:
        is_installed[one[0].partition(".")[0] in INSTALLED].add(one)
    return "\n\n".join("\n".join(import_lines(is_installed[place])) for place in (False, True))


def import_lines(wanted: set[tuple[str, str]]) -> list[str]:
    plain = sorted(f"import {module}" for module, name in wanted if not name)
    names: dict[str, list[str]] = {}
    for module, name in sorted(one for one in wanted if one[1]):
        names.setdefault(module, []).append(name)
    return [*plain, *(f"from {module} import {', '.join(sorted(found))}" for module, found in names.items())]

"""A test file put together from checks: one docstring, sorted imports, shared definitions once, then the tests."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fullgraph.codemods.model import Edit
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.regression_tests.layout import WIDTH, fitted, quoted

FIRST_PARTY = 3


@dataclass(frozen=True)
class Check:
    """Test functions (`body`), the definitions that they use (`shared`, each written once), and import lines."""

    body: str
    imports: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()


def regression_test(docstring: str, checks: Sequence[Check], imports: Iterable[str] = ()) -> str:
    """The text of a test file. `docstring` is one sentence, or a sentence and further paragraphs."""
    lines = {"from __future__ import annotations", *imports, *(line for check in checks for line in check.imports)}
    shared = dict.fromkeys(piece.strip("\n") for check in checks for piece in check.shared)
    constants = [piece for piece in shared if not piece.startswith(("def ", "class ", "@"))]
    definitions = [piece for piece in shared if piece not in constants]
    bodies = dict.fromkeys(check.body.strip("\n") for check in checks)
    top = "\n\n".join([quoted(docstring), import_block(lines), *(["\n".join(constants)] if constants else [])])
    return fitted("\n\n\n".join([top, *definitions, *bodies]) + "\n")


def import_block(lines: Iterable[str]) -> str:
    """Import lines as ruff and isort sort them: sections, plain imports first, names of one module together."""
    plain: set[str] = set()
    names: dict[str, set[str]] = {}
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.Import):
            plain |= {spelled(alias) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names.setdefault(module, set()).update(spelled(alias) for alias in node.names)
    sections: dict[int, list[str]] = {}
    for name in sorted(plain, key=natural):
        sections.setdefault(section_of(name.partition(" ")[0]), []).append(f"import {name}")
    for module in sorted(names, key=natural):
        sections.setdefault(section_of(module), []).extend(from_imports(module, names[module]))
    return "\n\n".join("\n".join(sections[number]) for number in sorted(sections))


def spelled(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def from_imports(module: str, names: Iterable[str]) -> list[str]:
    """The names of one module in one statement; those under another name each in their own."""
    ordered = sorted(names, key=member_order)
    plain = [name for name in ordered if " as " not in name]
    together = [from_import(module, plain)] if plain else []
    return [*together, *(from_import(module, [name]) for name in ordered if name not in plain)]


def from_import(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


def section_of(module: str) -> int:
    top = module.partition(".")[0]
    if top == "__future__":
        return 0
    return 1 if top in sys.stdlib_module_names else 2 if top in ("torch", "pytest") else FIRST_PARTY


def natural(name: str) -> tuple[str, str]:
    return name.lower(), name


def member_order(name: str) -> tuple[int, str]:
    """Constants first, then classes, then the rest, as isort orders them by case."""
    plain = name.partition(" ")[0]
    kind = 0 if plain.isupper() and len(plain) > 1 else 1 if plain[:1].isupper() else 2
    return kind, name


def identifier(name: str) -> str:
    """A piece of a test's name: `Controller._run_scorer` is controller_run_scorer."""
    return re.sub(r"_+", "_", re.sub(r"\W", "_", name)).strip("_").lower()


def indented(lines: Sequence[str]) -> str:
    """Statements of a function's body, one line each at least."""
    return "".join(f"    {line}\n" if line else "\n" for text in lines for line in text.split("\n"))


def new_test(project: Project, folder: str, stem: str, text: str) -> tuple[Edit, ...]:
    """The edit that creates `test_<stem>.py`; nothing if it is there with this text.

    Two test files of one name cannot be imported side by side in folders that are no packages: a name that another
    file has gets a number.
    """
    taken = {path.rpartition("/")[2].lower() for path in project.files}
    number = 1
    while True:
        name = f"test_{identifier(stem)}{f'_{number}' if number > 1 else ''}.py"
        path = f"{folder}/{name}"
        if project.holds(path, text) or (name not in taken and not project.has_file(path)):
            return project.new_file(path, text)
        number += 1

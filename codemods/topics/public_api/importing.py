"""Old names that a module imports: the import and all uses change together, or not at all."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import is_bound_otherwise
from fullgraph.codemods.model import Edit, SourceError, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.dropping import drop_names, drop_statement
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.public_api.calls import Draft, write_use
from fullgraph.codemods.topics.public_api.table import Row, table
from fullgraph.codemods.topics.public_api.uses import Use, check_place, check_use

FROM = re.compile(r"from\s+([\w.]+)")


@dataclass(frozen=True, slots=True)
class Imported:
    """One name of a `from` import that has a public one."""

    module: Module
    node: ast.ImportFrom
    alias: ast.alias
    row: Row

    @property
    def local(self) -> str:
        return self.alias.asname or self.alias.name

    @property
    def old(self) -> str:
        return f"{self.module.imports.origin(self.node)}.{self.alias.name}"

    @property
    def keeps_name(self) -> bool:
        """Whether the public name reads the same, so that only its import changes. `compile` would hide a builtin."""
        return self.row.name == self.alias.name

    @property
    def text(self) -> str:
        return self.row.name + (f" as {self.alias.asname}" if self.alias.asname else "")


def imported_names(module: Module) -> Iterator[list[Imported]]:
    """The old names that a module imports, statement by statement."""
    rows = table()
    for node in module.nodes(ast.ImportFrom):
        origin = module.imports.origin(node)
        found = [
            Imported(module, node, alias, rows[old])
            for alias in node.names
            if (old := f"{origin}.{alias.name}") in rows
        ]
        if found:
            yield found


def uses_of(name: Imported, uses: list[Use]) -> list[Use]:
    """The uses that this very import serves."""
    scopes = name.module.scopes
    home = scopes.around(name.node)
    return [use for use in uses if use.node is use.root and use.root.id == name.local and scopes.of(use.root) is home]


def check_import(name: Imported, uses: list[Use], project: Project) -> None:
    """Raise where the imported name must stay what it is."""
    module, here = name.module, where(name.module, name.node)
    check_place(module, name.node)
    if is_bound_otherwise(module, name.local) or len(module.imports.meanings[name.local]) > 1:
        raise Unsure(f"{here}: the name {name.local} means something else too in this file")
    if len(module.scopes.within(module.scopes.around(name.node), name.local)) > 1:
        raise Unsure(f"{here}: {name.local} is imported more than once")
    if not uses or is_exported(module, name.local):
        raise Unsure(f"{here}: {name.local} is imported for others to import")
    for path in project.mentions(name.local):
        if path != module.path and (line := line_that_imports(project, path, module.name, name.local)):
            raise Unsure(f"{path}:{line}: imports {name.local} from here")


def is_exported(module: Module, name: str) -> bool:
    """Whether `__all__` or a redundant alias offers the name to others."""
    alias = any(alias.asname == alias.name == name for node in module.nodes(ast.ImportFrom) for alias in node.names)
    listed = re.search(rf"__all__\s*\+?=[^\]]*['\"]{re.escape(name)}['\"]", module.text)
    return alias or listed is not None


def line_that_imports(project: Project, path: str, home: str, name: str) -> int | None:
    """The line on which another file of the project takes the name from this module."""
    try:
        other = project.module(path)
    except SourceError:
        return None
    for node in other.nodes(ast.ImportFrom):
        if other.imports.origin(node) == home and any(alias.name in (name, "*") for alias in node.names):
            return node.lineno
    mentions = (node for node in other.nodes(ast.Attribute) if node.attr == name)
    return next((node.lineno for node in mentions if other.resolve(node) == f"{home}.{name}"), None)


def write_import(names: list[Imported], uses: list[Use], project: Project) -> tuple[Edit, ...]:
    """The edits that import the public names of one statement, and make all uses theirs."""
    module, node = names[0].module, names[0].node
    draft = Draft(module)
    for name in names:
        for use in uses_of(name, uses):
            check_use(use)
            write_use(draft, use, project, keep_name=name.keeps_name)
    stay = [name for name in names if name.keeps_name]
    homes = {name.row.module for name in stay}
    if len(stay) == len(node.names) and len(homes) == 1:
        return (*draft.edits(), *rename_home(module, node, homes.pop()))
    lines = [(home, ", ".join(name.text for name in stay if name.row.module == home)) for home in sorted(homes)]
    gone = [name.alias for name in names]
    if len(gone) < len(node.names):
        dropped = drop_names(module, node, gone)
        return (*draft.edits(), *dropped, *add_lines(module, node, lines))
    if not lines:
        return (*draft.edits(), drop_statement(module, node))
    if "#" in module.code(node):
        raise Unsure(f"{where(module, node)}: the import holds comments that would be lost")
    return (*draft.edits(), module.replace(node, f"\n{module.indent(node)}".join(map(written, lines))))


def written(line: tuple[str, str]) -> str:
    return f"from {line[0]} import {line[1]}"


def add_lines(module: Module, node: ast.ImportFrom, lines: list[tuple[str, str]]) -> Iterator[Edit]:
    """New imports beside one that stays: above it or below it, as their order wants."""
    if not lines:
        return
    span = module.span(node)
    behind = module.text[span.end : module.line_end(span.end)].strip()
    if not module.begins_line(node) or (behind and not behind.startswith("#")):
        raise Unsure(f"{where(module, node)}: the import shares its line with another statement")
    indent, origin = module.indent(node), module.imports.origin(node)
    above = "".join(f"{written(line)}\n{indent}" for line in lines if line[0] < origin)
    below = "".join(f"\n{indent}{written(line)}" for line in lines if line[0] > origin)
    if above:
        yield module.insert(span.start, above)
    if below:
        yield module.insert(span.end + len(module.text[span.end : module.line_end(span.end)].rstrip("\r\n")), below)


def rename_home(module: Module, node: ast.ImportFrom, home: str) -> tuple[Edit, ...]:
    """The same names from another module; in another line where the imports around it are in order."""
    found = FROM.match(module.text, module.span(node).start)
    if not found:
        raise Unsure(f"{where(module, node)}: the import is laid out unusually")
    before = later_neighbour(module, node, home)
    if before is None:
        return (module.replace(Span(found.start(1), found.end(1)), home),)
    dropped = drop_statement(module, node)
    start = module.line_start(module.span(before).start)
    old = module.text[dropped.span.start : dropped.span.end]
    moved = old.replace(found[1], home, 1)
    return dropped, module.insert(start, moved.replace("\r\n", "\n").replace("\r", "\n"))


def later_neighbour(module: Module, node: ast.ImportFrom, home: str) -> ast.ImportFrom | None:
    """The first `from` import right above, line by line, that the new name has to come before; None if it may stay."""
    block = module.block(node)
    place, above = block.index(node), node
    found = None
    for other in reversed(block[:place]):
        touches = isinstance(other, ast.ImportFrom) and other.end_lineno == above.lineno - 1 and not other.level
        if not touches or not isinstance(other, ast.ImportFrom) or (other.module or "") > (above.module or ""):
            return found
        if (other.module or "") > home:
            found = other
        above = other
    return found

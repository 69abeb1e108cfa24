"""New lines where a careful engineer would put them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import statement_start
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import DEFINITIONS


def insert_before(module: Module, statement: ast.stmt, lines: Sequence[str]) -> Edit:
    """New statements just before one; a tab at the head of a line is one more level of indentation.

    A body on the line of its `if` gets lines of its own. Behind a semicolon there is room for a single line only.
    """
    start = statement_start(module, statement)
    lines = [indented(line, module.indent_unit) for line in lines]
    if module.begins_line(statement):
        indent = module.indent(statement)
        return module.insert(start, "".join(f"{line}\n{indent}" for line in lines))
    before = module.text[module.line_start(start) : start]
    owner = module.parent(statement)
    if before.rstrip(" \t").endswith(":") and isinstance(owner, ast.stmt):
        indent = module.indent(owner) + module.indent_unit
        gap = Span(start - len(before) + len(before.rstrip(" \t")), start)
        return module.replace(gap, "".join(f"\n{indent}{line}" for line in (*lines, "")))
    if len(lines) == 1 and before.rstrip(" \t").endswith(";"):
        return module.insert(start, f"{lines[0]}; ")
    raise Unsure(f"no room before the statement at {module.path}:{statement.lineno}, which shares its line")


def indented(line: str, unit: str) -> str:
    bare = line.lstrip("\t")
    return unit * (len(line) - len(bare)) + bare


def insert_definition(module: Module, text: str, names: set[str], imports: Sequence[Edit] = ()) -> tuple[Edit, ...]:
    """A function at the top level, above the first definition that follows the imports of what it names.

    `imports` are the edits that add such imports.
    """
    return insert_at(module, above_definitions(module, names), text, imports)


def insert_at(module: Module, offset: int, text: str, imports: Sequence[Edit] = (), blank: int = 2) -> tuple[Edit, ...]:
    """A definition at the start of a line, with so many blank lines around; none above the first of a block or cell."""
    above = module.text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    there = len(above) - len(above.rstrip("\n")) - 1
    begins_cell = any(cell.start == offset for cell in getattr(module.source, "cells", ()))
    is_first = not above.strip() or begins_cell or (blank == 1 and above.rstrip().endswith(":"))
    missing = "" if is_first else "\n" * max(0, blank - there)
    here = [edit for edit in imports if edit.span.start == offset]
    elsewhere = [edit for edit in imports if edit.span.start != offset]
    head = "".join(edit.new_text.replace("\r\n", "\n") for edit in here)
    return (*elsewhere, module.insert(offset, f"{head}{missing}{text}\n" + "\n" * blank))


def above_definitions(module: Module, names: set[str]) -> int:
    """The start of the line of the first top-level statement with a definition in it, behind the imports.

    An import that follows a definition counts only if it binds one of the names: what stands before it may be used
    while the module is imported. Comments right above the statement belong to it.
    """
    body = module.tree.body
    first = next((index for index, node in enumerate(body) if isinstance(node, DEFINITIONS)), len(body))
    found = ((index, node) for index, node in enumerate(body) if isinstance(node, (ast.Import, ast.ImportFrom)))
    imports = [index for index, node in found if index < first or bound_names(node) & names]
    for node in body[imports[-1] + 1 if imports else 0 :]:
        if any(isinstance(inner, DEFINITIONS) for inner in ast.walk(node)) and module.begins_line(node):
            start = module.line_start(statement_start(module, node))
            while start and module.text[module.line_start(start - 1) : start].startswith("#"):
                start = module.line_start(start - 1)
            return start
    raise Unsure(f"{module.path}:{body[imports[-1]].lineno}: an import stands behind all definitions")


def bound_names(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {alias.asname or alias.name.partition(".")[0] for alias in node.names}

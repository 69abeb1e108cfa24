"""The edits that take imports out of a function and put them at the top of the file."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import insert_import, insert_name
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import NEWLINE, Module
from fullgraph.codemods.syntax.dropping import drop_statements, shares_line
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.inner_imports.checks import IMPORTS, Import

WIDTH = 88


def move(module: Module, nodes: Sequence[Import]) -> tuple[Edit, ...]:
    """The edits for imports that follow each other."""
    added = dict.fromkeys(edit for node in nodes for edit in put_in(module, node))
    return (take_out(module, nodes), *added)


def add_line(module: Module, line: str, dotted: str) -> Iterator[Edit]:
    """A new import line, in edits that go well with those of other imports that are added at the same place.

    Of insertions at one place the order is that of their texts. So empty lines are edits of their own, the same for
    all, and `import` lines are put at the end of the line above, where they come before `from` lines.
    """
    edit = insert_import(module, line, dotted)
    offset, text = edit.span.start, NEWLINE.sub("\n", edit.new_text)
    above = NEWLINE.search(module.text, module.line_start(offset - 1)) if offset else None
    if above is None or above.end() != offset or text.startswith("\n\n"):
        yield from set_apart(module, edit, line) if text == f"{line}\n\n" else [edit]
        return
    if text.startswith("\n"):
        yield module.insert(above.start(), "\n")
    if text.endswith("\n\n"):
        yield start_with_blank(module, offset)
    before = module.text[module.line_start(above.start()) : above.start()]
    follows = before.startswith(("import ", "#")) or not before.strip() or text.startswith("\n")
    if line.startswith("import ") and follows:
        yield module.insert(above.start(), f"\n{line}")
    else:
        yield module.insert(offset, f"{line}\n")


def set_apart(module: Module, edit: Edit, line: str) -> Iterator[Edit]:
    """A first block of imports at the very start of the file."""
    yield module.insert(edit.span.start, f"{line}\n")
    yield start_with_blank(module, edit.span.start)


def start_with_blank(module: Module, offset: int) -> Edit:
    """An empty line before what begins here: its first character is replaced, so that insertions come first."""
    return module.replace(Span(offset, offset + 1), "\n" + module.text[offset])


def take_out(module: Module, nodes: Sequence[Import]) -> Edit:
    """Without the imports; `pass` where nothing else is left to do."""
    block = module.block(nodes[0])
    if len(block) > len(nodes):
        return drop_statements(module, nodes)
    if len(nodes) > 1 or shares_line(module, nodes[0], nodes[0]):
        raise Unsure(f"{where(module, nodes[0])}: nothing else stands in this block")
    return module.replace(nodes[0], "pass")


def put_in(module: Module, node: Import) -> Iterator[Edit]:
    """The same names, imported at the top; none for those that are there already."""
    missing = [alias for alias in node.names if not is_there(module, node, alias)]
    if isinstance(node, ast.Import):
        for alias in missing:
            yield from add_line(module, f"import {written(alias)}", alias.name)
        return
    if not missing:
        return
    home = next((top for top in tops(module) if top.lineno < node.lineno and is_home(module, top, node)), None)
    if home:
        yield from (insert_name(module, home, written(alias)) for alias in missing)
    else:
        yield from add_line(module, from_line(module, node, missing), module.imports.origin(node))


def from_line(module: Module, node: ast.ImportFrom, names: Sequence[ast.alias]) -> str:
    """One line, or one for each name where that is too long."""
    head = f"from {'.' * node.level}{node.module or ''} import"
    line = f"{head} {', '.join(map(written, names))}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{head} (", *(f"{module.indent_unit}{written(alias)}," for alias in names), ")"])


def written(alias: ast.alias) -> str:
    return alias.name + (f" as {alias.asname}" if alias.asname else "")


def tops(module: Module) -> list[ast.ImportFrom]:
    return [node for node in module.tree.body if isinstance(node, ast.ImportFrom)]


def is_home(module: Module, top: ast.ImportFrom, node: ast.ImportFrom) -> bool:
    """Whether the names can join an import at the top of the same module."""
    return module.imports.origin(top) == module.imports.origin(node) and top.names[0].name != "*"


def is_there(module: Module, node: Import, alias: ast.alias) -> bool:
    """Whether the top of the file, above the function, has this very import."""
    for top in module.tree.body:
        if isinstance(top, IMPORTS) and type(top) is type(node) and top.lineno < node.lineno:
            same = not isinstance(top, ast.ImportFrom) or is_home(module, top, node)  # type: ignore[arg-type]
            if same and any((one.name, one.asname) == (alias.name, alias.asname) for one in top.names):
                return True
    return False

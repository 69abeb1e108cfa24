"""What the names of one module mean, by its imports; and how to import one more."""

from __future__ import annotations

import ast
import re
from collections.abc import Container
from itertools import takewhile
from typing import TYPE_CHECKING

from fullgraph.codemods.model import Edit

if TYPE_CHECKING:
    from fullgraph.codemods.module import Module

SETTING = re.compile(
    r"(?:os\.(?:environ|putenv|unsetenv|chdir|add_dll)|sys\.path|site|warnings|logging|faulthandler|dotenv)\b"
    r"|.*\.(?:set|use|enable|disable|init|seed|manual_seed|config|filter|simplefilter)[^.]*$"
)
"""Calls that set up the process, or a package, for all that comes later."""

NOT_AT_TOP = re.compile(r"#\s*noqa\b(?!:)|#\s*noqa:.*\bE402\b")


class Imports:
    """The import table of one module. A name that anything else binds too means nothing for sure."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.meanings: dict[str, set[str]] = {}
        for node in module.nodes(ast.Import):
            for alias in node.names:
                if alias.asname:
                    self._bind(alias.asname, alias.name)
                else:
                    top = alias.name.partition(".")[0]
                    self._bind(top, top)
        for from_node in module.nodes(ast.ImportFrom):
            origin = self.origin(from_node)
            for alias in from_node.names:
                self._bind(alias.asname or alias.name, f"{origin}.{alias.name}")
        for name, meanings in self.meanings.items():
            if is_bound_otherwise(module, name):
                meanings.add("")

    def _bind(self, name: str, meaning: str) -> None:
        self.meanings.setdefault(name, set()).add(meaning)

    def origin(self, node: ast.ImportFrom) -> str:
        """The dotted module that a `from` import reads, with leading dots worked out."""
        if not node.level:
            return node.module or ""
        parts = self.module.name.split(".")
        if not self.module.path.endswith("__init__.py"):
            parts = parts[:-1]
        package = parts[: len(parts) - (node.level - 1)]
        return ".".join([*package, *([node.module] if node.module else [])])

    def names_package(self, package: str) -> bool:
        """Whether anything of a top-level package is imported, under whatever name."""
        meanings = (meaning for found in self.meanings.values() for meaning in found)
        return any(meaning.partition(".")[0] == package for meaning in meanings)

    def resolve(self, node: ast.AST) -> str | None:
        """The full dotted name of `a.b.c`, if `a` is an import and nothing but that import."""
        tail: list[str] = []
        while isinstance(node, ast.Attribute):
            tail.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        meanings = self.meanings.get(node.id, set())
        if len(meanings) != 1 or "" in meanings:
            return None
        return ".".join([*meanings, *reversed(tail)])

    def spelling(self, dotted: str) -> str | None:
        """How this module can already write a dotted name: `t.compiler.disable` after `import torch as t`.

        Only imports at the top level count: they are in force everywhere below.
        """
        for node in self._top_level():
            for alias in node.names:
                meaning = alias.name if isinstance(node, ast.Import) else f"{self.origin(node)}.{alias.name}"
                name = alias.asname or alias.name
                if (dotted == meaning or dotted.startswith(meaning + ".")) and self.resolve(first_name(name)):
                    return name + dotted[len(meaning) :]
        return None

    def require(self, dotted_module: str, name: str | None = None) -> tuple[str, tuple[Edit, ...]]:
        """How to write `name` of a module (or the module itself) here, with the edits that import it if need be."""
        wanted = f"{dotted_module}.{name}" if name else dotted_module
        if spelling := self.spelling(wanted):
            return spelling, ()
        if name:
            for node in self._top_level():
                if (
                    isinstance(node, ast.ImportFrom)
                    and self.origin(node) == dotted_module
                    and node.names[0].name != "*"
                ):
                    return name, (insert_name(self.module, node, name),)
        line = f"from {dotted_module} import {name}" if name else f"import {dotted_module}"
        return name or dotted_module, (insert_import(self.module, line, dotted_module),)

    def _top_level(self) -> list[ast.Import | ast.ImportFrom]:
        return [node for node in self.module.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]


def first_name(dotted: str) -> ast.Name:
    return ast.Name(dotted.partition(".")[0])


def insert_name(module: Module, node: ast.ImportFrom, name: str) -> Edit:
    """One more name in a `from` import: in order where the names are in order, on its own line where each has one."""
    names = [alias.name for alias in node.names]
    for order in (by_kind, str.lower, str):
        later = [alias for alias in node.names if order(alias.name) > order(name)]
        if names == sorted(names, key=order) and later:
            gap = "\n" + module.indent(later[0]) if module.begins_line(later[0]) else " "
            return module.insert(module.span(later[0]).start, f"{name},{gap}")
    last = node.names[-1]
    gap = "\n" + module.indent(last) if module.begins_line(last) else " "
    return module.insert(module.span(last).end, f",{gap}{name}")


def by_kind(name: str) -> str:
    """The order of import sorters: CONSTANTS, then Classes, then the rest."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return f"{kind}{name}"


def insert_import(
    module: Module, line: str, dotted_module: str, own: Container[str] = (), before: int | None = None
) -> Edit:
    """A new import line where a careful engineer would put it: in the block of its kind, below what must run first.

    `own` are top-level names of the project itself, where the module's own name does not tell: those of flat files.
    `before` is where the name is used, if that may be while the module is imported.
    """
    kind = import_kind(dotted_module, module, own)
    setup = last_setup(module, kind, own, before) if kind else None
    block = leading_imports(module, setup)
    if setup and not block:
        return insert_line_after(module, setup, "\n" + line)
    if not block:
        return insert_after_head(module, line)
    if setup and all(NOT_AT_TOP.search(last_line(module, node)) for node in block):
        line += "  # noqa: E402"
    same = [node for node in block if import_kind(imported_module(node, module), module, own) == kind]
    style = ast.ImportFrom if line.startswith("from") else ast.Import
    alike = [node for node in same if isinstance(node, style)]
    for node in alike:
        if imported_module(node, module) > dotted_module:
            return module.insert(module.line_start(module.span(node).start), line + "\n")
    if alike or (same and style is ast.ImportFrom):
        return insert_line_after(module, (alike or same)[-1], line)
    if same:
        return module.insert(module.line_start(module.span(same[0]).start), line + "\n")
    earlier = [node for node in block if import_kind(imported_module(node, module), module, own) < kind]
    if earlier:
        return insert_line_after(module, earlier[-1], "\n" + line)
    return module.insert(module.line_start(module.span(block[0]).start), line + "\n\n")


def leading_imports(module: Module, setup: ast.stmt | None = None) -> list[ast.Import | ast.ImportFrom]:
    """The imports at the top of the module, before any other statement; `__future__` and one-line lists left out.

    Those below a statement that must run before them, if it is given.
    """
    found: list[ast.Import | ast.ImportFrom] = []
    body = module.tree.body
    for node in body[body.index(setup) + 1 :] if setup else body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if module.begins_line(node) and getattr(node, "module", "") != "__future__":
                found.append(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or found:
            break
    return found


def last_line(module: Module, node: ast.stmt) -> str:
    end = module.span(node).end
    return module.text[end : module.line_end(end)]


# What must run first


def last_setup(module: Module, kind: int = 2, own: Container[str] = (), before: int | None = None) -> ast.stmt | None:
    """The last statement that changes what later imports find or see: `os.environ`, `sys.path`, `torch.set_...`.

    Above an import of the file, every statement that acts on something counts. Below all imports only settings do, and
    none if the file imports something of this kind above them.
    """
    head = list(takewhile(lambda node: is_in_head(module, node, before), module.tree.body))
    imports = [(index, node) for index, node in enumerate(head) if isinstance(node, (ast.Import, ast.ImportFrom))]
    last = imports[-1][0] if imports else -1
    above = [node for node in head[: max(last, 0)] if any(acts(inner) for inner in statements_in(node))]
    if any(import_kind(imported_module(node, module), module, own) >= kind for _, node in imports):
        return above[-1] if above else None
    below = takewhile(lambda node: binds_name(node) or is_setting(module, node), head[last + 1 :])
    return next(reversed([*above, *(node for node in below if not binds_name(node))]), None)


def is_in_head(module: Module, node: ast.stmt, before: int | None) -> bool:
    ends = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.While))
    return not ends and (before is None or module.span(node).end <= before)


def statements_in(node: ast.stmt) -> list[ast.stmt]:
    """A statement and those in its blocks; of an `if` for types or for a script, none."""
    if isinstance(node, ast.If) and re.search("TYPE_CHECKING|__name__", ast.dump(node.test)):
        return []
    return [inner for inner in ast.walk(node) if isinstance(inner, ast.stmt)]


def binds_name(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Assign, ast.AnnAssign)) and not touched(node)


def acts(node: ast.stmt) -> bool:
    """Whether a statement calls something for its effect, or stores into an object."""
    return called_by(node) is not None or bool(touched(node))


def is_setting(module: Module, node: ast.stmt) -> bool:
    """Whether a statement, or one in its blocks, sets up the process or a package for what comes later."""
    return any(is_own_setting(module, inner) for inner in statements_in(node))


def is_own_setting(module: Module, node: ast.stmt) -> bool:
    called = called_by(node)
    meant = called and module.resolve(called)
    return bool(meant and SETTING.match(meant)) or any(module.resolve(owner_of(target)) for target in touched(node))


def called_by(node: ast.stmt) -> ast.expr | None:
    """What a statement calls for its effect."""
    return node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None


def touched(node: ast.stmt) -> list[ast.expr]:
    """The attributes and items that a statement stores or deletes."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return [target for target in targets if isinstance(target, (ast.Attribute, ast.Subscript))]


def owner_of(target: ast.expr) -> ast.expr:
    while isinstance(target, ast.Subscript):
        target = target.value
    return target


def insert_after_head(module: Module, line: str) -> Edit:
    """Behind the docstring and `__future__` imports of a module that imports nothing yet."""
    head: ast.stmt | None = None
    for node in module.tree.body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and getattr(node, "module", "") != "__future__":
            break
        head = node
    if head:
        return insert_line_after(module, head, "\n" + line)
    first = module.tree.body[0] if module.tree.body else None
    start = module.line_start(statement_start(module, first)) if first else len(module.text)
    return module.insert(start, line + "\n\n")


def statement_start(module: Module, node: ast.stmt) -> int:
    """Where a statement begins, its decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min([module.span(node).start, *(module.span(decorator).start - 1 for decorator in decorators)])


def insert_line_after(module: Module, node: ast.stmt, line: str) -> Edit:
    """A new line behind the line on which the node ends, also where the file ends without a line break."""
    end = module.span(node).end
    behind = module.line_end(end)
    if behind == len(module.text) and not module.text.endswith(("\n", "\r")):
        return module.insert(behind, "\n" + line)
    return module.insert(behind, line + "\n")


def imported_module(node: ast.Import | ast.ImportFrom, module: Module) -> str:
    return node.names[0].name if isinstance(node, ast.Import) else module.imports.origin(node)


def import_kind(dotted: str, module: Module, own: Container[str] = ()) -> int:
    """The customary order of import blocks: 0 standard library, 1 third party, 2 the project's own."""
    import sys

    top = dotted.partition(".")[0]
    if top in sys.stdlib_module_names:
        return 0
    return 2 if top in own or top == module.name.partition(".")[0] else 1


def is_bound_otherwise(module: Module, name: str) -> bool:
    """Whether the module binds a name by anything but an import, in whatever scope."""
    return any(not isinstance(node, (ast.Import, ast.ImportFrom)) for node in module.scopes.binders(name))

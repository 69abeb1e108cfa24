"""Where a module uses an old name, and what stands in the way of writing the new one there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.public_api.table import Row, table

MISSING = {"ImportError", "ModuleNotFoundError", "AttributeError", "NameError"}
ANY = {"Exception", "BaseException"}
ASKS_FOR_VERSION = re.compile(r"hasattr|(?<![a-z])version|torch\w*_?\d|pt_?\d\d|greater|higher|find_spec", re.I)


@dataclass(frozen=True, slots=True)
class Use:
    """A mention of an old name: the whole dotted expression."""

    module: Module
    node: ast.Name | ast.Attribute
    old: str
    row: Row

    @property
    def root(self) -> ast.Name:
        """The name that the expression begins with."""
        node: ast.expr = self.node
        while isinstance(node, ast.Attribute):
            node = node.value
        assert isinstance(node, ast.Name), "only dotted names are resolved"
        return node

    @property
    def call(self) -> ast.Call | None:
        """The call of the old name, if it is called right here."""
        parent = self.module.parent(self.node)
        return parent if isinstance(parent, ast.Call) and parent.func is self.node else None


def uses(module: Module) -> Iterator[Use]:
    """Every mention of an old name in the code of a module, in the order of the text."""
    rows = table()
    last = {old.rpartition(".")[2] for old in rows}
    imported = {name for name, meant in module.imports.meanings.items() if not meant.isdisjoint(rows)}
    for node in module.nodes(ast.Attribute, ast.Name):
        if (node.attr in last) if isinstance(node, ast.Attribute) else (node.id in imported):
            old = module.resolve(node) or ""
            if old in rows:
                yield Use(module, node, old, rows[old])


def check_use(use: Use) -> None:
    """Raise where the old name must stay."""
    module, node = use.module, use.node
    if not isinstance(node.ctx, ast.Load):
        raise Unsure(f"{where(module, node)}: the old name itself is set or deleted here")
    if re.sub(r"[\s\\]", "", module.code(node)) != ast.unparse(node):
        raise Unsure(f"{where(module, node)}: stands where its place in the text is not known, as in an f-string")
    if (use.row.leads or use.row.adds) and module.enclosing(node, ast.JoinedStr):
        raise Unsure(f"{where(module, node)}: stands in an f-string, where a new argument in quotes may have no room")
    check_place(module, node)
    for function in module.ancestors(node):
        for decorator in getattr(function, "decorator_list", []):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if (module.resolve(called) or "").startswith("torch.jit.") and node not in ast.walk(decorator):
                raise Unsure(f"{where(module, decorator)}: TorchScript compiles this code")


def check_place(module: Module, node: ast.AST) -> None:
    """Raise where code chooses between versions of torch."""
    if reason := choice_of_version(module, node):
        raise Unsure(reason)


def choice_of_version(module: Module, node: ast.AST) -> str:
    """How code around a node chooses between versions of torch, or nothing."""
    child = node
    for outer in module.ancestors(node):
        if isinstance(outer, ast.Try) and child not in outer.finalbody and is_prepared(outer):
            return f"{where(module, outer)}: stands in a `try` that is prepared for other versions of torch"
        test = outer.test if isinstance(outer, (ast.If, ast.IfExp)) else None
        if test and child is not test and ASKS_FOR_VERSION.search(ast.unparse(test)):
            return f"{where(module, test)}: stands behind a question about the version of torch"
        child = outer
    return ""


def is_prepared(attempt: ast.Try) -> bool:
    """Whether a handler catches what a missing name raises. One for all errors counts if little else is tried."""
    alone = len(attempt.body) == 1 or any(isinstance(one, (ast.Import, ast.ImportFrom)) for one in attempt.body)
    wanted = MISSING | (ANY if alone else set())
    return any(not wanted.isdisjoint(caught_by(handler)) for handler in attempt.handlers)


def caught_by(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"BaseException"}
    return {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(handler.type)}

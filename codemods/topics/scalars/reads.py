"""Numbers that a function reads from tensors: `t.item()`, `float(t)`, `int(t)`, `bool(t)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.scalars.repair import Look
from fullgraph.codemods.topics.scalars.roots import is_fresh

CONVERSIONS = ("float", "int", "bool")
NEUTRAL = {"detach", "cpu"}


@dataclass(frozen=True, eq=False)
class Read:
    """A read of one number. `how` is `item` or the builtin that converts; `tensor` is what is read."""

    node: ast.Call
    tensor: ast.expr
    how: str
    is_sure: bool = True
    """Whether a tensor is seen to be read; of what only may be one nothing is said unless it can be repaired."""

    def __str__(self) -> str:
        return f"{ast.unparse(self.tensor)}.item()" if self.how == "item" else f"{self.how}({ast.unparse(self.tensor)})"


def read_at(module: Module, node: ast.AST) -> Read | None:
    """The read that a node is; whether a converted value is a tensor is another question."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        return Read(node, node.func.value, "item")
    if len(node.args) == 1 and module.scopes.is_builtin(node.func, *CONVERSIONS):
        inner = read_at(module, node.args[0])
        name = getattr(node.func, "id", "")
        return Read(node, inner.tensor if inner else node.args[0], name)
    return None


def reads_in(look: Look) -> Iterator[Read]:
    """Every read in a function, the outermost where one converts what another has read."""
    module = look.module
    for node in module.nodes(ast.Call):
        found = read_at(module, node)
        if found is None or is_inner(module, node) or not look.holds(node):
            continue
        is_item = found.how == "item" or bool(read_at(module, node.args[0]) if node.args else None)
        if is_item or look.is_tensor(found.tensor):
            yield found
        elif is_fresh(found.tensor) and found.how == "float":
            yield replace(found, is_sure=False)


def is_inner(module: Module, node: ast.Call) -> bool:
    """Whether a read is what another one converts."""
    parent = module.parent(node)
    outer = read_at(module, parent) if parent is not None else None
    return outer is not None and outer.node is not node and node in outer.node.args

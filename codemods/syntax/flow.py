"""How values flow through one function, seen without order: which name is made from which."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from fullgraph.codemods.module import Function
from fullgraph.codemods.syntax.assignments import argument_names, own_nodes

NOT_VALUES = {"shape", "dtype", "device", "ndim", "requires_grad", "training", "is_leaf"}
NOT_VALUES |= {"numel", "nelement", "size", "dim", "stride", "element_size", "data_ptr", "is_floating_point"}
COLLECTS = {"append", "extend", "add", "update", "insert", "setdefault", "appendleft"}


class Flow:
    """The values of one function; the functions inside it are not looked into.

    What is stored into an argument (`self.x = value`) is handed on, and does not make the argument such a value.
    """

    def __init__(self, function: Function) -> None:
        self.nodes = sorted(own_nodes(function), key=lambda node: getattr(node, "lineno", 0))
        self.given = argument_names(function)

    def loops(self) -> Iterator[tuple[ast.expr, ast.expr, ast.AST]]:
        """Target, iterable and node of every loop, comprehensions included."""
        for node in self.nodes:
            if isinstance(node, ast.For):
                yield node.target, node.iter, node
            for generator in getattr(node, "generators", []):
                yield generator.target, generator.iter, node

    @cached_property
    def held(self) -> dict[str, list[ast.expr]]:
        """What each plain local name is assigned."""
        found: dict[str, list[ast.expr]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                found.setdefault(node.targets[0].id, []).append(node.value)
        return found

    def spread(self, names: set[str], seeds: set[ast.AST]) -> set[str]:
        """All local names whose value is made from these names or nodes."""
        found, size = set(names), -1
        while size != len(found):
            size = len(found)
            for source, targets in self.flows:
                if mentions(source, found, seeds):
                    found |= targets - self.given
        return found

    @cached_property
    def flows(self) -> list[tuple[ast.AST, set[str]]]:
        """Each value with the names that it goes into."""
        found: list[tuple[ast.AST, set[str]]] = [(source, stored(target)) for target, source, _ in self.loops()]
        for node in self.nodes:
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.append((node.value, set().union(*map(stored, targets))))
            elif isinstance(node, ast.Call) and (last_name(node) in COLLECTS or is_in_place(node)):
                found += [(argument, {root(node.func)}) for argument in node.args]
        return found

    def hands_to_argument(self, names: set[str], seeds: set[ast.AST]) -> bool:
        """Whether a value made from these goes into something that the caller holds."""
        return any(targets & self.given and mentions(source, names, seeds) for source, targets in self.flows)


def last_name(call: ast.Call) -> str:
    """`c` of `a.b.c()`."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def is_in_place(call: ast.Call) -> bool:
    """Whether a call is named like torch's functions that change a tensor: `add_`."""
    name = last_name(call)
    return name.endswith("_") and not name.endswith("__")


def mentions(node: ast.AST, names: set[str], seeds: set[ast.AST]) -> bool:
    """Whether a value is made from one of these names or nodes; shapes, sizes and lengths are not made from values."""
    if node in seeds:
        return True
    if isinstance(node, ast.Name):
        return node.id in names and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Attribute) and node.attr in NOT_VALUES:
        return False
    if isinstance(node, ast.Call) and last_name(node) in {"len", "type", "isinstance", "id"}:
        return False
    return any(mentions(child, names, seeds) for child in ast.iter_child_nodes(node))


def root(node: ast.AST) -> str:
    """The name at the bottom of `name.a[0].b()`."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def stored(target: ast.expr) -> set[str]:
    """The names that an assignment to this target fills."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return set().union(*map(stored, target.elts))
    return {root(target)} - {""}

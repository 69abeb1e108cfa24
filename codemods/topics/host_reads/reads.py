"""Reads of one number from a device, and the loops in which they stand."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.syntax.tensors.tables import NEUTRAL

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
LOOPS = (ast.For, ast.AsyncFor)


@dataclass(frozen=True, eq=False)
class Read:
    """`tensor.item()`; what changes nothing of the number (`detach`, `cpu`) is not part of `tensor`."""

    node: ast.Call
    tensor: ast.expr


@dataclass(frozen=True, eq=False)
class Loop:
    """A `for`, or one generator of a comprehension. `home` is the statement or the comprehension."""

    node: ast.For | ast.AsyncFor | ast.comprehension
    home: ast.AST

    @property
    def is_statement(self) -> bool:
        return isinstance(self.home, LOOPS)

    @property
    def is_async(self) -> bool:
        return isinstance(self.node, ast.AsyncFor) or bool(getattr(self.node, "is_async", 0))

    @property
    def names(self) -> set[str]:
        """What the loop binds."""
        return {node.id for node in ast.walk(self.node.target) if isinstance(node, ast.Name)}

    @property
    def body(self) -> list[ast.AST]:
        """What runs once for every element."""
        if isinstance(self.node, LOOPS):
            return list(self.node.body)
        assert isinstance(self.home, COMPREHENSIONS)
        later = self.home.generators[self.home.generators.index(self.node) + 1 :]
        parts = [self.home.key, self.home.value] if isinstance(self.home, ast.DictComp) else [self.home.elt]
        return [*self.node.ifs, *later, *parts]

    @property
    def running(self) -> list[ast.AST]:
        """What runs while the loop does: what it goes through is made first, and may run code in every round."""
        if isinstance(self.node, LOOPS):
            head = copy.copy(self.node)
            head.orelse = []
            return [head]
        return [self.node.iter, *self.body]


def reads(module: Module) -> list[Read]:
    """Every `.item()` of a module that can be rewritten where it stands, in the order of the text."""
    return [
        Read(call, bare(call.func.value))
        for call in module.nodes(ast.Call)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "item"
        and not call.args
        and not call.keywords
        and is_readable(module, call)
    ]


def bare(node: ast.expr) -> ast.expr:
    """A tensor without the calls that change nothing of its number."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in NEUTRAL:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        else:
            return node


def is_readable(module: Module, node: ast.AST) -> bool:
    """Whether the text is where the tree says: inside f-strings the positions of older Pythons are off."""
    values = [outer for outer in module.ancestors(node) if isinstance(outer, ast.FormattedValue)]
    return all(is_where_it_says(module, value.value) for value in values)


def is_where_it_says(module: Module, node: ast.expr) -> bool:
    try:
        found = ast.parse(f"({module.code(node)})", mode="eval").body
    except SyntaxError:
        return False
    return ast.dump(found) == ast.dump(node)


def loops_around(module: Module, node: ast.AST) -> Iterator[Loop]:
    """The loops in which a node runs, innermost first, up to the function around it."""
    child, inner = node, node
    for outer in module.ancestors(node):
        if isinstance(outer, SCOPES):
            return
        if isinstance(outer, LOOPS) and child in outer.body:
            yield Loop(outer, outer)
        elif isinstance(outer, COMPREHENSIONS):
            yield from (Loop(generator, outer) for generator in reversed(in_force(outer, child, inner)))
        child, inner = outer, child


def in_force(whole: ast.AST, part: ast.AST, inner: ast.AST) -> list[ast.comprehension]:
    """The generators of a comprehension that have an element when a part of it runs."""
    generators: list[ast.comprehension] = whole.generators  # type: ignore[attr-defined]
    if not isinstance(part, ast.comprehension):
        return generators
    number = generators.index(part)
    return generators[: number + (inner is not part.iter)]

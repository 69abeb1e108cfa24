"""Nodes with the module that they stand in."""

from __future__ import annotations

import ast
from typing import Generic, NamedTuple, TypeVar

from codemods.module import Function, Module

NODE = TypeVar("NODE", bound=ast.AST, covariant=True)
CONTAINERS = ("list", "sequence", "iterable", "tuple")


class Place(NamedTuple, Generic[NODE]):
    """A node together with the module that it stands in."""

    module: Module
    node: NODE

    def __str__(self) -> str:
        return where(self.module, self.node)


def where(module: Module, node: ast.AST) -> str:
    return f"{module.path}:{module.line(module.span(node).start)}"


Definition = Place[ast.AST]


def only_class(found: Definition | None) -> Place[ast.ClassDef] | None:
    return Place(found.module, found.node) if found and isinstance(found.node, ast.ClassDef) else None


def only_function(found: Definition | None) -> Place[Function] | None:
    return Place(found.module, found.node) if found and isinstance(found.node, Function) else None


def item_of(annotation: Definition | None) -> Definition | None:
    """`T` of `list[T]`, `Sequence[T]`, `tuple[T, ...]`."""
    if annotation is None or not isinstance(annotation.node, ast.Subscript):
        return None
    container, item = annotation.node.value, annotation.node.slice
    name = container.attr if isinstance(container, ast.Attribute) else getattr(container, "id", "")
    if name.lower() not in CONTAINERS:
        return None
    if isinstance(item, ast.Tuple):
        dots = len(item.elts) == 2 and isinstance(item.elts[1], ast.Constant) and item.elts[1].value is ...
        return Place(annotation.module, item.elts[0]) if dots else None
    return Place(annotation.module, item)

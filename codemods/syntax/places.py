"""Nodes with the module that they stand in."""

from __future__ import annotations

import ast
from typing import Generic, NamedTuple, TypeVar

from fullgraph.codemods.module import Function, Module

NODE = TypeVar("NODE", bound=ast.AST, covariant=True)
CONSTRUCTORS = ("__init__", "__post_init__", "__new__")
CONTAINERS = ("list", "sequence", "iterable", "tuple")


class Place(NamedTuple, Generic[NODE]):
    """A node together with the module that it stands in."""

    module: Module
    node: NODE

    def __str__(self) -> str:
        return where(self.module, self.node)


def where(module: Module, node: ast.AST) -> str:
    return f"{module.path}:{module.line(module.span(node).start)}"


def is_in_constructor(module: Module, node: ast.AST) -> bool:
    """Whether code runs once for each object."""
    function = module.enclosing(node, ast.FunctionDef)
    return function is not None and function.name in CONSTRUCTORS


Definition = Place[ast.AST]


def only_class(found: Definition | None) -> Place[ast.ClassDef] | None:
    return Place(found.module, found.node) if found and isinstance(found.node, ast.ClassDef) else None


def only_function(found: Definition | None) -> Place[Function] | None:
    return Place(found.module, found.node) if found and isinstance(found.node, Function) else None


def item_of(annotation: Definition | None) -> Definition | None:
    """`T` of `list[T]`, `Sequence[T]`, `tuple[T, ...]`."""
    if annotation is None or not isinstance(annotation.node, ast.Subscript):
        return None
    item = annotation.node.slice
    if container_name(annotation.node) not in CONTAINERS:
        return None
    if isinstance(item, ast.Tuple):
        dots = len(item.elts) == 2 and isinstance(item.elts[1], ast.Constant) and item.elts[1].value is ...
        return Place(annotation.module, item.elts[0]) if dots else None
    return Place(annotation.module, item)


def part_of(annotation: Definition | None, place: int) -> Definition | None:
    """The part at one place of `tuple[A, B]`, or of a list of one kind."""
    node = annotation.node if annotation else None
    if annotation is None or not isinstance(node, ast.Subscript) or container_name(node) != "tuple":
        return item_of(annotation)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    is_fixed = not any(isinstance(part, ast.Constant) and part.value is ... for part in parts)
    return Place(annotation.module, parts[place]) if is_fixed and place < len(parts) else item_of(annotation)


def container_name(annotation: ast.Subscript) -> str:
    container = annotation.value
    return (container.attr if isinstance(container, ast.Attribute) else getattr(container, "id", "")).lower()

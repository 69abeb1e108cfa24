"""What an annotation says about a value."""

from __future__ import annotations

import ast

from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Definition, Place
from fullgraph.codemods.syntax.tensors.known import NUMBER, OTHER, UNKNOWN, Known, agreed, is_foreign
from fullgraph.codemods.syntax.tensors.tables import TENSOR_NAMES

LISTS = {"list", "List", "Sequence", "tuple", "Tuple", "MutableSequence"}
DICTS = {"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"}
DEEP = 6


def said_by(names: Definitions, place: Definition | None, depth: int = 0) -> Known:
    """A tensor, or a list, tuple or dict of such; through aliases. What may be None is not known."""
    if place is None or depth > DEEP:
        return UNKNOWN
    module, node = place
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return quoted(names, place, depth)
    if isinstance(node, (ast.Name, ast.Attribute)):
        if module.resolve(node) in TENSOR_NAMES:
            return Known("tensor")
        if is_foreign(module.resolve(node)):
            return OTHER
        if getattr(node, "id", "") in ("int", "float", "bool"):
            return NUMBER
        return alias(names, place, depth)
    if isinstance(node, ast.Subscript):
        return container(names, place, depth)
    return UNKNOWN


def quoted(names: Definitions, place: Definition, depth: int) -> Known:
    try:
        inner = ast.parse(str(getattr(place.node, "value", "")), mode="eval").body
    except SyntaxError:
        return UNKNOWN
    return said_by(names, Place(place.module, inner), depth + 1)


def alias(names: Definitions, place: Definition, depth: int) -> Known:
    """What a name for an annotation stands for; a bare `list` or `dict` says what it is, and nothing of its items."""
    found = names.statement(place.module, place.node)
    if found and isinstance(found.node, (ast.Assign, ast.AnnAssign)) and found.node.value is not None:
        return said_by(names, Place(found.module, found.node.value), depth + 1)
    name = getattr(place.node, "id", "")
    return Known("list") if name in LISTS else Known("dict") if name in DICTS else UNKNOWN


def container(names: Definitions, place: Definition, depth: int) -> Known:
    node = place.node
    assert isinstance(node, ast.Subscript)
    name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    inner = [said_by(names, Place(place.module, part), depth + 1) for part in parts]
    if name in DICTS and len(parts) == 2:
        return Known("dict", item=inner[1])
    is_endless = len(parts) == 1 or (isinstance(parts[-1], ast.Constant) and parts[-1].value is ...)
    if name in LISTS and is_endless:
        return Known("list", item=inner[0])
    return Known("list", item=agreed(inner), parts=tuple(inner)) if name in LISTS else UNKNOWN

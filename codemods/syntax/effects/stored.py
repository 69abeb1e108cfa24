"""What a module stores in attributes, and what it puts into variables and attributes that hold several things."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.effects.harmless import COLLECTS
from fullgraph.codemods.syntax.effects.tokens import Token, variable
from fullgraph.codemods.syntax.flow import last_name

_STORED: WeakKeyDictionary[Module, dict[str, list[ast.expr]]] = WeakKeyDictionary()
_FILLED: WeakKeyDictionary[Module, dict[Token, list[ast.expr]]] = WeakKeyDictionary()


def stored_as(module: Module) -> dict[str, list[ast.expr]]:
    """Each attribute that a module sets, with the values it gets."""
    if module not in _STORED:
        found: dict[str, list[ast.expr]] = {}
        for node in module.unordered(ast.Assign, ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Attribute) and node.value is not None:
                    found.setdefault(target.attr, []).append(node.value)
        _STORED[module] = found
    return _STORED[module]


def filled_with(module: Module) -> dict[Token, list[ast.expr]]:
    """Each variable and attribute that a module puts items into, with these items."""
    if module not in _FILLED:
        found: dict[Token, list[ast.expr]] = {}
        for node in module.unordered(ast.Assign, ast.AugAssign, ast.Call):
            for holder, items in fillings(node):
                own = variable(module, holder) if isinstance(holder, ast.Name) else (None, getattr(holder, "attr", ""))
                found.setdefault(own, []).extend(items)
        _FILLED[module] = found
    return _FILLED[module]


def fillings(node: ast.AST) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """What a statement or a call puts into something that has a name."""
    holders: list[ast.expr] = []
    items: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        holders = [target.value for target in node.targets if isinstance(target, ast.Subscript)]
        items = [node.value]
    elif isinstance(node, ast.AugAssign):
        holders, items = [node.target], [node.value]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and last_name(node) in COLLECTS:
        holders, items = [node.func.value], [*node.args, *(keyword.value for keyword in node.keywords)]
    for holder in holders:
        while isinstance(holder, ast.Subscript):
            holder = holder.value
        if isinstance(holder, (ast.Name, ast.Attribute)):
            yield holder, items

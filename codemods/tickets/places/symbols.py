"""What a ticket's names mean in one file: functions, classes, attributes and constants, by dotted names."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from fullgraph.codemods.module import Module, Scope
from fullgraph.codemods.tickets.model import Lines


@dataclass(frozen=True, slots=True)
class Named:
    """Something with a name in a file: the function or class itself, or the one around an attribute or constant."""

    symbol: str
    lines: Lines
    is_scope: bool = True
    is_class: bool = False


def lines_of(node: ast.AST) -> Lines:
    """From the first decorator to the last line."""
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])  # type: ignore[attr-defined]
    return Lines(first, node.end_lineno or first)  # type: ignore[attr-defined]


def scopes_in(module: Module) -> dict[str, Lines]:
    """Every function and class of a file by its dotted name; of two with one name, the last."""
    return {module.symbol(node): lines_of(node) for node in module.nodes(*Scope.__args__)}


def find_names(module: Module, names: Iterable[str]) -> list[Named]:
    """What these names mean, in their order; a name that could be several things means none of them."""
    scopes = scopes_in(module)
    found: dict[str, Named] = {}
    for name in names:
        named = find_scope(scopes, name) or find_attribute(module, scopes, name)
        if named:
            found.setdefault(named.symbol, named)
    return list(found.values())


def find_scope(scopes: dict[str, Lines], name: str) -> Named | None:
    """A function or class by its dotted name or the end of it; the module may stand in front."""
    name = name.replace(".<locals>", "")
    ends = [symbol for symbol in scopes if symbol == name or symbol.endswith(f".{name}") or name.endswith(f".{symbol}")]
    exact = [symbol for symbol in ends if symbol == name] or ends
    longest = [symbol for symbol in exact if symbol.count(".") == max(each.count(".") for each in exact)]
    return Named(longest[0], scopes[longest[0]]) if len(longest) == 1 else None


def find_attribute(module: Module, scopes: dict[str, Lines], name: str) -> Named | None:
    """`Class.attribute` or a constant of the module: where it is bound first."""
    owner, _, attribute = name.rpartition(".")
    around = find_scope(scopes, owner) if owner and owner != "self" else None
    if owner and not around:
        return None
    for node in module.nodes(ast.Name, ast.Attribute):
        if bound_name(node) == attribute and is_inside(module, node, around):
            return Named(symbol_at(module, node), lines_of(module.statement(node)), is_scope=False)
    return None


def bound_name(node: ast.Name | ast.Attribute) -> str:
    if not isinstance(node.ctx, ast.Store):
        return ""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node.value, ast.Name) and node.value.id == "self" else ""


def is_inside(module: Module, node: ast.Name | ast.Attribute, around: Named | None) -> bool:
    symbol = symbol_at(module, node)
    if around:
        return symbol == around.symbol or (isinstance(node, ast.Attribute) and symbol.startswith(around.symbol + "."))
    return not symbol


def symbol_at(module: Module, node: ast.AST) -> str:
    symbol = module.symbol(node)
    return "" if symbol == "<module>" else symbol


def around_lines(module: Module, lines: Lines) -> Named | None:
    """The smallest function or class that holds these lines, or all of them that are in any function at all."""
    scopes = [Named(symbol, extent) for symbol, extent in scopes_in(module).items()]
    met = [named.lines for named in scopes if named.lines.first <= lines.last and lines.first <= named.lines.last]
    outer = [each for each in met if not any(holds(other, each) and other != each for other in met)]
    if len(outer) == 1:
        lines = Lines(max(lines.first, outer[0].first), min(lines.last, outer[0].last))
    holding = [named for named in scopes if holds(named.lines, lines)]
    touching = [named for named in scopes if named.lines.first <= lines.first <= named.lines.last]
    return min(holding or touching, key=lambda named: named.lines.last - named.lines.first, default=None)


def holds(outer: Lines, inner: Lines) -> bool:
    return outer.first <= inner.first and inner.last <= outer.last


def around_node(module: Module, node: ast.AST) -> Named | None:
    """The function or class around a node, or the node itself."""
    scope = node if isinstance(node, Scope) else module.enclosing(node, *Scope.__args__)
    if scope is None:
        return None
    return Named(module.symbol(scope), lines_of(scope), is_class=isinstance(scope, ast.ClassDef))

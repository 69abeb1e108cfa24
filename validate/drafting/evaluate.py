"""What an expression is worth, as far as the text says: numbers, strings, containers, layers, the user's objects."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fullgraph.validate.drafting.library import Definition, Functions, Library, Module

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN", "__bool__": lambda self: False})()
DEEPEST = 12
MOST_STEPS = 64
BIGGEST = 1 << 24
PATIENCE = 200_000
"""Expressions that are looked at for one draft: half a second."""

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
BUILTINS: dict[str, Callable[..., Any]] = {
    name: function
    for name, function in vars(math).items()
    if name in ("sqrt", "ceil", "floor", "log2", "prod", "log", "gcd")
} | {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "len": len,
    "max": max,
    "min": min,
    "sum": sum,
    "abs": abs,
    "round": round,
    "list": list,
    "tuple": tuple,
    "dict": dict,
    "range": lambda *given: list(range(*given))[:MOST_STEPS],
    "zip": lambda *given: list(zip(*given, strict=False)),
    "enumerate": lambda *given: list(enumerate(*given)),
    "reversed": lambda given: list(reversed(given)),
}


@dataclass
class Layer:
    """A module of torch.nn, by its class name, with the values of its arguments."""

    kind: str
    args: list[Any]
    kwargs: dict[str, Any]

    def value(self, position: int, name: str, default: Any = UNKNOWN) -> Any:
        return self.args[position] if position < len(self.args) else self.kwargs.get(name, default)


@dataclass
class Array:
    """A tensor or a parameter whose shape is known."""

    shape: tuple[int, ...]


@dataclass
class Thing:
    """An object of a class of the user's, with the attributes that its constructor gives it."""

    definition: Definition
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass
class Scope:
    """Where an expression stands: the module, the local names, and the object behind `self`."""

    library: Library
    module: Module
    names: dict[str, Any] = field(default_factory=dict)
    depth: int = 0

    def inside(self, module: Module, names: Mapping[str, Any]) -> Scope:
        return Scope(self.library, module, dict(names), self.depth + 1)


def evaluate(node: ast.AST | None, scope: Scope) -> Any:
    """The value of an expression, or UNKNOWN."""
    reader = READERS.get(type(node)) if node else None
    scope.library.steps += 1
    if reader is None or scope.depth > DEEPEST or scope.library.steps > PATIENCE:
        return UNKNOWN
    try:
        value = reader(node, scope)
    except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError, RecursionError):
        return UNKNOWN
    return UNKNOWN if isinstance(value, (int, float)) and abs(value) > BIGGEST else value


def known(*values: Any) -> bool:
    return all(value is not UNKNOWN for value in values)


def read_name(node: ast.Name, scope: Scope) -> Any:
    return scope.names[node.id] if node.id in scope.names else read_dotted(scope.module.dotted(node), scope)


def read_dotted(dotted: str, scope: Scope) -> Any:
    """A constant of some module; a class stands for itself."""
    found = scope.library.find(dotted) if dotted else None
    if found is None:
        return UNKNOWN
    if found.is_class or isinstance(found.node, Functions):
        return found
    return evaluate(found.node, scope.inside(found.module, {}))


def read_attribute(node: ast.Attribute, scope: Scope) -> Any:
    holder = evaluate(node.value, scope)
    if isinstance(holder, Thing):
        if node.attr in holder.attributes:
            return holder.attributes[node.attr]
        holder = holder.definition
    if isinstance(holder, Definition) and holder.is_class:
        member = scope.library.member(holder, node.attr)
        if member is None or member.is_class or isinstance(member.node, Functions):
            return member or UNKNOWN
        return evaluate(member.node, scope.inside(member.module, {}))
    if isinstance(holder, Array) and node.attr == "shape":
        return holder.shape
    return read_dotted(scope.module.dotted(node), scope)


def read_binary(node: ast.BinOp, scope: Scope) -> Any:
    left, right = evaluate(node.left, scope), evaluate(node.right, scope)
    if isinstance(node.op, ast.Pow):
        return left**right if known(left, right) and abs(right) < 16 else UNKNOWN
    return BINARY[type(node.op)](left, right) if known(left, right) else UNKNOWN


def read_unary(node: ast.UnaryOp, scope: Scope) -> Any:
    value = evaluate(node.operand, scope)
    if not known(value):
        return UNKNOWN
    return not value if isinstance(node.op, ast.Not) else -value if isinstance(node.op, ast.USub) else UNKNOWN


def read_compare(node: ast.Compare, scope: Scope) -> Any:
    left, right = evaluate(node.left, scope), evaluate(node.comparators[0], scope)
    if len(node.ops) > 1 or not known(left, right):
        return UNKNOWN
    return COMPARE[type(node.ops[0])](left, right)


def read_condition(node: ast.BoolOp, scope: Scope) -> Any:
    value = UNKNOWN
    for part in node.values:
        value = evaluate(part, scope)
        if not known(value) or bool(value) is isinstance(node.op, ast.Or):
            return value
    return value


def read_choice(node: ast.IfExp, scope: Scope) -> Any:
    test = evaluate(node.test, scope)
    return evaluate(node.body if test or not known(test) else node.orelse, scope)


def read_sequence(node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Any:
    parts: list[Any] = []
    for part in node.elts:
        if isinstance(part, ast.Starred):
            inner = evaluate(part.value, scope)
            parts += inner if known(inner) else [UNKNOWN]
        else:
            parts.append(evaluate(part, scope))
    return tuple(parts) if isinstance(node, ast.Tuple) else parts


def read_dict(node: ast.Dict, scope: Scope) -> Any:
    keys = [evaluate(key, scope) for key in node.keys]
    return dict(zip(keys, (evaluate(value, scope) for value in node.values), strict=True)) if known(*keys) else UNKNOWN


def read_subscript(node: ast.Subscript, scope: Scope) -> Any:
    holder = evaluate(node.value, scope)
    if isinstance(node.slice, ast.Slice):
        bounds = [evaluate(part, scope) if part else None for part in (node.slice.lower, node.slice.upper)]
        return holder[slice(*bounds)] if known(holder, *bounds) else UNKNOWN
    index = evaluate(node.slice, scope)
    return holder[index] if known(holder, index) else UNKNOWN


def read_comprehension(node: ast.ListComp | ast.GeneratorExp | ast.DictComp, scope: Scope) -> Any:
    (generator,) = node.generators
    items = evaluate(generator.iter, scope)
    if not known(items):
        return UNKNOWN
    found = []
    for item in list(items)[:MOST_STEPS]:
        inner = scope.inside(scope.module, scope.names)
        bind(generator.target, item, inner)
        if all(evaluate(test, inner) for test in generator.ifs):
            pair = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt, node.elt)
            found.append(tuple(evaluate(part, inner) for part in pair))
    return dict(found) if isinstance(node, ast.DictComp) else [value for value, _ in found]


def bind(target: ast.expr, value: Any, scope: Scope) -> None:
    """Assign to a name, to several, or to an attribute of an object that is known."""
    if isinstance(target, ast.Name):
        scope.names[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        spread = isinstance(value, (tuple, list)) and len(value) == len(target.elts)
        for position, part in enumerate(target.elts):
            bind(part, value[position] if spread else UNKNOWN, scope)
    elif isinstance(target, ast.Attribute):
        holder = evaluate(target.value, scope)
        if isinstance(holder, Thing):
            holder.attributes[target.attr] = value


def read_call(node: ast.Call, scope: Scope) -> Any:
    from fullgraph.validate.drafting.construct import call

    return call(node, scope)


READERS: dict[type[ast.AST], Callable[[Any, Scope], Any]] = {
    ast.Constant: lambda node, scope: node.value,
    ast.Name: read_name,
    ast.Attribute: read_attribute,
    ast.BinOp: read_binary,
    ast.UnaryOp: read_unary,
    ast.Compare: read_compare,
    ast.BoolOp: read_condition,
    ast.IfExp: read_choice,
    ast.List: read_sequence,
    ast.Tuple: read_sequence,
    ast.Set: read_sequence,
    ast.Dict: read_dict,
    ast.Subscript: read_subscript,
    ast.ListComp: read_comprehension,
    ast.GeneratorExp: read_comprehension,
    ast.DictComp: read_comprehension,
    ast.Call: read_call,
}

"""Passes over collections: loops and comprehensions, and whether the collection can be read once more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.effects.harmless import ATOMIC
from fullgraph.codemods.topics.queries.order import evaluated_before, exits, holds

DEFERRED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.JoinedStr)
EAGER_READERS = ("all", "any", "sum", "list", "tuple", "set", "dict", "sorted", "min", "max", "frozenset")
ITERATORS = ("iter", "map", "filter", "zip", "enumerate", "reversed")
HASHED = ("dict", "set", "frozenset", "Mapping", "MutableMapping", "OrderedDict", "defaultdict")
LISTED = ("list", "tuple", "Sequence", "deque", "List", "Tuple", "Collection")
KEYS = {"int", "str", "bool", "bytes"}


@dataclass(frozen=True, eq=False)
class Pass:
    """One loop or comprehension over a collection, with a single variable; `statement` is the one that holds it."""

    node: ast.For | ast.expr
    target: ast.Name
    iterable: ast.expr
    statement: ast.stmt

    def is_over(self) -> str:
        return ast.dump(self.iterable)


def calls_in(function: Function) -> Iterator[ast.Call]:
    """The calls that the function itself makes, in no special order; f-strings have no places for their parts."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, DEFERRED):
            todo += ast.iter_child_nodes(node)


def pass_of(module: Module, call: ast.Call) -> Pass | None:
    """The innermost pass whose variable the call is about."""
    for outer in module.ancestors(call):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        found = as_pass(module, outer)
        if found and mentions(module, call, found.target) and is_inside(found.node, call):
            return found
    return None


def is_inside(loop: Any, call: ast.Call) -> bool:
    """Whether the call is made once for each item: not for the iterable, and not in the loop's `else`."""
    if isinstance(loop, ast.For):
        return any(holds(statement, call) for statement in loop.body)
    return not holds(loop.generators[0].iter, call)


def as_pass(module: Module, node: ast.AST) -> Pass | None:
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        return Pass(node, node.target, node.iter, node)
    if isinstance(node, COMPREHENSIONS) and len(node.generators) == 1:
        only = node.generators[0]
        if isinstance(only.target, ast.Name) and not only.is_async:
            return Pass(node, only.target, only.iter, module.statement(node))
    return None


def mentions(module: Module, call: ast.AST, target: ast.Name) -> bool:
    home = module.scopes.of(target)
    names = (node for node in ast.walk(call) if isinstance(node, ast.Name) and node.id == target.id)
    return any(module.scopes.of(name) is home for name in names)


def changes_in_loops(module: Module, call: ast.Call) -> ast.For | None:
    """The innermost loop that gives a name in the call another value in each pass."""
    names = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
    for outer in module.ancestors(call):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        if isinstance(outer, ast.For) and is_inside(outer, call):
            inside = [*ast.walk(outer.target), *own_nodes(outer)]
            bound = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            if bound & names:
                return outer
    return None


def is_deferred(module: Module, node: ast.AST) -> bool:
    """Whether a generator expression asks when somebody reads it, and not where it stands."""
    generator = module.enclosing(node, ast.GeneratorExp)
    parent = module.parent(generator) if generator else None
    reads_at_once = isinstance(parent, ast.Call) and module.scopes.is_builtin(parent.func, *EAGER_READERS)
    return generator is not None and not reads_at_once


def asks_always(module: Module, one: Pass, call: ast.Call) -> str:
    """Why a pass does not ask for each of its items; empty if it surely does."""
    if isinstance(one.node, ast.For):
        statement = module.statement(call)
        if statement not in one.node.body or evaluated_before(module, statement, call) is None:
            return "not every pass asks, and all would be asked before the first"
        early = exits(one.node.body[: one.node.body.index(statement)], (ast.Continue, ast.Raise))
        leaving = early or exits(one.node.body, (ast.Break, ast.Return))
        return f"the loop may be left in line {leaving.lineno} before all are asked" if leaving else ""  # type: ignore[attr-defined]
    node: Any = one.node
    asked = node.generators[0].ifs[:1] or [getattr(node, "elt", None) or node.key, getattr(node, "value", None)]
    is_sure = any(part is call or evaluated_before(module, part, call) is not None for part in asked if part)
    is_run = evaluated_before(module, one.statement, node) is not None and not isinstance(node, ast.GeneratorExp)
    return "" if is_sure and is_run else "not every pass asks"


# The collection


def is_counted(module: Module, iterable: ast.expr) -> bool:
    """`range(n)`: the items are the places in a list."""
    is_range = isinstance(iterable, ast.Call) and module.scopes.is_builtin(iterable.func, "range")
    return is_range and len(iterable.args) == 1 and not isinstance(iterable.args[0], ast.Starred)  # type: ignore[attr-defined]


def is_one_shot(module: Module, iterable: ast.expr, depth: int = 0) -> bool:
    """Whether a variable is seen to hold an iterator, which the first loop uses up."""
    if not isinstance(iterable, ast.Name) or depth > 5:
        is_made = isinstance(iterable, ast.Call) and module.scopes.is_builtin(iterable.func, *ITERATORS)
        return depth > 0 and (is_made or isinstance(iterable, ast.GeneratorExp))
    bindings = module.scopes.bindings(iterable)
    said = [ast.unparse(binding.annotation) for binding in bindings if binding.annotation]
    if any(re.match(r"['\"]?(?:\w+\.)*(?:Iterator|Generator)\b", text) for text in said):
        return True
    values = [binding.value for binding in bindings if binding.how == "assign" and not binding.path]
    return any(value is not None and is_one_shot(module, value, depth + 1) for value in values)


def can_be_keys(names: Definitions, module: Module, iterable: ast.expr, depth: int = 0) -> bool:
    """Whether a collection can be read as often as one likes, and its items can be keys of a dict."""
    if depth > 5:
        return False
    if isinstance(iterable, (ast.Tuple, ast.List, ast.Set)):
        return all(isinstance(item, ast.Constant) for item in iterable.elts)
    if isinstance(iterable, (ast.Dict, ast.DictComp, ast.SetComp)):
        return True
    if isinstance(iterable, ast.Call):
        is_keys = isinstance(iterable.func, ast.Attribute) and iterable.func.attr == "keys" and not iterable.args
        if is_keys or module.scopes.is_builtin(iterable.func, "range", "set", "frozenset", "dict"):
            return True
        is_copy = module.scopes.is_builtin(iterable.func, "list", "tuple", "sorted") and bool(iterable.args)
        return is_copy and can_be_keys(names, module, iterable.args[0], depth + 1)
    if isinstance(iterable, (ast.ListComp, ast.GeneratorExp)):
        return False
    return is_declared(names, module, iterable, depth)


def is_declared(names: Definitions, module: Module, iterable: ast.expr, depth: int) -> bool:
    """Whether an annotation, or everything that is assigned to the variable, says so."""
    if isinstance(iterable, ast.Name) and not module.resolve(iterable):
        bindings = module.scopes.bindings(iterable)
        return bool(bindings) and all(
            has_keys(binding.annotation)
            or (
                binding.how == "assign"
                and not binding.path
                and binding.value is not None
                and can_be_keys(names, module, binding.value, depth + 1)
            )
            for binding in bindings
        )
    found = names.statement(module, iterable)
    if found and isinstance(found.node, (ast.Assign, ast.AnnAssign)) and found.node.value:
        annotation = getattr(found.node, "annotation", None)
        return has_keys(annotation) or can_be_keys(names, found.module, found.node.value, depth + 1)
    kind = names.kind(module, iterable)
    return kind is not None and isinstance(kind.node, ast.expr) and has_keys(kind.node)


def has_keys(annotation: ast.expr | None) -> bool:
    """`list[str]`, `tuple[int, ...]`, `dict[str, X]`, `set[X]`."""
    if annotation is None:
        return False
    head, _, inner = ast.unparse(annotation).strip("'\"").partition("[")
    kind = head.rpartition(".")[2]
    if kind in HASHED:
        return True
    items = {part.strip() for part in inner.rstrip("]").replace("...", "").split(",")} - {""}
    return kind in LISTED and bool(items) and items <= KEYS & ATOMIC

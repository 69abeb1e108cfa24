"""What a function, a class or a module gives values to, read off its statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from fullgraph.codemods.module import Function, children

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Setting = ast.Assign | ast.AnnAssign
_VALUES: WeakKeyDictionary[ast.AST, dict[str, list[ast.expr]]] = WeakKeyDictionary()
_SETTINGS: WeakKeyDictionary[ast.AST, dict[str, list[Setting]]] = WeakKeyDictionary()


def argument_names(function: Function) -> set[str]:
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function or module itself, not in the functions and classes inside; in no special order."""
    todo: list[ast.AST] = list(getattr(scope, "body", []))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            todo += children(node)


def assigned_values(scope: ast.AST, name: str) -> list[ast.expr]:
    """Every value that is given to a plain name in one scope."""
    if scope not in _VALUES:
        found = _VALUES.setdefault(scope, {})
        for node in own_nodes(scope):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value:
                names = {target.id for target in targets_of(node) if isinstance(target, ast.Name)}
                for bound in names:
                    found.setdefault(bound, []).append(node.value)
    return _VALUES[scope].get(name, [])


def attribute_settings(kind: ast.ClassDef, name: str) -> list[Setting]:
    """Every `self.name = ...` of a class, and `name: Kind` in its body."""
    if kind not in _SETTINGS:
        found = _SETTINGS.setdefault(kind, {})
        for node in ast.walk(kind):
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                for bound in {attribute_named(kind, node, target) for target in targets_of(node)}:
                    found.setdefault(bound, []).append(node)
    return _SETTINGS[kind].get(name, [])


def targets_of(node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def attribute_named(kind: ast.ClassDef, node: Setting, target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id if node in kind.body else ""
    return target.attr if isinstance(target, ast.Attribute) else ""

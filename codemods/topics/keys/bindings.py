"""Local variables: where each is bound, where it is used, and what could run before a given place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from codemods.module import Module
from codemods.topics.keys.loops import COMPREHENSIONS

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)


@dataclass(frozen=True)
class Variable:
    """One name in one function or comprehension. `bindings`: the names and arguments that give it a value."""

    module: Module
    scope: ast.AST
    name: str
    bindings: tuple[ast.AST, ...]

    def uses(self) -> list[ast.Name]:
        """Every place that reads it, also in functions and comprehensions inside its scope."""
        names = self.module.nodes(ast.Name)
        return [
            name
            for name in names
            if name.id == self.name and not isinstance(name.ctx, ast.Store) and variable_of(self.module, name) == self
        ]

    def may_precede(self, use: ast.AST, place: ast.AST) -> bool:
        """Whether `use` could run before `place` does, with the same value in the variable."""
        module = self.module
        if not all(function_around(module, node) is self._function for node in (use, place)):
            return True
        if module.span(use).start < module.span(place).end or in_finally(module, use):
            return True
        around = [outer for outer in module.ancestors(use) if isinstance(outer, LOOPS)]
        shared = [outer for outer in module.ancestors(place) if outer in around]
        return not all(self._is_bound_in(loop) for loop in shared)

    @property
    def _function(self) -> ast.AST | None:
        return self.scope if isinstance(self.scope, FUNCTIONS) else function_around(self.module, self.scope)

    def _is_bound_in(self, loop: ast.AST) -> bool:
        return all(loop in self.module.ancestors(binding) for binding in self.bindings)


class Bindings:
    """What every scope of one module binds."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.by_scope: dict[tuple[ast.AST, str], list[ast.AST]] = {}
        self.reads: dict[str, list[ast.Name]] = {}
        self.shared = {name for node in module.nodes(ast.Global, ast.Nonlocal) for name in node.names}
        for name in module.nodes(ast.Name):
            if not isinstance(name.ctx, ast.Store):
                self.reads.setdefault(name.id, []).append(name)
            elif not is_bare_annotation(module, name):
                self._bind(name, name.id)
        for argument in module.nodes(ast.arg):
            self._bind(argument, argument.arg)
        for node in module.nodes(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
            self._bind(node, node.name)
        for node in module.nodes(ast.Import, ast.ImportFrom):
            for alias in node.names:
                self._bind(node, (alias.asname or alias.name).partition(".")[0])
        for node in module.nodes(ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping):
            if captured := getattr(node, "name", None) or getattr(node, "rest", None):
                self._bind(node, captured)

    def _bind(self, node: ast.AST, name: str) -> None:
        self.by_scope.setdefault((self._scope_of(node), name), []).append(node)

    def _scope_of(self, node: ast.AST) -> ast.AST:
        """The scope in which a binding at this node takes effect."""
        inner = node
        leaves_comprehensions = isinstance(self.module.parent(node), ast.NamedExpr)
        for outer in self.module.ancestors(node):
            if isinstance(outer, (*FUNCTIONS, ast.ClassDef, ast.Module)):
                return outer
            in_target = isinstance(inner, ast.comprehension) and not leaves_comprehensions
            if isinstance(outer, COMPREHENSIONS) and in_target:
                return outer
            inner = outer
        return self.module.tree


INDEX: WeakKeyDictionary[Module, Bindings] = WeakKeyDictionary()


def bindings_of(module: Module) -> Bindings:
    if module not in INDEX:
        INDEX[module] = Bindings(module)
    return INDEX[module]


def variable_of(module: Module, name: ast.Name) -> Variable | None:
    """The local variable behind a name; None for a module's own name and for what `global` or `nonlocal` share."""
    bindings = bindings_of(module)
    if name.id in bindings.shared:
        return None
    for scope in scopes_around(module, name):
        if found := bindings.by_scope.get((scope, name.id)):
            return Variable(module, scope, name.id, tuple(found))
    return None


def variable_in(module: Module, scope: ast.AST, name: str) -> Variable:
    return Variable(module, scope, name, tuple(bindings_of(module).by_scope[scope, name]))


def scopes_around(module: Module, node: ast.AST) -> Iterator[ast.AST]:
    """The functions and comprehensions in which a name at this node is looked up, innermost first."""
    path: list[ast.AST] = [node]
    for outer in module.ancestors(node):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if path[-1] in outer.body:
                yield outer
        elif isinstance(outer, ast.Lambda):
            yield outer
        elif isinstance(outer, COMPREHENSIONS):
            first = outer.generators[0]
            if not (path[-1] is first and first.iter in path):
                yield outer
        path.append(outer)


def module_level(module: Module, name: str) -> ast.AST | None:
    """What binds a name at the top level of a module, if exactly one thing does and no function rebinds it."""
    bindings = bindings_of(module)
    found = bindings.by_scope.get((module.tree, name), [])
    return found[0] if len(found) == 1 and name not in bindings.shared else None


def function_around(module: Module, node: ast.AST) -> ast.AST | None:
    found: ast.AST | None = module.enclosing(node, *FUNCTIONS)
    return found


def in_finally(module: Module, node: ast.AST) -> bool:
    """Whether the node runs on the way out of a `try`, after a `return` that stands before it."""
    inner = node
    for outer in module.ancestors(node):
        if isinstance(outer, ast.Try) and inner in outer.finalbody:
            return True
        inner = outer
    return False


def is_bare_annotation(module: Module, name: ast.Name) -> bool:
    parent = module.parent(name)
    return isinstance(parent, ast.AnnAssign) and parent.target is name and parent.value is None

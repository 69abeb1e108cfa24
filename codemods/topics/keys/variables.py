"""Local variables: where each is bound, where it is used, and what could run before a given place."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import COMPREHENSIONS, FUNCTIONS

LOOPS = (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)


@dataclass(frozen=True)
class Variable:
    """One name in one function or comprehension. `bindings`: the names and arguments that give it a value."""

    module: Module
    scope: ast.AST
    name: str
    bindings: tuple[ast.AST, ...]

    def uses(self) -> list[ast.Name]:
        """Every place that reads it, also in functions inside its scope; `d |= ...` reads and changes."""
        names = self.module.scopes.names(self.scope, self.name)
        return [name for name in names if not isinstance(name.ctx, ast.Store) or self._is_augmented(name)]

    def _is_augmented(self, name: ast.Name) -> bool:
        return isinstance(self.module.parent(name), ast.AugAssign)

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


def variable_of(module: Module, name: ast.Name) -> Variable | None:
    """The local variable behind a name; None for a module's or a class's, and for one that inner functions bind."""
    return variable_in(module, module.scopes.of(name), name.id)


def variable_in(module: Module, scope: ast.AST, name: str) -> Variable | None:
    if isinstance(scope, (ast.Module, ast.ClassDef)):
        return None
    if any(name in declared for declared in module.scopes.declared.values()):
        return None
    found = [binding.node for binding in module.scopes.within(scope, name) if not binding.is_bare]
    bindings = tuple(node for node in found if not isinstance(getattr(node, "ctx", None), ast.Del))
    return Variable(module, scope, name, bindings) if bindings else None


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

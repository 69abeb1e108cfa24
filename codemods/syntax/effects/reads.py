"""What the value of an expression is made from."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import DEFINITIONS
from fullgraph.codemods.syntax.effects.aliases import is_atomic, put_into, tokens_of
from fullgraph.codemods.syntax.effects.harmless import OUTPUT_MODULES, PURE_MODULES
from fullgraph.codemods.syntax.effects.tokens import ANYTHING, Token, variable


@dataclass(frozen=True)
class Reads:
    """What the value of an expression is made from: `names` by which it is reached, `contents` of objects."""

    names: frozenset[Token] = frozenset()
    contents: frozenset[Token] = frozenset()

    def __or__(self, other: Reads) -> Reads:
        return Reads(self.names | other.names, self.contents | other.contents)

    def outside(self, module: Module, scope: ast.AST) -> Reads:
        return Reads(beyond(module, scope, self.names), beyond(module, scope, self.contents))


def read_variable(module: Module, name: ast.Name) -> Reads:
    """A variable and what it holds; functions, classes and imports stay what they are."""
    bindings = module.scopes.bindings(name)
    is_definition = all(isinstance(binding.node, DEFINITIONS) for binding in bindings)
    if bindings and (dotted := module.resolve(name)):
        return read_import(module, name, dotted)
    if not bindings or is_definition:
        return Reads()
    contents = frozenset() if is_atomic(module, name) else tokens_of(module, name) | put_into(module, name)
    return Reads(frozenset({variable(module, name)}), contents)


def read_import(module: Module, name: ast.Name, dotted: str) -> Reads:
    """What is imported from a module of the project, by its name there; not functions that are called."""
    package, dot, last = dotted.partition(".")[0], "." in dotted, dotted.rpartition(".")[2]
    parent = module.parent(name)
    is_called = isinstance(parent, ast.Call) and parent.func is name
    if not dot or is_called or not last.isupper() or package in PURE_MODULES | OUTPUT_MODULES:
        return Reads()
    return Reads(frozenset({(None, last)}), frozenset({(None, last)}))


def read_by_name(module: Module, call: ast.Call) -> Reads:
    """The attribute that `getattr` or `hasattr` asks for: by its name, or whichever it is."""
    if not module.scopes.is_builtin(call.func, "getattr", "hasattr") or len(call.args) < 2:
        return Reads()
    name = call.args[1]
    token: Token = (None, str(name.value)) if isinstance(name, ast.Constant) else ANYTHING
    return Reads(frozenset({token}), frozenset({token}))


def beyond(module: Module, scope: ast.AST, tokens: Iterable[Token]) -> frozenset[Token]:
    """The tokens that mean something outside a scope: attributes, and variables of other scopes."""
    return frozenset(
        (home, name)
        for home, name in tokens
        if home is not scope and (home is None or scope not in module.ancestors(home))
    )

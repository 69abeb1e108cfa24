"""Which variable a name is, by Python's scoping, and everything that binds it."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from fullgraph.codemods.module import Module

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
NAMED = (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)
How = Literal["assign", "loop", "argument", "augment", "other"]


@dataclass(frozen=True, slots=True)
class Binding:
    """One place that gives a variable a value.

    `value` is what is assigned (`assign`), iterated over (`loop`) or added (`augment`); `path` leads through the
    unpacking: `a, (b, c) = value` binds `c` with path (1, 1).
    """

    node: ast.AST
    how: How
    value: ast.expr | None = None
    path: tuple[int, ...] = ()
    annotation: ast.expr | None = None

    @property
    def is_bare(self) -> bool:
        """Whether it is an annotation without a value, which binds nothing when it runs."""
        return self.how == "assign" and self.value is None


class Scopes:
    """The variables of one module: per scope (module, class, function, lambda, comprehension) what binds each name.

    A name is looked into when it is asked about: most never are.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._tables: dict[str, dict[ast.AST, list[Binding]]] = {}
        self._around: dict[ast.AST, ast.AST] = {}
        self._mentions: dict[str, dict[ast.AST, list[ast.Name]]] = {}

    def of(self, name: ast.Name) -> ast.AST:
        """The scope whose variable this name is; the module for globals and builtins."""
        return self.lookup(self.around(name), name.id)

    def bindings(self, name: ast.Name) -> list[Binding]:
        """Everything that binds the variable, in the order of the text; empty for a builtin."""
        return self.within(self.of(name), name.id)

    def within(self, scope: ast.AST, name: str) -> list[Binding]:
        """Everything that binds a name in one scope, also from elsewhere by `global` and `nonlocal`."""
        return self._table(name).get(scope, [])

    def names(self, scope: ast.AST, name: str) -> list[ast.Name]:
        """Every mention of one scope's variable, in the order of the text."""
        if name not in self._mentions:
            found: dict[ast.AST, list[ast.Name]] = defaultdict(list)
            mentions = [node for node in self.named.get(name, []) if isinstance(node, ast.Name)]
            for node in sorted(mentions, key=position):
                found[self.of(node)].append(node)
            self._mentions[name] = found
        return list(self._mentions[name].get(scope, ()))

    def is_builtin(self, node: ast.AST, *names: str) -> bool:
        """Whether the node is one of these builtins, and the module gives the name no other meaning."""
        return isinstance(node, ast.Name) and node.id in names and not self.bindings(node)

    def lookup(self, scope: ast.AST, name: str) -> ast.AST:
        innermost, table = scope, self._table(name)
        while not isinstance(scope, ast.Module):
            declared = self.declared.get(scope, {}).get(name)
            if declared == "global":
                return self.module.tree
            reachable = scope is innermost or not isinstance(scope, ast.ClassDef)
            if reachable and declared is None and scope in table:
                return scope
            scope = self.around(scope)
        return scope

    def around(self, node: ast.AST) -> ast.AST:
        """The scope in which a node is evaluated: a default argument or a first iterable belongs outside."""
        if node not in self._around:
            self._around[node] = self._find_around(node)
        return self._around[node]

    def _find_around(self, node: ast.AST) -> ast.AST:
        child = grandchild = node
        for outer in self.module.ancestors(node):
            if isinstance(outer, ast.Module) or holds(outer, child, grandchild):
                return outer
            child, grandchild = outer, child
        return self.module.tree

    # Who binds what

    @cached_property
    def bound(self) -> dict[ast.AST, dict[str, list[Binding]]]:
        """All variables of all scopes."""
        found: dict[ast.AST, dict[str, list[Binding]]] = {}
        for name in self.named:
            for scope, bindings in self._table(name).items():
                found.setdefault(scope, {})[name] = bindings
        return found

    @cached_property
    def declared(self) -> dict[ast.AST, dict[str, str]]:
        """What each scope calls `global` or `nonlocal`."""
        found: dict[ast.AST, dict[str, str]] = {}
        for node in self.module.unordered(ast.Global, ast.Nonlocal):
            label = "global" if isinstance(node, ast.Global) else "nonlocal"
            found.setdefault(self.around(node), {}).update(dict.fromkeys(node.names, label))
        return found

    @cached_property
    def named(self) -> dict[str, list[ast.AST]]:
        """Every node that reads or binds a name, by the name; in no special order."""
        found: dict[str, list[ast.AST]] = defaultdict(list)
        for name in self.module.unordered(ast.Name):
            found[name.id].append(name)
        for argument in self.module.unordered(ast.arg):
            found[argument.arg].append(argument)
        for node in self.module.unordered(ast.Import, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]].append(node)
        for node in self.module.unordered(*NAMED):
            if given := getattr(node, "rest", None) or getattr(node, "name", None):
                found[given].append(node)
        return dict(found)

    def binders(self, name: str) -> list[ast.AST]:
        """Every node that binds the name, in whatever scope, in the order of the text."""
        found = [node for node in self.named.get(name, []) if not isinstance(getattr(node, "ctx", None), ast.Load)]
        return sorted(found, key=position)

    def _table(self, name: str) -> dict[ast.AST, list[Binding]]:
        if name not in self._tables:
            table = self._tables[name] = {}
            shared: list[tuple[ast.AST, Binding]] = []
            for node in self.binders(name):
                scope = self._home(node)
                declared = self.declared.get(scope, {}).get(name)
                if declared == "nonlocal":
                    shared.append((scope, self._binding(node)))
                else:
                    home = self.module.tree if declared == "global" else scope
                    table.setdefault(home, []).append(self._binding(node))
            for scope, binding in shared:
                table.setdefault(self.lookup(self.around(scope), name), []).append(binding)
        return self._tables[name]

    def _home(self, node: ast.AST) -> ast.AST:
        """The scope in which a binding takes effect, unless it is declared otherwise there."""
        parent = self.module.parent(node)
        if isinstance(parent, ast.arguments):
            return self.module.parent(parent) or self.module.tree
        home = self.around(node)
        while isinstance(parent, ast.NamedExpr) and isinstance(home, COMPREHENSIONS):
            home = self.around(home)
        return home

    def _binding(self, node: ast.AST) -> Binding:
        """Imports, definitions, `del`, `with`, `except`, `match`, stars: bound, but to nothing that can be followed."""
        if isinstance(node, ast.arg):
            arguments = self.module.parent(node)
            if node in (getattr(arguments, "vararg", None), getattr(arguments, "kwarg", None)):
                return Binding(node, "other")
            return Binding(node, "argument", annotation=node.annotation)
        path: tuple[int, ...] = ()
        child, parent = node, self.module.parent(node)
        while isinstance(parent, (ast.Tuple, ast.List)):
            if any(isinstance(element, ast.Starred) for element in parent.elts):
                return Binding(node, "other")
            path = (next(number for number, element in enumerate(parent.elts) if element is child), *path)
            child, parent = parent, self.module.parent(parent)
        return bound_by(parent, node, path) if isinstance(node, ast.Name) else Binding(node, "other")


def bound_by(statement: ast.AST | None, name: ast.Name, path: tuple[int, ...]) -> Binding:
    """What the statement or clause, of which a name is the target, binds it to."""
    if isinstance(statement, (ast.Assign, ast.NamedExpr)):
        return Binding(name, "assign", statement.value, path)
    if isinstance(statement, ast.AnnAssign):
        return Binding(name, "assign", statement.value, path, statement.annotation)
    if isinstance(statement, ast.AugAssign):
        return Binding(name, "augment", statement.value, path)
    if isinstance(statement, ast.For):
        return Binding(name, "loop", statement.iter, path)
    if isinstance(statement, ast.comprehension):
        return Binding(name, "other" if statement.is_async else "loop", statement.iter, path)
    return Binding(name, "other")


def position(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def holds(scope: ast.AST, child: ast.AST, grandchild: ast.AST) -> bool:
    """Whether code below `child` runs inside `scope`, of which it is a direct part."""
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return child in scope.body
    if isinstance(scope, ast.Lambda):
        return child is scope.body
    if isinstance(scope, COMPREHENSIONS):
        first = scope.generators[0]
        return child is not first or grandchild is not first.iter
    return False


def names_within(scope: ast.AST) -> set[str]:
    """Every name of a variable, argument, function, class or import in a scope or below it."""
    found: set[str] = set()
    for node in ast.walk(scope):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.MatchMapping):
            found.add(node.rest or "")
        elif isinstance(name := getattr(node, "name", None), str):
            found.add(name)
    return found

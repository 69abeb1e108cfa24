"""Which variable a name is, by Python's scoping, and everything that binds it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from codemods.module import Module

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
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


class Scopes:
    """The variables of one module: per scope (module, class, function, lambda, comprehension) what binds each name."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.bound: dict[ast.AST, dict[str, list[Binding]]] = {}
        self.declared: dict[ast.AST, dict[str, str]] = {}
        for node in module.nodes(ast.Global, ast.Nonlocal):
            kind = "global" if isinstance(node, ast.Global) else "nonlocal"
            self.declared.setdefault(self.around(node), {}).update(dict.fromkeys(node.names, kind))
        self._nonlocal: list[tuple[ast.AST, str, Binding]] = []
        self._collect()
        for scope, name, binding in self._nonlocal:
            self._add(self.lookup(self.around(scope), name), name, binding)

    def of(self, name: ast.Name) -> ast.AST:
        """The scope whose variable this name is; the module for globals and builtins."""
        return self.lookup(self.around(name), name.id)

    def bindings(self, name: ast.Name) -> list[Binding]:
        """Everything that binds the variable; empty for a builtin."""
        return self.bound.get(self.of(name), {}).get(name.id, [])

    def names(self, scope: ast.AST, name: str) -> list[ast.Name]:
        """Every mention of one scope's variable."""
        return [node for node in self.module.nodes(ast.Name) if node.id == name and self.of(node) is scope]

    def lookup(self, scope: ast.AST, name: str) -> ast.AST:
        innermost = scope
        while not isinstance(scope, ast.Module):
            declared = self.declared.get(scope, {}).get(name)
            if declared == "global":
                return self.module.tree
            reachable = scope is innermost or not isinstance(scope, ast.ClassDef)
            if reachable and declared is None and name in self.bound.get(scope, {}):
                return scope
            scope = self.around(scope)
        return scope

    def around(self, node: ast.AST) -> ast.AST:
        """The scope in which a node is evaluated: a default argument or a first iterable belongs outside."""
        child = grandchild = node
        for outer in self.module.ancestors(node):
            if isinstance(outer, ast.Module) or holds(outer, child, grandchild):
                return outer
            child, grandchild = outer, child
        return self.module.tree

    # Who binds what

    def _collect(self) -> None:
        module = self.module
        for assign in module.nodes(ast.Assign):
            for target in assign.targets:
                self._bind_target(target, "assign", assign.value)
        for annotated in module.nodes(ast.AnnAssign):
            if annotated.value or isinstance(annotated.target, ast.Name):
                self._bind_target(annotated.target, "assign", annotated.value, annotated.annotation)
        for augmented in module.nodes(ast.AugAssign):
            self._bind_target(augmented.target, "augment", augmented.value)
        for loop in module.nodes(ast.For):
            self._bind_target(loop.target, "loop", loop.iter)
        for generator in module.nodes(ast.comprehension):
            how: How = "other" if generator.is_async else "loop"
            self._bind_target(generator.target, how, generator.iter, home=module.parent(generator))
        for walrus in module.nodes(ast.NamedExpr):
            home = self.around(walrus)
            while isinstance(home, COMPREHENSIONS):
                home = self.around(home)
            self._bind_target(walrus.target, "assign", walrus.value, home=home)
        self._collect_arguments()
        self._collect_others()

    def _collect_arguments(self) -> None:
        for function in self.module.nodes(*FUNCTIONS):
            arguments = function.args
            stars = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
            for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
                self._add(function, argument.arg, Binding(argument, "argument", annotation=argument.annotation))
            for argument in stars:
                self._add(function, argument.arg, Binding(argument, "other"))

    def _collect_others(self) -> None:
        """Imports, definitions, `del`, `with`, `except`, `match`: bound, but to nothing that can be followed."""
        known = {id(item.node) for names in self.bound.values() for items in names.values() for item in items}
        for name in self.module.nodes(ast.Name):
            if not isinstance(name.ctx, ast.Load) and id(name) not in known:
                self._add_around(name, name.id, Binding(name, "other"))
        for node in self.module.nodes(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
            self._add_around(node, node.name, Binding(node, "other"))
        for node in self.module.nodes(ast.Import, ast.ImportFrom):
            for alias in node.names:
                self._add_around(node, alias.asname or alias.name.partition(".")[0], Binding(node, "other"))
        for node in self.module.nodes(ast.ExceptHandler, ast.MatchAs, ast.MatchStar):
            if node.name:
                self._add_around(node, node.name, Binding(node, "other"))
        for node in self.module.nodes(ast.MatchMapping):
            if node.rest:
                self._add_around(node, node.rest, Binding(node, "other"))

    def _bind_target(
        self,
        target: ast.AST,
        how: How,
        value: ast.expr | None,
        annotation: ast.expr | None = None,
        path: tuple[int, ...] = (),
        home: ast.AST | None = None,
    ) -> None:
        if isinstance(target, ast.Name):
            binding = Binding(target, how, value, path, annotation)
            if home is None:
                self._add_around(target, target.id, binding)
            else:
                self._add(home, target.id, binding)
        elif isinstance(target, (ast.Tuple, ast.List)) and not any(isinstance(e, ast.Starred) for e in target.elts):
            for number, element in enumerate(target.elts):
                self._bind_target(element, how, value, annotation, (*path, number), home)

    def _add_around(self, node: ast.AST, name: str, binding: Binding) -> None:
        scope = self.around(node)
        declared = self.declared.get(scope, {}).get(name)
        if declared == "nonlocal":
            self._nonlocal.append((scope, name, binding))
        else:
            self._add(self.module.tree if declared == "global" else scope, name, binding)

    def _add(self, scope: ast.AST, name: str, binding: Binding) -> None:
        self.bound.setdefault(scope, {}).setdefault(name, []).append(binding)


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

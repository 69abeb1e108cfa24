"""Which function or class of the project an expression means: by imports, scopes, `self` and assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from codemods.model import SourceError
from codemods.module import Function, Module
from codemods.project import Project

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SAME_INSTANCE = {"to", "cuda", "cpu", "eval", "train", "float", "half", "bfloat16", "double", "requires_grad_"}
DEEP = 12
Definition = tuple[Module, ast.AST]
Setting = ast.Assign | ast.AnnAssign
_VALUES: WeakKeyDictionary[ast.AST, dict[str, list[ast.expr]]] = WeakKeyDictionary()
_SETTINGS: WeakKeyDictionary[ast.AST, dict[str, list[Setting]]] = WeakKeyDictionary()


class Definitions:
    """The definitions of one project, met by name. What cannot be followed for sure is None, never a guess.

    A definition is a pair of its module and its node. Not followed: items of containers, callbacks, what functions
    return, and names that are bound in several ways.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self._tables: dict[str, dict[str, ast.AST]] = {}

    def table(self, module: Module) -> dict[str, ast.AST]:
        """Every function and class of a module by its symbol."""
        if module.path not in self._tables:
            scopes = module.nodes(*FUNCTIONS, ast.ClassDef)
            self._tables[module.path] = {module.symbol(scope): scope for scope in scopes}
        return self._tables[module.path]

    def by_dotted(self, dotted: str, depth: int = 0) -> Definition | None:
        """The definition behind `pkg.mod.Class.method`, also where a package imports it from elsewhere."""
        parts = dotted.split(".")
        for length in range(len(parts) - 1, 0, -1):
            path = self.project.path_of(".".join(parts[:length]))
            if path is not None and depth < DEEP:
                return self._in_module(path, parts[length:], depth)
        return None

    def _in_module(self, path: str, parts: list[str], depth: int) -> Definition | None:
        try:
            module = self.project.module(path)
        except SourceError:
            return None
        if parts[0] in self.table(module):
            return self._member_of(module, parts)
        origin = module.resolve(ast.Name(parts[0]))
        return self.by_dotted(".".join([origin, *parts[1:]]), depth + 1) if origin else None

    def _member_of(self, module: Module, parts: list[str]) -> Definition | None:
        found: Definition | None = (module, self.table(module)[parts[0]])
        for part in parts[1:]:
            found = self.member(found, part) if found else None
        return found

    def member(self, owner: Definition | None, name: str) -> Definition | None:
        """A method or inner class of a class, or of the nearest base class in the project that has it."""
        for module, kind in self.lineage(owner):
            if found := self.table(module).get(f"{module.symbol(kind)}.{name}"):
                return module, found
        return None

    def lineage(self, owner: Definition | None, depth: int = 0) -> Iterator[tuple[Module, ast.ClassDef]]:
        """A class and, depth first, its base classes in the project."""
        if owner is None or not isinstance(owner[1], ast.ClassDef) or depth > DEEP:
            return
        yield owner[0], owner[1]
        for base in owner[1].bases:
            yield from self.lineage(self.denoted(owner[0], base), depth + 1)

    def denoted(self, module: Module, node: ast.AST, depth: int = 0) -> Definition | None:
        """The function or class that a name or a dotted expression stands for."""
        if depth > DEEP:
            return None
        dotted = module.resolve(node)
        if dotted is not None:
            return self.by_dotted(dotted)
        if isinstance(node, ast.Name):
            return self._in_scope(module, node)
        if isinstance(node, ast.Attribute):
            owner = self.denoted(module, node.value, depth + 1) or self.instance(module, node.value, depth + 1)
            return self.member(owner, node.attr)
        return None

    def _in_scope(self, module: Module, name: ast.Name) -> Definition | None:
        table = self.table(module)
        for scope in module.ancestors(name):
            if isinstance(scope, FUNCTIONS):
                if name.id in argument_names(scope) or any(assigned_values(scope, name.id)):
                    return None
                if found := table.get(f"{module.symbol(scope)}.{name.id}"):
                    return module, found
        return (module, table[name.id]) if name.id in table else None

    def instance(self, module: Module, node: ast.AST, depth: int = 0) -> Definition | None:
        """The project's class of which an expression is an instance."""
        if depth > DEEP:
            return None
        if isinstance(node, ast.Call):
            return self._made_by(module, node, depth)
        if isinstance(node, ast.Name):
            return self._held_by(module, node, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(module, node, depth)
        return None

    def _made_by(self, module: Module, call: ast.Call, depth: int) -> Definition | None:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in SAME_INSTANCE:
            return self.instance(module, func.value, depth + 1)
        if module.resolve(func) == "torch.compile" and call.args:
            return self.instance(module, call.args[0], depth + 1)
        if isinstance(func, ast.Name) and func.id == "super":
            owner = module.enclosing(call, ast.ClassDef)
            bases = (self.denoted(module, base, depth + 1) for base in owner.bases) if owner else iter([])
            return next((base for base in bases if base), None)
        return only_class(self.denoted(module, func, depth + 1))

    def _held_by(self, module: Module, name: ast.Name, depth: int) -> Definition | None:
        function = module.enclosing(name, *FUNCTIONS)
        if function is None:
            return self._assigned(module, module.tree, name.id, depth)
        owner = module.parent(function)
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        if isinstance(owner, ast.ClassDef) and arguments and arguments[0].arg == name.id:
            return module, owner
        for argument in arguments:
            if argument.arg == name.id:
                return self._annotated(module, argument.annotation, depth)
        found = self._assigned(module, function, name.id, depth)
        return found or self._assigned(module, module.tree, name.id, depth)

    def _attribute(self, module: Module, node: ast.Attribute, depth: int) -> Definition | None:
        for home, kind in self.lineage(self.instance(module, node.value, depth + 1)):
            for item in attribute_settings(kind, node.attr):
                annotation = item.annotation if isinstance(item, ast.AnnAssign) else None
                made = self.instance(home, item.value, depth + 1) if item.value else None
                if found := made or self._annotated(home, annotation, depth):
                    return found
        return None

    def _annotated(self, module: Module, annotation: ast.AST | None, depth: int) -> Definition | None:
        if isinstance(annotation, ast.BinOp):
            return self._annotated(module, annotation.left, depth) or self._annotated(module, annotation.right, depth)
        return only_class(self.denoted(module, annotation, depth + 1)) if annotation else None

    def _assigned(self, module: Module, scope: ast.AST, name: str, depth: int) -> Definition | None:
        values = (self.instance(module, value, depth + 1) for value in assigned_values(scope, name))
        return next((value for value in values if value), None)

    def called(self, module: Module, call: ast.Call) -> tuple[Module, Function] | None:
        """The function that a call runs: also `__init__` of a class and `forward` of a module's instance."""
        found = self.denoted(module, call.func)
        if found is None:
            kind = self.instance(module, call.func)
            found = self.member(kind, "forward") or self.member(kind, "__call__")
        elif isinstance(found[1], ast.ClassDef):
            found = self.member(found, "__init__")
        return only_function(found)

    def read(self, module: Module, node: ast.AST) -> tuple[Module, Function] | None:
        """The getter that reading an attribute runs."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return None
        if isinstance(call := module.parent(node), ast.Call) and call.func is node:
            return None
        found = only_function(self.denoted(module, node))
        is_property = found and any(ast.unparse(item).endswith("property") for item in found[1].decorator_list)
        return found if is_property else None


def only_class(found: Definition | None) -> Definition | None:
    return found if found and isinstance(found[1], ast.ClassDef) else None


def only_function(found: Definition | None) -> tuple[Module, Function] | None:
    return (found[0], found[1]) if found and isinstance(found[1], FUNCTIONS) else None


def argument_names(function: Function) -> set[str]:
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function or module itself, not in the functions and classes inside; in no special order."""
    todo: list[ast.AST] = list(getattr(scope, "body", []))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)


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
                for bound in {getattr(target, "attr", getattr(target, "id", "")) for target in targets_of(node)}:
                    found.setdefault(bound, []).append(node)
    return _SETTINGS[kind].get(name, [])


def targets_of(node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]

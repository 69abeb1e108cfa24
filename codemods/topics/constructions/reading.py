"""Whether a tensor is only read: never written, kept or handed to code that might."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS, attribute_settings
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.places import Place, where
from fullgraph.codemods.topics.constructions.known import (
    ALSO_CONTAINERS,
    FACTS,
    IN_PLACE,
    KEEPING,
    NEW,
    PLAIN,
    QUIET_DECORATORS,
    READING_BUILTINS,
    READING_LAYERS,
    VIEW_ATTRIBUTES,
    VIEWS,
)

DEEP = 4


class KeptError(Exception):
    """The tensor is written, returned or stored: whoever made it wants a new one each time."""


class Reading:
    """Follows where a tensor goes, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.names = Definitions(project, sure=True)
        self.loose = Definitions(project)

    def check(self, module: Module, node: ast.AST, depth: int = 0) -> None:
        """Nothing if the value of this expression is only read; KeptError if not, Unsure if that cannot be seen."""
        parent = module.parent(node)
        if isinstance(parent, ast.Attribute):
            self._attribute(module, parent, depth)
        elif isinstance(parent, ast.keyword):
            self._given(module, parent, parent, depth)
        elif isinstance(parent, ast.Call):
            self._given(module, node, node, depth)
        elif isinstance(parent, ast.Subscript):
            self._item(module, node, parent, depth)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)):
            self._assigned(module, parent, depth)
        elif isinstance(parent, ast.NamedExpr):
            self.check(module, parent, depth)
            self._variable(module, parent.target, depth)
        elif isinstance(parent, ast.IfExp) and node is not parent.test:
            self.check(module, parent, depth)
        elif isinstance(parent, (ast.List, ast.Tuple)):
            self._listed(module, parent, depth)
        elif not is_read(parent) or (isinstance(parent, ast.AugAssign) and may_be_list(module, parent.target)):
            raise KeptError

    def _attribute(self, module: Module, node: ast.Attribute, depth: int) -> None:
        call = module.parent(node)
        if isinstance(call, ast.Call) and call.func is node:
            if node.attr in VIEWS:
                self.check(module, call, depth)
            elif node.attr not in NEW | PLAIN or writes_out(call):
                raise KeptError
        elif node.attr in VIEW_ATTRIBUTES and isinstance(node.ctx, ast.Load):
            self.check(module, node, depth)
        elif node.attr not in FACTS or not isinstance(node.ctx, ast.Load):
            raise KeptError

    def _item(self, module: Module, node: ast.AST, parent: ast.Subscript, depth: int) -> None:
        """`tensor[0]` is a part of the tensor; `x[tensor]` only reads it."""
        if node is parent.slice:
            return
        if not isinstance(parent.ctx, ast.Load):
            raise KeptError
        self.check(module, parent, depth)

    def _listed(self, module: Module, node: ast.List | ast.Tuple, depth: int) -> None:
        outer = module.parent(node)
        if isinstance(outer, ast.Subscript) and outer.slice is node:
            return
        dotted = module.resolve(outer.func) if isinstance(outer, ast.Call) and node in outer.args else None
        name = (dotted or "").rpartition(".")[2]
        is_view = name == "einsum" and len(node.elts) < 2
        if not (dotted or "").startswith("torch.") or name not in NEW or is_view or writes_out(outer):
            raise KeptError

    def _assigned(self, module: Module, node: ast.Assign | ast.AnnAssign, depth: int) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name):
                self._variable(module, target, depth)
            elif not (isinstance(target, ast.Subscript) and copies_into(target)):
                raise KeptError

    def _variable(self, module: Module, name: ast.Name, depth: int) -> None:
        """A variable that holds the tensor and nothing else."""
        scope = module.scopes.of(name)
        is_global = isinstance(scope, ast.Module) and module.enclosing(name, *FUNCTIONS) is not None
        if len(module.scopes.bindings(name)) != 1 or isinstance(scope, ast.ClassDef) or is_global:
            raise KeptError
        for mention in module.scopes.names(scope, name.id):
            if isinstance(mention.ctx, ast.Load):
                self.check(module, mention, depth)
            elif mention is not name:
                raise KeptError

    # Calls

    def _given(self, module: Module, argument: ast.AST, node: ast.AST, depth: int) -> None:
        """The tensor is an argument of a call, by position or by name."""
        call = module.parent(node)
        if not isinstance(call, ast.Call):
            raise KeptError
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if module.scopes.is_builtin(call.func, *READING_BUILTINS):
            return
        if name in KEEPING or getattr(argument, "arg", "") == "out":
            raise KeptError
        if (module.resolve(call.func) or "").partition(".")[0] == "torch":
            self._given_to_torch(module, call, name, argument, depth)
        elif not self._reads_as_method(module, call, name) and not self._reads_as_layer(module, call):
            self._given_to_project(module, call, argument, depth)

    def _given_to_torch(self, module: Module, call: ast.Call, name: str, argument: ast.AST, depth: int) -> None:
        if name in VIEWS and call.args[:1] == [argument]:
            self.check(module, call, depth)
        elif name not in NEW or writes_out(call) or (name == "einsum" and len(call.args) < 3):
            raise Unsure(f"{where(module, call)}: `{name}` may keep the tensor or write it")

    def _reads_as_method(self, module: Module, call: ast.Call, name: str) -> bool:
        """`x.gather(1, tensor)`. `x.add(tensor)` whose result nobody uses is a set's, and keeps it."""
        if not isinstance(call.func, ast.Attribute) or self.loose.called(module, call):
            return False
        if name in VIEWS:
            return True
        is_unused = isinstance(module.parent(call), ast.Expr)
        return (
            name in NEW and not (is_unused and name in ALSO_CONTAINERS) and not writes_out(call)
        ) or name in IN_PLACE

    def _reads_as_layer(self, module: Module, call: ast.Call) -> bool:
        """`self.embedding(tensor)` where every `self.embedding = ...` of the class makes such a layer."""
        owner = module.enclosing(call, ast.ClassDef)
        if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name) or owner is None:
            return False
        made = [setting.value for setting in attribute_settings(owner, call.func.attr)]
        dotted = [module.resolve(value.func) or "" if isinstance(value, ast.Call) else "" for value in made]
        return bool(dotted) and all(is_reading_layer(name) for name in dotted)

    def _given_to_project(self, module: Module, call: ast.Call, argument: ast.AST, depth: int) -> None:
        """A function of the project is followed: what it does with its parameter counts."""
        found = self.names.called(module, call)
        parameter = parameter_of(module, found.node, call, argument) if found else None
        if found is None or parameter is None or depth >= DEEP or self._is_replaced(found):
            raise Unsure(f"{where(module, call)}: `{module.code(call.func)}` may keep the tensor or write it")
        if len(found.module.scopes.within(found.node, parameter)) != 1:
            raise KeptError
        for mention in found.module.scopes.names(found.node, parameter):
            self.check(found.module, mention, depth + 1)

    def _is_replaced(self, found: Place[Function]) -> bool:
        """Whether a decorator or a subclass may put another function in its place."""
        decorators = [getattr(item, "func", item) for item in found.node.decorator_list]
        known = [found.module.resolve(item) in QUIET_DECORATORS for item in decorators]
        owner = found.module.parent(found.node)
        classes = heirs(self.project, owner) if isinstance(owner, ast.ClassDef) else ()
        names = (getattr(node, "name", "") for _, heir in classes for node in heir.body)
        return not all(known) or found.node.name in names


def is_read(parent: ast.AST | None) -> bool:
    """Whether a part of such a node is read on the spot, and what comes of it is something else."""
    if isinstance(parent, ast.UnaryOp):
        return not isinstance(parent.op, ast.UAdd)
    reading = (ast.BinOp, ast.Compare, ast.AugAssign, ast.FormattedValue, ast.Slice, ast.Expr, ast.Assert)
    return isinstance(parent, (*reading, ast.If, ast.While, ast.IfExp))


def may_be_list(module: Module, target: ast.expr) -> bool:
    """Whether `target += tensor` may put the rows of the tensor, which share its memory, into a list."""
    if isinstance(target, ast.Name):
        values = [binding.value for binding in module.scopes.bindings(target) if binding.how == "assign"]
    else:
        owner = module.enclosing(target, ast.ClassDef)
        name = target.attr if isinstance(target, ast.Attribute) else ""
        values = [setting.value for setting in attribute_settings(owner, name)] if owner and name else []
    calls = [value.func for value in values if isinstance(value, ast.Call)]
    is_made = any(module.scopes.is_builtin(func, "list") for func in calls)
    return is_made or any(isinstance(value, (ast.List, ast.ListComp)) for value in values)


def writes_out(call: ast.AST | None) -> bool:
    return any(keyword.arg in ("out", "max_norm", "inplace", None) for keyword in getattr(call, "keywords", []))


def copies_into(target: ast.Subscript) -> bool:
    """`x[:, 0] = tensor` copies; `x[i] = tensor` may store it in a list or a dict."""
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else []
    return any(isinstance(part, ast.Slice) or getattr(part, "value", None) is ... for part in parts)


def is_reading_layer(dotted: str) -> bool:
    package, _, name = dotted.rpartition(".")
    return package == "torch.nn" and name in READING_LAYERS


def parameter_of(module: Module, function: Function, call: ast.Call, argument: ast.AST) -> str | None:
    """The name of the parameter that gets an argument, where that is plain to see."""
    if isinstance(argument, ast.keyword):
        return argument.arg
    if any(isinstance(item, ast.Starred) for item in call.args) or not isinstance(function, FUNCTIONS):
        return None
    names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    is_bound = isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"])
    place = next((number for number, item in enumerate(call.args) if item is argument), len(names)) + is_bound
    return names[place] if place < len(names) else None

"""Who calls a model: every object of a class followed through the project, from where it is made to where it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import argument_names
from fullgraph.codemods.syntax.definitions import SAME_INSTANCE, Definitions
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.places import Place, where

LOOKS = (
    "print",
    "repr",
    "str",
    "type",
    "id",
    "isinstance",
    "issubclass",
    "callable",
    "hasattr",
    "getattr",
    "bool",
    "super",
)
"""Builtins that do not run a model that they are given."""

SAME = {"torch.compile"}
ANNOTATED = (ast.arg, ast.AnnAssign, *(ast.FunctionDef, ast.AsyncFunctionDef))
IDLE = (ast.Expr, ast.Compare, ast.If, ast.IfExp, ast.Assert, ast.UnaryOp, ast.FormattedValue, ast.While)
TARGETS = (ast.Assign, ast.AnnAssign, ast.NamedExpr)


@dataclass(frozen=True)
class Use:
    """A call that runs the model, or (without a call) a place from which it cannot be followed further."""

    place: Place[ast.AST]
    call: ast.Call | None = None
    what: str = ""


class Instances:
    """The objects of one class of the project."""

    def __init__(self, project: Project, owner: Place[ast.ClassDef]) -> None:
        self.project = project
        self.owner = owner
        self.names = Definitions(project)
        self.seen: set[ast.AST] = set()
        self.is_made = False

    def uses(self) -> Iterator[Use]:
        """Every call of an object of the class, and every place where one gets out of sight."""
        for module in self._mentioning(self.owner.node.name):
            for node in module.nodes(ast.Name, ast.Attribute, ast.Constant):
                if self._is_class(module, node):
                    yield from self._named(module, node)
        yield from self._own()

    def _mentioning(self, name: str) -> list[Module]:
        try:
            return self.project.modules_mentioning(name)
        except SourceError as error:
            raise Unsure(f"{error}: it may use {name}") from error

    def _is_class(self, module: Module, node: ast.Name | ast.Attribute | ast.Constant) -> bool:
        """Whether a node names the class, or may name it: in a text, or by an import that cannot be followed."""
        name = self.owner.node.name
        if isinstance(node, ast.Constant):
            return node.value == name
        found = self.names.denoted(module, node) if isinstance(node.ctx, ast.Load) else None
        is_named = isinstance(node.ctx, ast.Load) and name in (getattr(node, "id", ""), getattr(node, "attr", ""))
        return found.node is self.owner.node if found else is_named

    def _named(self, module: Module, node: ast.expr) -> Iterator[Use]:
        """What a mention of the class itself leads to."""
        parent = module.parent(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            self.is_made = True
            yield from self._flow(module, parent)
        elif isinstance(parent, ANNOTATED) and node is not getattr(parent, "value", None):
            yield from self._annotated(module, parent)
        elif isinstance(parent, ast.BinOp) and isinstance(outer := module.parent(parent), ANNOTATED):
            yield from self._annotated(module, outer)
        elif not (
            isinstance(parent, ast.Call) and module.scopes.is_builtin(parent.func, "isinstance", "issubclass", "super")
        ):
            yield Use(Place(module, node), what=f"{self.owner.node.name} is used here")

    def _annotated(self, module: Module, holder: ast.AST) -> Iterator[Use]:
        if isinstance(holder, ast.arg):
            function = module.enclosing(holder, ast.FunctionDef, ast.AsyncFunctionDef)
            yield from self._variable(module, function, holder.arg) if function else ()
        elif isinstance(holder, ast.AnnAssign):
            yield from self._target(module, holder.target)

    def _own(self) -> Iterator[Use]:
        """What the class does with itself."""
        module = self.owner.module
        for method in self.owner.node.body:
            first = [*method.args.posonlyargs, *method.args.args][:1] if isinstance(method, Function) else []
            if first:
                yield from self._variable(module, method, first[0].arg)

    # Where an object goes

    def _flow(self, module: Module, node: ast.expr) -> Iterator[Use]:
        """What an expression that stands for the object leads to."""
        if node in self.seen:
            return
        self.seen.add(node)
        parent = module.parent(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            yield Use(Place(module, parent), parent)
        elif isinstance(parent, ast.Attribute):
            yield from self._attribute(module, parent)
        elif isinstance(parent, TARGETS) and parent.value is node:
            for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                yield from self._target(module, target)
        elif isinstance(parent, (ast.IfExp, ast.BoolOp)) and node is not getattr(parent, "test", None):
            yield from self._flow(module, parent)
        elif isinstance(parent, ast.Return):
            yield from self._returned(module, parent)
        elif isinstance(parent, (ast.Call, ast.keyword)):
            yield from self._given(module, node, parent)
        elif not isinstance(parent, IDLE):
            yield Use(Place(module, node), what="the model cannot be followed further")

    def _attribute(self, module: Module, node: ast.Attribute) -> Iterator[Use]:
        """A part or a method of the object; `.to()` and the like give the object back."""
        call = module.parent(node)
        if node.attr in ("forward", "__call__"):
            yield Use(Place(module, node), what=f"`{node.attr}` is used by name")
        elif node.attr in SAME_INSTANCE and isinstance(call, ast.Call):
            yield from self._flow(module, call)
        elif node.attr in ("register_forward_hook", "register_forward_pre_hook"):
            yield Use(Place(module, node), what="a hook runs outside the decorator")
        elif node.attr in ("apply", "add_module", "register_module", "share_memory"):
            yield Use(Place(module, node), what="the model cannot be followed further")

    def _target(self, module: Module, target: ast.expr) -> Iterator[Use]:
        if isinstance(target, ast.Name):
            home = module.scopes.of(target)
            if isinstance(home, ast.ClassDef):
                yield from self._everywhere(target.id)
            else:
                yield from self._variable(module, home, target.id)
        elif isinstance(target, ast.Attribute):
            yield from self._everywhere(target.attr)
        else:
            yield Use(Place(module, target), what="the model cannot be followed further")

    def _variable(self, module: Module, home: ast.AST, name: str) -> Iterator[Use]:
        for mention in module.scopes.names(home, name):
            if isinstance(mention.ctx, ast.Load):
                yield from self._flow(module, mention)
        if isinstance(home, ast.Module):
            for other in self._mentioning(name):
                if other is not module and (place := imports_of(other, f"{module.name}.{name}")):
                    yield Use(place, what="the model cannot be followed further")

    def _everywhere(self, name: str) -> Iterator[Use]:
        """An attribute of this name, whoever has it, unless that is known to be something else."""
        for module in self._mentioning(name):
            for node in module.nodes(ast.Attribute):
                if node.attr == name and isinstance(node.ctx, ast.Load) and self._may_be(module, node):
                    yield from self._flow(module, node)

    def _may_be(self, module: Module, node: ast.Attribute) -> bool:
        kind = self.names.instance(module, node)
        return module.resolve(node) is None and (kind is None or kind.node is self.owner.node)

    def _returned(self, module: Module, node: ast.Return) -> Iterator[Use]:
        function = module.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
        if not isinstance(function, Function):
            return
        is_used = False
        for other in self._mentioning(function.name):
            for mention in other.nodes(ast.Name, ast.Attribute):
                found = self.names.denoted(other, mention)
                if found is None or found.node is not function:
                    continue
                call, is_used = other.parent(mention), True
                if isinstance(call, ast.Call) and call.func is mention:
                    yield from self._flow(other, call)
                else:
                    yield Use(Place(other, mention), what=f"{function.name} is handed on")
        if not is_used:
            yield Use(Place(module, node), what=f"whoever calls {function.name} gets the model")

    def _given(self, module: Module, node: ast.expr, parent: ast.Call | ast.keyword) -> Iterator[Use]:
        """An argument: the parameter of a function of the project, or something that only looks at it."""
        call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call) or module.scopes.is_builtin(call.func, *LOOKS):
            return
        if module.resolve(call.func) in SAME:
            yield from self._flow(module, call)
            return
        called = self.names.called(module, call)
        name = parameter_for(called.node, call, node) if called else ""
        if called and name:
            yield from self._variable(called.module, called.node, name)
        else:
            yield Use(Place(module, call), what=f"the model is given to `{last_name(call) or 'a call'}()`")


def parameter_for(function: Function, call: ast.Call, argument: ast.expr) -> str:
    """The name under which a function receives an argument of a call; empty if that cannot be told."""
    keyword = next((item.arg for item in call.keywords if item.value is argument), None)
    if keyword:
        return keyword if keyword in argument_names(function) else ""
    if any(isinstance(item, ast.Starred) for item in call.args) or argument not in call.args:
        return ""
    names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    is_bound = bool(names) and names[0] in ("self", "cls")
    place = call.args.index(argument) + is_bound
    return names[place] if place < len(names) else ""


def imports_of(module: Module, dotted: str) -> Place[ast.AST] | None:
    for node in module.nodes(ast.Name, ast.Attribute):
        if module.resolve(node) == dotted:
            return Place(module, node)
    return None


def describe(use: Use) -> str:
    return f"{where(use.place.module, use.place.node)}: {use.what}"

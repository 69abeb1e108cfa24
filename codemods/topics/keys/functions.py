"""What a call of one of the project's functions runs, and which parameter receives an argument."""

from __future__ import annotations

import ast

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import FUNCTIONS, position
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Place, only_class, where

SETTERS = ("setattr", "patch", "object")
HARMLESS = ("torch.no_grad", "torch.inference_mode", "torch.compile", "torch.compiler.disable")


def override_of(project: Project, function: Place[Function]) -> str:
    """Where something else is put in a function's place: in another class under a method's name, or from outside."""
    name = function.node.name
    is_method = isinstance(function.module.parent(function.node), ast.ClassDef)
    for path in project.mentions(name):
        try:
            module = project.module(path)
        except SourceError as error:
            return str(error)
        found = [node for node in module.unordered(ast.Attribute, ast.Constant) if sets_attribute(module, node, name)]
        if is_method:
            found += [node for node in module.scopes.binders(name) if may_be_method(module, node, function.node)]
        else:
            found = [node for node in found if isinstance(node, ast.Constant) or module.resolve(node)]
        if found:
            return where(module, min(found, key=position))
    return ""


def may_be_method(module: Module, node: ast.AST, known: Function) -> bool:
    """Whether another function than the known one, or an assignment in the body of a class, has its name."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node is not known
    return isinstance(node, ast.Name) and isinstance(module.scopes.around(node), ast.ClassDef)


def sets_attribute(module: Module, node: ast.Attribute | ast.Constant, name: str) -> bool:
    """Whether a node gives an object or a module an attribute: `a.name = ...`, `setattr`, a test's `patch`."""
    if isinstance(node, ast.Attribute):
        return node.attr == name and isinstance(node.ctx, ast.Store)
    if not isinstance(node.value, str) or node.value.rpartition(".")[2] != name:
        return False
    parent = module.parent(node)
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Store)
    function = parent.func if isinstance(parent, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", "")) in SETTERS


def is_plain(module: Module, function: Function) -> bool:
    """Whether a call simply runs the body: no generator, no coroutine, no decorator that could do something else."""
    if isinstance(function, ast.AsyncFunctionDef):
        return False
    for decorator in function.decorator_list:
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        if module.resolve(name) not in HARMLESS and not module.scopes.is_builtin(name, "staticmethod", "classmethod"):
            return False
    return not any(module.enclosing(node, *FUNCTIONS) is function for node in ast.walk(function) if is_yield(node))


def is_yield(node: ast.AST) -> bool:
    return isinstance(node, (ast.Yield, ast.YieldFrom))


def parameter_for(function: Place[Function], call: ast.Call, node: ast.expr, parent: ast.AST) -> ast.arg | None:
    """The parameter that receives an argument; None when stars make that unclear."""
    arguments = function.node.args
    if isinstance(parent, ast.keyword):
        named = [*arguments.args, *arguments.kwonlyargs]
        return next((argument for argument in named if argument.arg == parent.arg), None)
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    positional = [*arguments.posonlyargs, *arguments.args][is_bound(function, call) :]
    position = call.args.index(node)
    return positional[position] if position < len(positional) else None


def is_bound(function: Place[Function], call: ast.Call) -> int:
    """1 when the call's first parameter is `self` or `cls`, which no argument stands for."""
    in_class = isinstance(function.module.parent(function.node), ast.ClassDef)
    static = any(function.module.scopes.is_builtin(item, "staticmethod") for item in function.node.decorator_list)
    return int(in_class and not static)


def is_unbound(definitions: Definitions, module: Module, call: ast.Call, function: Place[Function]) -> bool:
    """Whether a method is called through its class, with the instance as the first argument."""
    if not isinstance(call.func, ast.Attribute) or function.node.decorator_list:
        return False
    return only_class(definitions.denoted(module, call.func.value)) is not None

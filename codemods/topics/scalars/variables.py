"""What is sure about the variables of one function: bound once, and seen everywhere they are used."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.scopes import Binding

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
MUTATING = {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "copy_", "resize_"}


def only_binding(module: Module, name: ast.Name) -> Binding | None:
    """The binding of a local variable that is bound once, by its function alone."""
    scope = module.scopes.of(name)
    found = [binding for binding in module.scopes.bindings(name) if not binding.is_bare]
    is_local = isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef))
    return found[0] if len(found) == 1 and is_local else None


def is_steady(module: Module, name: ast.Name) -> bool:
    """Whether a variable is the same object wherever this function reads it."""
    binding = only_binding(module, name)
    return binding is not None and binding.how in ("argument", "assign")


def value_of(module: Module, name: ast.Name) -> ast.expr | None:
    """What a variable was given, if that is a single plain assignment."""
    binding = only_binding(module, name)
    return binding.value if binding is not None and binding.how == "assign" and not binding.path else None


def loads(module: Module, name: ast.Name) -> list[ast.Name]:
    """Every read of a variable, functions inside included."""
    mentions = module.scopes.names(module.scopes.of(name), name.id)
    return [mention for mention in mentions if isinstance(mention.ctx, ast.Load)]


def is_written_in_place(module: Module, name: ast.Name) -> bool:
    """Whether something is stored into what a variable holds, or a method changes it."""
    for mention in module.scopes.names(module.scopes.of(name), name.id):
        parent = module.parent(mention)
        if isinstance(parent, (ast.Subscript, ast.Attribute)) and isinstance(parent.ctx, (ast.Store, ast.Del)):
            return True
        if isinstance(parent, ast.AugAssign) and parent.target is mention:
            return True
        is_method = isinstance(parent, ast.Attribute) and isinstance(module.parent(parent), ast.Call)
        if is_method and isinstance(parent, ast.Attribute) and changes(parent.attr):
            return True
    return False


def changes(method: str) -> bool:
    """Whether a method is named like those that change what they are called on."""
    return method in MUTATING or (method.endswith("_") and not method.endswith("__"))


def is_set_before(module: Module, name: ast.Name, statement: ast.stmt) -> bool:
    """Whether a steady variable surely has its value when a statement begins."""
    binding = only_binding(module, name)
    if binding is None:
        return False
    if binding.how == "argument":
        return True
    given = module.statement(binding.node)
    around = [statement, *(outer for outer in module.ancestors(statement) if isinstance(outer, ast.stmt))]
    block = module.block(given)
    later = block[block.index(given) + 1 :] if given in block else []
    return any(outer in later for outer in around)


def parameters(function: Function) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]

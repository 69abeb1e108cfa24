"""A condition that reads `self` alone, decided in `__init__`."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.places import Place, where
from fullgraph.codemods.syntax.signatures.constructor import check_slots, is_init_call, shares_line
from fullgraph.codemods.topics.autocast.constant import (
    attributes,
    check_globals,
    check_guards,
    check_settled,
    names_in,
    settings,
)
from fullgraph.codemods.topics.autocast.homes import Home, check_not_inside, loops_around


def in_constructor(project: Project, module: Module, value: ast.expr) -> Home | None:
    """Behind the last line of `__init__` that sets what the value reads, if the value reads `self` alone."""
    method = module.enclosing(value, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    owner = module.parent(method) if isinstance(method, Function) else None
    if not isinstance(owner, ast.ClassDef) or any(loops_around(module, value)):
        return None
    first = [*method.args.posonlyargs, *method.args.args][:1]
    own = [name for name in names_in(value) if module.scopes.of(name) is not module.tree]
    is_static = any(getattr(item, "id", "") in ("staticmethod", "classmethod") for item in method.decorator_list)
    if is_static or not first or not own or any(name.id != first[0].arg for name in own):
        return None
    if method.name in ("__init__", "__new__", "__post_init__"):
        return None
    if any(not isinstance(module.parent(name), ast.Attribute) for name in own):
        return None
    check_guards(module, value, value, method)
    check_globals(module, value)
    check_settled(project, module, value)
    check_not_inside(module, value)
    check_owner(project, module, owner)
    init = constructor_of(module, owner)
    if first_name(init) != first[0].arg:
        raise Unsure(f"{where(module, init)}: __init__ has another name for `{first[0].arg}`")
    wanted = attributes(project, module, value)
    setters = [node for node in init.body if sets_any(node, wanted, init)]
    roots = {module.parent(name).attr for name in own}  # type: ignore[union-attr]
    for root in sorted(roots):
        check_root(project, Place(module, owner), init, root)
    check_deep(module, value, init, roots)
    last = setters[-1] if setters else None
    if last is None or not module.begins_line(last) or shares_line(module, last):
        raise Unsure(f"{where(module, init)}: no line of __init__ sets what the condition reads")
    check_order(module, owner, init, last)
    return Home(module, last, init, f"{first_name(init)}.", is_behind=True)


def check_order(module: Module, owner: ast.ClassDef, init: ast.FunctionDef, last: ast.stmt) -> None:
    """Raise if `__init__` calls a method before the value is there, or the constructor of a base class behind it."""
    me, behind = first_name(init), init.body[init.body.index(last) + 1 :]
    for node in behind:
        if isinstance(node, ast.Expr) and is_init_call(node):
            raise Unsure(f"{where(module, node)}: may set what the condition reads later")
    methods = {node.name for node in owner.body if isinstance(node, Function)}
    for call in (node for node in ast.walk(init) if isinstance(node, ast.Call) and node.lineno <= last.lineno):
        func = call.func
        is_own = isinstance(func, ast.Attribute) and getattr(func.value, "id", "") == me and func.attr in methods
        if is_own or any(getattr(given, "id", "") == me for given in call.args if not is_super(call)):
            raise Unsure(f"{where(module, call)}: may ask for the value before it is there")


def is_super(call: ast.Call) -> bool:
    """Whether it is `super(Kind, self)` or `Kind.__init__(self)`."""
    return getattr(call.func, "id", "") == "super" or getattr(call.func, "attr", "") == "__init__"


def first_name(function: Function) -> str:
    return [*function.args.posonlyargs, *function.args.args][0].arg


def constructor_of(module: Module, owner: ast.ClassDef) -> ast.FunctionDef:
    found = [node for node in owner.body if getattr(node, "name", "") == "__init__"]
    if len(found) != 1 or not isinstance(found[0], ast.FunctionDef) or not found[0].args.args:
        raise Unsure(f"{where(module, owner)}: {owner.name} has no plain __init__ of its own")
    if returns := [node for node in ast.walk(found[0]) if isinstance(node, ast.Return)]:
        raise Unsure(f"{where(module, returns[0])}: __init__ may end here")
    return found[0]


def check_owner(project: Project, module: Module, owner: ast.ClassDef) -> None:
    """Raise if objects of the class may come into being without its `__init__`, or cannot hold one more value."""
    check_slots(module, owner)
    for node in owner.body:
        if getattr(node, "name", "") in ("__new__", "__setstate__", "__reduce__", "__getattr__", "__setattr__"):
            raise Unsure(f"{where(module, node)}: {owner.name} makes its objects or their attributes itself")
    kin = [*list(Definitions(project).lineage(Place(module, owner)))[1:], *heirs(project, owner)]
    for other, kind in kin:
        if "autocast" in other.code(kind):
            raise Unsure(f"{where(other, kind)}: {kind.name} has an autocast of its own")
    for other, heir in heirs(project, owner):
        init = next((node for node in heir.body if getattr(node, "name", "") == "__init__"), None)
        if init and not any(isinstance(node, ast.Expr) and is_init_call(node) for node in ast.walk(init)):
            raise Unsure(f"{where(other, heir)}: {heir.name} does not call {owner.name}.__init__")


def sets_any(node: ast.AST, names: set[str], init: ast.FunctionDef) -> bool:
    stored = (item for item in ast.walk(node) if isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store))
    return any(item.attr in names and getattr(item.value, "id", "") == first_name(init) for item in stored)


def check_root(project: Project, owner: Place[ast.ClassDef], init: ast.FunctionDef, root: str) -> None:
    """Raise if an attribute of `self` is not this `__init__`'s own, or a subclass gives it another value."""
    kin = {owner.node, *(heir for _, heir in heirs(project, owner.node))}
    for module, node in settings(project, root):
        inside = init in module.ancestors(node)
        if not inside and module.enclosing(node, ast.ClassDef) in kin - {owner.node}:
            raise Unsure(f"{where(module, node)}: `{root}` is set here too")


def check_deep(module: Module, value: ast.expr, init: ast.FunctionDef, roots: set[str]) -> None:
    """Raise if the value looks into something that may be None: then it must not be looked into earlier."""
    arguments = [*init.args.posonlyargs, *init.args.args]
    defaults = dict(zip([item.arg for item in arguments[::-1]], init.args.defaults[::-1], strict=False))
    defaults |= {
        item.arg: given for item, given in zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True) if given
    }
    maybe = {name for name, given in defaults.items() if isinstance(given, ast.Constant) and given.value is None}
    every = [*arguments, *init.args.kwonlyargs]
    maybe |= {item.arg for item in every if item.annotation and "None" in ast.unparse(item.annotation)}
    maybe |= {item.arg for item in every if item.annotation and "Optional" in ast.unparse(item.annotation)}
    looked_into = {
        node.value.attr
        for node in ast.walk(value)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute)
    }
    for node in ast.walk(init):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {target.attr for target in targets if isinstance(target, ast.Attribute)} & looked_into & roots
            is_none = isinstance(node.value, ast.Constant) and node.value.value is None
            if names and (is_none or getattr(node.value, "id", "") in maybe):
                raise Unsure(f"{where(module, node)}: `{sorted(names)[0]}` may be None")

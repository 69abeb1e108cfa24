"""What must hold so that a timer does what it did: each object has the new settings in time, and nobody else uses them.

A timer that is given none of the new arguments measures every interval. That takes an `__init__` that always runs, and
stores the settings before a method reads them; and names that no base class, subclass or caller means otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Place, only_class, where
from fullgraph.codemods.syntax.signatures.constructor import is_init_call
from fullgraph.codemods.topics.timers.classes import BEGINS, Timer

MADE_OTHERWISE = {"__setattr__", "__setstate__", "__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__"}
CALM_BASES = {"torch.nn.Module", "object", "abc.ABC", "typing.Generic", "typing.Protocol"}
CALM_BASES |= {"contextlib.ContextDecorator", "contextlib.AbstractContextManager"}
"""Base classes that call no method of a timer while it is set up, and have no setting of its names."""

LISTS_FIELDS = {"dataclasses.asdict", "dataclasses.astuple", "dataclasses.fields"}


def check_premises(module: Module, project: Project, timer: Timer, names: set[str]) -> None:
    """Raise if an object may lack the settings when they are read, or another class or caller uses their names."""
    check_begins(module, timer)
    check_making(module, project, timer)
    check_init(module, timer)
    check_bases(module, project, timer, names)
    for other, heir in descendants(project, Place(module, timer.owner)):
        check_unused(other, heir, names)
        init = init_of(heir)
        if init and not any(isinstance(node, ast.Expr) and is_init_call(node) for node in ast.walk(init)):
            raise Unsure(f"{heir.name} does not call {timer.owner.name}.__init__ ({where(other, heir)})")


def check_begins(module: Module, timer: Timer) -> None:
    """A wait where an interval begins asks the object, by the name that it has where one ends."""
    for statement in timer.begins:
        method = module.enclosing(statement, ast.FunctionDef)
        assert method is not None, "waits that begin an interval stand in a method"
        for decorator in method.decorator_list:
            raise Unsure(f"{where(module, decorator)}: {method.name} is decorated, and may not be given the object")
        if method.args.args[0].arg != timer.me:
            raise Unsure(f"{where(module, method)}: {method.name} does not call its object {timer.me}")


def check_making(module: Module, project: Project, timer: Timer) -> None:
    """Every object is made by `__init__`, and nobody asks for all that it holds."""
    owner = timer.owner
    for node in owner.body:
        if isinstance(node, ast.FunctionDef) and node.name in MADE_OTHERWISE:
            raise Unsure(f"{where(module, node)}: `{node.name}` decides what an object of {owner.name} holds")
    for other in files_with(project, module, owner.name):
        for node in other.nodes(ast.Call, ast.Attribute):
            if is_bare(other, node, owner):
                raise Unsure(f"{where(other, node)}: {owner.name} is made here without __init__")
            if lists_attributes(other, node):
                raise Unsure(f"{where(other, node)}: `{ast.unparse(node)}` would list the new attributes too")


def is_bare(module: Module, node: ast.AST, owner: ast.ClassDef) -> bool:
    """`cls.__new__(cls)` in the class but not in its `__new__`, or `Timer.__new__(Timer)` elsewhere."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "__new__":
        return False
    method = module.enclosing(node, ast.FunctionDef)
    if method is not None and method.name == "__new__":
        return False
    kind = module.enclosing(node, ast.ClassDef)
    return owner.name in ast.unparse(node) or (kind is not None and kind.name == owner.name)


def lists_attributes(module: Module, node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "__dict__"
    assert isinstance(node, ast.Call), "only calls and attributes are asked about"
    return module.scopes.is_builtin(node.func, "vars") or module.resolve(node.func) in LISTS_FIELDS


def check_init(module: Module, timer: Timer) -> None:
    """`__init__` swallows no keywords, and calls no method before the settings are stored."""
    init = init_of(timer.owner)
    if init is None:
        return
    supers = [node for node in ast.walk(init) if isinstance(node, ast.Expr) and is_init_call(node)]
    for node in supers:
        if node not in init.body:
            raise Unsure(f"{where(module, node)}: `{ast.unparse(node)}` does not always run")
    last = max((node.lineno for node in supers), default=0)
    me = [*init.args.posonlyargs, *init.args.args][:1]
    for call in (node for node in ast.walk(init) if isinstance(node, ast.Call) and node.lineno < last):
        if isinstance(call.func, ast.Attribute) and me and getattr(call.func.value, "id", "") == me[0].arg:
            raise Unsure(f"{where(module, call)}: `{ast.unparse(call)}` runs before the settings are stored")


def check_bases(module: Module, project: Project, timer: Timer, names: set[str]) -> None:
    """No base class uses the names, or calls a method that reads the settings before they are stored."""
    definitions = Definitions(project)
    reading = {timer.end.name} | BEGINS
    for base in timer.owner.bases:
        plain = base.value if isinstance(base, ast.Subscript) else base
        if (module.resolve(plain) or getattr(plain, "id", "")) in CALM_BASES:
            continue
        found = only_class(definitions.denoted(module, plain))
        if found is None:
            raise Unsure(f"{where(module, base)}: {ast.unparse(base)} may use the names of the new settings")
        for other, kind in definitions.lineage(found):
            check_unused(other, kind, names)
            called = (node for node in ast.walk(kind) if isinstance(node, ast.Attribute) and node.attr in reading)
            if init_of(kind) and (node := next(called, None)):
                raise Unsure(f"{where(other, node)}: {kind.name} may call `{node.attr}` before the settings are stored")


def check_unused(module: Module, kind: ast.ClassDef, names: set[str]) -> None:
    """A class above or below the timer has no attribute, method or field of these names."""
    for node in ast.walk(kind):
        is_field = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        said = getattr(node, "attr", "") or getattr(node, "name", "") or (getattr(node, "id", "") if is_field else "")
        if said in names:
            raise Unsure(f"{kind.name} uses the name {said} for something else ({where(module, node)})")


def descendants(project: Project, owner: Place[ast.ClassDef]) -> list[Place[ast.ClassDef]]:
    """The classes that inherit this one, directly or not, also by another name."""
    definitions = Definitions(project)
    found: list[Place[ast.ClassDef]] = []
    todo = [owner]
    while todo:
        parent = todo.pop()
        for other in files_with(project, parent.module, parent.node.name):
            for node in other.nodes(ast.ClassDef):
                is_known = node is owner.node or any(node is place.node for place in found)
                if not is_known and any(inherits(definitions, other, base, parent) for base in node.bases):
                    found.append(Place(other, node))
                    todo.append(found[-1])
    return found


def inherits(definitions: Definitions, module: Module, base: ast.expr, parent: Place[ast.ClassDef]) -> bool:
    """Whether a base is this class: by its name, or by what the name is bound to."""
    if ast.unparse(base).rpartition(".")[2] == parent.node.name:
        return True
    place = only_class(definitions.denoted(module, base))
    named = [binding.value for binding in module.scopes.bindings(base)] if isinstance(base, ast.Name) else []
    is_alias = any(value is not None and ast.unparse(value) == parent.node.name for value in named)
    return is_alias or (place is not None and str(place) == str(parent) and place.node.name == parent.node.name)


def files_with(project: Project, module: Module, name: str) -> Iterator[Module]:
    """The files that name the class; one that cannot be read may do anything with it."""
    yield module
    for path in sorted(set(project.mentions(name)) - {module.path}):
        try:
            yield project.module(path)
        except SourceError as error:
            raise Unsure(f"{error}: it may inherit {name}") from error


def init_of(kind: ast.ClassDef) -> ast.FunctionDef | None:
    return next((node for node in kind.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)

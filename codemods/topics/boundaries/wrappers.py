"""Functions of the project that a compiled callable goes through on the way to its name: do they change its results?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import attribute_settings, own_nodes
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.places import Place, only_class, only_function
from fullgraph.codemods.topics.boundaries.borrowing import RUNS, parameters_for
from fullgraph.codemods.topics.boundaries.layers import made_of, torch_class
from fullgraph.codemods.topics.boundaries.outputs import NO_GRAD
from fullgraph.codemods.topics.boundaries.requests import Compiled, passes_on
from fullgraph.codemods.topics.boundaries.signature import holds_request, values_of

SAME_CALLABLE = {*NO_GRAD, "torch.compile", "torch.autocast", "torch.amp.autocast", "typing.override"}
DEEP = 5


def is_given_plainly(project: Project, compiled: Compiled, function: Place[Function] | None) -> bool:
    """Whether the callable takes and gives what the statements of the function do that is compiled."""
    names, module = Definitions(project), compiled.module
    if not all(is_alike(project, compiled, value, function) for value in other_values(compiled)):
        return False
    if function and may_be_overridden(project, compiled, function):
        return False
    if function and not all(is_plain_decorator(names, function.module, item) for item in function.node.decorator_list):
        return False
    calls = [pair for request in compiled.requests for pair in wrapping(project, module, request.node)]
    return all(hands_on_argument(names, module, call, node) for call, node in calls)


def may_be_overridden(project: Project, compiled: Compiled, function: Place[Function]) -> bool:
    """Whether what is compiled may be an heir of the class that is named, with a function of its own."""
    owner = function.module.parent(function.node)
    if not isinstance(owner, ast.ClassDef) or compiled.kind == "method":
        return False
    values = [value for request in compiled.requests for value in values_of(compiled, request, request.target)]
    names = Definitions(project)
    if all(isinstance(value, ast.Call) and only_class(names.denoted(compiled.module, value.func)) for value in values):
        return False
    return any(home.scopes.within(heir, function.node.name) for home, heir in heirs(project, owner))


def other_values(compiled: Compiled) -> list[ast.expr]:
    """What the name may stand for besides what is compiled."""
    if isinstance(compiled.owner, ast.ClassDef):
        values = [item.value for item in attribute_settings(compiled.owner, compiled.name)]
    else:
        values = [binding.value for binding in compiled.module.scopes.within(compiled.owner, compiled.name)]
    is_none = [isinstance(value, ast.Constant) and value.value is None for value in values]
    return [value for value, empty in zip(values, is_none, strict=True) if value and not empty]


def is_alike(project: Project, compiled: Compiled, value: ast.expr, function: Place[Function] | None) -> bool:
    """Whether a value is what is compiled, or another of its kind."""
    if holds_request(compiled, value):
        return True
    module, names = compiled.module, Definitions(project, sure=True)
    targets = [request.target for request in compiled.requests]
    if any(isinstance(target, ast.expr) and ast.dump(target) == ast.dump(value) for target in targets):
        return True
    made = only_function(names.denoted(module, value) or names.member(names.instance(module, value), "forward"))
    if made is not None or function is not None:
        return made == function
    return made_of(module, value) in {
        torch_class(names, module, item) for item in targets if isinstance(item, ast.expr)
    }


def wrapping(project: Project, module: Module, node: ast.expr) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls of the project's functions around a request, each with the argument that holds it."""
    parent = module.parent(node)
    while isinstance(parent, (ast.IfExp, ast.Call)) and passes_on(module, project, parent, node):
        if isinstance(parent, ast.Call) and module.resolve(parent.func) != "typing.cast":
            yield parent, node
        node, parent = parent, module.parent(parent)


def hands_on_argument(names: Definitions, module: Module, call: ast.Call, node: ast.expr) -> bool:
    callee = names.called(module, call)
    followed = parameters_for(callee, call, {node}) if callee else set()
    return callee is not None and hands_on(names, callee, followed)


def is_plain_decorator(names: Definitions, module: Module, node: ast.expr) -> bool:
    """Whether a decorator is known to change nothing, or makes a function that hands on."""
    made = node.func if isinstance(node, ast.Call) else node
    if module.resolve(made) in SAME_CALLABLE:
        return True
    if module.resolve(made) == "functools.partial" and isinstance(node, ast.Call) and node.args:
        return module.resolve(node.args[0]) in SAME_CALLABLE
    function = only_function(names.denoted(module, made))
    if function is None:
        return False
    given = [item.arg for item in function.node.args.args]
    if not isinstance(node, ast.Call):
        return hands_on(names, function, set(given[:1]))
    number = len(node.args)
    inner = [item for item in returned(function.node) if isinstance(item, ast.Name)]
    decorators = [only for item in inner if (only := nested(function, item.id))]
    if decorators and len(decorators) == len(returned(function.node)):
        return all(hands_on(names, item, {arg.arg for arg in item.node.args.args[:1]}) for item in decorators)
    return hands_on(names, function, set(given[number : number + 1]))


def hands_on(names: Definitions, function: Place[Function], followed: set[str], depth: int = 0) -> bool:
    """Whether all that a function returns is what it was given, or calls it with whatever comes."""
    values = returned(function.node)
    return (
        bool(followed and values)
        and depth < DEEP
        and all(is_handed_on(names, function, value, followed, depth) for value in values)
    )


def is_handed_on(
    names: Definitions, function: Place[Function], value: ast.expr | None, followed: set[str], depth: int
) -> bool:
    module = function.module
    if is_followed(value, followed):
        return True
    if isinstance(value, ast.Name):
        inner = nested(function, value.id)
        return inner is not None and is_pass_through(inner, followed)
    if not isinstance(value, ast.Call):
        return False
    if module.resolve(value.func) == "functools.partial":
        made = only_function(names.denoted(module, value.args[0])) if value.args else None
        return made is not None and made.node is function.node
    callee = names.called(module, value)
    given = {item for item in ast.walk(value) if is_followed(item, followed)}
    return callee is not None and hands_on(names, callee, parameters_for(callee, value, given), depth + 1)


def is_followed(node: ast.AST | None, followed: set[str]) -> bool:
    """Whether it is the callable, or what it was compiled from."""
    if isinstance(node, ast.Attribute):
        return node.attr in RUNS and is_followed(node.value, followed)
    return isinstance(node, ast.Name) and node.id in followed


def is_pass_through(function: Place[Function], followed: set[str]) -> bool:
    """Whether a function returns nothing but what the callable gives for the same arguments."""
    given = function.node.args
    if given.args or given.posonlyargs or given.kwonlyargs or not given.vararg or not given.kwarg:
        return False
    whole = {f"{name}(*{given.vararg.arg}, **{given.kwarg.arg})" for name in followed}
    values = [stands_for(function, value) for value in returned(function.node)]
    return bool(values) and all(value is not None and ast.unparse(value) in whole for value in values)


def stands_for(function: Place[Function], value: ast.expr | None) -> ast.expr | None:
    """The only value of a local name."""
    if not isinstance(value, ast.Name):
        return value
    bindings = function.module.scopes.within(function.node, value.id)
    return bindings[0].value if len(bindings) == 1 and not bindings[0].path else None


def nested(function: Place[Function], name: str) -> Place[Function] | None:
    """The only function of a name that is made within another, without decorators but `functools.wraps`."""
    bindings = function.module.scopes.within(function.node, name)
    node = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(node, ast.FunctionDef):
        return None
    decorators = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    is_plain = all(function.module.resolve(item) == "functools.wraps" for item in decorators)
    return Place(function.module, node) if is_plain else None


def returned(function: Function) -> list[ast.expr | None]:
    return [item.value for item in own_nodes(function) if isinstance(item, ast.Return)]

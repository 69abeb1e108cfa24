"""What constructors leave behind: attributes, layers and sizes, found by walking through `__init__`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from fullgraph.validate.drafting.evaluate import (
    BINARY,
    BUILTINS,
    DEEPEST,
    MOST_STEPS,
    UNKNOWN,
    Array,
    Layer,
    Scope,
    Thing,
    bind,
    evaluate,
    known,
)
from fullgraph.validate.drafting.library import Definition, Functions, defined_in

MAKERS = {"zeros", "ones", "randn", "rand", "empty", "full"}
HOLDERS = {"Sequential", "ModuleList", "ModuleDict", "ParameterList"}


def call(node: ast.Call, scope: Scope) -> Any:
    """What a call gives: a builtin's value, a layer, an array, an object of the user's, or what a function returns."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "items", "keys", "values", "append", "get"):
        return call_method(node.func, [evaluate(arg, scope) for arg in node.args], scope)
    dotted = scope.module.dotted(node.func)
    args, kwargs = arguments(node, scope)
    name = dotted.rpartition(".")[2]
    if dotted in BUILTINS or (dotted.startswith("math.") and name in BUILTINS):
        return BUILTINS[name](*args, **kwargs) if known(*args, *kwargs.values()) else UNKNOWN
    if dotted in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        return args[0] if args else UNKNOWN
    if dotted.startswith("torch.") and name in MAKERS:
        return make_array(args)
    if dotted == "torch.tensor" and args and is_row(args[0]):
        return Array((len(args[0]),))
    if dotted.startswith("torch.nn.") and name[:1].isupper():
        return Layer(name, args, kwargs)
    found = evaluate(node.func, scope) if not isinstance(node.func, ast.Call) else UNKNOWN
    if isinstance(found, Definition) and found.module.name.startswith("torch.") and not found.is_class:
        return UNKNOWN
    if isinstance(found, Definition) and found.is_class:
        return construct(found, args, kwargs, scope)
    return run_function(found, args, kwargs, scope) if isinstance(found, Definition) else UNKNOWN


def call_method(function: ast.Attribute, args: list[Any], scope: Scope) -> Any:
    holder = evaluate(function.value, scope)
    if function.attr == "append" and isinstance(holder, list):
        holder.append(args[0])
    elif function.attr == "append" and isinstance(holder, Layer) and holder.kind in HOLDERS:
        holder.args.append(args[0])
    elif function.attr == "to":
        return holder
    elif function.attr == "get":
        return holder.get(*args) if isinstance(holder, dict) and known(*args) else UNKNOWN
    elif isinstance(holder, dict):
        return list(getattr(holder, function.attr)())
    return UNKNOWN


def arguments(node: ast.Call, scope: Scope) -> tuple[list[Any], dict[str, Any]]:
    args: list[Any] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            inner = evaluate(arg.value, scope)
            args += list(inner) if isinstance(inner, (list, tuple)) else [UNKNOWN]
        else:
            args.append(evaluate(arg, scope))
    return args, {word.arg: evaluate(word.value, scope) for word in node.keywords if word.arg}


def make_array(args: list[Any]) -> Any:
    sizes = args[0] if args and isinstance(args[0], (tuple, list)) else args
    return Array(tuple(sizes)) if all(isinstance(size, int) for size in sizes) else UNKNOWN


def is_row(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(one, (int, float)) for one in value)


def construct(found: Definition, args: list[Any], kwargs: dict[str, Any], scope: Scope) -> Any:
    """An object of a class: a dataclass has its fields, any other what its `__init__` assigns."""
    thing = Thing(found)
    if scope.depth > DEEPEST:
        return thing
    if scope.library.is_torch_module(found) and found.module.name.startswith("torch.nn."):
        return Layer(found.name, args, kwargs)
    if is_dataclass(found):
        fields = list(fields_of(found, scope))
        given = dict(zip((name for name, *_ in fields), args, strict=False)) | kwargs
        for name, _, default in fields:
            thing.attributes[name] = given.get(name, default_of(default, scope.inside(found.module, {})))
        return thing
    run_constructor(thing, found, args, kwargs, scope)
    return thing


def is_dataclass(found: Definition) -> bool:
    decorators = found.node.decorator_list if isinstance(found.node, ast.ClassDef) else []
    plain = [one.func if isinstance(one, ast.Call) else one for one in decorators]
    return any(found.module.dotted(one).endswith("dataclass") for one in plain)


def fields_of(found: Definition, scope: Scope) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
    """Name, annotation and default of every field that a dataclass takes in its constructor."""
    for one in reversed(list(scope.library.bases(found))):
        for node in one.node.body if isinstance(one.node, ast.ClassDef) else []:
            if not isinstance(node, ast.AnnAssign) or "ClassVar" in ast.dump(node.annotation):
                continue
            if isinstance(node.target, ast.Name):
                yield node.target.id, node.annotation, node.value


def default_of(node: ast.expr | None, scope: Scope) -> Any:
    """A field's default; `field(default=...)` and `field(default_factory=...)` included."""
    if isinstance(node, ast.Call) and scope.module.dotted(node.func).endswith("field"):
        for word in node.keywords:
            if word.arg == "default":
                return evaluate(word.value, scope)
            if word.arg == "default_factory" and isinstance(word.value, ast.Lambda):
                return evaluate(word.value.body, scope)
            if word.arg == "default_factory":
                return evaluate(ast.Call(word.value, [], []), scope)
        return UNKNOWN
    return evaluate(node, scope)


def run_constructor(thing: Thing, found: Definition, args: list[Any], kwargs: dict[str, Any], scope: Scope) -> None:
    for owner in scope.library.bases(found):
        init = dict(defined_in(owner.node.body)).get("__init__") if isinstance(owner.node, ast.ClassDef) else None
        if isinstance(init, Functions) and not owner.module.name.startswith("torch."):
            outside = scope.inside(owner.module, {})
            inner = scope.inside(owner.module, bound(init, [thing, *args], kwargs, outside))
            inner.names["super"] = (thing, owner)
            run(init.body, inner)
            return


def bound(
    node: ast.FunctionDef | ast.AsyncFunctionDef, args: list[Any], kwargs: dict[str, Any], scope: Scope
) -> dict[str, Any]:
    """The local names with which a function starts."""
    given = node.args
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    found = dict.fromkeys([*names, *(one.arg for one in given.kwonlyargs)], UNKNOWN)
    for name, default in zip(reversed(names), reversed(given.defaults), strict=False):
        found[name] = evaluate(default, scope)
    for one, extra in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        found[one.arg] = evaluate(extra, scope)
    rest = {key: value for key, value in kwargs.items() if key not in found}
    found |= dict(zip(names, args, strict=False)) | {key: value for key, value in kwargs.items() if key in found}
    if given.vararg:
        found[given.vararg.arg] = list(args[len(names) :])
    if given.kwarg:
        found[given.kwarg.arg] = rest
    return found


def run_function(found: Definition, args: list[Any], kwargs: dict[str, Any], scope: Scope) -> Any:
    """What a short function of the user's returns."""
    if not isinstance(found.node, ast.FunctionDef) or scope.depth > 4 or len(found.node.body) > 12:
        return UNKNOWN
    inner = scope.inside(found.module, bound(found.node, args, kwargs, scope.inside(found.module, {})))
    return run(found.node.body, inner)


def run(body: list[ast.stmt], scope: Scope) -> Any:
    """Walk through statements for what they assign; the value of the first `return` that is reached."""
    for node in body:
        value = run_statement(node, scope)
        if value is not None:
            return value[0]
    return UNKNOWN


def run_statement(node: ast.stmt, scope: Scope) -> tuple[Any] | None:
    if isinstance(node, ast.Return):
        return (evaluate(node.value, scope),)
    if isinstance(node, ast.Assign):
        value = evaluate(node.value, scope)
        for target in node.targets:
            bind(target, value, scope)
    elif isinstance(node, ast.AnnAssign) and node.value:
        bind(node.target, evaluate(node.value, scope), scope)
    elif isinstance(node, ast.AugAssign):
        left, right = evaluate(node.target, scope), evaluate(node.value, scope)
        added = BINARY[type(node.op)](left, right) if known(left, right) and type(node.op) in BINARY else UNKNOWN
        bind(node.target, added, scope)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        run_call(node.value, scope)
    elif isinstance(node, ast.If):
        return run_branch(node, scope)
    elif isinstance(node, ast.For):
        run_loop(node, scope)
    elif isinstance(node, ast.With):
        run(node.body, scope)
    return None


def run_call(node: ast.Call, scope: Scope) -> None:
    """`super().__init__(...)` runs the base's; everything else is evaluated for what it appends."""
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr == "__init__" and "super" in scope.names:
        thing, found = scope.names["super"]
        args, kwargs = arguments(node, scope)
        for base in list(scope.library.bases(found))[1:2]:
            run_constructor(thing, base, args, kwargs, scope)
        return
    if isinstance(function, ast.Attribute) and function.attr in ("register_buffer", "register_parameter", "add_module"):
        args, kwargs = arguments(node, scope)
        holder = evaluate(function.value, scope)
        if isinstance(holder, Thing) and len(args) > 1 and isinstance(args[0], str):
            holder.attributes[args[0]] = args[1]
        return
    evaluate(node, scope)


def run_branch(node: ast.If, scope: Scope) -> tuple[Any] | None:
    """The branch that is taken; where nobody knows, both, the first one last."""
    test = evaluate(node.test, scope)
    if not known(test):
        run(node.orelse, scope)
    body = node.body if test or not known(test) else node.orelse
    for inner in body:
        value = run_statement(inner, scope)
        if value is not None and known(test):
            return value
    return None


def run_loop(node: ast.For, scope: Scope) -> None:
    items = evaluate(node.iter, scope)
    for item in list(items)[:MOST_STEPS] if isinstance(items, (list, tuple, dict)) else [UNKNOWN]:
        bind(node.target, item, scope)
        run(node.body, scope)


def names_in(found: Definition) -> list[str]:
    """The methods of a class."""
    body = found.node.body if isinstance(found.node, ast.ClassDef) else []
    return [name for name, node in defined_in(body) if isinstance(node, Functions)]

"""Follows a function from its first statement to one place in it, and says what its names hold there."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.syntax.tensors.tables import TENSOR_NAMES
from fullgraph.codemods.topics.branches.bound import LOOPS, bound_in, side_by_side, surely_bound
from fullgraph.codemods.topics.branches.facts import learn
from fullgraph.codemods.topics.branches.operations import RESIZES
from fullgraph.codemods.topics.branches.reading import Reader
from fullgraph.codemods.topics.branches.values import Number, Tensor, Unknown, Work

NO_GRAD = {"torch.no_grad", "torch.inference_mode"}


def reader_at(module: Module, function: Function, place: ast.stmt) -> Reader:
    """What is known just before a statement runs, whichever way it was reached."""
    reader = Reader(module, function)
    for argument in all_arguments(function):
        reader.env[argument.arg] = Unknown(argument.arg)
    reader.annotated = {argument.arg for argument in tensor_arguments(module, function)}
    reader.no_grad = any(disables_grad(module, item) for item in function.decorator_list)
    inner = {name for node in ast.walk(function) if isinstance(node, ast.Nonlocal | ast.Global) for name in node.names}
    if inner:
        raise Unsure(f"line {function.lineno}: `{sorted(inner)[0]}` is shared with other functions")
    around = [place, *module.ancestors(place)]
    follow(reader, function.body, around[: around.index(function)])
    spelled = {key for key, (_, needed) in reader.derived.items() if all(map(reader.spell, needed))}
    reader.derived = {key: found for key, found in reader.derived.items() if key in spelled}
    switches = {"enable_grad", "set_grad_enabled"}
    reader.no_grad &= not any(getattr(node, "attr", "") in switches for node in ast.walk(function))
    return reader


def all_arguments(function: Function) -> list[ast.arg]:
    given = function.args
    plain = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return [*plain, *(extra for extra in (given.vararg, given.kwarg) if extra)]


def tensor_arguments(module: Module, function: Function) -> list[ast.arg]:
    """Arguments that are annotated as tensors, and have no other default: `x: Tensor = None` may be None."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    plain = positional[: len(positional) - len(given.defaults)]
    plain += [word for word, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None]
    return [item for item in plain if item.annotation and module.resolve(item.annotation) in TENSOR_NAMES]


def disables_grad(module: Module, node: ast.expr) -> bool:
    """Whether it is `no_grad()` or `inference_mode()`; `inference_mode(False)` turns gradients on."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return module.resolve(node.func) in NO_GRAD


def follow(reader: Reader, body: list[ast.stmt], around: list[ast.AST]) -> None:
    """Go through a block up to the statement that is, or holds, the place."""
    for statement in body:
        if statement in around:
            if statement is not around[0]:
                enter(reader, statement, around)
            return
        pass_by(reader, statement)


def enter(reader: Reader, statement: ast.stmt, around: list[ast.AST]) -> None:
    """Go into a statement that holds the place."""
    if isinstance(statement, LOOPS):
        forget(reader, [statement])
        count_rounds(reader, statement)
        follow(reader, statement.body if holds(statement.body, around) else statement.orelse, around)
    elif isinstance(statement, ast.If):
        note(reader, statement.test)
        is_body = holds(statement.body, around)
        if is_body:
            learn(reader, statement.test)
        follow(reader, statement.body if is_body else statement.orelse, around)
    elif isinstance(statement, ast.With):
        forget(reader, statement.items)
        reader.no_grad |= any(disables_grad(reader.module, item.context_expr) for item in statement.items)
        reader.no_grad &= not any(enables_grad(reader.module, item.context_expr) for item in statement.items)
        follow(reader, statement.body, around)
    else:
        raise Unsure(f"line {statement.lineno}: it stands in a `{type(statement).__name__.lower()}` statement")


def count_rounds(reader: Reader, loop: ast.stmt) -> None:
    """What a loop over written numbers or a range counts with is a number, if nothing else is bound to its name."""
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return
    numbers = loop.iter.elts if isinstance(loop.iter, ast.Tuple | ast.List) else []
    is_written = bool(numbers) and all(type(getattr(item, "value", None)) in (int, float) for item in numbers)
    is_range = isinstance(loop.iter, ast.Call) and reader.module.scopes.is_builtin(loop.iter.func, "range")
    if (is_written or is_range) and not any(loop.target.id in bound_in(item) for item in loop.body):
        reader.env[loop.target.id] = Number()


def enables_grad(module: Module, node: ast.expr) -> bool:
    dotted = module.resolve(node.func) if isinstance(node, ast.Call) else None
    return not disables_grad(module, node) and (dotted is None or "grad" in dotted or "inference" in dotted)


def holds(block: list[ast.stmt], around: list[ast.AST]) -> bool:
    return any(statement in around for statement in block)


def pass_by(reader: Reader, statement: ast.stmt) -> None:
    """Note what a statement before the place does to the names."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name) and not any(isinstance(node, ast.NamedExpr) for node in ast.walk(statement)):
            assign(reader, target.id, statement.value)
            return
        if isinstance(target, ast.Tuple) and (found := side_by_side(target, statement.value)):
            for name, value in found:
                assign(reader, name, value)
            return
    if isinstance(statement, ast.If):
        note(reader, statement.test)
    forget(reader, [statement])


def note(reader: Reader, test: ast.expr) -> None:
    """Read what runs for certain, for what it takes for granted."""
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(test)):
        forget(reader, [test])
    reader.sure = True
    try:
        reader.read(test, Work())
    except Unsure:
        share(reader, test)
    reader.sure = False


def assign(reader: Reader, name: str, value: ast.expr) -> None:
    """A value that is not understood, or not for certain a tensor, is something new under this name."""
    work, key = Work(), f"{name}@{value.lineno}:{value.col_offset}"
    reader.sure = True
    try:
        found = reader.read(value, work)
    except Unsure:
        share(reader, value)
        touch(reader, [value])
        reader.env[name] = Unknown(key)
        return
    finally:
        reader.sure = False
    reader.filled |= set(work.filled)
    if isinstance(found, Tensor):  # nobody asks what it takes for equal
        found = found.but(**{kind: (kind, key) for kind, _, _ in work.same})
    reader.real |= set(work.real)
    if work.tensors or work.numbers:
        reader.env[name] = Unknown(key)
        if isinstance(found, Tensor):
            reader.hinted.add(key)
            made = named(reader, found, key, work)
            if not work.numbers:
                reader.derived[key] = made, tuple(work.tensors)
        return
    reader.env[name] = named(reader, found, key, work) if isinstance(found, Tensor) else found
    if isinstance(found, Unknown):
        share(reader, value)


def named(reader: Reader, found: Tensor, key: str, work: Work) -> Tensor:
    """A tensor that gets a name: what was only assumed about it is a symbol of its own from here on."""
    unsure = not all(map(reader.is_float, [*work.floats, *work.signed]))
    if unsure or not all(dtype in reader.full for dtype in work.full):
        found = found.but(dtype=("dtype", key))
    if isinstance(found.device, tuple) and found.device[0] == "either":
        found = found.but(device=("device", key))
    if isinstance(found.shape, tuple) and found.shape[0] == "joint":
        found = found.but(shape=("shape", key))
    if work.bent and found.sources:
        found = found.but(sources=frozenset({key}))
    if not found.owners:
        reader.private.add(key)
        found = found.but(owners=frozenset({key}))
    else:
        reader.private -= found.owners
    return found


def share(reader: Reader, node: ast.AST) -> None:
    """Whatever is named in code that is not understood may be kept or written by it."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(value := reader.env.get(inner.id), Tensor | Unknown):
            is_fact = isinstance(parent := reader.module.parent(inner), ast.Attribute) and parent.attr == "dtype"
            if not is_fact:
                reader.private -= value.owners if isinstance(value, Tensor) else {value.key}


def forget(reader: Reader, nodes: Iterable[ast.AST]) -> None:
    """Names that are bound there may hold anything afterwards, and attributes may have changed."""
    for top in nodes:
        share(reader, top)
        surely = surely_bound([top]) if isinstance(top, ast.stmt) else bound_in(top)
        for name in bound_in(top):
            if name not in reader.env and surely is not None and name not in surely:
                continue  # it may not be bound at all: reading it is not safe
            reader.env[name] = Unknown(f"{name}@{getattr(top, 'lineno', 0)}+{reader.age}")
    touch(reader, nodes)


def touch(reader: Reader, nodes: Iterable[ast.AST]) -> None:
    """Attributes may have changed; after an operation that resizes in place nothing is known of any tensor."""
    reader.age += 1
    for top in nodes:
        if any(changes_metadata(node) for node in ast.walk(top)):
            for name in reader.env:
                reader.env[name] = Unknown(f"{name}@{reader.age}")
            reader.private.clear()


def changes_metadata(node: ast.AST) -> bool:
    is_data = isinstance(node, ast.Attribute) and node.attr in ("data", "grad") and isinstance(node.ctx, ast.Store)
    return is_data or (isinstance(node, ast.Attribute) and node.attr in RESIZES)


def is_in_loop(module: Module, function: Function, place: ast.AST) -> bool:
    loops = (outer for outer in module.ancestors(place) if isinstance(outer, LOOPS))
    return any(loop in set(own_nodes(function)) for loop in loops)

"""Statements that cannot become a function of their own, with the line that says why."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.scopes import COMPREHENSIONS, DEFINITIONS
from fullgraph.codemods.syntax.places import where

LOOPS = (ast.For, ast.AsyncFor, ast.While)
WAITS = (ast.Await, ast.Yield, ast.YieldFrom, ast.AsyncFor, ast.AsyncWith)
FRAMES = {"sys._getframe", "inspect.currentframe", "inspect.stack", "logging.Logger.findCaller"}
FRAMES |= {"traceback.print_stack", "traceback.extract_stack", "traceback.format_stack"}
REFLECTS = ("locals", "vars", "dir", "eval", "exec", "breakpoint")
CONSUMERS = ("sum", "any", "all", "max", "min", "list", "tuple", "set", "frozenset", "dict", "sorted")


def check_extractable(module: Module, statements: Sequence[ast.stmt]) -> None:
    """Unsure if one of the statements means something else in a function of its own."""
    for node in nodes_of(statements):
        here = where(module, node) if hasattr(node, "lineno") else ""
        is_async = isinstance(node, COMPREHENSIONS) and any(part.is_async for part in node.generators)
        if isinstance(node, WAITS) or is_async:
            raise Unsure(f"{here}: waits or yields, which only the enclosing function can do")
        if isinstance(node, DEFINITIONS):
            raise Unsure(f"{here}: defines {node.name}, which would get another qualified name")
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            raise Unsure(f"{here}: declares the scope of {', '.join(node.names)} for the rest of the function")
        if isinstance(node, ast.Call):
            check_call(module, node)
        if isinstance(node, ast.Raise) and node.exc is None and not is_handled(module, node, statements):
            raise Unsure(f"{here}: raises again what is caught outside these lines")


def check_call(module: Module, call: ast.Call) -> None:
    here = where(module, call)
    asks_itself = isinstance(call.func, ast.Name) and call.func.id in ("vars", "dir") and bool(call.args)
    if module.scopes.is_builtin(call.func, *REFLECTS) and not asks_itself:
        raise Unsure(f"{here}: {module.code(call.func)}() sees the variables of the function that it stands in")
    counts = any(keyword.arg in ("stacklevel", "stack_info") for keyword in call.keywords)
    if counts or module.resolve(call.func) in FRAMES:
        raise Unsure(f"{here}: counts stack frames, of which there would be more")


def nodes_of(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes of some statements, in the order of the text, but not those of functions and classes inside."""
    for node in statements:
        yield from nodes_below(node)


def nodes_below(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, DEFINITIONS):
        for child in ast.iter_child_nodes(node):
            yield from nodes_below(child)


def is_handled(module: Module, node: ast.Raise, statements: Sequence[ast.stmt]) -> bool:
    handler = module.enclosing(node, ast.ExceptHandler)
    return handler is not None and any(handler in ast.walk(statement) for statement in statements)


Exit = ast.Return | ast.Break | ast.Continue


def exits(statements: Sequence[ast.stmt]) -> Iterator[Exit]:
    """Every `return`, and every `break` and `continue` of a loop outside."""
    for node in statements:
        if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
            yield node
        elif isinstance(node, LOOPS):
            yield from (leave for leave in exits(node.body) if isinstance(leave, ast.Return))
            yield from exits(node.orelse)
        elif not isinstance(node, DEFINITIONS):
            for block in blocks_of(node):
                yield from exits(block)


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The bodies of a compound statement that is no loop and no definition."""
    yield from (getattr(node, name, []) for name in ("body", "orelse", "finalbody"))
    yield from (part.body for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())))


def check_exits(module: Module, function: Function, statements: Sequence[ast.stmt]) -> list[Exit]:
    """The ways out, all of which a `return` can replace; Unsure at the first that none can.

    A `return` can stay in the last statements of the function; a `continue` ends the last statements of its loop.
    """
    loop = module.parent(statements[0])
    ends_loop = isinstance(loop, LOOPS) and loop.body[-1] is statements[-1]
    ends_function = function.body[-1] is statements[-1]
    found = list(exits(statements))
    for leave in found:
        word = type(leave).__name__.lower()
        if not (ends_function if isinstance(leave, ast.Return) else ends_loop and isinstance(leave, ast.Continue)):
            raise Unsure(f"{where(module, leave)}: `{word}` leaves more than these lines")
    return found


def deferred(module: Module, function: Function) -> Iterator[tuple[ast.AST, ast.Name]]:
    """Each name that a function, lambda or generator inside reads of this function's variables, perhaps later."""
    for node in ast.walk(function):
        is_inner = isinstance(node, (*DEFINITIONS, ast.Lambda, ast.GeneratorExp)) and node is not function
        if is_inner and not is_consumed(module, node):
            for name in ast.walk(node):
                if isinstance(name, ast.Name) and module.scopes.of(name) is function and is_later(module, node, name):
                    yield node, name


def is_later(module: Module, node: ast.AST, name: ast.Name) -> bool:
    """Whether the name is read inside and not while the node itself is evaluated: defaults and first iterables are."""
    scope = module.scopes.around(name)
    return scope is node or any(outer is node for outer in scopes_around(module, scope))


def scopes_around(module: Module, scope: ast.AST) -> Iterator[ast.AST]:
    while not isinstance(scope, ast.Module):
        scope = module.scopes.around(scope)
        yield scope


def is_consumed(module: Module, node: ast.AST) -> bool:
    """Whether a builtin that is given the generator, or the lambda as `key`, has done with it when it returns."""
    call = module.parent(node)
    if isinstance(call, ast.keyword) and call.arg == "key":
        call = module.parent(call)
        return isinstance(call, ast.Call) and module.scopes.is_builtin(call.func, "sorted", "max", "min")
    if not isinstance(call, ast.Call) or node not in call.args or not isinstance(node, ast.GeneratorExp):
        return False
    joins = isinstance(call.func, ast.Attribute) and call.func.attr == "join"
    return joins or module.scopes.is_builtin(call.func, *CONSUMERS)

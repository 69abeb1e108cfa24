"""What evaluating a statement or an expression reads and binds of one function's variables, in order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.scopes import COMPREHENSIONS

What = Literal["read", "bind", "unbind"]
Chain = tuple[ast.AST, ...]
"""The parts of the expression that may be skipped around a node, outermost first."""


class Happening(NamedTuple):
    """`is_sure`: it happens whenever the whole is evaluated. `is_covered`: the whole has bound the name before."""

    name: str
    what: What
    is_sure: bool
    is_covered: bool


def happenings(module: Module, function: Function, node: ast.AST) -> Iterator[Happening]:
    """Reads and bindings of the function's own variables. What a lambda or a generator reads later counts as read."""
    done: dict[str, list[Chain]] = {}
    declared = module.scopes.declared.get(function, {})
    for found, what, chain in ordered(node, ()):
        if isinstance(found, ast.Name):
            name = found.id
            is_own = module.scopes.of(found) is function
        else:
            name = str(found)
            is_own = name not in declared
        if is_own:
            is_covered = any(chain[: len(earlier)] == earlier for earlier in done.get(name, []))
            yield Happening(name, what, not chain, is_covered)
            if what == "bind":
                done.setdefault(name, []).append(chain)


def ordered(node: Any, chain: Chain) -> Iterator[tuple[ast.Name | str, What, Chain]]:
    """Names in the order of evaluation, each with what happens to it and what may be skipped around it."""
    if isinstance(node, ast.Name):
        yield node, {ast.Load: "read", ast.Store: "bind"}.get(type(node.ctx), "unbind"), chain  # type: ignore[misc]
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0], "bind", chain
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        inner = (name for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load))
        yield from ((name, "read", (*chain, node)) for name in inner)
        yield node.name, "bind", chain
    elif isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name):
            yield node.target, "read", chain
        yield from parts([node.value, node.target], chain)
    elif isinstance(node, (ast.Assign, ast.NamedExpr)):
        yield from parts([node.value, *getattr(node, "targets", []), getattr(node, "target", None)], chain)
    elif isinstance(node, ast.AnnAssign):
        yield from parts([node.value, node.target] if node.value or not node.simple else [], chain)
    elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.MatchMapping)):
        yield from parts(ast.iter_child_nodes(node), chain)
        if given := getattr(node, "rest", None) or getattr(node, "name", None):
            yield given, "bind", chain
    else:
        yield from ordered_parts(node, chain)


def ordered_parts(node: Any, chain: Chain) -> Iterator[tuple[ast.Name | str, What, Chain]]:
    """The same for expressions of which parts may be skipped."""
    if isinstance(node, ast.BoolOp):
        yield from one_after_the_other(node.values, chain)
    elif isinstance(node, ast.Compare):
        yield from ordered(node.left, chain)
        yield from one_after_the_other(node.comparators, chain)
    elif isinstance(node, ast.IfExp):
        yield from ordered(node.test, chain)
        yield from ordered(node.body, (*chain, node.body))
        yield from ordered(node.orelse, (*chain, node.orelse))
    elif isinstance(node, ast.Lambda):
        yield from ordered(node.args, chain)
        yield from ordered(node.body, (*chain, node.body))
    elif isinstance(node, COMPREHENSIONS):
        for generator in node.generators:
            yield from ordered(generator.iter, chain)
            chain = (*chain, generator)
            yield from ordered(generator.target, chain)
            for test in generator.ifs:
                yield from ordered(test, chain)
                chain = (*chain, test)
        yield from parts([getattr(node, name, None) for name in ("elt", "key", "value")], chain)
    else:
        yield from parts(ast.iter_child_nodes(node), chain)


def one_after_the_other(values: list[ast.expr], chain: Chain) -> Iterator[tuple[ast.Name | str, What, Chain]]:
    """Each is evaluated only if those before it were, and did not decide."""
    for number, value in enumerate(values):
        chain = (*chain, value) if number else chain
        yield from ordered(value, chain)


def parts(nodes: Any, chain: Chain) -> Iterator[tuple[ast.Name | str, What, Chain]]:
    for node in nodes:
        if node is not None:
            yield from ordered(node, chain)

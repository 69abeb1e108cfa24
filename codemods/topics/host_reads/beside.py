"""Reads that stand side by side: in one statement, or in statements that follow each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.syntax.tensors.tables import PURE_METHODS
from fullgraph.codemods.topics.host_reads.look import Look
from fullgraph.codemods.topics.host_reads.paths import SIMPLE, between, is_conditional
from fullgraph.codemods.topics.host_reads.reads import Read

NAMES = (ast.Name, ast.Attribute, ast.Subscript)


@dataclass(frozen=True, eq=False)
class Number:
    """A read of one number that `root` is made into by pure calls. `direct`: the name of the only such call."""

    read: Read
    statement: ast.stmt
    root: ast.expr
    direct: str


def number_of(look: Look, read: Read) -> Number | None:
    """The read as a number beside others; None where it is not always evaluated with its statement."""
    module, statement = look.module, look.module.statement(read.node)
    if not isinstance(statement, SIMPLE) or is_conditional(module, read.node, statement):
        return None
    if any(isinstance(outer, (*COMPREHENSIONS, ast.Lambda)) for outer in between(module, read.node, statement)):
        return None
    root, calls = root_of(look, read.tensor)
    is_one = isinstance(root, NAMES) and look.known(root).what in ("", "tensor")
    if is_one and look.is_pure(read.tensor):
        return Number(read, statement, root, calls[0] if len(calls) == 1 else "")
    return None


def root_of(look: Look, node: ast.expr) -> tuple[ast.expr, list[str]]:
    """`x` of `x.abs().max()` or `torch.max(x)`, and the names of the calls."""
    calls: list[str] = []
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PURE_METHODS:
        is_torch = bool(look.module.resolve(node.func))
        if is_torch and len(node.args) != 1:
            break
        calls.insert(0, node.func.attr if not node.keywords and len(node.args) == is_torch else "")
        node = node.args[0] if is_torch else node.func.value
    return node, calls


def runs(look: Look, numbers: list[Number]) -> Iterator[list[Number]]:
    """Numbers in statements of one block that follow each other without another in between."""
    run: list[Number] = []
    for number in numbers:
        if run and not follows(look, run[-1].statement, number.statement):
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def follows(look: Look, first: ast.stmt, second: ast.stmt) -> bool:
    block = look.module.block(first)
    return second is first or (second in block and block.index(second) == block.index(first) + 1)

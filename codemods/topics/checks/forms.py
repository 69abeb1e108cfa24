"""The checks of a module: an `if` that raises, an `assert`, and torch's own `_check` functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.compiled import IS_COMPILING
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.topics.checks.questions import asks

CHECKS = {
    "torch._check": "RuntimeError",
    "torch._check_value": "ValueError",
    "torch._check_index": "IndexError",
    "torch._check_type": "TypeError",
    "torch._check_not_implemented": "NotImplementedError",
    "torch._check_tensor_all": "RuntimeError",
    "torch._check_with": "",
    "torch._check_tensor_all_with": "",
}
"""What each raises; empty: what its first argument says."""

NUMBERS = {"item", "equal", "allclose", "is_nonzero"}
"""What gives Python's numbers and answers, not tensors."""


@dataclass(frozen=True)
class Link:
    """One question and what is raised for the wrong answer.

    `passes_on`: the answer with which the check is passed. `raised`: the exception as it is written, None for an
    `assert` without a message. `before`: what runs before the exception is raised.
    """

    test: ast.expr
    passes_on: bool
    error: str
    raised: ast.expr | None
    before: tuple[ast.stmt, ...] = ()
    cause: ast.expr | None = None
    is_for_all: bool = False
    """Whether all elements are asked, as `torch._check_tensor_all` does."""


@dataclass(frozen=True)
class Check:
    """A statement that checks. `rest`: whether other branches of the statement run when the checks are passed."""

    statement: ast.If | ast.Assert | ast.Expr
    links: tuple[Link, ...]
    rest: bool = False

    @property
    def test(self) -> ast.expr:
        return self.links[0].test


def checks(module: Module) -> Iterator[tuple[Function, Check]]:
    """Every check inside a function that the text does not keep out of compiled code, in no special order."""
    for node in module.unordered(ast.If, ast.Assert, ast.Expr):
        check = check_of(module, node)
        function = module.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef) if check else None
        if check and isinstance(function, Function) and not asks_itself(module, node):
            yield function, check


def check_of(module: Module, node: ast.If | ast.Assert | ast.Expr) -> Check | None:
    if isinstance(node, ast.Assert):
        asserted = Link(node.test, True, "AssertionError", node.msg)
        is_kept = not asks(module, node.test) or is_kept_by_torch(module, asserted)
        return None if is_kept else Check(node, (asserted,))
    if isinstance(node, ast.Expr):
        return called_check(module, node)
    links = tuple(leading_links(module, node))
    if links:
        last = nth_elif(node, len(links) - 1)
        return Check(node, links, bool(last.orelse))
    if link := raising(module, node.test, node.orelse, passes_on=True):
        return Check(node, (link,), True)
    return None


def called_check(module: Module, node: ast.Expr) -> Check | None:
    """`torch._check...` as a statement, with its arguments by place."""
    call = node.value
    dotted = module.resolve(call.func) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or dotted not in CHECKS or call.keywords:
        return None
    given = list(call.args)
    error = CHECKS[dotted] or (ast.unparse(given.pop(0)) if given else "")
    if not 1 <= len(given) <= 2 or any(isinstance(argument, ast.Starred) for argument in given):
        return None
    message = given[1] if len(given) == 2 else None
    is_for_all = "tensor_all" in dotted
    if not is_for_all and not asks(module, given[0]):
        return None
    return Check(node, (Link(given[0], True, error, message, is_for_all=is_for_all),))


def leading_links(module: Module, node: ast.If) -> Iterator[Link]:
    """The first branches of an `if` as long as each of them only raises."""
    if is_elif(module, node) and leading_link(module, parent_if(module, node)):
        return
    branch: ast.If | None = node
    while branch is not None and (link := leading_link(module, branch)):
        yield link
        following = branch.orelse[0] if len(branch.orelse) == 1 else None
        branch = following if isinstance(following, ast.If) and is_elif(module, following) else None


def leading_link(module: Module, node: ast.If) -> Link | None:
    return raising(module, node.test, node.body, passes_on=False)


def raising(module: Module, test: ast.expr, body: list[ast.stmt], *, passes_on: bool) -> Link | None:
    """A branch that ends in a `raise` and holds no other way out."""
    if not body or not isinstance(body[-1], ast.Raise) or body[-1].exc is None:
        return None
    if not asks(module, test):
        return None
    ways_out = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Yield, ast.YieldFrom)
    if any(isinstance(inner, ways_out) for one in body[:-1] for inner in ast.walk(one)):
        return None
    raised = body[-1].exc
    name = raised.func if isinstance(raised, ast.Call) else raised
    cause = body[-1].cause
    return Link(test, passes_on, ast.unparse(name), raised, tuple(body[:-1]), cause)


def is_kept_by_torch(module: Module, link: Link) -> bool:
    """Whether Dynamo itself puts an `assert` into the graph: on one tensor, with a text that is written out."""
    test = link.test
    if isinstance(test, ast.Call) and module.scopes.is_builtin(test.func, "bool") and len(test.args) == 1:
        test = test.args[0]
    reads = (inner for inner in ast.walk(test) if isinstance(inner, ast.Call))
    is_read = any(
        last_name(call) in NUMBERS or module.scopes.is_builtin(call.func, "float", "int", "bool") for call in reads
    )
    is_one = not isinstance(test, ast.BoolOp) and not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))
    is_written = link.raised is None or (isinstance(link.raised, ast.Constant) and isinstance(link.raised.value, str))
    return is_one and is_written and not is_read and not (isinstance(test, ast.Compare) and len(test.ops) > 1)


def is_elif(module: Module, node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and module.code(node).startswith("elif")


def parent_if(module: Module, node: ast.If) -> ast.If:
    parent = module.parent(node)
    assert isinstance(parent, ast.If), "an elif stands in an if"
    return parent


def nth_elif(node: ast.If, number: int) -> ast.If:
    for _ in range(number):
        following = node.orelse[0]
        assert isinstance(following, ast.If)
        node = following
    return node


def asks_itself(module: Module, node: ast.stmt) -> bool:
    """Whether the statement, or one around it, already asks whether it is compiled."""
    outer = [one for one in module.ancestors(node) if isinstance(one, ast.If)]
    tests = [one.test for one in (node, *outer) if isinstance(one, ast.If)]
    return any(is_about_compiling(module, inner) for test in tests for inner in ast.walk(test))


def is_about_compiling(module: Module, node: ast.AST) -> bool:
    """Whether a call asks that, of torch or of a function that is named so."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return module.resolve(node.func) in IS_COMPILING or name.endswith("compiling")

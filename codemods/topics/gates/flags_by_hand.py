"""Flags that a project has put around its compile requests itself."""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.assignments import FUNCTIONS, argument_names, targets_of
from fullgraph.codemods.topics.compile_requests.requests import Form, Request
from fullgraph.codemods.topics.compile_requests.wrappers import last_name

WORD = re.compile(r"compil|eager|inductor|dynamo|jit", re.IGNORECASE)
INFERENCE = re.compile(r"infer|eval|serv|train", re.IGNORECASE)
ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def flag_of_inference(request: Request) -> ast.AST | None:
    """A condition that tells inference from training, or `disable=` of the request: both say when to compile."""
    flag = flag_by_hand(request)
    is_told = flag and any(INFERENCE.search(word) for word in words_in(request.module, flag))
    return disabled_by(request) or (flag if is_told else None)


def flag_by_hand(request: Request) -> ast.expr | None:
    """The condition on which compiling hangs already, if its words speak of that."""
    inner: ast.AST = request.target if request.form is Form.DECORATOR else request.node
    kept = names_of_result(request)
    for outer in request.module.ancestors(inner):
        for test in conditions(request.module, outer, inner):
            if speaks_of_compiling(request.module, test, kept):
                return test
        if isinstance(outer, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            return None
        inner = outer
    return None


def disabled_by(request: Request) -> ast.expr | None:
    """What is passed as `disable`, unless it says False."""
    called = getattr(request.node, "func", None)
    asked = called if isinstance(called, ast.Call) else request.node
    keywords = asked.keywords if isinstance(asked, ast.Call) else []
    given = [keyword.value for keyword in keywords if keyword.arg == "disable"]
    return next((value for value in given if not isinstance(value, ast.Constant) or value.value), None)


def names_of_result(request: Request) -> set[str]:
    """What keeps the compiled callable: to ask whether that is there yet is no flag."""
    statement = request.module.statement(request.node)
    targets = targets_of(statement) if isinstance(statement, (ast.Assign, ast.AnnAssign)) else []
    return {name for target in targets if (name := last_name(target))}


def conditions(module: Module, outer: ast.AST, inner: ast.AST) -> list[ast.expr]:
    """The test of an `if` around the inner node, and of those before it that leave the block."""
    tests: list[ast.expr] = []
    if isinstance(outer, (ast.If, ast.IfExp)) and inner is not outer.test:
        tests = [outer.test]
    elif isinstance(outer, ast.BoolOp) and isinstance(inner, ast.expr):
        tests = outer.values[: outer.values.index(inner)]
    if isinstance(inner, ast.stmt):
        block = module.block(inner)
        before = (node for node in block[: block.index(inner)] if isinstance(node, ast.If))
        tests += [node.test for node in before if isinstance(node.body[-1], ENDS)]
    return tests


def speaks_of_compiling(module: Module, test: ast.expr, kept: set[str]) -> bool:
    """Whether a condition asks if one wants compiled code; whether torch can compile at all is another question."""
    if any(WORD.search(word) for word in words_in(module, test) if word not in kept):
        return True
    function = module.enclosing(test, *FUNCTIONS)
    if function is None or not WORD.search(function.name):
        return False
    plain = test.operand if isinstance(test, ast.UnaryOp) else test
    return isinstance(plain, ast.Name) and plain.id in argument_names(function)


def words_in(module: Module, test: ast.expr) -> list[str]:
    """The names and texts of a condition, without those of `hasattr(torch, ...)`."""
    words: list[str] = []
    todo: list[ast.AST] = [test]
    for node in todo:
        if isinstance(node, ast.Call) and asks_what_torch_has(module, node):
            continue
        todo += ast.iter_child_nodes(node)
        if isinstance(node, ast.Name):
            words.append(node.id)
        elif isinstance(node, ast.Attribute):
            words.append(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.append(node.value)
    return words


def asks_what_torch_has(module: Module, call: ast.Call) -> bool:
    is_asked = module.scopes.is_builtin(call.func, "hasattr", "getattr")
    return is_asked and bool(call.args) and module.resolve(call.args[0]) == "torch"

"""Which calls are queries: they only read, and what they answer may be shared."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.effects.answers import impurity
from fullgraph.codemods.syntax.effects.doubts import Doubt
from fullgraph.codemods.syntax.effects.harmless import ATOMIC
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.places import Place, where

QUESTION = re.compile(r"_*(?:is|has|can|should)_\w+")
NOT_OURS = {b"is_tensor", b"is_floating_point", b"is_complex", b"is_contiguous", b"is_nonzero", b"is_available"}
NOT_OURS |= {b"is_alive", b"is_set", b"is_running"}
"""Questions that torch answers itself, of which next to nothing is saved, and about what other threads do."""
SIMPLE = (ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.Call, ast.keyword, ast.Tuple, ast.UnaryOp)
SIMPLE += (ast.BinOp, ast.Slice, ast.expr_context, ast.operator, ast.unaryop)  # type: ignore[assignment]
OPERATIONS = ("forward", "backward", "step", "__call__", "__init__", "__new__")
PLAIN_CALLS = ("bool", "int", "float", "str", "len", "isinstance", "issubclass", "hasattr", "callable", "any", "all")


@dataclass(frozen=True)
class Query:
    """A call that asks something. `doubt`: why that may be more than reading. `is_plain`: it answers a plain value."""

    name: str
    is_plain: bool
    doubt: Doubt | None = None


class Queries:
    """The queries of one project; `pure` are the functions that the user declares to only read."""

    def __init__(self, project: Project, pure: Sequence[str]) -> None:
        self.project = project
        self.pure = pure
        self.names = Definitions(project)

    def may_ask(self, name: str) -> bool:
        return name in self.pure or (QUESTION.fullmatch(name) is not None and name.encode() not in NOT_OURS)

    def of(self, module: Module, call: ast.Call) -> Query | None:
        """The query that a call is; None for anything else."""
        name = last_name(call)
        if not self.may_ask(name) or not all(isinstance(node, SIMPLE) for node in ast.walk(call)):
            return None
        called = self.names.called(module, call)
        if called is None and name in self.pure:
            return Query(name, QUESTION.fullmatch(name) is not None)
        if called is None:
            is_ours = module.resolve(call.func) is None and self.defines(name)
            return Query(name, True, unseen(module, call, name)) if is_ours else None
        if not can_ask(called):
            return None
        doubt = None if name in self.pure else impurity(self.project, module, call, self.pure)
        return Query(name, has_plain_answer(called), doubt)

    def defines(self, name: str) -> bool:
        """Whether some function of the project has this name."""
        needle = b"def " + name.encode()
        line = re.compile(rb"\s*" + needle + rb"\b")
        return bool(self.project.lines_matching(line, needle))


def unseen(module: Module, call: ast.Call, name: str) -> Doubt:
    said = f"which `{name}()` runs cannot be seen; the option pure={name} says that it only reads"
    return Doubt(where(module, call), said, is_seen=False)


def can_ask(called: Place[Function]) -> bool:
    """Whether a function gives an answer, at once."""
    function = called.node
    if function.name in OPERATIONS or isinstance(function, ast.AsyncFunctionDef):
        return False
    nodes = list(own_nodes(function))
    is_generator = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes)
    return not is_generator and any(isinstance(node, ast.Return) and node.value for node in nodes)


def has_plain_answer(called: Place[Function]) -> bool:
    """Whether a function returns numbers, strings and truth values only, by its annotation or by each `return`."""
    module, function = called
    if function.returns is not None:
        parts = ast.unparse(function.returns).strip("'\"").split("|")
        return {part.strip() for part in parts} <= ATOMIC
    returned = [node.value for node in own_nodes(function) if isinstance(node, ast.Return)]
    return all(value is None or is_plain_value(module, value) for value in returned)


def is_plain_value(module: Module, value: ast.expr) -> bool:
    if isinstance(value, ast.Compare):
        return all(isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for op in value.ops)
    if isinstance(value, ast.BoolOp):
        return all(is_plain_value(module, part) for part in value.values)
    if isinstance(value, ast.IfExp):
        return is_plain_value(module, value.body) and is_plain_value(module, value.orelse)
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, ast.Not)
    if isinstance(value, ast.Call):
        return module.scopes.is_builtin(value.func, *PLAIN_CALLS)
    return isinstance(value, (ast.Constant, ast.JoinedStr))


def only_looks(module: Module, use: ast.expr) -> bool:
    """Whether a use can neither change the answer nor keep it."""
    parent = module.parent(use)
    if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)) and parent.test is use:
        return True
    if isinstance(parent, ast.comprehension):
        return parent.iter is not use
    if isinstance(parent, ast.BoolOp):
        return only_looks(module, parent)
    if isinstance(parent, ast.Call):
        return module.scopes.is_builtin(parent.func, *PLAIN_CALLS)
    return isinstance(parent, (ast.Compare, ast.BinOp)) or (
        isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    )

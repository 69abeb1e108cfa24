"""Whether anybody can tell a tensor from a copy of it: who else holds it, and who writes into it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.syntax.flow import is_in_place
from fullgraph.codemods.topics.branches.arms import RESULT, is_result
from fullgraph.codemods.topics.branches.choices import Choice
from fullgraph.codemods.topics.branches.layers import layer_called
from fullgraph.codemods.topics.branches.operations import BOTH, COUNTS, FACTS, plain_name
from fullgraph.codemods.topics.branches.path import is_in_loop
from fullgraph.codemods.topics.branches.proof import Proof
from fullgraph.codemods.topics.branches.reading import Reader
from fullgraph.codemods.topics.branches.values import Tensor

CALCULATIONS = (ast.BinOp, ast.Compare, ast.UnaryOp)


def kept(choice: Choice, proof: Proof) -> list[str]:
    """The targets that one side leaves as a tensor which something else holds too."""
    found = []
    for name, values in proof.values.items():
        before = choice.reader.env.get(name)
        own = before.owners if isinstance(before, Tensor) else frozenset({getattr(before, "key", "")})
        others = [value for value in values if value.owners and not (value.owners <= own & choice.reader.private)]
        if others and not is_consumed(choice):
            found.append(name)
    return found


def is_consumed(choice: Choice) -> bool:
    """Whether a conditional expression is calculated with at once, so that nobody gets to hold it."""
    parent = choice.reader.module.parent(choice.node)
    return isinstance(choice.node, ast.IfExp) and isinstance(parent, CALCULATIONS)


def doubt(choice: Choice, proof: Proof) -> str:
    """In which case compiled code could tell the difference; Unsure where a write into a tensor is in sight."""
    shared = kept(choice, proof)
    if not shared:
        return ""
    module, function = choice.reader.module, choice.reader.function
    for node in later_nodes(choice.reader, choice.node):
        if line := writes(node):
            raise Unsure(f"line {line}: something is written in place, and one side of the branch makes no new tensor")
    name = next(
        (name for name in map(target_name, shared, [choice] * len(shared)) if escapes(module, choice, name)), ""
    )
    if not name:
        return ""
    what = "the function returns" if is_result(name) else f"`{name}` is"
    return (
        f"where one side of the branch keeps a tensor as it is, {what} that very tensor, and in compiled code a copy: "
        f"whoever then writes into it in place ({function.name}'s callers too) no longer changes both"
    )


def target_name(name: str, choice: Choice) -> str:
    statement = choice.reader.module.statement(choice.node)
    if isinstance(choice.node, ast.IfExp) and isinstance(statement, ast.Assign) and statement.value is choice.node:
        target = statement.targets[0]
        return target.id if len(statement.targets) == 1 and isinstance(target, ast.Name) else RESULT
    return name


def later_nodes(reader: Reader, branch: ast.If | ast.IfExp) -> Iterator[ast.AST]:
    again = is_in_loop(reader.module, reader.function, branch)
    end = branch.end_lineno or 0
    return (node for node in own_nodes(reader.function) if again or getattr(node, "lineno", 0) > end)


def writes(node: ast.AST) -> int:
    """The line of an operation that changes a tensor in place, or may."""
    if isinstance(node, ast.Call) and (is_in_place(node) or any(word.arg == "out" for word in node.keywords)):
        return node.lineno
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return node.lineno
    if isinstance(node, ast.AugAssign):
        grows = isinstance(node.value, ast.Tuple | ast.List | ast.JoinedStr)
        return 0 if grows else node.lineno
    return 0


def escapes(module: Module, choice: Choice, name: str) -> bool:
    """Whether somebody else gets to hold what a name holds after the branch."""
    if is_result(name):
        return True
    mentions = (node for node in ast.walk(choice.reader.function) if isinstance(node, ast.Name) and node.id == name)
    inside = set(ast.walk(choice.node))
    again = is_in_loop(module, choice.reader.function, choice.node)
    end = choice.node.end_lineno or 0
    read = [node for node in mentions if node not in inside and isinstance(node.ctx, ast.Load)]
    return not all(is_calculation(choice, node) for node in read if again or node.lineno > end)


def is_calculation(choice: Choice, node: ast.Name) -> bool:
    """Whether a mention only calculates with the tensor."""
    module = choice.reader.module
    parent = module.parent(node)
    if isinstance(parent, ast.Attribute):
        return parent.attr in BOTH | FACTS | COUNTS
    if isinstance(parent, ast.Call) and node in parent.args:
        is_layer = layer_called(module, choice.reader.function, parent)
        return bool(is_layer or plain_name(module.resolve(parent.func) or ""))
    return isinstance(parent, CALCULATIONS)

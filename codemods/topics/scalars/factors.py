"""Numbers that are only added to tensors, multiplied with them or compared with them: kept as tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.topics.scalars.asked import (
    ELEMENTWISE,
    NARROW,
    REDUCING,
    WIDE,
    Number,
    chain_of,
    is_tensor_tests,
    may_be_tensor,
    partners_of,
    tests_of,
)
from fullgraph.codemods.topics.scalars.masks import VALUES, is_number
from fullgraph.codemods.topics.scalars.picked import picked_row
from fullgraph.codemods.topics.scalars.reads import Read, reads_in
from fullgraph.codemods.topics.scalars.repair import SETTING, Form, Look, Repair
from fullgraph.codemods.topics.scalars.roots import ARITHMETIC, counted, is_fresh, root_of
from fullgraph.codemods.topics.scalars.taken import taken_from
from fullgraph.codemods.topics.scalars.uses import destination, is_decided_elsewhere
from fullgraph.codemods.topics.scalars.variables import is_set_before, loads, only_binding

BRANCHES = "no setting helps a branch on values: it must be decided by a Python value that the caller knows"
EXACT = (ast.Add, ast.Sub, ast.Mult)


@dataclass
class Meetings:
    """The tensors that a number meets, and whether the same bits come out with a tensor in its place."""

    tensors: list[ast.expr] = field(default_factory=list)
    is_exact: bool = True
    is_now: bool = False
    """Whether the number is used in the statement that reads it."""
    is_calculated: bool = False
    """Whether Python calculates with the number before it meets a tensor."""
    is_compared: bool = False
    is_divided: bool = False
    """Whether a tensor divides the number: as a tensor it would be cut to the dtype of that first."""


def read_numbers(look: Look) -> Iterator[Repair]:
    """Every number that is read from a tensor; those that only decide branches belong to other codemods."""
    for read in reads_in(look):
        if known := taken_from(look, read):
            yield Repair(read.node, f"{read} is known without a tensor, and reading it breaks the graph", known)
        elif not is_decided_elsewhere(look, read.node):
            repair = judge(look, read)
            if read.is_sure or repair.form is not None:
                yield repair


def judge(look: Look, read: Read) -> Repair:
    message = f"{read} reads a number from a tensor, which breaks the graph"
    try:
        return Repair(read.node, message, form=form_of(look, read), remedy=SETTING)
    except Unsure as unsure:
        remedy = BRANCHES if "decides a branch" in str(unsure) else SETTING
        return Repair(read.node, message, left_alone=f"{unsure}; {remedy}")


def form_of(look: Look, read: Read) -> Form:
    """The tensor in place of the number."""
    if row := picked_row(look, read):
        return row
    statement = look.module.statement(read.node)
    met = meetings(look, read)
    tensor = f"{bracketed(look, read.tensor)}.detach()"
    if not is_fresh(read.tensor):
        tensor += ".clone().reshape(())"  # the number stays what it was when the tensor is written to
    if met.is_calculated:
        tensor += ".double()"  # as Python calculates
    conditions = told_while_compiling(look, read, met, statement)
    is_exact = met.is_exact and not conditions and is_fresh(read.tensor) and read.how == "item"
    return Form(read.node, tensor, tuple(conditions), is_exact)


def bracketed(look: Look, node: ast.expr) -> str:
    is_bare = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    return look.module.code(node) if is_bare else f"({look.module.code(node)})"


def meetings(look: Look, read: Read) -> Meetings:
    """Everything that is done with a number; Unsure where it is more than arithmetic with tensors."""
    met = Meetings()
    parent = look.module.parent(read.node)
    if isinstance(parent, ast.Assign) and parent.value is read.node:
        target = parent.targets[0]
        is_one = len(parent.targets) == 1 and isinstance(target, ast.Name)
        if not is_one or not isinstance(target, ast.Name) or only_binding(look.module, target) is None:
            raise Unsure(f"{look.where(parent)}: {destination(look, read.node)}")
        mentions = loads(look.module, target)
        if not mentions:
            raise Unsure(f"{look.where(parent)}: {target.id} is not used here")
        for mention in mentions:
            meet(look, mention, met)
    else:
        met.is_now = True
        meet(look, read.node, met)
    return met


def meet(look: Look, node: ast.expr, met: Meetings) -> None:
    """One use of a number: with a tensor on the other side of an operator."""
    parent = look.module.parent(node)
    other: ast.expr | None = None
    if look.module.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda) is not look.function:
        raise Unsure(f"{look.where(node)}: a function inside uses it")
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ARITHMETIC):
        other = parent.right if parent.left is node else parent.left
        met.is_exact &= isinstance(parent.op, EXACT)
        if is_calculation(parent, other):
            met.is_exact, met.is_calculated = False, True
            meet(look, parent, met)
            return
        met.is_divided |= isinstance(parent.op, ast.Div) and parent.left is node
    elif isinstance(parent, ast.Compare) and len(parent.ops) == 1 and isinstance(parent.ops[0], VALUES):
        other = parent.comparators[0] if parent.left is node else parent.left
        met.is_compared = True
    if other is None or not (look.is_tensor(other) or may_be_tensor(look, other, met.is_now)):
        raise Unsure(f"{look.where(node)}: {destination(look, node)}")
    met.tensors.append(other)


def is_calculation(operation: ast.BinOp, other: ast.expr) -> bool:
    """Whether a number meets another one; to divide by what may be zero is an error in Python alone."""
    if not is_number(other):
        return False
    is_zero = isinstance(other, ast.Constant) and other.value == 0
    return not isinstance(operation.op, ast.Div) or (operation.right is other and not is_zero)


def told_while_compiling(look: Look, read: Read, met: Meetings, statement: ast.stmt) -> list[str]:
    """What must be asked of the tensors while compiling: dtypes and devices that the text does not tell."""
    module = look.module
    asked = counted(module, read.tensor)
    is_now = met.is_now and (asked is None or asked in set(ast.walk(read.tensor)))
    source = root_of(module, asked.left if isinstance(asked, ast.Compare) else read.tensor, is_now)
    roots = {root_of(module, other, met.is_now) for other in met.tensors}
    if read.how == "bool" or (read.how == "int" and asked is None):
        raise Unsure(f"{look.where(read.node)}: {read.how}() may change the number")
    torch, _ = module.imports.require("torch")
    if source and roots == {source} and not met.is_calculated:
        tests = is_tensor_tests(look, source)
        if asked is not None:
            return [*tests, f"{source}.dtype in ({torch}.float32, {torch}.float64)"]
        return tests if read.how == "item" else [*tests, f"{source}.is_floating_point()"]
    is_named = isinstance(read.tensor, ast.Name) and look.is_tensor(read.tensor) and not met.is_calculated
    if not is_named and (asked_for := tests_for(look, read, met, statement)):
        return asked_for
    if met.is_calculated:
        raise Unsure(f"{look.where(read.node)}: Python calculates with it before it meets a tensor")
    if asked is not None or not isinstance(read.tensor, ast.Name):
        raise Unsure(
            f"{look.where(read.node)}: {ast.unparse(read.tensor)} is not seen to have the dtype of what it meets"
        )
    name = read.tensor.id
    if not look.is_tensor(read.tensor):
        raise Unsure(f"{look.where(read.node)}: {name} is not seen to be a tensor")
    floats = [f"{name}.is_floating_point()"] if read.how == "float" else []
    return floats + [
        f"{name}.{what} == {other}.{what}" for other in names_of(look, met, statement) for what in ("dtype", "device")
    ]


def tests_for(look: Look, read: Read, met: Meetings, statement: ast.stmt) -> list[str]:
    """The tests that let a tensor of another dtype stand for the number; none where they cannot be told."""
    module = look.module
    asked = counted(module, read.tensor)
    is_now = met.is_now and (asked is None or asked in set(ast.walk(read.tensor)))
    counts = asked.left if isinstance(asked, ast.Compare) else None
    source = chain_of(module, counts or read.tensor, ELEMENTWISE | REDUCING | WIDE, is_now)
    partners = partners_of(look, met.tensors, met.is_now, statement)
    if source is None or not partners or met.is_compared or (counts and not met.is_calculated):
        return []
    if (met.is_calculated or met.is_divided) and any(partner.methods & NARROW for partner in partners):
        return []
    number = Number(source, read.how == "float", counts is not None, met.is_calculated, met.is_divided)
    return tests_of(look, number, partners)


def names_of(look: Look, met: Meetings, statement: ast.stmt) -> list[str]:
    """The variables that hold the tensors; Unsure where one is not there yet when the number is read."""
    found: list[str] = []
    for other in met.tensors:
        is_there = isinstance(other, ast.Name) and (met.is_now or is_set_before(look.module, other, statement))
        if not isinstance(other, ast.Name) or not is_there:
            raise Unsure(
                f"{look.where(other)}: the dtype of {ast.unparse(other)} is not known before the number is read"
            )
        found.append(other.id)
    return list(dict.fromkeys(found))

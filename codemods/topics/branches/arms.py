"""The sides of a branch: what each assigns or returns, read without running it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from codemods.model import Unsure
from codemods.topics.branches.operations import FACTS
from codemods.topics.branches.path import bound_in, named
from codemods.topics.branches.reading import Reader, is_dotted
from codemods.topics.branches.values import Tensor, Unknown, Value, Work

RESULT = "return"
"""Stands for the name of what a function returns."""

SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


@dataclass
class Step:
    """One name that gets one value. `add_to` is the sign of `x += value`, else nothing."""

    name: str
    value: ast.expr
    found: Value
    sign: str = ""
    line: int = 0


@dataclass
class Arm:
    """One side: its steps in their order. `reader` knows the names as they are on this side."""

    reader: Reader
    steps: list[Step] = field(default_factory=list)
    work: Work = field(default_factory=Work)

    def assigned(self) -> list[str]:
        return [step.name for step in self.steps]

    def step(self, name: str) -> Step | None:
        return next((step for step in self.steps if step.name == name), None)

    def reads(self) -> set[str]:
        values = [node for step in self.steps for node in ast.walk(step.value)]
        own = {step.name for step in self.steps if step.sign}
        return own | {node.id for node in values if isinstance(node, ast.Name)}


def read_arm(reader: Reader, body: list[ast.stmt]) -> Arm:
    """What a block does, if it only assigns names, or ends in a `return`; Unsure says what else it does."""
    arm = Arm(reader.copy())
    for statement in body:
        if isinstance(statement, ast.Pass):
            continue
        if isinstance(statement, ast.Return) and statement is body[-1] and statement.value is not None:
            take(arm, RESULT, statement.value, line=statement.lineno)
        elif isinstance(statement, ast.Assign):
            for name, value in pairs(statement):
                take(arm, name, value, line=statement.lineno)
        elif isinstance(statement, ast.AugAssign):
            augment(arm, statement)
        else:
            raise Unsure(f"line {statement.lineno}: {what_it_does(statement)}")
    return arm


def what_it_does(statement: ast.stmt) -> str:
    kinds: dict[type[ast.stmt], str] = {
        ast.Raise: "it raises; that is for check_without_branch",
        ast.Assert: "it asserts; that is for check_without_branch",
        ast.Break: "it leaves the loop",
        ast.Continue: "it goes on with the loop",
        ast.Return: "it returns nothing, or does more afterwards",
        ast.If: "there is a branch in the branch",
    }
    if isinstance(statement, ast.Expr):
        return "a call whose effect is not a value; a message is for log_without_break"
    if isinstance(statement, ast.For | ast.While):
        return "there is a loop in the branch"
    return kinds.get(type(statement), "it does more than assign names")


def pairs(statement: ast.Assign) -> list[tuple[str, ast.expr]]:
    """The names and values of `a = x` and of `a, b = x, y`, if no value reads a name that the statement binds."""
    target, value = statement.targets[0], statement.value
    if len(statement.targets) == 1 and isinstance(target, ast.Name):
        return [(target.id, value)]
    if len(statement.targets) == 1 and isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        names = [item.id for item in target.elts if isinstance(item, ast.Name)]
        read = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        if len(names) == len(target.elts) == len(value.elts) and not read & set(names):
            return list(zip(names, value.elts, strict=True))
    if any(
        isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store) for node in walk(target)
    ):
        raise Unsure(f"line {statement.lineno}: it stores into an object, not a name")
    raise Unsure(f"line {statement.lineno}: it unpacks what cannot be followed")


def walk(node: ast.AST) -> list[ast.AST]:
    return list(ast.walk(node))


def take(arm: Arm, name: str, value: ast.expr, line: int) -> None:
    if bound_in(value):
        raise Unsure(f"line {line}: it assigns inside an expression")
    work = Work()
    found = arm.reader.read(value, work)
    keep(arm, Step(name, value, found, line=line), work)


def augment(arm: Arm, statement: ast.AugAssign) -> None:
    """`x += value` writes into the tensor: that is a new value only if nobody else holds it."""
    target, sign = statement.target, SIGNS.get(type(statement.op))
    if not isinstance(target, ast.Name) or sign is None:
        raise Unsure(f"line {statement.lineno}: it stores into an object, not a name")
    work = Work()
    before = arm.reader.settled(arm.reader.read(target, work), target, work)
    if not before.owners <= arm.reader.private:
        raise Unsure(f"line {statement.lineno}: `{target.id} {sign}= ...` writes into a tensor that others may hold")
    whole = ast.BinOp(ast.Name(target.id, ast.Load()), statement.op, statement.value)
    for node in (whole, whole.left):
        ast.copy_location(node, statement)
    found = arm.reader.read(whole, work)
    if isinstance(found, Tensor) and found.shape != before.shape:
        raise Unsure(f"line {statement.lineno}: the shapes of `{target.id} {sign}= ...` may not fit")
    keep(arm, Step(target.id, statement.value, found, sign, statement.lineno), work)


def keep(arm: Arm, step: Step, work: Work) -> None:
    if work.may_raise:
        raise Unsure(f"{work.may_raise}, and would run always")
    if step.name in arm.assigned():
        raise Unsure(f"line {step.line}: `{step.name}` is assigned twice on one side")
    arm.work.add(work)
    arm.steps.append(step)
    if step.name != RESULT:
        key = f"{step.name}@{step.line}"
        arm.reader.env[step.name] = named_inside(arm.reader, step.found, key)


def named_inside(reader: Reader, found: Value, key: str) -> Value:
    """Inside an arm nothing is given up when a value gets a name: all that was assumed is tested for the whole arm."""
    return named(reader, found, key, Work()) if isinstance(found, Tensor) else found


def render(before: Reader, arm: Arm, step: Step, wrap: Callable[[str], str] | None) -> str:
    """The code of a step's value, with each tensor from before the branch wrapped, if so asked."""
    node, text = step.value, arm.reader.text(step.value)
    if wrap is None:
        return text
    own = set(arm.assigned()[: arm.steps.index(step)])
    roots = [inner for inner in ast.walk(node) if is_source(before, arm, own, inner)]
    start = arm.reader.module.span(node).start
    if text != arm.reader.module.code(node):
        raise Unsure(f"line {node.lineno}: it stands on several lines")
    for inner in sorted(roots, key=lambda item: -arm.reader.module.span(item).start):
        span = arm.reader.module.span(inner)
        text = text[: span.start - start] + wrap(arm.reader.module.code(inner)) + text[span.end - start :]
    return text


def is_source(before: Reader, arm: Arm, own: set[str], node: ast.AST) -> bool:
    """Whether a node is a whole name or attribute that holds a tensor from before the branch."""
    parent = before.module.parent(node)
    is_inner = isinstance(parent, ast.Attribute) and is_dotted(parent) and not is_method(before, parent)
    if is_inner or getattr(parent, "attr", "") in FACTS:
        return False
    is_name = isinstance(node, ast.Name) and node.id not in own
    is_attribute = isinstance(node, ast.Attribute) and is_dotted(node) and not is_method(before, node)
    if not is_name and not is_attribute:
        return False
    try:
        value = before.read(node, Work())
    except Unsure:
        return False
    if isinstance(value, Tensor):
        return bool(value.sources)
    return isinstance(value, Unknown) and value.key in before.tensors | arm.work.tensors.keys()


def is_method(reader: Reader, node: ast.Attribute) -> bool:
    call = reader.module.parent(node)
    return isinstance(call, ast.Call) and call.func is node

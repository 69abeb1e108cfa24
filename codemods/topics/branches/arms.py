"""The sides of a branch: what each assigns or returns, read without running it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.topics.branches.bound import bound_in
from fullgraph.codemods.topics.branches.operations import FACTS
from fullgraph.codemods.topics.branches.path import named
from fullgraph.codemods.topics.branches.reading import Reader, is_dotted
from fullgraph.codemods.topics.branches.values import BOOL, Tensor, Unknown, Value, Work

RESULT = "return"
"""Stands for the name of what a function returns; with a space and a number for one of several results."""

SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def is_result(name: str) -> bool:
    return name.partition(" ")[0] == RESULT


@dataclass
class Step:
    """One name that gets one value. `sign` is that of `x += value`, else nothing.

    Steps of one statement have one `group`: none of their values sees what the others assign.
    """

    name: str
    value: ast.expr
    found: Value
    sign: str = ""
    line: int = 0
    group: int = 0


@dataclass
class Arm:
    """One side: its steps in their order. `reader` knows the names as they are on this side."""

    reader: Reader
    steps: list[Step] = field(default_factory=list)
    work: Work = field(default_factory=Work)

    def copy(self) -> Arm:
        work = Work()
        work.add(self.work)
        return Arm(self.reader.copy(), list(self.steps), work)

    def assigned(self) -> list[str]:
        return [step.name for step in self.steps]

    def step(self, name: str) -> Step | None:
        """The last one that gives a value to a name."""
        return next((step for step in reversed(self.steps) if step.name == name), None)

    def before(self, step: Step) -> set[str]:
        """The names that this side has assigned before a step."""
        return {other.name for other in self.steps if other.group < step.group}

    def reads_later(self, step: Step) -> bool:
        """Whether a later step of this side reads what a step assigns."""
        return any(step.name in reads_of(other) for other in self.steps if other.group > step.group)

    def origin(self, step: Step) -> Step:
        """The step that made what a step only gives another name."""
        while isinstance(step.value, ast.Name) and not step.sign:
            name, group = step.value.id, step.group
            made = [other for other in self.steps if other.name == name and other.group < group]
            if not made:
                return step
            step = made[-1]
        return step


def reads_of(step: Step) -> set[str]:
    own = {step.name} if step.sign else set()
    return own | {node.id for node in ast.walk(step.value) if isinstance(node, ast.Name)}


def follow_statement(arm: Arm, statement: ast.stmt) -> None:
    """What a statement does, if it only assigns names or returns; Unsure says what else it does."""
    if isinstance(statement, ast.Pass):
        return
    if isinstance(statement, ast.Return) and statement.value is not None:
        take(arm, results(statement.value), statement.lineno)
    elif isinstance(statement, ast.Assign):
        take(arm, pairs(statement), statement.lineno)
    elif isinstance(statement, ast.AugAssign):
        augment(arm, statement)
    else:
        raise Unsure(f"line {statement.lineno}: {what_it_does(statement)}")


def results(value: ast.expr) -> list[tuple[str, ast.expr]]:
    """What is returned; of a tuple each part by itself."""
    if not isinstance(value, ast.Tuple) or not value.elts:
        return [(RESULT, value)]
    return [(f"{RESULT} {number}", item) for number, item in enumerate(value.elts)]


def what_it_does(statement: ast.stmt) -> str:
    kinds: dict[type[ast.stmt], str] = {
        ast.Raise: "it raises; that is for check_without_branch",
        ast.Assert: "it asserts; that is for check_without_branch",
        ast.Break: "it leaves the loop",
        ast.Continue: "it goes on with the loop",
        ast.Return: "it returns nothing, or does more afterwards",
    }
    if isinstance(statement, ast.Expr):
        return "a call whose effect is not a value; a message is for log_without_break"
    if isinstance(statement, ast.For | ast.While):
        return "there is a loop in the branch"
    return kinds.get(type(statement), "it does more than assign names")


def pairs(statement: ast.Assign) -> list[tuple[str, ast.expr]]:
    """The names and values of `a = x` and of `a, b = x, y`."""
    target, value = statement.targets[0], statement.value
    if len(statement.targets) == 1 and isinstance(target, ast.Name):
        return [(target.id, value)]
    if len(statement.targets) == 1 and isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        names = [item.id for item in target.elts if isinstance(item, ast.Name)]
        if len(set(names)) == len(target.elts) == len(value.elts):
            return list(zip(names, value.elts, strict=True))
    if any(
        isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store) for node in walk(target)
    ):
        raise Unsure(f"line {statement.lineno}: it stores into an object, not a name")
    raise Unsure(f"line {statement.lineno}: it unpacks what cannot be followed")


def walk(node: ast.AST) -> list[ast.AST]:
    return list(ast.walk(node))


def take(arm: Arm, named: list[tuple[str, ast.expr]], line: int) -> None:
    """Give values to names, all at once: each is read before any of them is assigned."""
    found = []
    for name, value in named:
        if bound_in(value):
            raise Unsure(f"line {line}: it assigns inside an expression")
        work = Work()
        found.append((Step(name, value, arm.reader.read(value, work), line=line, group=next_group(arm)), work))
    for step, work in found:
        keep(arm, step, work)


def next_group(arm: Arm) -> int:
    return arm.steps[-1].group + 1 if arm.steps else 0


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
    keep(arm, Step(target.id, statement.value, found, sign, statement.lineno, next_group(arm)), work)


def keep(arm: Arm, step: Step, work: Work) -> None:
    if work.may_raise:
        raise Unsure(f"{work.may_raise}, and would run always")
    arm.work.add(work)
    arm.steps.append(step)
    if not is_result(step.name):
        key = f"{step.name}@{step.line}.{step.group}"
        arm.reader.env[step.name] = named_inside(arm.reader, step.found, key)


def named_inside(reader: Reader, found: Value, key: str) -> Value:
    """Inside an arm nothing is given up when a value gets a name: all that was assumed is tested for the whole arm."""
    if isinstance(found, Unknown):
        reader.private.discard(found.key)
    return named(reader, found, key, Work()) if isinstance(found, Tensor) else found


def render(before: Reader, arm: Arm, step: Step, names: dict[str, str], wrap: Callable[[str], str] | None) -> str:
    """The code of a step's value: names of this side as they are called now, tensors from before it wrapped."""
    node, text = step.value, arm.reader.text(step.value)
    found = dict(changed_names(node, names))
    if wrap is not None:
        own = arm.before(step)
        inside = (inner for inner in ast.walk(node) if inner is not node or step.sign)
        sources = (inner for inner in inside if is_source(before, arm, own, inner))
        found |= {inner: wrap(arm.reader.module.code(inner)) for inner in sources}
    if found and text != arm.reader.module.code(node):
        raise Unsure(f"line {node.lineno}: it stands on several lines")
    start = arm.reader.module.span(node).start
    for inner in sorted(found, key=lambda item: -arm.reader.module.span(item).start):
        span = arm.reader.module.span(inner)
        text = text[: span.start - start] + found[inner] + text[span.end - start :]
    return text


def changed_names(node: ast.AST, names: dict[str, str]) -> list[tuple[ast.AST, str]]:
    inside = (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))
    return [(inner, names[inner.id]) for inner in inside if names.get(inner.id, inner.id) != inner.id]


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
    if isinstance(value, Unknown) and before.is_settled(value, arm.work):
        value = before.settled(value, node, Work())
    is_mask = isinstance(value, Tensor) and (value.dtype == BOOL or value.dtype in arm.work.bools)
    return isinstance(value, Tensor) and bool(value.sources) and not is_mask


def is_method(reader: Reader, node: ast.Attribute) -> bool:
    call = reader.module.parent(node)
    return isinstance(call, ast.Call) and call.func is node

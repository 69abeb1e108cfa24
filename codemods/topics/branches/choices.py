"""A branch as a choice: conditions, and for each what is assigned or returned where it holds."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.model import Unsure
from codemods.module import Function, Module
from codemods.syntax.assignments import own_nodes
from codemods.topics.branches.arms import RESULT, Arm, Step, read_arm, take
from codemods.topics.branches.conditions import Condition, read_condition
from codemods.topics.branches.facts import learn
from codemods.topics.branches.path import is_in_loop, reader_at
from codemods.topics.branches.reading import Reader
from codemods.topics.branches.values import Work


@dataclass
class Choice:
    """`arms` has one more than `conditions`: the last is taken where none holds.

    `targets` are the names that are read later, in the order of their assignment. `last` ends what is replaced.
    """

    node: ast.If | ast.IfExp
    reader: Reader
    conditions: list[Condition]
    arms: list[Arm]
    targets: list[str]
    asked: Work
    last: ast.stmt
    rest: list[ast.stmt]

    @property
    def returns(self) -> bool:
        return self.targets == [RESULT] and isinstance(self.node, ast.If)

    def local_steps(self) -> list[tuple[int, Step]]:
        """What only one side needs for itself, with the number of that side."""
        return [(n, step) for n, arm in enumerate(self.arms) for step in arm.steps if step.name not in self.targets]


def read_choice(module: Module, function: Function, node: ast.If | ast.IfExp) -> Choice:
    """The branch as a choice between values; Unsure says why it is none."""
    statement = module.statement(node)
    if module.code(statement).startswith("elif"):
        raise Unsure(f"line {node.lineno}: it is the `elif` of a test that asks for no tensor's value")
    reader = reader_at(module, function, statement)
    tests, bodies = ([node.test], []) if isinstance(node, ast.IfExp) else chain(node)
    asked = Work()
    conditions = []
    for number, test in enumerate(tests):
        conditions.append(read_condition(reader, test, asked, is_first=number == 0))
        if number == 0:
            for static in conditions[0].tests:
                learn(reader, static)
    reader.tensors |= set(asked.tensors)
    if isinstance(node, ast.IfExp):
        return read_ternary(reader, node, statement, conditions, asked)
    rest = following(module, node) if not bodies[-1] and ends(bodies[0]) else []
    arms = [read_arm(reader, body) for body in [*bodies[:-1], rest or bodies[-1]]]
    choice = Choice(node, reader, conditions, arms, [], asked, rest[-1] if rest else node, rest)
    choice.targets = targets_of(choice, function)
    check_names(choice)
    return choice


def chain(node: ast.If) -> tuple[list[ast.expr], list[list[ast.stmt]]]:
    """The tests of an `elif` chain and its blocks, with the last `else`, which may be empty."""
    tests, bodies = [node.test], [node.body]
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
        tests.append(node.test)
        bodies.append(node.body)
    return tests, [*bodies, node.orelse]


def ends(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Return)


def following(module: Module, node: ast.If) -> list[ast.stmt]:
    """The statements from a branch to the `return` of its block."""
    block = module.block(node)
    later = block[block.index(node) + 1 :]
    end = next((number for number, statement in enumerate(later) if isinstance(statement, ast.Return)), None)
    if end is None:
        raise Unsure(f"line {node.lineno}: it returns early, and the function does not go on to a `return`")
    return later[: end + 1]


def read_ternary(
    reader: Reader, node: ast.IfExp, statement: ast.stmt, conditions: list[Condition], asked: Work
) -> Choice:
    odd = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    around = reader.module.ancestors(node)
    maybe = any(isinstance(outer, ast.BoolOp | ast.IfExp | ast.Compare | ast.Assert) for outer in around)
    if maybe or conditions[0].static or any(isinstance(inner, odd) for inner in ast.walk(statement)):
        raise Unsure(f"line {node.lineno}: a test or an assignment stands in the expression")
    arms = [Arm(reader.copy()), Arm(reader.copy())]
    for arm, side in zip(arms, (node.body, node.orelse), strict=True):
        take(arm, RESULT, side, side.lineno)
    return Choice(node, reader, conditions, arms, [RESULT], asked, statement, [])


def targets_of(choice: Choice, function: Function) -> list[str]:
    """What must be chosen: the result, or each name that is read after the branch."""
    returning = [RESULT in arm.assigned() for arm in choice.arms]
    if all(returning):
        return [RESULT]
    if any(returning):
        raise Unsure(f"line {choice.node.lineno}: one side returns and the other goes on")
    names = dict.fromkeys(name for arm in choice.arms for name in arm.assigned())
    found = [name for name in names if is_read_later(choice.reader.module, function, choice.node, name)]
    if not found:
        raise Unsure(f"line {choice.node.lineno}: nothing that it assigns is read later")
    return found


def is_read_later(module: Module, function: Function, branch: ast.AST, name: str) -> bool:
    inside = set(ast.walk(branch))
    end = getattr(branch, "end_lineno", 0)
    again = is_in_loop(module, function, branch)
    mentions = (node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name)
    read = [node for node in mentions if node not in inside and isinstance(node.ctx, ast.Load)]
    updates = [node for node in own_nodes(function) if isinstance(node, ast.AugAssign) and node not in inside]
    read += [node.target for node in updates if isinstance(node.target, ast.Name) and node.target.id == name]
    nested = any(module.scopes.around(node) is not function for node in read)
    return nested or any(again or node.lineno >= end for node in read)


def check_names(choice: Choice) -> None:
    """Each value must still find what it reads when all are computed one after the other."""
    asked = {node.id for test in tests_of(choice.node) for node in ast.walk(test) if isinstance(node, ast.Name)}
    for number, arm in enumerate(choice.arms):
        own = {step.name for step in arm.steps if step.name not in choice.targets}
        others = [other for index, other in enumerate(choice.arms) if index != number]
        taken = asked.union(*(other.reads() | set(other.assigned()) for other in others))
        if own & taken or own & set(choice.targets):
            name = sorted(own & (taken | set(choice.targets)))[0]
            raise Unsure(f"line {choice.node.lineno}: `{name}` has one meaning on one side and another elsewhere")
        check_order(choice, arm)
    for arm in choice.arms:
        for place, name in enumerate(choice.targets[1:], start=1):
            step = arm.step(name)
            if step and reads_of(step) & set(choice.targets[:place]):
                raise Unsure(f"line {step.line}: it reads what the branch assigns")


def check_order(choice: Choice, arm: Arm) -> None:
    done: set[str] = set()
    for step in arm.steps:
        if reads_of(step) & done:
            raise Unsure(f"line {step.line}: it reads what the branch has assigned before")
        done |= {step.name} & set(choice.targets)


def reads_of(step: Step) -> set[str]:
    return {node.id for node in ast.walk(step.value) if isinstance(node, ast.Name)}


def tests_of(node: ast.If | ast.IfExp) -> list[ast.expr]:
    return [node.test] if isinstance(node, ast.IfExp) else chain(node)[0]

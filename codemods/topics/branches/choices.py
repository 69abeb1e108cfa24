"""A branch as a choice: conditions, and for each what is assigned or returned where it holds."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.topics.branches.arms import RESULT, Arm, Step, is_result, take
from fullgraph.codemods.topics.branches.conditions import Condition
from fullgraph.codemods.topics.branches.facts import learn
from fullgraph.codemods.topics.branches.forks import Fork, Walk, Way
from fullgraph.codemods.topics.branches.path import is_in_loop, reader_at
from fullgraph.codemods.topics.branches.reading import Reader
from fullgraph.codemods.topics.branches.values import Work


@dataclass
class Choice:
    """`top` is where the ways part; each of `ways` leads to the one of `arms` at its place.

    `targets` are the names that are read later, in the order of their assignment. `last` ends what is replaced.
    """

    node: ast.If | ast.IfExp
    reader: Reader
    conditions: list[Condition]
    top: Fork
    arms: list[Arm]
    ways: list[Way]
    targets: list[str]
    asked: Work
    last: ast.stmt
    rest: list[ast.stmt]

    @property
    def returns(self) -> bool:
        return is_result(self.targets[0]) and isinstance(self.node, ast.If)

    def is_local(self, arm: Arm, step: Step) -> bool:
        """Whether a step is needed only to compute others of its side."""
        return step.name not in self.targets or step is not arm.step(step.name) or arm.reads_later(step)

    @property
    def has_locals(self) -> bool:
        return any(self.is_local(arm, step) for arm in self.arms for step in arm.steps)


def read_choice(module: Module, function: Function, node: ast.If | ast.IfExp) -> Choice:
    """The branch as a choice between values; Unsure says why it is none."""
    statement = module.statement(node)
    if module.code(statement).startswith("elif"):
        raise Unsure(f"line {node.lineno}: it is the `elif` of a test that asks for no tensor's value")
    reader = reader_at(module, function, statement)
    walk = Walk(Work())
    tests, bodies = ([node.test], []) if isinstance(node, ast.IfExp) else chain(node)
    for number, test in enumerate(tests):
        walk.ask(reader, test, is_first=number == 0)
        if number == 0:
            for static in walk.conditions[0].tests:
                learn(reader, static)
    if isinstance(node, ast.IfExp):
        return read_ternary(reader, node, statement, walk)
    rest = following(module, node) if any(map(returns, bodies)) and not all(map(ends, bodies)) else []
    top = walk.part(Arm(reader.copy()), node, rest)
    choice = Choice(
        *(node, reader, walk.conditions, top, walk.arms, walk.ways),
        *([], walk.asked, rest[-1] if rest else node, rest),
    )
    choice.targets = targets_of(choice, function)
    return choice


def chain(node: ast.If) -> tuple[list[ast.expr], list[list[ast.stmt]]]:
    """The tests of an `elif` chain and its blocks, with the last `else`, which may be empty."""
    tests, bodies = [node.test], [node.body]
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
        tests.append(node.test)
        bodies.append(node.body)
    return tests, [*bodies, node.orelse]


def returns(body: list[ast.stmt]) -> bool:
    """Whether a way through a block may return."""
    return any(isinstance(node, ast.Return) for statement in body for node in ast.walk(statement))


def ends(body: list[ast.stmt]) -> bool:
    """Whether every way through a block returns."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return ends(last.body) and ends(last.orelse)
    return isinstance(last, ast.Return)


def following(module: Module, node: ast.If) -> list[ast.stmt]:
    """The statements from a branch to the `return` of its block."""
    block = module.block(node)
    later = block[block.index(node) + 1 :]
    end = next((number for number, statement in enumerate(later) if isinstance(statement, ast.Return)), None)
    if end is None:
        raise Unsure(f"line {node.lineno}: it returns early, and the function does not go on to a `return`")
    return later[: end + 1]


def read_ternary(reader: Reader, node: ast.IfExp, statement: ast.stmt, walk: Walk) -> Choice:
    odd = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    around = reader.module.ancestors(node)
    maybe = any(isinstance(outer, ast.BoolOp | ast.IfExp | ast.Compare | ast.Assert) for outer in around)
    if maybe or walk.conditions[0].static or any(isinstance(inner, odd) for inner in ast.walk(statement)):
        raise Unsure(f"line {node.lineno}: a test or an assignment stands in the expression")
    arms = [Arm(reader.copy()), Arm(reader.copy())]
    for arm, side in zip(arms, (node.body, node.orelse), strict=True):
        take(arm, [(RESULT, side)], side.lineno)
    ways: list[Way] = [((0, True),), ((0, False),)]
    return Choice(node, reader, walk.conditions, Fork(0, 0, 1), arms, ways, [RESULT], walk.asked, statement, [])


def targets_of(choice: Choice, function: Function) -> list[str]:
    """What must be chosen: the results, or each name that is read after the branch."""
    results = [[name for name in arm.assigned() if is_result(name)] for arm in choice.arms]
    if any(results):
        if any(one != results[0] for one in results):
            raise Unsure(f"line {choice.node.lineno}: the sides return different numbers of values, or one goes on")
        return results[0]
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

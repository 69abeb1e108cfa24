"""The ways through a branch: where its tests fork, and the side at the end of each way."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.topics.branches.arms import Arm, follow_statement
from fullgraph.codemods.topics.branches.conditions import Condition, read_condition
from fullgraph.codemods.topics.branches.reading import Reader
from fullgraph.codemods.topics.branches.values import Work

MOST = 6
"""Ways that are followed: all of them are computed."""


@dataclass(frozen=True)
class Fork:
    """Where a test decides: the number of its condition, and where it goes on."""

    condition: int
    yes: Fork | int
    no: Fork | int


def forks(place: Fork | int) -> list[int]:
    """The conditions that decide, each as often as it does."""
    return [] if isinstance(place, int) else [place.condition, *forks(place.yes), *forks(place.no)]


Way = tuple[tuple[int, bool], ...]
"""The conditions on the way to a side, and what each was."""


@dataclass
class Walk:
    """Goes every way through statements. A test that several ways come by is one condition."""

    asked: Work
    conditions: list[Condition] = field(default_factory=list)
    numbers: dict[ast.expr, int] = field(default_factory=dict)
    arms: list[Arm] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)

    def ask(self, reader: Reader, test: ast.expr, *, is_first: bool = False) -> int:
        if test not in self.numbers:
            condition = read_condition(reader, test, self.asked, is_first=is_first)
            self.numbers[test] = len(self.conditions)
            self.conditions.append(condition)
            reader.tensors |= set(self.asked.tensors)
        return self.numbers[test]

    def go(self, arm: Arm, body: list[ast.stmt], way: Way = ()) -> Fork | int:
        """The side at the end of a block, or where the block forks."""
        for place, statement in enumerate(body):
            if isinstance(statement, ast.If):
                return self.part(arm, statement, body[place + 1 :], way)
            follow_statement(arm, statement)
            if isinstance(statement, ast.Return):
                break
        if len(self.arms) == MOST:
            raise Unsure(f"line {body[0].lineno if body else 0}: more than {MOST} ways lead through it")
        self.arms.append(arm)
        self.ways.append(way)
        return len(self.arms) - 1

    def part(self, arm: Arm, node: ast.If, rest: list[ast.stmt], way: Way = ()) -> Fork:
        read = {inner.id for inner in ast.walk(node.test) if isinstance(inner, ast.Name)}
        if name := next(iter(sorted(read & set(arm.assigned()))), ""):
            raise Unsure(f"line {node.lineno}: the test reads `{name}`, which the branch has assigned before")
        number = self.ask(arm.reader, node.test)
        yes = self.go(arm.copy(), [*node.body, *rest], (*way, (number, True)))
        return Fork(number, yes, self.go(arm, [*node.orelse, *rest], (*way, (number, False))))

"""The code of each side's values, and the lines that come before them because a side needs them on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from itertools import count

from fullgraph.codemods.module import Function
from fullgraph.codemods.topics.branches.arms import RESULT, Arm, Step, is_result, reads_of, render
from fullgraph.codemods.topics.branches.choices import Choice
from fullgraph.codemods.topics.branches.conditions import ATOMS
from fullgraph.codemods.topics.branches.forks import Way

Wrap = Callable[[str], str] | None


class Names:
    """Names that nothing else in a function has."""

    def __init__(self, function: Function) -> None:
        self.taken = {getattr(node, "id", getattr(node, "arg", "")) for node in ast.walk(function)}

    def fresh(self, stem: str, *, first: int = 0) -> str:
        """The stem itself, or with the first number that is free."""
        names = (stem + (f"_{number}" if number else "") for number in count(first))
        found = next(name for name in names if name not in self.taken)
        self.taken.add(found)
        return found


class Sides:
    """What all sides give, written one after the other: `lines` first, then a value of each side for each target."""

    def __init__(self, choice: Choice, names: Names, wraps: list[Wrap]) -> None:
        self.choice, self.names = choice, names
        self.lines: dict[str, str] = {}
        self.values: list[dict[str, str]] = []
        self.kept = names_from_before(choice)
        for arm, wrap in zip(choice.arms, wraps, strict=True):
            self.values.append({})
            self.write(arm, wrap)

    def write(self, arm: Arm, wrap: Wrap) -> None:
        now: dict[str, str] = {}
        wrap = self.shortened(arm, wrap) if wrap else None
        for group in sorted({step.group for step in arm.steps}):
            steps = [step for step in arm.steps if step.group == group]
            texts = [self.text(arm, step, now, wrap) for step in steps]
            for step, text in zip(steps, texts, strict=True):
                self.place(arm, step, now, text)
        for name in self.choice.targets:
            self.values[-1].setdefault(name, now.get(name, name))

    def shortened(self, arm: Arm, wrap: Callable[[str], str]) -> Wrap:
        """The same, but what is wrapped twice on a side gets a line and a name."""
        seen: list[str] = []
        for step in arm.steps:
            self.text(arm, step, {}, lambda text: seen.append(text) or text)  # type: ignore[func-returns-value]

        def put(text: str) -> str:
            safe = wrap(text)
            if seen.count(text) > 1 and safe not in self.lines:
                self.lines[safe] = self.names.fresh(text.rpartition(".")[2], first=1)
            return self.lines.get(safe, safe)

        return put

    def text(self, arm: Arm, step: Step, now: dict[str, str], wrap: Wrap) -> str:
        text = render(self.choice.reader, arm, step, now, wrap)
        if not step.sign:
            return text
        own = now.get(step.name) or (wrap(step.name) if wrap else step.name)
        return f"{own} {step.sign} {text if isinstance(step.value, (*ATOMS, ast.Constant)) else f'({text})'}"

    def place(self, arm: Arm, step: Step, now: dict[str, str], text: str) -> None:
        """A value that is read on its side gets a line and a name; the same value gets them once."""
        if not self.choice.is_local(arm, step):
            self.values[-1][step.name] = self.lines.get(text, text)
            return
        if text not in self.lines:
            is_free = step.name not in self.kept and step.name not in self.lines.values()
            self.lines[text] = step.name if is_free else self.names.fresh(step.name, first=1)
        now[step.name] = self.lines[text]
        if step is arm.step(step.name) and step.name in self.choice.targets:
            self.values[-1][step.name] = now[step.name]


def names_from_before(choice: Choice) -> set[str]:
    """Names that some test or side reads as they were before the branch, and those that it leaves changed."""
    tests = [node.test for node in ast.walk(choice.node) if isinstance(node, ast.If | ast.IfExp)]
    tests += [node.test for item in choice.rest for node in ast.walk(item) if isinstance(node, ast.If)]
    found = {node.id for test in tests for node in ast.walk(test) if isinstance(node, ast.Name)}
    for arm in choice.arms:
        for step in arm.steps:
            found |= reads_of(step) - arm.before(step)
    return found | {name for name in choice.targets if not is_result(name)}


def mentions(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}


def depend(targets: Iterable[str], values: list[dict[str, str]]) -> bool:
    """Whether what a target gets is computed from one that stands before it."""
    done: set[str] = set()
    for name in targets:
        if done & set().union(*(mentions(side[name]) for side in values)):
            return True
        done.add(name)
    return False


def wrapper(torch: str, names: list[str], way: Way) -> Wrap:
    """Puts 1 in the place of a tensor where a way is not taken."""
    yes = [names[number] for number, is_true in way if is_true]
    no = [names[number] for number, is_true in way if not is_true]
    if not yes:
        test = " | ".join(no)
        return lambda text: f"{torch}.where({test}, 1, {text})"
    test = " & ".join([*(f"~{name}" for name in no), *yes])
    return lambda text: f"{torch}.where({test}, {text}, 1)"


def joined(pieces: list[str]) -> str:
    return pieces[0] + ", ".join(pieces[1:]) + ")" if len(pieces) > 1 else pieces[0]


def is_lone_part(targets: list[str]) -> bool:
    """Whether what is returned is a tuple of one."""
    return len(targets) == 1 and is_result(targets[0]) and targets[0] != RESULT

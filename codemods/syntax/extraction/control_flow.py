"""In which order the steps of one function may run; what is bound at each step, and what is still read behind it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.extraction.evaluation import Happening, happenings


@dataclass(eq=False)
class Step:
    """Something that runs as a whole: a simple statement, a test, the head of a loop.

    `reads` leaves out what the step itself has bound before; `binds` holds for sure once it has run.
    """

    node: ast.AST
    reads: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    may_bind: set[str] = field(default_factory=set)
    unbinds: set[str] = field(default_factory=set)
    then: list[Step] = field(default_factory=list)
    on_error: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Around:
    """Where a step goes that leaves the usual order."""

    on_return: Step
    on_break: Step
    on_continue: Step
    on_error: tuple[Step, ...] = ()

    def through(self, passage: Callable[[Step], Step], raised: Step) -> Around:
        """The same, but by way of a `finally`; `raised` is what an error comes to behind it."""
        return Around(
            passage(self.on_return), passage(self.on_break), passage(self.on_continue), on_error=(passage(raised),)
        )


class ControlFlow:
    """The steps of one function, over its own variables: names of other scopes are not among reads and binds.

    Every step may raise. A `with` may swallow that, unless `never_swallows` says no.
    """

    def __init__(
        self, module: Module, function: Function, never_swallows: Callable[[ast.expr], bool] = lambda node: False
    ) -> None:
        self.module = module
        self.function = function
        self.never_swallows = never_swallows
        self.steps: list[Step] = []
        self.end = self._step(function.args)
        nowhere = Around(self.end, self.end, self.end)
        self.start = self._block(function.body, self.end, nowhere)

    def within(self, statements: Sequence[ast.stmt]) -> list[Step]:
        """The steps of some statements."""
        inside = {node for statement in statements for node in ast.walk(statement)}
        return [step for step in self.steps if step.node in inside]

    # What holds at each step

    @cached_property
    def bound(self) -> dict[Step, set[str]]:
        """The arguments and locals that are bound for sure before each step that can be reached."""
        given = {node.arg for node in ast.walk(self.function.args) if isinstance(node, ast.arg)}
        return bound_before([self.start], given, self.steps)

    @cached_property
    def needed(self) -> dict[Step, set[str]]:
        """The locals whose value before each step may still be read, by it or by what follows."""
        found: dict[Step, set[str]] = {step: set() for step in self.steps}
        size = -1
        while size != (size := sum(map(len, found.values()))):
            for step in self.steps:
                behind = set().union(*(found[other] for other in step.then))
                failed = set().union(*(found[other] for other in step.on_error))
                found[step] = step.reads | (behind - step.binds) | failed
        return found

    # Steps

    def _step(self, node: ast.AST, *then: Step, on_error: tuple[Step, ...] = ()) -> Step:
        step = Step(node, then=list(then), on_error=on_error)
        self.steps.append(step)
        return step

    def _run(self, nodes: Iterable[ast.AST | None], node: ast.AST, around: Around, *then: Step) -> Step:
        """One step that evaluates these parts of a node."""
        step = self._step(node, *then, on_error=around.on_error)
        for part in nodes:
            for happening in happenings(self.module, self.function, part) if part else ():
                note(step, happening)
        return step

    def _block(self, statements: Sequence[ast.stmt], then: Step, around: Around) -> Step:
        for statement in reversed(statements):
            then = self._statement(statement, then, around)
        return then

    def _statement(self, node: ast.stmt, then: Step, around: Around) -> Step:
        if isinstance(node, ast.If):
            branches = (self._block(node.body, then, around), self._block(node.orelse, then, around))
            return self._run([node.test], node.test, around, *branches)
        if isinstance(node, ast.While):
            return self._while(node, then, around)
        if isinstance(node, (ast.For, ast.AsyncFor)):
            return self._for(node, then, around)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self._with(node, then, around)
        if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self._try(node, then, around)  # type: ignore[arg-type]
        if isinstance(node, ast.Match):
            return self._match(node, then, around)
        leaves = {ast.Return: around.on_return, ast.Break: around.on_break, ast.Continue: around.on_continue}
        following = () if isinstance(node, ast.Raise) else (leaves.get(type(node), then),)
        return self._run([node], node, around, *following)

    def _while(self, node: ast.While, then: Step, around: Around) -> Step:
        head = self._run([node.test], node.test, around)
        body = self._block(node.body, head, replace(around, on_break=then, on_continue=head))
        forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
        head.then = [body] if forever else [body, self._block(node.orelse, then, around)]
        return head

    def _for(self, node: ast.For | ast.AsyncFor, then: Step, around: Around) -> Step:
        head = self._step(node, on_error=around.on_error)
        body = self._block(node.body, head, replace(around, on_break=then, on_continue=head))
        bind = self._run([node.target], node.target, around, body)
        head.then = [bind, self._block(node.orelse, then, around)]
        return self._run([node.iter], node.iter, around, head)

    def _with(self, node: ast.With | ast.AsyncWith, then: Step, around: Around) -> Step:
        swallows = not all(self.never_swallows(item.context_expr) for item in node.items)
        inner = replace(around, on_error=(*around.on_error, self._step(node, then))) if swallows else around
        inside = self._block(node.body, then, inner)
        for item in reversed(node.items):
            inside = self._run([item.context_expr, item.optional_vars], item.context_expr, around, inside)
        return inside

    def _try(self, node: ast.Try, then: Step, around: Around) -> Step:
        def finally_(target: Step) -> Step:
            return self._block(node.finalbody, target, around)

        raised = self._step(node, on_error=around.on_error)
        inner = around.through(finally_, raised) if node.finalbody else around
        after = finally_(then)
        failed = inner.on_error
        for handler in reversed(node.handlers):
            failed = (self._handler(handler, failed, after, inner),)
        orelse = self._block(node.orelse, after, inner)
        return self._block(node.body, orelse, replace(inner, on_error=failed))

    def _handler(self, node: ast.ExceptHandler, other: tuple[Step, ...], then: Step, around: Around) -> Step:
        name = {node.name} if node.name else set()
        forget = self._step(node, then)
        forget.unbinds = set(name)
        bind = self._step(node, self._block(node.body, forget, around))
        bind.binds, bind.may_bind = set(name), set(name)
        return self._run([node.type], node, around, bind, *(other if node.type else ()))

    def _match(self, node: ast.Match, then: Step, around: Around) -> Step:
        other = then
        for case in reversed(node.cases):
            body = self._block(case.body, then, around)
            guard = self._run([case.guard], case.guard, around, body, other) if case.guard else body
            bind = self._run([case.pattern], case.pattern, around, guard)
            other = self._step(case.pattern, bind, other, on_error=around.on_error)
        return self._run([node.subject], node.subject, around, other)


def note(step: Step, happening: Happening) -> None:
    """Add to a step one thing that happens in it, behind the others."""
    name, what, is_sure, is_covered = happening
    if what == "read" and not is_covered:
        step.reads.add(name)
    elif what == "unbind":
        step.reads.add(name)
        step.unbinds.add(name)
    elif what == "bind":
        step.may_bind.add(name)
        if is_sure:
            step.binds.add(name)


def bound_before(starts: Sequence[Step], given: set[str], steps: Iterable[Step]) -> dict[Step, set[str]]:
    """What is bound for sure before each of the steps that these starts lead to, if this is bound at the starts."""
    allowed = set(steps)
    found: dict[Step, set[str]] = {step: set(given) for step in starts}
    todo = list(starts)
    while todo:
        step = todo.pop()
        before = found[step]
        after = (before | step.binds) - step.unbinds
        ways = [(other, after) for other in step.then] + [(other, before - step.unbinds) for other in step.on_error]
        for other, known in ways:
            if other in allowed and (other not in found or not found[other] <= known):
                found[other] = found.get(other, known) & known
                todo.append(other)
    return found

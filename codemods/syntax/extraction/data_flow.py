"""What some statements take from the function around them, and what they leave to it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.scopes import position
from fullgraph.codemods.syntax.extraction.control_flow import ControlFlow, Step, bound_before
from fullgraph.codemods.syntax.extraction.evaluation import ordered
from fullgraph.codemods.syntax.extraction.extractable import LOOPS, deferred
from fullgraph.codemods.syntax.places import where


class DataFlow:
    """Parameters and results of consecutive statements of one function, if these ran as a function of their own.

    `taken`: the names that they may read before they have bound them, in the order of the first use. `left`: the names
    that they may bind and that may be read behind them; one of these that they do not bind on every way is taken too.
    Unsure, with the line, where a name could have another value, or none.
    """

    def __init__(self, module: Module, function: Function, statements: Sequence[ast.stmt]) -> None:
        self.module = module
        self.function = function
        self.statements = statements
        self.nodes = {node for statement in statements for node in ast.walk(statement)}
        self.flow = ControlFlow(module, function, self._never_swallows)
        self.steps = dict.fromkeys(reversed(self.flow.within(statements)))
        before = {other for step in self.flow.steps if step not in self.steps for other in (*step.then, *step.on_error)}
        self.starts = [step for step in self.steps if step in before or step is self.flow.start]
        self.order = list(dict.fromkeys(self._in_order()))
        self.taken = self._taken()
        self.left = self._left()
        self._check_bound()
        self._check_errors()
        self._check_unbound()
        self._check_captured()

    def _never_swallows(self, node: ast.expr) -> bool:
        func = node.func if isinstance(node, ast.Call) else node
        return (self.module.resolve(func) or "").partition(".")[0] == "torch"

    def _in_order(self) -> Iterator[str]:
        for statement in self.statements:
            for found, _, _ in ordered(statement, ()):
                yield found.id if isinstance(found, ast.Name) else found

    def _sorted(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(names, key=lambda name: (*self.order, name).index(name)))

    # Names

    @cached_property
    def bound(self) -> set[str]:
        """What the statements may bind."""
        return set().union(*(step.may_bind for step in self.steps))

    @cached_property
    def bound_here(self) -> dict[Step, set[str]]:
        """What the statements themselves have bound for sure before each of their steps."""
        return bound_before(self.starts, set(), self.steps)

    @cached_property
    def ends(self) -> list[tuple[Step, Step]]:
        """Each step that is the last of the statements, with the one that follows; errors are not among them."""
        reached = [step for step in self.steps if step in self.bound_here and step in self.flow.bound]
        return [(step, other) for step in reached for other in step.then if other not in self.steps]

    def _left(self) -> tuple[str, ...]:
        needed = set().union(*(self.flow.needed[other] for _, other in self.ends))
        return self._sorted(self.bound & needed)

    def _taken(self) -> tuple[str, ...]:
        read = {name for step, known in self.bound_here.items() for name in step.reads - known}
        read = {name for name in read if not self._is_only_here(name)}
        needed = {name for _, other in self.ends for name in self.flow.needed[other]} & self.bound
        known = [(self.bound_here[step] | step.binds) - step.unbinds for step, _ in self.ends]
        kept = {name for name in needed if not all(name in names for names in known)}
        return self._sorted(read | kept | set(self._closed_over()))

    def _is_only_here(self, name: str) -> bool:
        """Whether nothing can have bound a name before these statements: they fail the same way without it."""
        bindings = self.module.scopes.within(self.function, name)
        return not self.loops and all(binding.node in self.nodes for binding in bindings)

    @cached_property
    def loops(self) -> list[ast.AST]:
        """The loops of the function around the statements."""
        outer = list(self.module.ancestors(self.statements[0]))
        return [node for node in outer[: outer.index(self.function)] if isinstance(node, LOOPS)]

    def _closed_over(self) -> Iterator[str]:
        """What is read of the functions around the function."""
        for name in sorted((node for node in self.nodes if isinstance(node, ast.Name)), key=position):
            scope = self.module.scopes.of(name)
            if scope is self.module.tree and not isinstance(name.ctx, ast.Load):
                raise Unsure(f"{where(self.module, name)}: sets the global {name.id}")
            if scope not in (self.function, self.module.tree) and scope not in self.nodes:
                self._check_closed_over(name, scope)
                yield name.id

    # Doubts

    def _check_closed_over(self, name: ast.Name, scope: ast.AST) -> None:
        here = where(self.module, name)
        bindings = self.module.scopes.within(scope, name.id)
        start = position(self.function)
        body = getattr(scope, "body", [])
        sure = [each for each in bindings if each.how == "argument" or self.module.statement(each.node) in body]
        if not isinstance(name.ctx, ast.Load) or self._is_shared(name.id):
            raise Unsure(f"{here}: {name.id} is a variable of an outer function that is set elsewhere")
        if len(sure) < len(bindings) or any(position(binding.node) > start for binding in bindings):
            raise Unsure(f"{here}: {name.id} of the outer function may not be bound yet")

    def _is_shared(self, name: str) -> bool:
        return any(names.get(name) == "nonlocal" for names in self.module.scopes.declared.values())

    def _check_bound(self) -> None:
        first = where(self.module, self.statements[0])
        if not all(step in self.flow.bound for step in self.starts) or not self.starts:
            raise Unsure(f"{first}: never runs")
        own = [name for name in self.taken if self.module.scopes.within(self.function, name)]
        for name in own:
            if not all(name in self.flow.bound[step] for step in self.starts):
                raise Unsure(f"{self._line_of(name)}: {name} may not be bound before these lines")
        for name in sorted({*own, *self.bound}):
            if self._is_shared(name):
                raise Unsure(f"{self._line_of(name)}: {name} is set by an inner function too (nonlocal)")

    def _line_of(self, name: str) -> str:
        found = [node for node in self.nodes if isinstance(node, ast.Name) and node.id == name]
        return where(self.module, min(found, key=position, default=self.statements[0]))

    def _check_errors(self) -> None:
        """A handler outside must not read what the statements had bound when they failed."""
        for step in self.steps:
            for other in step.on_error:
                lost = self.bound & self.flow.needed[other] if other not in self.steps else set()
                if lost:
                    name = min(lost)
                    raise Unsure(f"{self._line_of(name)}: {name} is read after an error in these lines")

    def _check_unbound(self) -> None:
        for step in self.steps:
            for name in sorted(step.unbinds & {*self.taken, *self.left}):
                raise Unsure(f"{where(self.module, step.node)}: unbinds {name}, which the function around has bound")

    def _check_captured(self) -> None:
        """Functions that keep a variable must see every value that it gets."""
        for inner, name in deferred(self.module, self.function):
            if inner not in self.nodes and name.id in self.bound:
                raise Unsure(f"{where(self.module, inner)}: keeps the variable {name.id}, which these lines set")
            if inner in self.nodes and self._is_bound_later(name.id):
                raise Unsure(f"{where(self.module, inner)}: keeps the variable {name.id}, which is set again later")

    def _is_bound_later(self, name: str) -> bool:
        end = position(self.statements[-1])
        others = [
            binding.node
            for binding in self.module.scopes.within(self.function, name)
            if binding.node not in self.nodes and binding.how != "argument"
        ]
        return bool(self.loops and name in self.bound) or any(
            position(node) > end or any(loop in self.module.ancestors(node) for loop in self.loops) for node in others
        )

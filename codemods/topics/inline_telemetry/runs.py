"""Which statements of a compute function only feed telemetry: what they make goes to a log, and nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.compiled import shut_out
from fullgraph.codemods.syntax.extraction.control_flow import ControlFlow
from fullgraph.codemods.syntax.extraction.extractable import LOOPS, nodes_of
from fullgraph.codemods.topics.inline_telemetry.statements import Statements, keeps


@dataclass(frozen=True)
class Run:
    """Consecutive statements that only feed telemetry, and the calls among them that break a graph, in order.

    `loop`: the line of a loop in which the first break stands, so that the whole function is kept out of graphs.
    """

    function: Function
    statements: tuple[ast.stmt, ...]
    breaks: tuple[ast.Call, ...]
    loop: int = 0


class InlineTelemetry:
    """The telemetry in one function. Looks at names and shapes of statements; moving these changes no value."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.function = function
        self.kinds = Statements(module, function)

    def runs(self) -> Iterator[Run]:
        """The longest runs, outermost first, that break a graph more often than a call out of it would."""
        work = {node for node in self.function.body if not isinstance(node, (ast.Expr, ast.Return))}
        return (run for run in self._runs_in(self.function.body) if not work <= set(run.statements))

    def _runs_in(self, block: Sequence[ast.stmt]) -> Iterator[Run]:
        segment: list[ast.stmt] = []
        for statement in [*block, None]:
            if statement is not None and self.kinds.is_quiet(statement):
                segment.append(statement)
                continue
            yield from self._settle(segment)
            segment = []
            if statement is not None:
                yield from self._runs_below(statement)

    def _runs_below(self, statement: ast.stmt) -> Iterator[Run]:
        """The runs in branches and under torch's contexts. In a loop or a `try`, a call breaks as much as they do."""
        if isinstance(statement, ast.If):
            shut = shut_out(self.module, statement)
            for block in (statement.body, statement.orelse):
                yield from self._runs_in(block) if block is not shut else ()
        elif isinstance(statement, ast.With):
            opened = [
                self.module.resolve(getattr(item.context_expr, "func", None) or item.context_expr) or ""
                for item in statement.items
            ]
            if all(dotted.startswith("torch.") for dotted in opened):
                yield from self._runs_in(statement.body)

    def _settle(self, segment: list[ast.stmt]) -> Iterator[Run]:
        """The runs in statements that could all be telemetry: without those that something else needs."""
        while segment and not self.kinds.has_sink(segment[-1]):
            segment = segment[:-1]
        while segment and self._is_idle(segment):
            segment = segment[1:]
        if not segment:
            return
        if (number := self._last_needed(segment)) is not None:
            yield from self._settle(segment[:number])
            yield from self._runs_below(segment[number])
            yield from self._settle(segment[number + 1 :])
        elif self._gains(segment):
            yield self.make(segment)
        else:
            for statement in segment:
                yield from self._runs_below(statement)

    def _is_idle(self, segment: list[ast.stmt]) -> bool:
        """Whether the first statement makes nothing that the others read."""
        made = {name for step in self.flow.within(segment[:1]) for name in step.may_bind}
        read = {name for step in self.flow.within(segment[1:]) for name in step.reads}
        return not self.kinds.has_sink(segment[0]) and not made & read

    def _last_needed(self, segment: list[ast.stmt]) -> int | None:
        """The last statement that makes something which is read behind the segment, unless it is telemetry by name."""
        steps = set(self.flow.within(segment))
        behind = [other for step in steps for other in (*step.then, *step.on_error) if other not in steps]
        needed = {name for other in behind for name in self.flow.needed[other] if not self._is_result(name, segment)}
        made = {name for step in steps for name in step.may_bind}
        for number, statement in reversed(list(enumerate(segment))):
            binds = {name for step in self.flow.within([statement]) for name in step.may_bind}
            if binds & needed or not self.kinds.fills(statement) <= made:
                return number
        return None

    def _is_result(self, name: str, segment: list[ast.stmt]) -> bool:
        """Whether a name holds telemetry that the function only hands on: returns as it is, or logs."""
        reads = [node for node in self.module.scopes.names(self.function, name) if isinstance(node.ctx, ast.Load)]
        inside = set(nodes_of(segment))
        others = (node for node in reads if node not in inside)
        return keeps(name) and all(map(self._is_handed_on, others))

    def _is_handed_on(self, node: ast.AST) -> bool:
        statement = self.module.statement(node)
        while isinstance(outer := self.module.parent(node), (ast.Tuple, ast.Dict, ast.List, ast.keyword, ast.Call)):
            node = outer
        return isinstance(outer, ast.Return) or self.kinds.is_sink(statement)

    def _gains(self, segment: list[ast.stmt]) -> bool:
        """Whether several breaks become one, of which at least one is met for sure; a loop repeats its breaks."""
        surely = [node for node in segment if not isinstance(node, ast.If) or any(self.kinds.breaks([node.test]))]
        several = sum(isinstance(node, ast.stmt) for node in nodes_of(segment)) > 1
        run = self.make(segment)
        return several and any(self.kinds.breaks(surely)) and (bool(run.loop) or len(run.breaks) > 1)

    def make(self, statements: Sequence[ast.stmt]) -> Run:
        """A run of these statements, whatever they are."""
        inside = set(nodes_of(statements))
        breaks = tuple(self.kinds.breaks(statements))
        loops = [outer for outer in self.module.ancestors(breaks[0]) if isinstance(outer, LOOPS)] if breaks else []
        lines = [loop.lineno for loop in loops if loop in inside]
        return Run(self.function, tuple(statements), breaks, lines[-1] if lines else 0)

    @cached_property
    def flow(self) -> ControlFlow:
        return ControlFlow(self.module, self.function)

"""What becomes of the outputs of compiled calls inside one function: followed statement by statement."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from fullgraph.codemods.topics.boundaries.expressions import Expressions
from fullgraph.codemods.topics.boundaries.outputs import DISPLAYS
from fullgraph.codemods.topics.boundaries.values import NONE, State, merge


class Walk(Expressions):
    """One pass over a function: which local names hold outputs at each point. What is seen goes to the watch."""

    def run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if self.state is None:
                return
            handle = getattr(self, "on_" + type(statement).__name__.lower(), None)
            if handle is not None:
                handle(statement)
            else:
                self.values(ast.iter_child_nodes(statement))

    def on_assign(self, node: ast.Assign) -> None:
        self.give(node.targets, node.value, node)

    def on_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.give([node.target], node.value, node)

    def give(self, targets: Iterable[ast.expr], value: ast.expr, node: ast.AST) -> None:
        parts = value.elts if isinstance(value, ast.Tuple) else []
        for target in targets:
            elements = target.elts if isinstance(target, ast.Tuple) else []
            if parts and len(parts) == len(elements) and not any(isinstance(e, ast.Starred) for e in elements):
                found = [self.value(part) for part in parts]
                for element, outputs in zip(elements, found, strict=True):
                    self.store(element, outputs, node)
            else:
                self.store(target, self.value(value), node)

    def on_augassign(self, node: ast.AugAssign) -> None:
        added = self.value(node.value)
        if isinstance(node.value, DISPLAYS):
            self.watch.collect(self, node.target, added, node)

    def on_return(self, node: ast.Return) -> None:
        found = self.value(node.value) if node.value else NONE
        if self.is_cached:
            self.watch.keep(self, found, node, "puts it into the cache of the function")
        self.returned |= found
        self.state = None

    def on_raise(self, node: ast.Raise) -> None:
        self.values(ast.iter_child_nodes(node))
        self.state = None

    def on_if(self, node: ast.If) -> None:
        self.value(node.test)
        self.branch([node.body, node.orelse])

    def on_match(self, node: ast.Match) -> None:
        found = self.value(node.subject)
        names = [name for case in node.cases for name in captured_by(case.pattern)]
        for name in names:
            self.store(ast.Name(name, ast.Store()), found, node)
        self.branch([*(case.body for case in node.cases), []])

    def branch(self, bodies: Sequence[Sequence[ast.stmt]]) -> None:
        before, ends = dict(self.state or {}), []
        for body in bodies:
            self.state = dict(before)
            self.run(body)
            ends.append(self.state)
        self.state = merge(ends)

    def on_for(self, node: ast.For) -> None:
        items = self.value(node.iter)
        self.loop(node, lambda: self.store(node.target, items, node))

    on_asyncfor = on_for

    def on_while(self, node: ast.While) -> None:
        self.loop(node, lambda: self.value(node.test))

    def loop(self, node: ast.For | ast.While, begin: Callable[[], object]) -> None:
        """The body, twice: what one round holds meets the calls of the next."""
        self.jumps.append([])
        for _ in range(2):
            before = dict(self.state or {})
            begin()
            self.run(node.body)
            self.state = merge([before, self.state, *self.jumps[-1]])
        self.jumps.pop()
        self.run(node.orelse)

    def on_break(self, node: ast.stmt) -> None:
        if self.jumps and self.state is not None:
            self.jumps[-1].append(self.state)
        self.state = None

    on_continue = on_break

    def on_try(self, node: ast.Try) -> None:
        """A handler may run after each statement of the body, also of one that ends in `return`."""
        reached: list[State | None] = [dict(self.state or {})]
        for statement in node.body:
            self.run([statement])
            reached.append(None if self.state is None else dict(self.state))
        self.run(node.orelse)
        ends = [self.state]
        for handler in node.handlers:
            self.state = merge(reached)
            self.run(handler.body)
            ends.append(self.state)
        self.state = merge(ends)
        if node.finalbody:
            has_left = self.state is None
            self.state = merge(reached) if has_left else self.state
            self.run(node.finalbody)
            self.state = None if has_left else self.state

    on_trystar = on_try

    def on_with(self, node: ast.With) -> None:
        for item in node.items:
            found = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.store(item.optional_vars, found, node)
        self.run(node.body)

    on_asyncwith = on_with

    def on_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name) and self.state is not None:
                self.state.pop(target.id, None)

    def on_functiondef(self, node: ast.FunctionDef) -> None:
        self.store(ast.Name(node.name, ast.Store()), self.captured(node), node)

    on_asyncfunctiondef = on_functiondef

    def on_classdef(self, node: ast.ClassDef) -> None:
        return


def captured_by(pattern: ast.pattern) -> list[str]:
    """The names that a pattern gives a value to, each a part of the subject."""
    named = [getattr(node, "name", None) or getattr(node, "rest", None) for node in ast.walk(pattern)]
    return [name for name in named if name]

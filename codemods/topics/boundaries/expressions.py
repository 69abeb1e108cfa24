"""What the expressions of a function are: outputs of compiled calls, parts and views of them, or something new."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.boundaries.outputs import (
    CACHES,
    DISPLAYS,
    GATHERS,
    MAYBE,
    METADATA,
    VIEWS,
    is_plain_index,
)
from fullgraph.codemods.topics.boundaries.values import NONE, Outputs, Site, State, perhaps

if TYPE_CHECKING:
    from fullgraph.codemods.topics.boundaries.keeping import Watch


class Expressions:
    """One pass over a function: which local names hold outputs at each point. What is seen goes to the watch."""

    def __init__(self, watch: Watch, module: Module, function: ast.AST, given: State, depth: int, awaits: bool) -> None:
        self.watch, self.module, self.function, self.depth = watch, module, function, depth
        self.awaits = awaits
        """Whether a forward pass has run whose backward pass has not."""
        self.state: State | None = dict(given)
        """None behind a statement that always leaves."""
        self.returned: Outputs = NONE
        self.ended_by: Site | None = None
        self.steps = 0
        self.jumps: list[list[State]] = []
        decorators = getattr(function, "decorator_list", [])
        called = [item.func if isinstance(item, ast.Call) else item for item in decorators]
        self.is_cached = any(module.resolve(item) in CACHES for item in called)

    # What is held

    def store(self, target: ast.expr, outputs: Outputs, node: ast.AST) -> None:
        if isinstance(target, ast.Name) and not self.is_shared(target.id):
            if self.state is not None:
                self.state[target.id] = frozenset(replace(output, held=node) for output in outputs)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self.store(element, outputs, node)
        elif isinstance(target, ast.Starred):
            self.store(target.value, outputs, node)
        elif outputs:
            self.watch.store(self, target, outputs, node)

    def is_shared(self, name: str) -> bool:
        return name in self.module.scopes.declared.get(self.function, {})

    def add(self, name: str, outputs: Outputs, node: ast.AST) -> None:
        """Outputs that a local object gets hold of, beside what it has."""
        if self.state is not None:
            fresh = frozenset(replace(output, held=node) for output in outputs)
            self.state[name] = self.state.get(name, NONE) | fresh

    def end_step(self, site: Site) -> None:
        """From here on, what was given before is gone."""
        self.ended_by, self.steps = site, self.steps + 1
        for name, outputs in (self.state or {}).items():
            self.state[name] = frozenset(output.at_end(site) for output in outputs)  # type: ignore[index]

    def end_wait(self) -> None:
        """A backward pass has run: the outputs before it may be overwritten from now on."""
        self.awaits = False
        for name, outputs in (self.state or {}).items():
            self.state[name] = frozenset(replace(output, is_awaited=False) for output in outputs)  # type: ignore[index]

    # Expressions

    def values(self, nodes: Iterable[ast.AST]) -> Outputs:
        """What several expressions are; what one has given may be gone when the next one has run."""
        found = NONE
        for node in nodes:
            steps, fresh = self.steps, self.value(node)
            if self.steps != steps:
                self.watch.overtake(self, found, node)
            found |= fresh
        return found

    def value(self, node: ast.AST) -> Outputs:
        """The outputs that an expression is, holds or is a view of; reading what is gone is reported."""
        handle = getattr(self, "of_" + type(node).__name__.lower(), None)
        if handle is not None:
            found: Outputs = handle(node)
            return found
        self.values(ast.iter_child_nodes(node))
        return NONE

    def of_name(self, node: ast.Name) -> Outputs:
        outputs = self.quietly(node)
        for output in outputs:
            if output.ended_by is not None:
                self.watch.read_late(self, output, node)
        return frozenset(replace(output, ended_by=None) for output in outputs)

    def quietly(self, node: ast.AST) -> Outputs:
        return (self.state or {}).get(node.id, NONE) if isinstance(node, ast.Name) else self.value(node)

    def of_attribute(self, node: ast.Attribute) -> Outputs:
        if node.attr in METADATA:
            self.quietly(node.value)
            return NONE
        return self.value(node.value) or self.watch.read_property(self, node)

    def of_subscript(self, node: ast.Subscript) -> Outputs:
        found = self.value(node.value)
        self.value(node.slice)
        return found if is_plain_index(self.module, node.slice) else NONE

    def of_compare(self, node: ast.Compare) -> Outputs:
        sides = [node.left, *node.comparators]
        is_identity = all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops)
        for side in sides:
            self.quietly(side) if is_identity else self.value(side)
        return NONE

    def of_tuple(self, node: ast.Tuple | ast.List | ast.Set) -> Outputs:
        return self.values(node.elts)

    of_list = of_set = of_tuple

    def of_dict(self, node: ast.Dict) -> Outputs:
        self.values(key for key in node.keys if key is not None)
        return self.values(node.values)

    def of_starred(self, node: ast.Starred | ast.Await) -> Outputs:
        return self.value(node.value)

    of_await = of_starred

    def of_ifexp(self, node: ast.IfExp) -> Outputs:
        self.value(node.test)
        return self.value(node.body) | self.value(node.orelse)

    def of_binop(self, node: ast.BinOp) -> Outputs:
        """A list and another hold what both do; other sums are new."""
        found = self.values([node.left, node.right])
        return found if isinstance(node.left, DISPLAYS) or isinstance(node.right, DISPLAYS) else NONE

    def of_boolop(self, node: ast.BoolOp) -> Outputs:
        return self.values(node.values)

    def of_namedexpr(self, node: ast.NamedExpr) -> Outputs:
        found = self.value(node.value)
        self.store(node.target, found, node)
        return found

    def of_lambda(self, node: ast.Lambda) -> Outputs:
        return self.captured(node)

    def of_yield(self, node: ast.Yield | ast.YieldFrom) -> Outputs:
        found = self.value(node.value) if node.value else NONE
        self.watch.keep(self, found, node, "yields it")
        return NONE

    of_yieldfrom = of_yield

    def of_listcomp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Outputs:
        return self.comprehend(node, [node.elt])

    of_setcomp = of_generatorexp = of_listcomp

    def of_dictcomp(self, node: ast.DictComp) -> Outputs:
        return self.comprehend(node, [node.value, node.key])

    def comprehend(self, node: ast.AST, made: Sequence[ast.expr]) -> Outputs:
        """The elements of two rounds: a list holds those of the first while the second is made."""
        outer = dict(self.state or {})
        for generator in node.generators:  # type: ignore[attr-defined]
            self.store(generator.target, self.value(generator.iter), generator)
            self.values(generator.ifs)
        before, self.ended_by = self.ended_by, None
        found = self.value(made[0])
        self.values(made[1:])
        self.value(made[0])
        if self.ended_by is not None and (not isinstance(node, ast.GeneratorExp) or self.is_gathered(node)):
            self.watch.overtake(self, frozenset(replace(output, held=node) for output in found), node)
        self.ended_by = self.ended_by or before
        if self.state is not None:
            inner = self.state
            self.state = {name: inner.get(name, NONE) for name in outer}
        return found

    def is_gathered(self, node: ast.AST) -> bool:
        call = self.module.parent(node)
        return isinstance(call, ast.Call) and self.gathers(call)

    def captured(self, node: ast.AST) -> Outputs:
        """What a function made here will find in the names around it."""
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        found = [(self.state or {}).get(name, NONE) for name in names]
        return NONE.union(*found)

    def of_call(self, node: ast.Call) -> Outputs:
        return self.watch.call(self, node)

    def arguments(self, node: ast.Call) -> Outputs:
        return self.values([*node.args, *(keyword.value for keyword in node.keywords)])

    def called_on(self, node: ast.Call) -> Outputs | None:
        """What a method of an output gives: itself, a part or a view. None: the call is no such thing."""
        func = node.func
        if not isinstance(func, ast.Attribute):
            return None
        is_name = isinstance(func.value, ast.Name)
        held = self.quietly(func.value) if is_name else NONE
        if is_name and not held:
            return None
        found = held if func.attr in METADATA else self.value(func.value)
        if not found:
            return None
        if func.attr in VIEWS or (func.attr.endswith("_") and not func.attr.startswith("_")):
            return found | self.arguments(node)
        return perhaps(found) if func.attr in MAYBE else NONE

    def gathers(self, node: ast.Call) -> bool:
        return self.module.scopes.is_builtin(node.func, *GATHERS)

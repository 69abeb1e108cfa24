"""The same query asked again: in one pass over a collection, or in a later pass over the same one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.scopes import position
from fullgraph.codemods.syntax.effects.answers import impurity, what_changes
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.queries.asking import Queries, Query, only_looks
from fullgraph.codemods.topics.queries.order import evaluated_before, falling, holds, run_between
from fullgraph.codemods.topics.queries.passes import (
    Pass,
    asks_always,
    calls_in,
    can_be_keys,
    changes_in_loops,
    is_counted,
    is_deferred,
    is_one_shot,
    pass_of,
)

CATCHERS = {"suppress", "raises", "assertRaises", "assertRaisesRegex"}
Uses = list[ast.Call]
Asked = tuple[Pass, ast.Call]


@dataclass
class Repeat:
    """A query with the places that ask it again; `reason` says why it must be asked again.

    With `over` it is asked in several passes over that collection. `again` are places that must go on asking, each
    with what may have changed the answer by then.
    """

    first: ast.Call
    uses: Uses
    query: Query
    over: Pass | None = None
    reason: str = ""
    caveat: str = ""
    again: list[str] = field(default_factory=list)


class Repeats:
    """What one function asks more than once."""

    def __init__(self, module: Module, queries: Queries, function: Function) -> None:
        self.module = module
        self.queries = queries
        self.function = function
        self.calls = sorted(filter(self.is_asking, calls_in(function)), key=position)

    def is_asking(self, call: ast.Call) -> bool:
        if not self.queries.may_ask(last_name(call)):
            return False
        return not isinstance(self.module.parent(call), (ast.Expr, ast.Await)) and not is_deferred(self.module, call)

    def found(self) -> Iterator[Repeat]:
        """Every use belongs to one repeat at most; those that can be helped come first."""
        done: set[ast.Call] = set()
        left: list[Repeat] = []
        for repeat in chain(self.over_passes(), self.in_passes(done)):
            if repeat.query.doubt and not repeat.reason:
                repeat.reason = repeat.query.doubt.text
            elif repeat.query.doubt:
                continue
            if repeat.reason:
                left.append(repeat)
            else:
                done |= {*repeat.uses}
                yield repeat
        for repeat in left:
            if not done & {*repeat.uses}:
                done |= {*repeat.uses}
                yield repeat

    def changed(self, expression: ast.expr, parts: Sequence[ast.AST], query: Query, *given: ast.Name) -> str:
        """What may change an expression, if asking the query itself changes nothing."""
        pure = (*self.queries.pure, query.name) if query.doubt else self.queries.pure
        doubt = what_changes(self.queries.project, self.module, expression, parts, pure, given)
        return doubt.text if doubt else ""

    # In several passes

    def over_passes(self) -> Iterator[Repeat]:
        groups: dict[tuple[object, ...], list[Asked]] = {}
        for call in self.calls:
            if one := pass_of(self.module, call):
                groups.setdefault((one.is_over(), *self.key(call, one.target.id)), []).append((one, call))
        for group in groups.values():
            if len({one.node for one, _ in group}) > 1 and (query := self.queries.of(self.module, group[0][1])):
                yield from self.over_pass(group, query)

    def over_pass(self, group: list[Asked], query: Query) -> Iterator[Repeat]:
        """Passes that one of them can answer for, as long as there are any; else the first reason why none can."""
        left: Repeat | None = None
        for first, asked in sorted(group, key=lambda item: position(item[0].statement)):
            same = self.passes_from(first, group)
            missed = asks_always(self.module, first, asked)
            is_reported = isinstance(first.node, ast.For) or not missed
            if len({one.node for one, _ in same}) < 2 or not is_reported or is_elif(self.module, first.statement):
                continue
            reason = f"{where(self.module, asked)}: {missed}" if missed else self.cannot_ask_before(first)
            repeat = self.over_some(first, asked, same, query, reason)
            if not repeat.reason:
                yield repeat
                yield from self.over_pass([item for item in group if item[1] not in repeat.uses], query)
                return
            left = left or repeat
        yield from [left] if left else []

    def passes_from(self, first: Pass, group: list[Asked]) -> list[Asked]:
        """All that is asked in this pass and in those behind it."""
        behind = self.block_from(first.statement)
        return [item for item in group if any(holds(statement, item[0].node) for statement in behind)]

    def block_from(self, statement: ast.stmt) -> list[ast.stmt]:
        block = self.module.block(statement)
        return block[block.index(statement) :]

    def over_some(self, first: Pass, asked: ast.Call, group: list[Asked], query: Query, reason: str) -> Repeat:
        """The first pass with all others that it can answer for."""
        reasons: dict[ast.AST, str] = {}
        for one, call in group:
            found = reason or self.over_reason(first, one, call, query)
            reasons[one.node] = reasons.get(one.node, "") or found
        calls = [call for one, call in group if not reasons[one.node]]
        again = list(dict.fromkeys(filter(None, reasons.values())))
        if reasons[first.node] or list(reasons.values()).count("") < 2:
            return Repeat(asked, [call for _, call in group], query, first, reason=again[0])
        return Repeat(asked, calls, query, first, caveat=self.caveat(first.iterable), again=again)

    def cannot_ask_before(self, first: Pass) -> str:
        """Why nothing can be asked before a pass, whatever it is."""
        module = self.module
        if catcher := catches(module, first.statement):
            return f"{where(module, first.statement)}: inside a `{catcher}`, an error would be raised earlier"
        if is_one_shot(module, first.iterable):
            return f"{where(module, first.node)}: what the loop reads from can be read only once"
        doubt = impurity(self.queries.project, module, first.iterable, self.queries.pure)
        return doubt.text if doubt else ""

    def over_reason(self, first: Pass, one: Pass, call: ast.Call, query: Query) -> str:
        """Why an answer before the first pass may not be that of this one."""
        rest = self.block_from(first.statement)
        last = next(number for number, statement in enumerate(rest) if holds(statement, one.node))
        parts = [part for statement in rest[:last] for part in falling(self.module, statement)]
        items = [node for node in ast.walk(call) if isinstance(node, ast.Name) and node.id == one.target.id]
        inside = one.node.body if isinstance(one.node, ast.For) else []
        return (
            self.changed(first.iterable, [*parts, rest[last]], query)
            or self.changed(call, [*parts, rest[last]], query, *items)
            or self.changed(items[0], inside, query)
            or self.kept(query, [call])
        )

    def caveat(self, iterable: ast.expr) -> str:
        if is_counted(self.module, iterable) or can_be_keys(self.queries.names, self.module, iterable):
            return ""
        said = " ".join(self.module.code(iterable).split())
        return f"`{said}` must be a collection that can be read once more, and its items keys of a dict"

    # In one pass

    def in_passes(self, done: set[ast.Call]) -> Iterator[Repeat]:
        groups: dict[tuple[object, ...], Uses] = {}
        for call in self.calls:
            if changes_in_loops(self.module, call):
                groups.setdefault(self.key(call), []).append(call)
        for uses in groups.values():
            if len(uses) > 1 and (query := self.queries.of(self.module, uses[0])):
                yield from self.in_pass([use for use in uses if use not in done], query)

    def key(self, call: ast.Call, item: str = "") -> tuple[object, ...]:
        """What is the same in two calls that ask the same of the same; `item` is a variable that may be another."""
        names = sorted((node for node in ast.walk(call) if isinstance(node, ast.Name)), key=position)
        code = ast.dump(call).replace(f"Name(id='{item}', ", "Name(id=, ")
        return code, *(self.module.scopes.of(name) for name in names if name.id != item)

    def in_pass(self, uses: Uses, query: Query) -> Iterator[Repeat]:
        """Each place that answers for later ones, with those; the rest begins anew."""
        while len(uses) > 1:
            first, *others = uses
            later = [use for use in others if self.answers(first, use)]
            reasons = {use: self.reason(query, first, use) for use in later}
            same = [use for use in later if not reasons[use]]
            again = [reason for reason in reasons.values() if reason]
            if same:
                yield Repeat(first, [first, *same], query, again=again)
            elif again:
                yield Repeat(first, [first, *later], query, reason=again[0])
            uses = [use for use in others if use not in same]

    def answers(self, first: ast.Call, later: ast.Call) -> bool:
        """Whether `first` has been asked whenever `later` is, in the same pass."""
        module = self.module
        statement = module.statement(first)
        if is_elif(module, statement) or evaluated_before(module, statement, first) is None:
            return False
        return any(holds(item, later) for item in self.block_from(statement))

    def reason(self, query: Query, first: ast.Call, later: ast.Call) -> str:
        """Why `later` may be answered differently."""
        statement = self.module.statement(first)
        before = evaluated_before(self.module, statement, first) or []
        parts = [*before, *run_between(self.module, self.module.block(statement), first, later)]
        return self.changed(first, parts, query) or self.kept(query, [first, later])

    def kept(self, query: Query, uses: Uses) -> str:
        """Where a use could change what the others get."""
        if query.is_plain:
            return ""
        use = next((use for use in uses if not only_looks(self.module, use)), None)
        said = f"what `{query.name}()` returns is handed on, and may be changed"
        return f"{where(self.module, use)}: {said}" if use else ""


def is_elif(module: Module, statement: ast.stmt) -> bool:
    """Whether nothing can be written before a statement."""
    return module.text.startswith("elif", module.span(statement).start)


def catches(module: Module, node: ast.AST) -> str:
    """What around a node may catch errors."""
    for outer in module.ancestors(node):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return ""
        if isinstance(outer, ast.Try) and outer.handlers:
            return "try"
        items = outer.items if isinstance(outer, (ast.With, ast.AsyncWith)) else []
        called = [item.context_expr for item in items if isinstance(item.context_expr, ast.Call)]
        if names := [last_name(call) for call in called if last_name(call) in CATCHERS]:
            return names[0]
    return ""

"""What statements may change, followed through the functions of the project.

Attributes count by name, whoever owns them, and containers and tensors count together with everything that may be a
part of them. Code that cannot be followed may change whatever it can reach.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import DEFINITIONS
from fullgraph.codemods.syntax.effects.aliases import running_scope, tokens_of
from fullgraph.codemods.syntax.effects.doubts import Effect, binding, change, distinct
from fullgraph.codemods.syntax.effects.known_calls import known_effects
from fullgraph.codemods.syntax.effects.reads import Reads, beyond, read_by_name, read_variable
from fullgraph.codemods.syntax.effects.running import (
    DEEP,
    Running,
    arguments_of,
    calls_made_by,
    running_nodes,
    wrapper_of,
)
from fullgraph.codemods.syntax.effects.tokens import ANYTHING, Token, variable
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.places import Place, where

PATIENCE = 40
"""How many functions are looked into to answer one question; what calls more is seldom a pure read."""

NAMED = (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)


class Effects:
    """What the code of one project does, statement by statement. A function is looked into once."""

    def __init__(self, project: Project, pure: Sequence[str] = ()) -> None:
        self.running = project.worked_out(Running, lambda: Running(project))
        self.names = self.running.names
        self.pure = frozenset(pure)
        self._read: dict[ast.AST, tuple[Reads, list[Place[Function]]]] = {}
        self._summaries: dict[ast.AST, list[Effect]] = {}
        self._being_read: list[ast.AST] = []
        self._met = DEEP
        self._patience = PATIENCE
        self._unfinished: list[ast.AST] = []

    def be_patient(self) -> None:
        """A new question: so many functions may be looked into for it."""
        self._patience = PATIENCE

    # What an expression depends on

    def reads(self, module: Module, expression: ast.AST) -> Reads:
        """What the value of an expression is made from, through the calls that it makes."""
        found, todo = self._direct_reads(module, expression)
        seen: set[ast.AST] = set()
        while todo:
            place = todo.pop()
            if place.node not in seen:
                seen.add(place.node)
                if place.node not in self._read:
                    own, called = self._direct_reads(place.module, ast.Module(place.node.body, []))
                    self._read[place.node] = own.outside(place.module, place.node), called
                found |= self._read[place.node][0]
                todo += self._read[place.node][1]
        return found

    def _direct_reads(self, module: Module, expression: ast.AST) -> tuple[Reads, list[Place[Function]]]:
        """What an expression or a body reads by itself, and the functions of the project that it runs."""
        found, called = Reads(), []
        for node in ast.walk(expression):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found |= read_variable(module, node)
            elif isinstance(node, ast.Attribute):
                found |= Reads(frozenset({(None, node.attr)}), tokens_of(module, node))
            run = self.running.by(module, node)
            called += run
            if isinstance(node, ast.Call) and not run:
                is_known = known_effects(self.names, module, node, "") is not None
                found |= read_by_name(module, node) if is_known else Reads(contents=frozenset({ANYTHING}))
        return found, called

    # What running code does

    def of(self, module: Module, nodes: Iterable[ast.AST], depth: int = 0) -> Iterator[Effect]:
        """Every effect of running these nodes, in the order of the text; functions defined there do not run."""
        for node in nodes:
            for inner in running_nodes(node):
                yield from self._stores(module, inner)
                if isinstance(inner, ast.Call):
                    yield from self._call(module, inner, depth)
                elif isinstance(inner, (ast.Yield, ast.YieldFrom, ast.Await)):
                    yield Effect(where(module, inner), "other code runs at this point", is_unknown=True)
                elif run := self.running.by(module, inner):
                    shown = getattr(inner, "context_expr", None) or getattr(inner, "iter", None) or inner
                    said = f"`.{inner.attr}`" if isinstance(inner, ast.Attribute) else f"`{run[0].node.name}()`"
                    yield from self._followed(module, shown, said, run, depth, inner)

    def _stores(self, module: Module, node: ast.AST) -> Iterator[Effect]:
        """What a node writes by itself: names bound, attributes set, items stored."""
        context = getattr(node, "ctx", None)
        if isinstance(context, (ast.Store, ast.Del)) and isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            said = f"sets `{ast.unparse(node)}`"
            if isinstance(node, ast.Subscript):
                yield change(module, node, said, tokens_of(module, node.value))
            else:
                bound = variable(module, node) if isinstance(node, ast.Name) else (None, node.attr)
                yield binding(module, node, said, {bound})
                if isinstance(node, ast.Attribute) and node.attr == "data":
                    yield change(module, node, said, tokens_of(module, node.value))
            if isinstance(module.parent(node), ast.AugAssign):
                yield change(module, node, f"changes `{ast.unparse(node)}` in place", tokens_of(module, node))
        elif isinstance(node, NAMED) and (name := getattr(node, "rest", None) or getattr(node, "name", None)):
            yield binding(module, node, f"binds `{name}`", {(running_scope(module, node), name)})
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            yield binding(module, node, "imports it again", {(running_scope(module, node), name) for name in names})

    def _call(self, module: Module, call: ast.Call, depth: int) -> Iterator[Effect]:
        said = f"`{last_name(call) or 'a call'}()`"
        if self._is_declared(module, call):
            return
        if called := self.running.by(module, call):
            yield from self._followed(module, call, said, called, depth, call)
            return
        known = known_effects(self.names, module, call, said)
        unknown = Effect(where(module, call), f"calls {said}, which cannot be followed", is_unknown=True)
        yield from [unknown] if known is None else known
        for inner in calls_made_by(module, call):
            body = inner.func.body if isinstance(inner.func, ast.Lambda) else None
            yield from self._call(module, inner, depth) if body is None else self.of(module, [body], depth)

    def _is_declared(self, module: Module, call: ast.Call) -> bool:
        return bool({last_name(call), ast.unparse(call.func), module.resolve(call.func)} & self.pure)

    def _followed(
        self, module: Module, shown: ast.AST, said: str, called: Sequence[Place[Function]], depth: int, node: ast.AST
    ) -> Iterator[Effect]:
        """The effects of the functions that a node runs, as they look from there."""
        place = where(module, shown)
        for function in called:
            if wrapper := wrapper_of(function):
                by = f"is wrapped by `{ast.unparse(wrapper)}`, which is not followed"
                yield Effect(place, f"{said} {by}", is_unknown=True, origin=str(function))
            given = passed_to(function, arguments_of(module, node, function.node), has_stars(node))
            for effect in self._summary(function, depth + 1):
                seen = seen_outside(effect, function, given)
                if effect.is_unknown or effect.is_output or seen.binds or seen.changes:
                    what = effect.what if effect.origin else f"{said} {effect.what}"
                    yield replace(seen, where=place, what=what, origin=effect.origin or effect.where)

    def _summary(self, function: Place[Function], depth: int) -> list[Effect]:
        """The effects of a function's body, with what they write named as it is named inside.

        Functions that call each other in a circle are known in full only once the first of them is.
        """
        node = function.node
        if node in self._being_read:
            self._met = min(self._met, self._being_read.index(node))
            return []
        if node not in self._summaries:
            if depth >= DEEP or self._patience == 0:
                self._met = 0
                return [Effect(str(function), "calls too much to be followed", is_unknown=True)]
            self._patience -= 1
            own, marked, before = len(self._being_read), len(self._unfinished), self._met
            self._being_read.append(node)
            self._met = own
            self._summaries[node] = list(distinct(self.of(function.module, node.body, depth)))
            self._being_read.pop()
            if self._met < own:
                self._unfinished.append(node)
            else:
                for unfinished in self._unfinished[marked:]:
                    del self._summaries[unfinished]
                del self._unfinished[marked:]
            self._met = min(self._met, before) if self._met < own else before
        return self._summaries[node]


def passed_to(
    function: Place[Function], arguments: Mapping[str, frozenset[Token]], may_be_missing: bool
) -> dict[str, frozenset[Token]]:
    """What each parameter is known by: by what is passed, else by its default; by both where that cannot be told."""
    defaults = defaults_of(function)
    both = {name: arguments[name] | defaults[name] for name in arguments.keys() & defaults.keys()}
    return {**defaults, **arguments, **(both if may_be_missing else {})}


def has_stars(node: ast.AST) -> bool:
    """Whether a call leaves open which parameters it fills: `f(*items)` and `f(**named)`."""
    if not isinstance(node, ast.Call):
        return False
    return any(isinstance(item, ast.Starred) for item in node.args) or any(not item.arg for item in node.keywords)


def defaults_of(function: Place[Function]) -> dict[str, frozenset[Token]]:
    """What each parameter of a function is known by where nothing is given for it."""
    arguments = function.node.args
    placed = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(placed), reversed(arguments.defaults), strict=False)]
    pairs += [(item, value) for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    return {item.arg: tokens_of(function.module, value) for item, value in pairs}


def seen_outside(effect: Effect, function: Place[Function], given: Mapping[str, frozenset[Token]]) -> Effect:
    """An effect in a function's body as its caller sees it: parameters are what was given for them."""
    handed = (given.get(name, frozenset()) for scope, name in effect.changes if scope is function.node)
    changes = beyond(function.module, function.node, effect.changes).union(*handed)
    return replace(effect, binds=beyond(function.module, function.node, effect.binds), changes=changes)

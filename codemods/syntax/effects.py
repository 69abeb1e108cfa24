"""What statements may change, followed through the functions of the project.

Attributes count by name, whoever owns them, and containers and tensors count together with everything that may be a
part of them. Code that cannot be followed may change whatever it can reach.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codemods.module import Function, Module
from codemods.project import Project
from codemods.scopes import DEFINITIONS
from codemods.syntax.aliases import Token, is_atomic, is_private, running_scope, tokens_of, variable
from codemods.syntax.constructor import heirs
from codemods.syntax.definitions import Definitions
from codemods.syntax.doubts import Doubt, Effect, binding, change
from codemods.syntax.flow import last_name
from codemods.syntax.known_calls import known_effects
from codemods.syntax.places import Place, where

DEEP = 8


def what_changes(
    project: Project, module: Module, expression: ast.expr, statements: Iterable[ast.AST], pure: Sequence[str] = ()
) -> Doubt | None:
    """The first thing in the statements after which the expression may have another value; None if nothing can.

    Writes that are seen come before calls that cannot be followed. `pure` names functions that only read, as the user
    knows them.
    """
    effects = effects_in(project, pure)
    reads = effects.reads(module, expression)
    can_be_reached = any(is_open(module, token) for token in reads.contents)
    unseen: Doubt | None = None
    for effect in effects.of(module, statements):
        if effect.binds & reads.names or effect.changes & reads.contents:
            return effect.doubt()
        if effect.is_unknown and can_be_reached:
            unseen = unseen or effect.doubt()
    return unseen


def impurity(project: Project, module: Module, call: ast.Call, pure: Sequence[str] = ()) -> Doubt | None:
    """Why a call is not a read: the first thing it does that is more than reading and computing; None if nothing."""
    unseen: Doubt | None = None
    for effect in effects_in(project, pure).of(module, [call]):
        if not effect.is_unknown:
            return effect.doubt()
        unseen = unseen or effect.doubt()
    return unseen


def is_open(module: Module, token: Token) -> bool:
    """Whether code elsewhere could change what a token stands for without naming it here."""
    scope, name = token
    if scope is None or (scope is not module.tree and module.parent(scope) is None):
        return True
    mentions = module.scopes.names(scope, name)
    if isinstance(scope, ast.Module) and name.isupper():
        return False
    return not mentions or not (is_atomic(module, mentions[0]) or is_private(module, mentions[0]))


def effects_in(project: Project, pure: Sequence[str]) -> Effects:
    """The effects of a project's code, kept as long as the project is: functions are looked into once."""
    return project.worked_out((Effects, frozenset(pure)), lambda: Effects(project, pure))


@dataclass(frozen=True)
class Reads:
    """What the value of an expression is made from: `names` by which it is reached, `contents` of objects."""

    names: frozenset[Token] = frozenset()
    contents: frozenset[Token] = frozenset()

    def __or__(self, other: Reads) -> Reads:
        return Reads(self.names | other.names, self.contents | other.contents)

    def outside(self, module: Module, scope: ast.AST) -> Reads:
        return Reads(beyond(module, scope, self.names), beyond(module, scope, self.contents))


class Effects:
    """What the code of one project does, statement by statement. A function is looked into once."""

    def __init__(self, project: Project, pure: Sequence[str] = ()) -> None:
        self.project = project
        self.pure = frozenset(pure)
        self.names = Definitions(project)
        self._summaries: dict[ast.AST, list[Effect]] = {}
        self._heirs: dict[ast.ClassDef, list[tuple[Module, ast.ClassDef]]] = {}

    # What an expression depends on

    def reads(self, module: Module, expression: ast.AST, depth: int = 0) -> Reads:
        """What the value of an expression is made from, through the calls that it makes."""
        found = Reads()
        for node in ast.walk(expression):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found |= read_variable(module, node)
            elif isinstance(node, ast.Attribute):
                found |= Reads(frozenset({(None, node.attr)}), tokens_of(module, node))
            for called in self._run_by(module, node) if depth < DEEP else ():
                inner = self.reads(called.module, ast.Module(called.node.body, []), depth + 1)
                found |= inner.outside(called.module, called.node)
        return found

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
                elif isinstance(inner, ast.Attribute) and (getter := self.names.read(module, inner)):
                    yield from self._followed(module, inner, f"`.{inner.attr}`", [getter], depth)

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
            if isinstance(module.parent(node), ast.AugAssign):
                yield change(module, node, f"changes `{ast.unparse(node)}` in place", tokens_of(module, node))
        elif isinstance(node, (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield binding(module, node, f"binds `{node.name}`", {(running_scope(module, node), node.name)})
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            yield binding(module, node, "imports it again", {(running_scope(module, node), name) for name in names})

    def _call(self, module: Module, call: ast.Call, depth: int) -> Iterator[Effect]:
        said = f"`{last_name(call) or 'a call'}()`"
        if self._is_declared(module, call):
            return
        if called := self._run_by(module, call):
            yield from self._followed(module, call, said, called, depth)
            return
        known = known_effects(self.names, module, call, said)
        unknown = Effect(where(module, call), f"calls {said}, which cannot be followed", is_unknown=True)
        yield from [unknown] if known is None else known

    def _is_declared(self, module: Module, call: ast.Call) -> bool:
        return bool({last_name(call), ast.unparse(call.func), module.resolve(call.func)} & self.pure)

    def _run_by(self, module: Module, node: ast.AST) -> list[Place[Function]]:
        """The project's functions that a node may run: what is called, and what subclasses have in its place."""
        if not isinstance(node, ast.Call):
            found = self.names.read(module, node)
            return [found] if found else []
        if self._is_declared(module, node) or (found := self.names.called(module, node)) is None:
            return []
        owner = found.module.parent(found.node)
        if not isinstance(owner, ast.ClassDef) or is_super(node.func):
            return [found]
        entered = ("__enter__", "__exit__") if isinstance(module.parent(node), ast.withitem) else ()
        names = {found.node.name, *entered}
        classes = [(found.module, owner), *self._below(owner)]
        return [found, *(place for place in methods(classes, names) if place.node is not found.node)]

    def _below(self, owner: ast.ClassDef, depth: int = 0) -> list[tuple[Module, ast.ClassDef]]:
        """The classes that inherit this one, directly or not."""
        if owner not in self._heirs:
            self._heirs[owner] = []
            direct = list(heirs(self.project, owner)) if depth < DEEP else []
            self._heirs[owner] = [*direct, *(below for _, heir in direct for below in self._below(heir, depth + 1))]
        return self._heirs[owner]

    def _followed(
        self, module: Module, node: ast.AST, said: str, called: Sequence[Place[Function]], depth: int
    ) -> Iterator[Effect]:
        """The effects of the functions that a node runs, as they look from there."""
        for function in called:
            given = arguments_of(module, node, function.node)
            for effect in self._summary(function, depth + 1):
                seen = seen_outside(effect, function, given)
                if effect.is_unknown or effect.is_output or seen.binds or seen.changes:
                    what = effect.what if effect.origin else f"{said} {effect.what}"
                    yield replace(seen, where=where(module, node), what=what, origin=effect.origin or effect.where)

    def _summary(self, function: Place[Function], depth: int) -> list[Effect]:
        """The effects of a function's body, with what they write named as it is named inside."""
        if function.node not in self._summaries:
            self._summaries[function.node] = []
            found = list(self.of(function.module, function.node.body, depth)) if depth < DEEP else []
            if depth >= DEEP:
                found = [Effect(str(function), "calls too deep to be followed", is_unknown=True)]
            self._summaries[function.node] = found
        return self._summaries[function.node]


def running_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what runs below it: not the bodies of functions and lambdas, which run when they are called."""
    yield node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        children: list[ast.AST] = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
    elif isinstance(node, ast.Lambda):
        children = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from running_nodes(child)


def methods(classes: Iterable[tuple[Module, ast.ClassDef]], names: set[str]) -> Iterator[Place[Function]]:
    for module, owner in classes:
        for node in owner.body:
            if isinstance(node, Function) and node.name in names:
                yield Place(module, node)


def read_variable(module: Module, name: ast.Name) -> Reads:
    """A variable and what it holds; functions, classes and imports stay what they are."""
    bindings = module.scopes.bindings(name)
    is_definition = all(isinstance(binding.node, DEFINITIONS) for binding in bindings)
    if not bindings or is_definition or module.resolve(name):
        return Reads()
    contents = frozenset() if is_atomic(module, name) else tokens_of(module, name)
    return Reads(frozenset({variable(module, name)}), contents)


def beyond(module: Module, scope: ast.AST, tokens: Iterable[Token]) -> frozenset[Token]:
    """The tokens that mean something outside a scope: attributes, and variables of other scopes."""
    return frozenset(
        (home, name)
        for home, name in tokens
        if home is not scope and (home is None or scope not in module.ancestors(home))
    )


def is_super(func: ast.AST) -> bool:
    value = func.value if isinstance(func, ast.Attribute) else None
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") == "super"


def seen_outside(effect: Effect, function: Place[Function], given: Mapping[str, frozenset[Token]]) -> Effect:
    """An effect in a function's body as its caller sees it: parameters are what was given for them."""
    handed = (given.get(name, frozenset()) for scope, name in effect.changes if scope is function.node)
    changes = beyond(function.module, function.node, effect.changes).union(*handed)
    return replace(effect, binds=beyond(function.module, function.node, effect.binds), changes=changes)


def arguments_of(module: Module, node: ast.AST, function: Function) -> dict[str, frozenset[Token]]:
    """What each parameter of a function may be known by at a call; a starred argument may be any of them."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if not isinstance(node, ast.Call):
        return {names[0]: receiver_tokens(module, node)} if names else {}
    given: list[frozenset[Token]] = [tokens_of(module, argument) for argument in node.args]
    is_bound = bool(names) and names[0] in ("self", "cls")
    if is_bound:
        given.insert(0, receiver_tokens(module, node.func))
    found = dict(zip(names, given, strict=False))
    for keyword in node.keywords:
        if keyword.arg:
            found[keyword.arg] = tokens_of(module, keyword.value)
    if any(isinstance(argument, ast.Starred) for argument in node.args) or any(not k.arg for k in node.keywords):
        every = frozenset().union(*given, *(tokens_of(module, keyword.value) for keyword in node.keywords))
        found = dict.fromkeys(names, every)
    return found


def receiver_tokens(module: Module, node: ast.AST) -> frozenset[Token]:
    return tokens_of(module, node.value) if isinstance(node, ast.Attribute) else frozenset()

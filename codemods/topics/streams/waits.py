"""The same `wait_stream` before a loop and in it: found through the functions that the loop calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.syntax.assignments import FUNCTIONS, own_nodes
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.streams.frames import LOOPS, Frame, called_with, same_words

AROUND = (*LOOPS, *COMPREHENSIONS)
LEAVES = (ast.Continue, ast.Break, ast.Return)


@dataclass(frozen=True)
class Wait:
    """`waiter.wait_stream(producer)` as a statement of one function."""

    frame: Frame
    statement: ast.Expr
    waiter: ast.expr
    producer: ast.expr

    def __str__(self) -> str:
        return where(self.frame.module, self.statement)


@dataclass(frozen=True)
class Repeated:
    """A wait in a loop, the same wait before it, the loop, and what that loop calls to come to the inner one."""

    inner: Wait
    outer: Wait
    loop: ast.AST
    call: ast.Call | None = None


def waits_in(frame: Frame) -> list[Wait]:
    found = []
    for node in own_nodes(frame.function):
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(node, ast.Expr) and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            is_wait = call.func.attr == "wait_stream" and len(call.args) == 1 and not call.keywords
            found += [Wait(frame, node, call.func.value, call.args[0])] if is_wait else []
    return sorted(found, key=lambda wait: wait.statement.lineno)


def repeated_waits(module: Module, project: Project) -> Iterator[Repeated | tuple[Wait, Unsure]]:
    """Every wait of the module that repeats one from before the loop it runs in."""
    for function in module.nodes(*FUNCTIONS):
        for inner in waits_in(Frame(module, function)):
            try:
                found = first_match(inner, loops_around(module, inner.statement, function)) or by_callers(
                    inner, project
                )
            except Unsure as unsure:
                yield inner, unsure
                continue
            if found:
                yield found


def first_match(inner: Wait, loops: list[ast.AST], site: Frame | None = None) -> Repeated | None:
    """The pair within one function: `site` is the caller's frame if the inner wait stands in a function it calls."""
    frame = site or inner.frame
    for loop in reversed(loops):
        for outer in waits_in(frame):
            if outer.statement is not inner.statement and is_before(outer, loop) and is_same(outer, inner, loop):
                return Repeated(inner, outer, loop)
    return None


def by_callers(inner: Wait, project: Project) -> Repeated | None:
    """The pair through the callers of the function around the inner wait, which must all have waited before."""
    module, function = inner.frame.module, inner.frame.function
    name = function.name.encode()
    waiting = [path for path in files_that_wait(project) if name in project.read(path)]
    found = [pair for site in call_sites(project, waiting, function) if (pair := through_call(inner, site))]
    if not found:
        return None
    for site in call_sites(project, project.mentions(function.name), function):
        if not through_call(inner, site):
            raise Unsure(f"{where(site.module, site.call)}: calls {function.name} without this wait before it")
    if len({id(pair.loop) for pair in found}) > 1:
        raise Unsure(f"{where(found[1].outer.frame.module, found[1].loop)}: a second loop comes to this wait")
    if hidden := mention_without_call(module, function):
        raise Unsure(f"{hidden}: {function.name} is handed on; who calls it cannot be seen")
    return found[0]


def files_that_wait(project: Project) -> list[str]:
    return project.worked_out("wait_stream", lambda: project.mentions("wait_stream"))


class Site(NamedTuple):
    """A call in a function."""

    module: Module
    call: ast.Call
    caller: Function


def through_call(inner: Wait, site: Site) -> Repeated | None:
    """The pair whose outer wait stands before a loop around this call."""
    frame = Frame(site.module, site.caller)
    seen = replace(inner, frame=called_with(frame, site.call, inner.frame.module, inner.frame.function))
    match = first_match(seen, loops_around(site.module, site.call, site.caller), frame)
    return replace(match, call=site.call) if match else None


def call_sites(project: Project, paths: list[str], function: Function) -> Iterator[Site]:
    names = Definitions(project)
    for path in paths:
        try:
            module = project.module(path)
        except SourceError as error:
            raise Unsure(f"{error}: it may call {function.name}") from error
        for call in module.nodes(ast.Call):
            caller = module.enclosing(call, *FUNCTIONS) if last_name(call) == function.name else None
            found = names.called(module, call) if caller is not None else None
            if found and caller is not None and found.node is function:
                yield Site(module, call, caller)


def mention_without_call(module: Module, function: Function) -> str:
    """Where the file names the function without calling it."""
    for node in module.nodes(ast.Name, ast.Attribute):
        named = node.attr if isinstance(node, ast.Attribute) else node.id
        parent = module.parent(node)
        if named == function.name and not (isinstance(parent, ast.Call) and parent.func is node):
            return where(module, node)
    return ""


def loops_around(module: Module, node: ast.AST, function: Function) -> list[ast.AST]:
    """The loops of the function around a node, innermost first."""
    found: list[ast.AST] = []
    for outer in module.ancestors(node):
        if outer is function:
            break
        if isinstance(outer, AROUND):
            found.append(outer)
    return found


def is_before(outer: Wait, loop: ast.AST) -> bool:
    """Whether a wait runs before the loop does: in the same block or around it, in an own loop or `if`."""
    module = outer.frame.module
    statement: ast.stmt = outer.statement
    while True:
        if any(loop is later or contains(later, loop) for later in behind(module, statement)):
            return True
        parent = module.parent(statement)
        is_plain = isinstance(parent, (ast.With, ast.If)) or (
            isinstance(parent, ast.For) and not any(isinstance(node, LEAVES) for node in ast.walk(parent))
        )
        if not isinstance(parent, ast.stmt) or not is_plain or statement not in getattr(parent, "body", []):
            return False
        statement = parent


def behind(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    block = module.block(statement)
    return block[block.index(statement) + 1 :]


def contains(statement: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(statement))


def is_same(outer: Wait, inner: Wait, loop: ast.AST) -> bool:
    """Whether the two wait for the same streams, the inner one under the conditions of the outer one and no others."""
    shared = frozenset(loops_around(outer.frame.module, loop, outer.frame.function))
    for first, second in ((outer.waiter, inner.waiter), (outer.producer, inner.producer)):
        words = same_words(outer.frame, first, shared)
        if words is None or words != same_words(inner.frame, second, shared):
            return False
    conditions = guards(outer, loop, shared)
    return conditions is not None and conditions == guards(inner, loop, shared)


def guards(wait: Wait, loop: ast.AST, shared: frozenset[ast.AST]) -> set[str] | None:
    """The tests around a wait, up to what it has in common with the loop; None if one cannot be put in words."""
    module, found = wait.frame.module, set()
    child: ast.AST = wait.statement
    for outer in module.ancestors(wait.statement):
        if outer is loop or outer is wait.frame.function or contains(outer, loop):
            break
        if isinstance(outer, (ast.Try, ast.Match)) or (isinstance(outer, ast.If) and child in outer.orelse):
            return None
        if isinstance(outer, ast.If):
            for test in parts_of(outer.test):
                words = same_words(wait.frame, test, shared)
                if words is None:
                    return None
                found.add(words)
        child = outer
    return found


def parts_of(test: ast.expr) -> list[ast.expr]:
    """What must hold for a test to hold; `x is not None` counts as `x`, a stream is always true."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [part for value in test.values for part in parts_of(value)]
    is_there = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) and len(test.ops) == 1
    if is_there and isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None:  # type: ignore[attr-defined]
        return [test.left]  # type: ignore[attr-defined]
    return [test]

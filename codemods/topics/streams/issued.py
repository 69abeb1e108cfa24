"""What is put on the other stream between two waits, and under which conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fullgraph.codemods.module import Function
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.loops import call_name
from fullgraph.codemods.syntax.places import Place, only_function, where
from fullgraph.codemods.topics.streams.calls import is_transfer_by_name, issues_by_name
from fullgraph.codemods.topics.streams.current import Streams
from fullgraph.codemods.topics.streams.frames import Frame, called_with, spelled
from fullgraph.codemods.topics.streams.issues import Condition, Issue
from fullgraph.codemods.topics.streams.plain import is_plain, may_compute
from fullgraph.codemods.topics.streams.waits import Repeated, behind, contains, loops_around

SETTERS = {"torch.cuda.set_stream", "torch.accelerator.set_stream"}
DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
LEAVES = (ast.Continue, ast.Return, ast.Raise, ast.Break)
DEEP = 5
HAND_ON = ("enumerate", "zip", "list", "tuple", "iter", "reversed", "sorted", "set")


@dataclass(frozen=True)
class State:
    """Where the walk is: in which frame, on which stream (None: whatever is current), under which conditions."""

    frame: Frame
    stream: str | None = None
    conditions: tuple[Condition, ...] = ()
    depth: int = 0


class Between:
    """The walk over all that may run between the wait before a loop and the one in it, nearest first."""

    def __init__(self, repeated: Repeated, project: Project) -> None:
        self.repeated = repeated
        self.names = Definitions(project)
        self.target = repeated.inner.frame
        self.streams = Streams(repeated, self.names)
        self.seen: set[tuple[ast.AST, str | None]] = set()
        self.at_inner: set[Condition] = set()
        """What is known where the inner wait stands; filled by the walk."""

    def issues(self) -> list[Issue]:
        inner, outer = self.repeated.inner, self.repeated.outer
        found: list[Issue] = []
        if self.repeated.call is not None:
            state = State(inner.frame, self.streams.stream_around(outer.frame, self.repeated.call))
            nearest = loops_around(inner.frame.module, inner.statement, inner.frame.function)
            for loop in nearest[:1]:
                found += self.of_loop(loop, replace(state, stream=state.stream))
            found += self.of_block(inner.frame.function.body, state)
        state = State(outer.frame, self.streams.stream_around(outer.frame, self.repeated.loop))
        found += self.of_loop(self.repeated.loop, state)
        found += [issue for node in self.before_loop() for issue in self.of_block([node], state)]
        return list(dict.fromkeys(found))

    def before_loop(self) -> list[ast.stmt]:
        """What stands between the outer wait and the loop."""
        module, statement = self.repeated.outer.frame.module, self.repeated.outer.statement
        parent: ast.AST | None = statement
        found: list[ast.stmt] = []
        while isinstance(parent, ast.stmt):
            for later in behind(module, parent):
                if later is self.repeated.loop or contains(later, self.repeated.loop):
                    return found
                found.append(later)
            parent = module.parent(parent)
        return found

    def of_loop(self, loop: ast.AST, state: State) -> Iterator[Issue]:
        if isinstance(loop, (ast.For, ast.AsyncFor)):
            yield from self.of_iteration(loop.iter, state)
            yield from self.of_block([*loop.body, *loop.orelse], state)
        elif isinstance(loop, ast.While):
            yield from self.of_node(loop.test, state)
            yield from self.of_block([*loop.body, *loop.orelse], state)
        else:
            yield from self.of_parts(loop, state)

    def of_block(self, block: Sequence[ast.stmt], state: State) -> Iterator[Issue]:
        for node in block:
            if node is self.repeated.inner.statement:
                self.at_inner.update(state.conditions)
            if node is self.repeated.inner.statement or node is self.repeated.outer.statement:
                continue
            yield from self.of_node(node, state)
            if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], LEAVES):
                state = replace(state, conditions=(*state.conditions, *self.conditions(state, node.test, False)))

    def of_node(self, node: ast.AST, state: State) -> Iterator[Issue]:
        if isinstance(node, DEFINES):
            return
        if isinstance(node, (ast.If, ast.IfExp)):
            yield from self.of_choice(node, state)
        elif isinstance(node, ast.With):
            yield from self.of_with(node, state)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            yield from self.of_loop(node, state)
        elif isinstance(node, ast.Call):
            yield from self.of_call(node, state)
        elif isinstance(node, ast.comprehension):
            yield from self.of_iteration(node.iter, state)
            yield from (issue for test in node.ifs for issue in self.of_node(test, state))
        else:
            if self.streams.counts(state.stream) and may_compute(self.names, state.frame, node):
                yield self.doubt(state, node, "may compute with tensors")
            if isinstance(node, ast.Attribute) and (getter := self.names.read(state.frame.module, node)):
                me = getter.node.args.args[0].arg
                yield from self.of_body(Frame(getter.module, getter.node, {me: (state.frame, node.value)}), state)
            yield from self.of_parts(node, state)

    def of_parts(self, node: ast.AST, state: State) -> Iterator[Issue]:
        for field, value in ast.iter_fields(node):
            if field in ("body", "orelse", "finalbody") and isinstance(value, list):
                yield from self.of_block(value, state)
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self.of_node(child, state)

    def of_choice(self, node: ast.If | ast.IfExp, state: State) -> Iterator[Issue]:
        yield from self.of_node(node.test, state)
        for branch, holds in ((node.body, True), (node.orelse, False)):
            under = replace(state, conditions=(*state.conditions, *self.conditions(state, node.test, holds)))
            if isinstance(branch, list):
                yield from self.of_block(branch, under)
            else:
                yield from self.of_node(branch, under)

    def of_with(self, node: ast.With, state: State) -> Iterator[Issue]:
        for item in node.items:
            stream = self.streams.switched_to(state.frame, item.context_expr)
            if stream is None:
                yield from self.of_node(item.context_expr, state)
            else:
                state = replace(state, stream=stream)
                if stream == self.streams.producer:
                    yield self.issue(state, item.context_expr, is_transfer=moves(node))
        yield from self.of_block(node.body, state)

    # Calls

    def of_call(self, call: ast.Call, state: State) -> Iterator[Issue]:
        module = state.frame.module
        for child in ast.iter_child_nodes(call):
            if child is not call.func or isinstance(call.func, ast.Attribute):
                yield from self.of_node(child.value if child is call.func else child, state)  # type: ignore[attr-defined]
        if module.resolve(call.func) in SETTERS:
            yield self.doubt(state, call, "changes the current stream")
            return
        found = self.names.called(module, call)
        if found and state.depth < DEEP:
            for place in (found, *self.overridden(found)):
                yield from self.of_body(called_with(state.frame, call, place.module, place.node), state)
            return
        verdict = issues_by_name(module, call)
        if self.streams.waits_for_others(state.frame, call):
            yield self.issue(state, call)
        elif self.streams.counts(state.stream) and verdict is not False:
            is_known = verdict and state.stream != "?"
            yield self.issue(state, call) if is_known else self.doubt(state, call, "cannot be followed")
        elif not self.streams.is_ambient and verdict is None and self.streams.reaches_producer(state.frame, call):
            yield self.doubt(state, call, "cannot be followed")

    def overridden(self, found: Place[Function]) -> Iterator[Place[Function]]:
        """What direct subclasses have in the place of a method."""
        owner = found.module.parent(found.node)
        for module, heir in heirs(self.names.project, owner) if isinstance(owner, ast.ClassDef) else ():
            for node in heir.body:
                if isinstance(node, Function) and node.name == found.node.name:
                    yield Place(module, node)

    def of_body(self, frame: Frame, state: State) -> Iterator[Issue]:
        """What a function does that is run here."""
        function = frame.function
        if function is self.target.function or (function, state.stream) in self.seen:
            return
        self.seen.add((function, state.stream))
        yield from self.of_block(function.body, replace(state, frame=frame, depth=state.depth + 1))
        self.seen.discard((function, state.stream))

    # What else may run on the device

    def of_iteration(self, node: ast.expr, state: State) -> Iterator[Issue]:
        """What asking an iterable for its items does: generators and iterators of the project run."""
        if isinstance(node, ast.Call) and call_name(node) in HAND_ON:
            yield from (issue for argument in node.args for issue in self.of_iteration(argument, state))
            return
        yield from self.of_node(node, state)
        module = state.frame.module
        kind = self.names.instance(module, node)
        steps = [only_function(self.names.member(kind, name)) for name in ("__iter__", "__next__")]
        for step in filter(None, steps):
            me = step.node.args.args[0].arg
            yield from self.of_body(Frame(step.module, step.node, {me: (state.frame, node)}), state)
        if any(steps) or isinstance(node, ast.Call) or is_plain(self.names, state.frame, node):
            return
        words = self.streams.words(state.frame, node)
        if self.streams.counts(state.stream) or (words and self.streams.producer.startswith(f"{words}.")):
            yield self.doubt(state, node, "is asked for its next item, which cannot be followed")

    # What is said

    def conditions(self, state: State, test: ast.expr, holds: bool) -> list[Condition]:
        """What is known where a test has come out like this, in the words of the function with the inner wait."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.conditions(state, test.operand, not holds)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
            return [found for value in test.values for found in self.conditions(state, value, holds)]
        text = spelled(state.frame, test, self.target)
        return [Condition(text, holds)] if text else []

    def issue(self, state: State, node: ast.AST, is_transfer: bool = False) -> Issue:
        told = f"`{shortened(ast.unparse(node))}` is issued on {self.streams.said()} between the waits"
        moved = is_transfer or (isinstance(node, ast.Call) and is_transfer_by_name(node))
        return Issue(where(state.frame.module, node), told, True, state.conditions, moved)

    def doubt(self, state: State, node: ast.AST, why: str) -> Issue:
        told = f"`{shortened(ast.unparse(node))}` {why}: it may issue work on {self.streams.said()} between the waits"
        return Issue(where(state.frame.module, node), told, False, state.conditions)


def moves(node: ast.With) -> bool:
    return any(isinstance(inner, ast.Call) and is_transfer_by_name(inner) for inner in ast.walk(node))


def shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."

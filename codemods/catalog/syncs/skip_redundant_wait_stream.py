"""Skip a `wait_stream` that repeats one from before the loop, where a flag says that nothing was transferred."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Finding, FullgraphError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.gating import gate
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.streams.flags import only_value
from fullgraph.codemods.topics.streams.frames import Frame
from fullgraph.codemods.topics.streams.issued import Between
from fullgraph.codemods.topics.streams.issues import Condition, Issue
from fullgraph.codemods.topics.streams.waits import Repeated, Wait, parts_of, repeated_waits

NO_FLAG = "name the condition under which the wait is still needed with the option flag, such as flag='not gpu_preload'"


@dataclass(frozen=True)
class SkipOptions(Options):
    flag: str = option(
        "",
        "the condition under which the inner wait is still needed, as the code there would write it: "
        "`not gpu_preload`. By default the flag that guards every transfer in the loop",
    )


class SkipRedundantWaitStream(Codemod):
    """Make a `wait_stream` that repeats one from before the loop conditional on the flag that guards the transfers.

    Finds `a.wait_stream(b)` in a loop where the same wait stands before the loop: in the same function, in a loop of
    its own over the same states, or in the caller of the function with the inner wait. If everything that the loop
    issues on `b` is guarded by one flag (`if not preload: x = x.to(device, non_blocking=True)`), the inner wait gets
    the same condition: `if state.stream and not preload:`. The flag is a parameter, an attribute or a field that can
    be written where the wait stands, or the option `flag`.

    Never safe. The wait is what keeps `a` from reading what `b` is still writing, and a missing one raises nothing: it
    gives wrong data now and then, on a GPU, under load. "The data is preloaded, so nothing is transferred" is not
    enough: indexing or shuffling preloaded tensors, casting them, growing or moving a module, resetting an optimizer
    are kernels on the default stream too, and a batch that was made there is read by `a` before it is whole. A team
    that made this very change took it out again while it was hunting corrupted labels. So what runs between the waits
    is followed through the project, and whatever is issued on `b` without the flag, or cannot be followed, is named
    and the wait left as it is. With the option `flag`, code that cannot be followed is named in the caveat instead: it
    has to be looked at. What cannot be seen at all: work that other threads or callers issue on `b`.

    Measured on torch 2.13 with streams that record, without a GPU: with the flag off all waits and all work come in
    the same order; with the flag on (4 batches, 2 replicas) 10 waits become 2, and all work still follows what it
    reads. The same recording shows the race if batches are picked by index in the loop. A `wait_stream` is an event
    that is recorded and waited for, and does not block the host; what it costs is overlap, which a CPU cannot show.

    Left alone:
    - a wait whose producer is inside the loop: work on the other stream that the flag does not guard
    - code in the loop that cannot be followed and may issue work on the other stream
    - a flag that has one value in the whole project: the gate would never skip anything, or everything
    - a flag that is set again while the loop may run
    - loops in which no flag guards the transfers, unless the option names one
    - a wait in a function that is also called where nobody has waited before
    - waits for different streams, and inner waits that have a condition of their own already
    """

    options: SkipOptions

    needles: ClassVar[tuple[bytes, ...]] = (b"wait_stream(",)
    pattern: ClassVar[re.Pattern[bytes] | None] = re.compile(rb"[\r\n][ \t]+[^\s#][^#\r\n]{0,200}\.wait_stream\(")
    on_request: ClassVar[bool] = True
    claim: ClassVar[str] = "the same `wait_stream` before the loop and in it serialises streams; one is redundant."
    why: ClassVar[str] = (
        "A stream that waits in every iteration for work that was not issued gives up overlap. Whether that work is "
        "issued is what the flag says; where it is wrong, data is corrupted silently."
    )

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        for found in repeated_waits(module, project):
            if isinstance(found, Repeated):
                yield from self.judge(module, project, found)
            else:
                inner, unsure = found
                yield module.finding(self.name, inner.statement, waits_again(inner), left_alone=str(unsure))

    def judge(self, module: Module, project: Project, repeated: Repeated) -> Iterator[Finding]:
        message = f"{waits_again(repeated.inner)} {repeated.outer}"
        between = Between(repeated, project)
        try:
            issues = between.issues()
            condition = self.chosen(issues, between) if not self.options.flag else self.given(issues, repeated)
            if condition in between.at_inner:
                return
            if not self.options.flag:
                check_varies(project, condition)
            check_stays(project, repeated, condition)
            edits = gate(module, repeated.inner.statement, str(condition))
        except Unsure as unsure:
            yield module.finding(self.name, repeated.inner.statement, message, left_alone=str(unsure))
            return
        caveat = what_must_hold(repeated, between, condition, issues)
        yield module.finding(self.name, repeated.inner.statement, message, edits=edits, caveat=caveat)

    def chosen(self, issues: Sequence[Issue], between: Between) -> Condition:
        """The condition that guards the nearest transfer, and all other work on the other stream with it."""
        if not issues:
            raise Unsure(f"nothing is seen that is issued on {between.streams.said()} between the waits; {NO_FLAG}")
        own = tests_around(between.repeated.inner)
        guarded = [
            [found for found in issue.conditions if found.text not in own] for issue in issues if issue.is_transfer
        ]
        flags = next((conditions for conditions in guarded if conditions), [])
        told = f", also while `{flags[-1].opposite}`" if flags else f"; {NO_FLAG}"
        for issue in sorted(issues, key=lambda issue: not issue.is_seen):
            flags = [found for found in flags if found in issue.conditions]
            if not flags:
                raise Unsure(f"{issue.text}{told}")
        return flags[-1]

    def given(self, issues: Sequence[Issue], repeated: Repeated) -> Condition:
        """The option's condition. What is seen to be issued without it is in the way; what is not seen is not."""
        condition = read_flag(self.options.flag)
        check_known(repeated.inner.frame, condition, where(repeated.inner.frame.module, repeated.inner.statement))
        for issue in issues:
            if issue.is_seen and not any(is_alike(found, condition) for found in issue.conditions):
                raise Unsure(f"{issue.text}, also while `{condition.opposite}`")
        return condition


def tests_around(inner: Wait) -> set[str]:
    """What the inner wait depends on already: that there is a stream."""
    tests = [outer.test for outer in inner.frame.module.ancestors(inner.statement) if isinstance(outer, ast.If)]
    return {ast.unparse(part) for test in tests for part in parts_of(test)}


def waits_again(inner: Wait) -> str:
    return f"`{inner.frame.module.code(inner.waiter)}` waits in every iteration for what it has waited for before"


def read_flag(text: str) -> Condition:
    try:
        node: ast.expr = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise FullgraphError(f"option skip_redundant_wait_stream.flag: {text!r} is not an expression") from None
    holds = True
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node, holds = node.operand, not holds
    parts = list(ast.walk(node))
    if isinstance(node, ast.Constant):
        raise Unsure(f"flag={text}: a gate that never changes")
    if not all(isinstance(part, (ast.Name, ast.Attribute, ast.expr_context)) for part in parts):
        raise FullgraphError(f"option skip_redundant_wait_stream.flag: {text!r} is no name or attribute, or `not` one")
    return Condition(ast.unparse(node), holds)


def check_known(frame: Frame, condition: Condition, place: str) -> None:
    """Unsure unless the name of the flag means something where the wait stands."""
    root = condition.text.partition(".")[0]
    scopes = frame.module.scopes
    home = scopes.lookup(frame.function, root)
    if not scopes.within(home, root):
        raise Unsure(f"{place}: there is no `{root}` here")


def is_alike(found: Condition, wanted: Condition) -> bool:
    """Whether two conditions ask the same flag, as its last name tells."""
    return found.holds == wanted.holds and found.text.rpartition(".")[2] == wanted.text.rpartition(".")[2]


def check_varies(project: Project, condition: Condition) -> None:
    flag = condition.text.rpartition(".")[2]
    if settled := only_value(project, flag):
        effect = "skip no wait" if bool(settled.value) is condition.holds else "skip every wait"
        raise Unsure(
            f"{settled.where}: `{flag}` is {settled.value!r} wherever this project sets it; the gate would {effect}. "
            f"If it is set elsewhere, {NO_FLAG}"
        )


def check_stays(project: Project, repeated: Repeated, condition: Condition) -> None:
    """Unsure if the flag is a variable that the function sets again, or an attribute set outside of constructors."""
    frame = repeated.inner.frame
    flag = condition.text.rpartition(".")[2]
    if "." not in condition.text:
        bindings = frame.module.scopes.within(frame.module.scopes.lookup(frame.function, flag), flag)
        if len(bindings) > 1:
            raise Unsure(f"{where(frame.module, bindings[-1].node)}: `{flag}` is set again")
        return
    for module in project.modules_mentioning(flag):
        for node in module.nodes(ast.Attribute):
            function = module.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
            is_made = getattr(function, "name", "") in ("__init__", "__post_init__", "__new__")
            if node.attr == flag and isinstance(node.ctx, (ast.Store, ast.Del)) and not is_made:
                raise Unsure(f"{where(module, node)}: `{ast.unparse(node)}` is set while the loop may run")


def what_must_hold(repeated: Repeated, between: Between, condition: Condition, issues: Sequence[Issue]) -> str:
    inner = repeated.inner
    waiter = inner.frame.module.code(inner.waiter)
    caveat = (
        f"while `{condition.opposite}`, nothing that runs on `{waiter}` may depend on work issued on "
        f"{between.streams.said()} after {repeated.outer}: no copy, no indexing, no cast, no new parameters. "
        "A missing wait corrupts data silently"
    )
    unseen = [issue for issue in issues if not issue.is_seen]
    if unseen:
        caveat += ". To be looked at: " + "; ".join(issue.text for issue in unseen[:3])
        caveat += f" and {len(unseen) - 3} more" if unseen[3:] else ""
    return caveat

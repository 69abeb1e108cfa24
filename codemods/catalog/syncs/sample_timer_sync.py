"""Let a timer that waits for the device measure only every n-th interval."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Unsure
from fullgraph.codemods.model import Edit, Finding, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import names_within
from fullgraph.codemods.syntax.assignments import attribute_settings
from fullgraph.codemods.syntax.gating import gate
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.syntax.signatures.constructor import Setting, is_dataclass, require_settings
from fullgraph.codemods.syntax.signatures.docstrings import add_paragraph, docstring_of
from fullgraph.codemods.syntax.signatures.new_init import make_init
from fullgraph.codemods.topics.timers.callers import callers
from fullgraph.codemods.topics.timers.classes import Timer, timers, timing_functions
from fullgraph.codemods.topics.timers.measuring import Measuring
from fullgraph.codemods.topics.timers.premises import check_premises
from fullgraph.codemods.topics.timers.skipping import check_skippable, given_back, region

COUNT, LAST, ANSWER = ("_intervals", "_n_intervals"), ("_measured", "_last_measured"), ("is_sampled", "measures")
TITLE = "With ``every=n`` one interval in n is measured, with ``enabled=False`` none:"
REST = "the others do not wait for the device{}."
NOT_YET = 'float("nan")'


class SampleTimerSync(Codemod):
    """Give a timer that waits for the device `enabled=True, every=1`, so that it can measure every n-th interval only.

    Finds classes that keep time (a clock of `time`, or `elapsed_time` between events) and wait for the device where an
    interval ends: `torch.cuda.synchronize()` (also of `accelerator`, `mps`, `xpu`), `event.synchronize()` or
    `stream.synchronize()` in `stop`, `__exit__`, `toc`, `lap`, `elapsed` and the like, also through a small method or
    function that waits. `__init__` takes `enabled` and `every`, or a dataclass gets the fields, or a class without
    `__init__` gets one. A call that is not sampled returns before it measures: it does not wait, and adds nothing to
    sums, counts and lists, so that means stay means of what was measured. Plain resets (`self.running = False`) are
    done in any case. Waits where the interval begins (`start`, `__enter__`) are skipped along with it. The first
    interval is measured. Where `stop` returns the time, a call that is not sampled returns the last one measured, and
    before any was measured `nan`, which no one takes for a time; callers that use the number are named in the notes.
    Without the new arguments the timer does what it did: the finding is safe.

    Measured on torch 2.13, with a second device in place of a GPU: 16 waits in 8 intervals become 4 with `every=4`;
    without arguments there are as many as before, and what the timer counts and returns is the same. What one wait
    costs depends on how far the host had run ahead: a CPU cannot show it. Timers do not belong into compiled code: a
    clock breaks the graph there, and the count adds recompiles (1 > 2).

    Left alone:
    - timers that can be told not to wait, or that sample already
    - context managers written as generators, and functions: no object keeps the count
    - classes that wait but keep no time, or whose class is no timer (a trainer that times its own steps)
    - a `stop` that does more than measure: what may have to run in every call
    - a `stop` that returns something else than the time, itself, a constant or an attribute
    - two methods that both wait at the end of an interval, or one that takes arguments: timers by name
    - a `stop` with which the next interval begins, or that takes its beginning off a stack
    - properties: reading one twice is not two intervals
    - a class whose `__init__` is inherited, takes `**kwargs`, or calls methods before `super().__init__()`
    - a class that has `__slots__` or uses the names otherwise, as a base class or a subclass may; a dataclass that is
      subclassed; a class with a subclass that does not call its `__init__`, or a base class that cannot be seen
    - objects that are made without `__init__`, copied or restored in a way of their own, or listed by attribute
    """

    needles: ClassVar[tuple[bytes, ...]] = (b"synchronize(",)
    pattern: ClassVar[re.Pattern[bytes] | None] = re.compile(
        rb"\b(?:perf_counter|monotonic|process_time|default_timer|elapsed_time|time\.time|import time|from time)\b"
    )
    claim: ClassVar[str] = "a timer that synchronises at each stop stalls the host; it should be optional or sampled."
    why: ClassVar[str] = (
        "Each `synchronize()` makes the host wait until the device has done all its work. With `every=n` only each "
        "n-th interval pays for its measurement (torch 2.13: 16 waits in 8 intervals become 4 with every=4)."
    )

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        for timer in timers(module):
            yield self.judge(module, project, timer)
        for function in timing_functions(module):
            told = f"{module.path}:{function.lineno}: a function; no object could keep the count of its intervals"
            yield module.finding(
                self.name, function, f"{function.name} waits for the device each time", left_alone=told
            )

    def judge(self, module: Module, project: Project, timer: Timer) -> Finding:
        message = f"{timer.owner.name}.{timer.end.name} waits for the device at the end of every interval"
        try:
            edits, notes = self.write(module, project, timer)
        except Unsure as unsure:
            return module.finding(self.name, timer.end, message, left_alone=str(unsure))
        return module.finding(self.name, timer.end, message, edits=edits, notes=notes)

    def write(self, module: Module, project: Project, timer: Timer) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
        check(module, timer)
        measuring = Measuring(module, timer)
        statements = region(measuring, timer.end.body)
        answer, kept = given_back(measuring, statements)
        names = Names(timer)
        check_skippable(measuring, statements)
        check_premises(module, project, timer, {"enabled", "every", names.count, names.last})
        resets = [module.code(node) for node in statements if measuring.is_reset(node)]
        last = f"{timer.me}.{names.last}"
        lines = [
            f"{names.answer} = {names.test}",
            f"{timer.me}.{names.count} += 1",
            f"if not {names.answer}:",
            *(f"\t{line}" for line in resets),
            f"\treturn {last if kept else answer}".rstrip(),
        ]
        edits = [
            *self.settings(module, project, timer, names, bool(kept)),
            insert_above(module, statements[0], lines),
            *(edit for node in kept for edit in keep(module, node, last)),
            *(edit for node in timer.begins for edit in gate(module, node, names.test)),
        ]
        told = "; these return the last time measured" if kept else ""
        if docstring_of(timer.owner) and (paragraph := add_paragraph(module, timer.owner, TITLE, REST.format(told))):
            edits.append(paragraph)
        return tuple(edits), tuple(callers(project, module, timer, bool(kept)))

    def settings(self, module: Module, project: Project, timer: Timer, names: Names, keeps: bool) -> tuple[Edit, ...]:
        """`enabled` and `every`, the count, and the last time measured if anybody is given it."""
        wanted = [Setting("enabled", "bool", "True"), Setting("every", "int", "1")]
        wanted.append(Setting(names.count, "int", "0", is_state=True))
        if keeps:
            wanted.append(Setting(names.last, "float", NOT_YET, is_state=True))
        has_init = any(getattr(node, "name", "") == "__init__" for node in timer.owner.body)
        if has_init or is_dataclass(module, timer.owner):
            return require_settings(module, project, timer.owner, wanted)
        return (make_init(module, project, timer.owner, wanted),)


class Names:
    """What the new attributes are called: names that the class does not use."""

    def __init__(self, timer: Timer) -> None:
        owner = timer.owner
        taken = names_within(owner) | {node.attr for node in ast.walk(owner) if isinstance(node, ast.Attribute)}
        self.count, self.last, self.answer = (
            next((name for name in names if name not in taken), names[-1] + "_") for names in (COUNT, LAST, ANSWER)
        )
        self.has_enabled = takes_enabled(owner)
        sampled = f"{timer.me}.{self.count} % {timer.me}.every == 0"
        self.test = sampled if self.has_enabled else f"{timer.me}.enabled and {sampled}"


def takes_enabled(owner: ast.ClassDef) -> bool:
    """Whether the class has a setting or field of that name; the `enabled` of another object is none."""
    arguments = (node for node in ast.walk(owner) if isinstance(node, ast.arg))
    return bool(attribute_settings(owner, "enabled")) or any(node.arg == "enabled" for node in arguments)


def check(module: Module, timer: Timer) -> None:
    """Raise for a timer whose calls cannot be counted in one place."""
    if timer.others:
        other = timer.others[0]
        raise Unsure(f"{module.path}:{other.lineno}: {other.name} waits too; which of the two ends an interval?")
    for decorator in timer.end.decorator_list:
        raise Unsure(f"{module.path}:{decorator.lineno}: {timer.end.name} is decorated; its calls cannot be counted")
    arguments = timer.end.args
    if timer.end.name != "__exit__" and len([*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]) > 1:
        raise Unsure(f"{module.path}:{timer.end.lineno}: {timer.end.name} takes arguments; one count may not be enough")
    if is_frozen(module, timer.owner):
        raise Unsure(f"{module.path}:{timer.owner.lineno}: {timer.owner.name} is frozen and cannot count")
    if any(isinstance(node, ast.Attribute) and node.attr == "every" for node in ast.walk(timer.owner)):
        raise Unsure(f"{module.path}:{timer.owner.lineno}: {timer.owner.name} uses the name every for something else")


def is_frozen(module: Module, owner: ast.ClassDef) -> bool:
    settings = [word for item in owner.decorator_list for word in getattr(item, "keywords", [])]
    return any(word.arg == "frozen" and getattr(word.value, "value", None) is not False for word in settings)


def insert_above(module: Module, statement: ast.stmt, lines: list[str]) -> Edit:
    """The lines before a statement and the comments right above it."""
    if not module.begins_line(statement):
        return insert_before(module, statement, lines)
    start = module.line_start(module.span(statement).start)
    while module.text[module.line_start(start - 1) : start].lstrip(" \t").startswith("#"):
        start = module.line_start(start - 1)
    if start == module.line_start(module.span(statement).start):
        return insert_before(module, statement, lines)
    indent, unit = module.indent(statement), module.indent_unit
    return module.insert(start, "".join(f"{indent}{line.replace(chr(9), unit)}\n" for line in lines))


def keep(module: Module, node: ast.Return, last: str) -> tuple[Edit, ...]:
    """`self._measured = value` before `return`; the value is computed once."""
    assert node.value is not None, "only returns with a value are kept"
    if isinstance(node.value, ast.Name) and module.begins_line(node):
        return (insert_before(module, node, [f"{last} = {node.value.id}"]),)
    span = module.span(node)
    behind = f"\n{module.indent(node)}" if module.begins_line(node) else "; "
    stored = module.replace(Span(span.start, span.start + len("return")), f"{last} =")
    return (stored, module.insert(span.end, f"{behind}return {last}"))

"""Small codemods for the tests of the engine, so that these do not depend on the catalog."""

from __future__ import annotations

import ast
import os
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from fullgraph import Codemod, Edit, Finding, Module, Options, Project, Span, Unsure, option


def calls_of(module: Module, name: str) -> Iterator[ast.Call]:
    for call in module.nodes(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id == name:
            yield call


@dataclass(frozen=True)
class SwapOptions(Options):
    """What to call instead."""

    to: str = option("new", "The name to call instead.")


class SwapCall(Codemod):
    """Local: `old()` becomes `new()`."""

    needles: ClassVar[tuple[bytes, ...]] = (b"old",)
    options: SwapOptions

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "old"):
            edit = module.replace(call.func, self.options.to)
            yield module.finding(self.name, call, "old is called", edits=(edit,))


class ShareImport(Codemod):
    """Local: `bare()` becomes `tools.bare()`; all findings of a file share one import."""

    needles: ClassVar[tuple[bytes, ...]] = (b"bare",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "bare"):
            name, edits = module.imports.require("tools")
            edits = (*edits, module.replace(call.func, f"{name}.bare"))
            yield module.finding(self.name, call, "bare is called", edits=edits)


class RenameField(Codemod):
    """Cross-file: where a class defines `field`, every `.field` of the project becomes `.renamed`."""

    needles: ClassVar[tuple[bytes, ...]] = (b"field",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for node in module.nodes(ast.AnnAssign):
            if isinstance(node.target, ast.Name) and node.target.id == "field":
                others = [edit for other in project.modules_mentioning("field") for edit in rename(other)]
                edits = (module.replace(node.target, "renamed"), *others)
                yield module.finding(self.name, node, f"field is used {len(others)} times", edits=edits)


def rename(module: Module) -> list[Edit]:
    return [module.replace(Span(*found.span(1)), "renamed") for found in re.finditer(r"\.(field)\b", module.text)]


class BorrowHelper(Codemod):
    """Creates: `borrow()` is imported from a helper of its own, in a new folder; all findings share that file."""

    needles: ClassVar[tuple[bytes, ...]] = (b"borrow",)
    home: ClassVar[str] = "extra/lending.py"
    text: ClassVar[str] = "def borrowed():\n    return 1\n"
    writes_tests: ClassVar[bool] = True

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "borrow"):
            try:
                created = project.new_file(self.home, self.text)
            except Unsure as unsure:
                yield module.finding(self.name, call, "borrow is called", left_alone=str(unsure))
                continue
            if self.tests:
                created += project.new_file(f"{self.tests}/test_lending.py", "def test_lending():\n    pass\n")
            name, edits = module.imports.require("extra.lending", "borrowed")
            edits = (*created, *edits, module.replace(call.func, name))
            yield module.finding(self.name, call, "borrow is called", edits=edits)


class BorrowOther(BorrowHelper):
    """Wants another text in the same file."""

    text: ClassVar[str] = "def borrowed():\n    return 2\n"


class NeverRest(Codemod):
    """Restless: its result makes it fire again."""

    needles: ClassVar[tuple[bytes, ...]] = (b"grow",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "grow"):
            edit = module.insert(module.span(call).end, " + grow()")
            yield module.finding(self.name, call, "could grow", edits=(edit,))


class BreakSyntax(Codemod):
    """Its result is no Python."""

    needles: ClassVar[tuple[bytes, ...]] = (b"fragile",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "fragile"):
            yield module.finding(self.name, call, "is fragile", edits=(module.replace(call, "((("),))


class UnwrapNest(Codemod):
    """Replaces whole calls, so that nested ones overlap."""

    needles: ClassVar[tuple[bytes, ...]] = (b"nest",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "nest"):
            text = module.code(call).replace("nest", "flat", 1)
            yield module.finding(self.name, call, "is nested", edits=(module.replace(call, text),))


class WrapFirst(Codemod):
    """Puts a call around `wrapped()` by two insertions."""

    needles: ClassVar[tuple[bytes, ...]] = (b"wrapped",)
    around: ClassVar[str] = "first"

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if any(calls_of(module, self.around)):
            return
        for call in calls_of(module, "wrapped"):
            span = module.span(call)
            edits = (module.insert(span.start, f"{self.around}("), module.insert(span.end, ")"))
            yield module.finding(self.name, call, "is bare", edits=edits)


class WrapSecond(WrapFirst):
    """Puts another call around it."""

    around: ClassVar[str] = "second"


class WriteSnowman(Codemod):
    """Its new text does not fit into every encoding."""

    needles: ClassVar[tuple[bytes, ...]] = (b"snow",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "snow"):
            yield module.finding(self.name, call, "is cold", edits=(module.replace(call, "'\N{SNOWMAN}'"),))


class OverlapItself(Codemod):
    """Its edits cannot be made together."""

    needles: ClassVar[tuple[bytes, ...]] = (b"clumsy",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "clumsy"):
            edits = (module.replace(call, "a"), module.replace(call.func, "b"))
            yield module.finding(self.name, call, "is clumsy", edits=edits)


class LeaveText(Codemod):
    """Its edit stands behind the end of the file."""

    needles: ClassVar[tuple[bytes, ...]] = (b"beyond",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "beyond"):
            end = len(module.text)
            yield module.finding(self.name, call, "is far", edits=(Edit(module.path, Span(end + 5, end + 9), "x"),))


class EditElsewhere(Codemod):
    """Stands in one file, edits another, and does not notice that it has been there."""

    needles: ClassVar[tuple[bytes, ...]] = (b"remote",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "remote"):
            other = project.module("other.py")
            yield module.finding(self.name, call, "is remote", edits=(other.insert(0, "# visited\n"),))


class FailSometimes(Codemod):
    """Raises, leaves or dies, as the file says."""

    needles: ClassVar[tuple[bytes, ...]] = (b"raise_it", b"leave_it", b"die_now", b"recurse_it")

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if any(calls_of(module, "raise_it")):
            raise KeyError("no such thing")
        if any(calls_of(module, "leave_it")):
            raise SystemExit(3)
        if any(calls_of(module, "die_now")):
            os._exit(7)
        if any(calls_of(module, "recurse_it")):
            self.find_forever(module)
        yield from ()

    def find_forever(self, module: Module) -> None:
        self.find_forever(module)


class NeverEnd(Codemod):
    """Goes on for ever, as the file says: at work, asleep, or deaf to everything but the end of its process."""

    needles: ClassVar[tuple[bytes, ...]] = (b"spin_on", b"spin_deaf", b"sleep_on")

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if any(calls_of(module, "spin_deaf")):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGPROF})
        pause = 0.1 if any(calls_of(module, "sleep_on")) else 0
        while True:
            try:
                time.sleep(pause)
            except Exception:
                continue
        yield from ()


class CountTrees(Codemod):
    """Says of every file how many trees the project holds."""

    needles: ClassVar[tuple[bytes, ...]] = (b"x = ",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        yield module.finding(self.name, module.tree.body[0], str(len(project._modules)))

"""Two codemods for the same lines: one repairs each of them, the other keeps all of them out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from fullgraph import Codemod, Finding, Module, Project, Span


def loud_calls(module: Module) -> list[ast.Call]:
    calls = module.nodes(ast.Call)
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "loud"]


class MendLoud(Codemod):
    """Call `quiet()` where `loud()` is called."""

    needles: ClassVar[tuple[bytes, ...]] = (b"loud(",)
    repairs_breaks: ClassVar[bool] = True

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in loud_calls(module):
            yield module.finding(self.name, call, "loud breaks", edits=(module.replace(call.func, "quiet"),))


class KeepLoudOut(Codemod):
    """Call `outside()` in place of all lines that are loud."""

    needles: ClassVar[tuple[bytes, ...]] = (b"loud(",)
    isolates: ClassVar[bool] = True

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if calls := loud_calls(module):
            span = Span(module.span(calls[0]).start, module.span(calls[-1]).end)
            edit = module.replace(span, "outside()")
            yield module.finding(self.name, calls[0], "these lines are loud", edits=(edit,))

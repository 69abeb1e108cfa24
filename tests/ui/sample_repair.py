"""A codemod that repairs breaks, for the tests of the command line: it takes `noise()` out of traced functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from fullgraph import Codemod, Finding, Module, Project
from fullgraph.codemods.topics.breaks.traced import traced_functions


class DropNoise(Codemod):
    """Write `pass` for `noise()`.

    Left alone:
    - `noise(1)`
    """

    needles: ClassVar[tuple[bytes, ...]] = (b"noise",)
    repairs_breaks: ClassVar[bool] = True

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for traced in traced_functions(self, module, project, list(module.nodes(ast.FunctionDef))):
            for node in ast.walk(traced.function):
                if isinstance(node, ast.Expr) and is_noise(node.value) and traced.admits(node):
                    yield self.judge(module, node)

    def judge(self, module: Module, node: ast.Expr) -> Finding:
        assert isinstance(node.value, ast.Call)
        if node.value.args:
            return module.finding(self.name, node, "noise breaks", left_alone="the argument may matter")
        blank = " " * node.col_offset
        return module.finding(self.name, node, "noise breaks", edits=(module.replace(node, f"pass\n{blank}pass"),))


def is_noise(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("noise", "warn_noise")

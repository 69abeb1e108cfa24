"""What is said of one place: its edits, or why there are none."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.tensors.infer import Tensors

SETTING = "torch._dynamo.config.capture_scalar_outputs (see compile_setting) keeps the number in the graph"
SHAPES = "torch._dynamo.config.capture_dynamic_output_shape_ops (see compile_setting) keeps the shape in the graph"


@dataclass(frozen=True)
class Form:
    """What stands in compiled code in place of a part of a statement, if the conditions hold while compiling.

    `is_exact`: the same comes out in eager code too, down to the bits, so that it may stand there for both.
    """

    part: ast.expr
    text: str
    conditions: tuple[str, ...] = ()
    is_exact: bool = False


@dataclass(frozen=True)
class Repair:
    """One finding to be: where, what, and the edits or a form; without, `left_alone` says why, with a remedy."""

    node: ast.expr | ast.stmt
    message: str
    edits: tuple[Edit, ...] = ()
    left_alone: str = ""
    notes: tuple[str, ...] = ()
    form: Form | None = None
    remedy: str = ""


@dataclass(frozen=True)
class Look:
    """A function to be looked into."""

    module: Module
    project: Project
    function: Function

    @cached_property
    def tensors(self) -> Tensors:
        return self.project.worked_out(Tensors, lambda: Tensors(self.project))

    def where(self, node: ast.AST) -> str:
        return f"{self.module.path}:{getattr(node, 'lineno', 0)}"

    def holds(self, node: ast.AST) -> bool:
        """Whether a node stands in the function itself, not in one inside."""
        return self.module.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef) is self.function

    def is_tensor(self, node: ast.AST) -> bool:
        return self.tensors.known(self.module, node).is_tensor

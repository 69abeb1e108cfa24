"""Where a tensor in a message may be one of a function transform, which no operator of one's own can take."""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project

TRANSFORM = re.compile(rb"\bvmap\b|\bfunctorch\b|\btorch\.func\b|\bjacrev\b|\bjacfwd\b")
NO_TENSORS = {"shape", "dtype", "device", "ndim", "size", "dim", "numel"}


def transform_near(module: Module, project: Project, call: ast.Call, function: Function) -> str:
    """The file that transforms functions and names this one or its class, if the message may hold a tensor."""
    if not any(may_be_tensor(module, value) for value in given_to(module, call)):
        return ""
    owner = module.enclosing(function, ast.ClassDef)
    naming = project.mentions(owner.name if owner else function.name)
    return next((path for path in sorted(naming) if TRANSFORM.search(project.read(path))), "")


def given_to(module: Module, call: ast.Call) -> list[ast.expr]:
    """The values of a message: its arguments, the holes of f-strings, and the condition around it."""
    holes = [node.value for node in ast.walk(call) if isinstance(node, ast.FormattedValue)]
    outer = module.enclosing(call, ast.If)
    return [
        *(value for value in call.args if not isinstance(value, ast.JoinedStr)),
        *holes,
        *([outer.test] if outer else []),
    ]


def may_be_tensor(module: Module, value: ast.expr) -> bool:
    while isinstance(value, ast.Subscript):
        value = value.value
    if isinstance(value, ast.Call):
        value = value.func
        if module.scopes.is_builtin(value, "len", "tuple", "type"):
            return False
    return not (isinstance(value, ast.Constant) or (isinstance(value, ast.Attribute) and value.attr in NO_TENSORS))

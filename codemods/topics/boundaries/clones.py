"""Clones by hand at the calls: which of them a boundary makes superfluous."""

from __future__ import annotations

import ast

from fullgraph.codemods.model import Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.places import Place
from fullgraph.codemods.topics.boundaries.forms import Form
from fullgraph.codemods.topics.boundaries.outputs import is_plain_index


def clone_span(module: Module, clone: ast.Call) -> Span:
    """`.clone()` with the white space before its dot."""
    assert isinstance(clone.func, ast.Attribute)
    end, inner = module.span(clone).end, module.span(clone.func.value).end
    dot = module.text.rindex(".", 0, module.span(clone.func).end)
    gap = module.text[inner:dot]
    return Span(inner + len(gap.rstrip(" \t\r\n\\")), end)


def superfluous_clone(call: Place[ast.Call], form: Form) -> Place[ast.Call] | None:
    """The `.clone()` that is all that is ever made of a call's output, or of one of its parts."""
    module = call.module
    node: ast.AST = call.node
    if name := only_read(module, call.node):
        node = name
    is_part = False
    while (step := module.parent(node)) is not None:
        outer = module.parent(step)
        is_method = isinstance(step, ast.Attribute) and isinstance(outer, ast.Call) and outer.func is step
        if is_method and step.attr == "clone":  # type: ignore[attr-defined]
            is_plain = isinstance(outer, ast.Call) and not outer.args and not outer.keywords
            is_whole = is_part or form.what in ("tensor", "unknown")
            is_bare = "#" not in module.text[module.span(node).end : module.span(step).end]
            found = outer if is_plain and is_whole and is_bare and isinstance(outer, ast.Call) else None
            return Place(module, found) if found else None
        if is_method and step.attr == "detach":  # type: ignore[attr-defined]
            assert outer is not None
            node = outer
        elif not is_part and takes_part(module, step, node, form):
            node, is_part = step, True
        else:
            return None
    return None


def takes_part(module: Module, step: ast.AST, node: ast.AST, form: Form) -> bool:
    """Whether a step takes one tensor out of a tuple, a dict or a record."""
    if isinstance(step, ast.Attribute):
        return form.what in ("dataclass", "namedtuple") and step.attr in form.names
    is_index = isinstance(step, ast.Subscript) and step.value is node and isinstance(step.slice, ast.Constant)
    return is_index and form.what in ("tuple", "dict") and is_plain_index(module, step.slice)  # type: ignore[attr-defined]


def only_read(module: Module, node: ast.AST) -> ast.Name | None:
    """The only read of the name that a call is assigned to, if nothing else binds the name."""
    parent = module.parent(node)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return None
    target = parent.targets[0]
    scope = module.scopes.of(target)
    if not isinstance(scope, FUNCTIONS) or len(module.scopes.bindings(target)) != 1:
        return None
    reads = [name for name in module.scopes.names(scope, target.id) if name is not target]
    is_one = len(reads) == 1 and module.scopes.around(reads[0]) is scope
    return reads[0] if is_one and loops_around(module, reads[0]) == loops_around(module, target) else None


def loops_around(module: Module, node: ast.AST) -> list[ast.AST]:
    return [outer for outer in module.ancestors(node) if isinstance(outer, (ast.For, ast.AsyncFor, ast.While))]

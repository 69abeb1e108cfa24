"""Every use of a compiled callable in the project: its direct calls, and what makes it impossible to see them all."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import position
from fullgraph.codemods.syntax.assignments import FUNCTIONS, own_nodes
from fullgraph.codemods.syntax.compiled import compiled_code
from fullgraph.codemods.syntax.definitions import SAME_INSTANCE, Definitions
from fullgraph.codemods.syntax.places import Place, where
from fullgraph.codemods.topics.boundaries.borrowing import is_borrowed
from fullgraph.codemods.topics.boundaries.mentions import mentions
from fullgraph.codemods.topics.boundaries.requests import Compiled

MARK = "torch.compiler.cudagraph_mark_step_begin"
BEGIN = "begin_step"
ONLY_LOOKS = {"isinstance", "hasattr", "id", "type", "callable", "repr", "str", "print", "bool"}
RUNS = {"forward", "__call__"}
COPIES = re.compile(r"clone|deepcopy|copy_|_copy|copied|copies|expect_backward")
"""Names of what copies, and of our own means that keep a step from ending before its backward."""

LONGEST = 6
"""Statements of a boundary: more than that is a function that does other things too."""


@dataclass
class Uses:
    """The direct calls of one callable; those that are traced as part of other compiled code are kept apart.

    `boundary` is a function that marks the step, calls and copies: what other calls should go through.
    """

    calls: list[Place[ast.Call]] = field(default_factory=list)
    inlined: list[Place[ast.Call]] = field(default_factory=list)
    names: list[Place[ast.expr]] = field(default_factory=list)
    boundary: Place[Function] | None = None
    doubts: list[str] = field(default_factory=list)


def uses_of(project: Project, compiled: Compiled) -> Uses:
    """Everything that the project does with a callable."""
    return project.worked_out((compiled.owner, compiled.name), lambda: look_up(project, compiled))


def look_up(project: Project, compiled: Compiled) -> Uses:
    found = Uses()
    try:
        for module, node in mentions(project, compiled, found.doubts):
            found.names.append(Place(module, node))
            classify(project, compiled, found, module, node)
    except (Unsure, SourceError) as unseen:
        found.doubts.append(str(unseen))
    return found


def classify(project: Project, compiled: Compiled, found: Uses, module: Module, node: ast.expr) -> None:
    parent = module.parent(node)
    if not isinstance(getattr(node, "ctx", None), ast.Load) or is_requested(compiled, module, node):
        return
    if isinstance(parent, ast.Call) and parent.func is node:
        note_call(found, Place(module, parent))
    elif (reason := passed_on(module, node, parent, compiled)) and not is_borrowed(Definitions(project), module, node):
        found.doubts.append(f"{where(module, node)}: {reason}")


def is_requested(compiled: Compiled, module: Module, node: ast.expr) -> bool:
    """Whether the name stands in a request itself, or is called before it is compiled."""
    if module is not compiled.module:
        return False
    outer = [node, *module.ancestors(node)]
    if any(request.node in outer for request in compiled.requests):
        return True
    is_plain = compiled.kind in ("local", "global") and module.scopes.around(node) is compiled.owner
    first = min(position(module.statement(request.node)) for request in compiled.requests)
    return is_plain and position(module.statement(node)) < first and not in_loop(module, node)


def in_loop(module: Module, node: ast.AST) -> bool:
    return module.enclosing(node, ast.For, ast.While, ast.AsyncFor) is not None


def note_call(found: Uses, call: Place[ast.Call]) -> None:
    module, node = call
    function = module.enclosing(node, *FUNCTIONS)
    if module.enclosing(node, ast.JoinedStr):
        found.doubts.append(f"{call}: it is called inside an f-string")
    elif function and is_boundary(module, function):
        found.boundary = Place(module, function)
    else:
        found.calls.append(call)


def set_traced_apart(project: Project, uses: Uses) -> None:
    """Take out the calls that are traced as part of other compiled code. Slow in a big project: asked late."""
    traced = [call for call in uses.calls if is_inlined(project, call.module, call.node)]
    uses.inlined += traced
    uses.calls = [call for call in uses.calls if call not in traced]


def is_inlined(project: Project, module: Module, node: ast.AST) -> bool:
    """Whether a call stands in a function that other compiled code traces."""
    code = compiled_code(project)
    for outer in module.ancestors(node):
        if isinstance(outer, FUNCTIONS):
            key = module.path, module.symbol(outer)
            if key in code.entries or key in code.calls:
                return True
    return False


def is_boundary(module: Module, function: Function) -> bool:
    """Whether a short function begins a step, by torch's mark or the project's own, calls, and returns a copy."""
    if len(function.body) > LONGEST or not isinstance(function.body[-1], ast.Return):
        return False
    names = (getattr(node, "attr", getattr(node, "id", "")) for node in own_nodes(function))
    return bool(marks_in(module, function)) and any(COPIES.search(name) for name in names if name)


def marks_in(module: Module, function: ast.AST) -> list[ast.Call]:
    """Where a function begins a step."""
    return [node for node in own_nodes(function) if isinstance(node, ast.Call) and is_mark(module, node.func)]


def is_mark(module: Module, node: ast.expr, depth: int = 0) -> bool:
    """Whether this is torch's mark or the project's own: by its name, by `getattr`, or as what holds it."""
    dotted = spelled(module, node)
    if dotted == MARK or dotted.rpartition(".")[2] == BEGIN:
        return True
    return depth < 2 and any(is_mark(module, value, depth + 1) for value in held_by(module, node))


def spelled(module: Module, node: ast.expr) -> str:
    """The dotted name, also where `getattr` reads a part of it."""
    if isinstance(node, ast.Call) and module.scopes.is_builtin(node.func, "getattr") and len(node.args) > 1:
        name = getattr(node.args[1], "value", None)
        return f"{spelled(module, node.args[0])}.{name}" if isinstance(name, str) else ""
    return module.resolve(node) or ""


def held_by(module: Module, node: ast.expr) -> list[ast.expr]:
    """What a variable or an attribute of `self` is assigned in this module."""
    if isinstance(node, ast.Name):
        return [binding.value for binding in module.scopes.bindings(node) if binding.how == "assign" and binding.value]
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return []
    return [
        assign.value
        for assign in module.nodes(ast.Assign)
        if any(isinstance(target, ast.Attribute) and target.attr == node.attr for target in assign.targets)
    ]


def passed_on(module: Module, node: ast.expr, parent: ast.AST | None, compiled: Compiled) -> str:
    """Why calls may happen that cannot be seen: the callable itself goes somewhere else. Empty if it does not."""
    if isinstance(parent, ast.Attribute):
        return used_attribute(module, parent, compiled)
    if isinstance(parent, ast.Call) and module.scopes.is_builtin(parent.func, *ONLY_LOOKS):
        return ""
    if isinstance(parent, ast.Call) and module.scopes.is_builtin(parent.func, "getattr", "setattr"):
        asked = getattr(parent.args[1], "value", None) if parent.args[0] is node and len(parent.args) > 1 else RUNS
        return "" if isinstance(asked, str) and asked not in RUNS else f"`{module.code(parent)}` hands it on"
    if isinstance(parent, (ast.Compare, ast.UnaryOp)) or getattr(parent, "test", None) is node:
        return ""
    if isinstance(parent, ast.BoolOp) and getattr(module.parent(parent), "test", None) is parent:
        return ""
    if isinstance(parent, ast.Expr) or is_kept_under_its_name(module, node, parent):
        return ""
    return f"`{module.code(node)}` is passed on as a value, so that not all of its calls are seen"


def used_attribute(module: Module, read: ast.Attribute, compiled: Compiled) -> str:
    call = module.parent(read)
    is_called = isinstance(call, ast.Call) and call.func is read
    if read.attr in RUNS:
        return f"`{module.code(read)}` runs it under another name"
    if not is_called or read.attr not in SAME_INSTANCE:
        return ""
    assert call is not None
    outer = module.parent(call)
    if isinstance(outer, (ast.Expr, ast.Attribute)) or is_kept_under_its_name(module, read.value, outer):
        return ""
    if any(request.node in module.ancestors(call) for request in compiled.requests):
        return ""
    return f"`{module.code(call)}` is passed on as a value, so that not all of its calls are seen"


def is_kept_under_its_name(module: Module, node: ast.expr, parent: ast.AST | None) -> bool:
    """Whether it is assigned to what it already is."""
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    return len(targets) == 1 and ast.unparse(targets[0]) == ast.unparse(node)

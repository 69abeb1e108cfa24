"""Where a condition is decided once: before a loop, or before a function inside another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import statement_start
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import names_within, position
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.effects.answers import what_changes
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.placing import indented, insert_before
from fullgraph.codemods.syntax.signatures.constructor import insert_after
from fullgraph.codemods.topics.autocast.constant import (
    ANSWERS,
    attributes,
    check_bound,
    check_globals,
    check_guards,
    check_not_none,
    check_settled,
    names_in,
)
from fullgraph.codemods.topics.autocast.regions import is_autocast

LOOPS = (ast.For, ast.AsyncFor, ast.While)
WEIGHED = (ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.Attribute)


@dataclass(frozen=True)
class Home:
    """The statement before which (for `__init__`: behind which) a value is made once, and how it is named then.

    `prefix` is what stands before the name: `self.`. `caveat` says what could still change the value.
    """

    module: Module
    statement: ast.stmt
    scope: ast.AST
    prefix: str = ""
    is_behind: bool = False
    caveat: str = ""

    def write(self, name: str, lines: list[str]) -> tuple[Edit, ...]:
        """The edits after which the name holds, where it is wanted, what the lines give it."""
        if isinstance(self.statement, Function):
            return (insert_above(self.module, self.statement, lines),)
        if not self.is_behind:
            return (insert_before(self.module, self.statement, lines),)
        return (insert_after(self.module, self.statement, [indented(line, self.module.indent_unit) for line in lines]),)

    def takes(self, project: Project, name: str) -> bool:
        """Whether the name is free there."""
        if self.prefix:
            return not project.mentions(name)
        return name not in names_within(self.scope)


def insert_above(module: Module, function: Function, lines: list[str]) -> Edit:
    """New lines above a function and the comments that belong to it, with a blank line between."""
    indent, start = module.indent(function), module.line_start(statement_start(module, function))
    while module.text[module.line_start(start - 1) : start].startswith(f"{indent}#"):
        start = module.line_start(start - 1)
    text = "".join(f"{indent}{indented(line, module.indent_unit)}\n" for line in lines)
    return module.insert(start, text + "\n")


def local_home(project: Project, module: Module, value: ast.expr) -> Home | None:
    """Before the loop or the inner function that makes the value again and again; None if there is none."""
    function = module.enclosing(value, *FUNCTIONS, ast.Lambda, ast.ClassDef)
    if loops := list(loops_around(module, value)):
        return before_loop(project, module, value, value, loops)
    if not isinstance(function, Function):
        return None
    around = module.enclosing(function, *FUNCTIONS, ast.Lambda, ast.ClassDef)
    return before_function(project, module, value, function, around) if isinstance(around, Function) else None


# Before a loop


def loops_around(module: Module, node: ast.AST) -> Iterator[ast.stmt]:
    """The loops in whose bodies a node stands, innermost first, within one function."""
    child = node
    for parent in module.ancestors(node):
        if isinstance(parent, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            return
        if isinstance(parent, LOOPS) and child in parent.body:
            yield parent
        child = parent


def before_loop(project: Project, module: Module, value: ast.expr, site: ast.AST, loops: list[ast.stmt]) -> Home | None:
    """Before the outermost of these loops around a site that leaves the value as it is."""
    best, caveat = None, ""
    for loop in loops:
        if is_bound_within(module, value, loop):
            break
        doubt = what_changes(project, module, value, [loop])
        if doubt and (doubt.is_seen or not is_out_of_reach(project, module, value)):
            if best is None and doubt.is_seen:
                raise Unsure(doubt.text)
            if best is None:
                best, caveat = loop, doubt.text
            break
        best = loop
    if best is None:
        return None
    check_bound(module, value, best)
    check_not_none(module, value)
    check_guards(module, value, site, best)
    return Home(module, best, module.scopes.around(best), caveat=caveat)


def is_bound_within(module: Module, value: ast.expr, loop: ast.stmt) -> bool:
    """Whether the loop binds a variable that the value reads."""
    bindings = (binding for name in names_in(value) for binding in module.scopes.bindings(name))
    return any(loop in module.ancestors(binding.node) for binding in bindings)


def is_out_of_reach(project: Project, module: Module, value: ast.expr) -> bool:
    """Whether code that cannot be followed has no way to change the value: only constructors set what it reads."""
    try:
        check_globals(module, value)
        check_settled(project, module, value)
    except Unsure:
        return False
    is_rebound = any(is_rebound_inside(module, name) for name in names_in(value))
    return not is_rebound and looked_inside(module, value) is None


def is_rebound_inside(module: Module, name: ast.Name) -> bool:
    """Whether a function inside may bind the variable again, by `nonlocal`."""
    home = module.scopes.of(name)
    nodes = (binding.node for binding in module.scopes.bindings(name) if isinstance(home, Function))
    return any(module.enclosing(node, *FUNCTIONS, ast.Lambda) is not home for node in nodes)


def looked_inside(module: Module, value: ast.expr) -> ast.expr | None:
    """The first object whose contents the value depends on: nobody needs to set it again to change them."""
    nodes = (node for node in ast.walk(value) if isinstance(node, (ast.Name, ast.Attribute)))
    return next((node for node in nodes if not is_weighed(module, node, value)), None)


def is_weighed(module: Module, node: ast.Name | ast.Attribute, value: ast.expr) -> bool:
    """Whether it counts as true or false, as text, by its class or a comparison, or as the owner of an attribute."""
    parent = module.parent(node)
    if node is value or module.resolve(node) or (isinstance(node, ast.Name) and not module.scopes.bindings(node)):
        return True
    if isinstance(parent, ast.Compare):
        return node is parent.left or not any(isinstance(op, (ast.In, ast.NotIn)) for op in parent.ops)
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    if isinstance(call, ast.Call) and call.func is not node:
        is_answer = module.resolve(call.func) in ANSWERS or is_autocast(module, call)
        return is_answer or module.scopes.is_builtin(call.func, "isinstance", "str", "bool")
    return isinstance(parent, (*WEIGHED, ast.Call))


def check_not_inside(module: Module, value: ast.expr) -> None:
    if node := looked_inside(module, value):
        raise Unsure(f"{where(module, node)}: what `{ast.unparse(node)}` holds may change")


# In the function around


def before_function(
    project: Project, module: Module, value: ast.expr, function: Function, around: Function
) -> Home | None:
    """Before a function that is defined in another one, and reads nothing of its own."""
    scopes = {module.scopes.of(name) for name in names_in(value)}
    if around not in scopes or any(scope not in (around, module.tree) for scope in scopes):
        return None
    if any(loops_around(module, function)):
        return None
    for name in names_in(value):
        late = [item.node for item in module.scopes.bindings(name) if position(item.node) > position(function)]
        if late and module.scopes.of(name) is around:
            raise Unsure(f"{where(module, late[0])}: `{name.id}` is bound again behind {function.name}")
    check_bound(module, value, function)
    check_globals(module, value)
    check_guards(module, value, value, function)
    after = [node for node in around.body if position(node) >= position(function)]
    doubt = what_changes(project, module, value, [*function.body, *after])
    caveat = ""
    if doubt and (doubt.is_seen or not is_out_of_reach(project, module, value)):
        if doubt.is_seen:
            raise Unsure(doubt.text)
        caveat = doubt.text
    elif attributes(project, module, value):
        check_settled(project, module, value)
        check_not_inside(module, value)
    return Home(module, function, around, caveat=caveat)

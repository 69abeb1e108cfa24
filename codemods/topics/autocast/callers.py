"""A condition that only the caller of a private function can decide once: before the loop that calls it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import names_within
from fullgraph.codemods.syntax.assignments import argument_names
from fullgraph.codemods.syntax.effects.answers import what_changes
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.places import Place, where
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.syntax.signatures.arguments import add_keyword
from fullgraph.codemods.syntax.signatures.listed import add_parameter, break_parameters
from fullgraph.codemods.syntax.signatures.statement import rewrite_signature
from fullgraph.codemods.syntax.signatures.width import is_too_long
from fullgraph.codemods.topics.autocast.constant import check_guards, names_in
from fullgraph.codemods.topics.autocast.homes import Home, is_out_of_reach, loops_around


@dataclass(frozen=True)
class CallerHome(Home):
    """Before the loop that calls a function; the function takes the value as one more argument."""

    function: ast.FunctionDef | None = None
    call: ast.Call | None = None

    def write(self, name: str, lines: list[str]) -> tuple[Edit, ...]:
        assert self.function is not None, "made with one"
        assert self.call is not None, "made with one"
        argument = f"{name}={name}" if self.call.keywords else name
        loop = insert_before(self.module, self.statement, lines)
        return (
            loop,
            add_keyword(self.module, self.call, argument),
            *one_more_parameter(self.module, self.function, f"{name}: bool"),
        )

    def takes(self, project: Project, name: str) -> bool:
        assert self.function is not None, "made with one"
        return super().takes(project, name) and name not in names_within(self.function)


def one_more_parameter(module: Module, function: ast.FunctionDef, text: str) -> tuple[Edit, ...]:
    """The edits that add a parameter; a line that gets too long is broken."""
    start = module.span(function).start
    last = [*function.args.posonlyargs, *function.args.args][-1]
    is_one_line = module.line(start) == module.line(module.span(last).end)
    if not is_one_line or not is_too_long(module, start, len(text) + len(", ")):
        return rewrite_signature(module, function, lambda node: add_parameter(node, text))
    indent, unit = module.indent(function), module.indent_unit
    return rewrite_signature(module, function, lambda node: break_parameters(add_parameter(node, text), indent, unit))


def in_callers(project: Project, module: Module, value: ast.expr) -> Home | None:
    """Before the loop around the only call of a private function, if the value reads parameters that it is given."""
    function = module.enclosing(value, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    if not isinstance(function, ast.FunctionDef) or not is_private(function) or any(loops_around(module, value)):
        return None
    own = {name.id for name in names_in(value) if module.scopes.of(name) is function}
    if not own or not own <= argument_names(function):
        return None
    calls, others = uses(project, module, function)
    loop = next((loop for call in calls for loop in loops_around(call.module, call.node)), None)
    if loop is None:
        return None
    for place in (*others, *calls[1:], *(call for call in calls if function in module.ancestors(call.node))):
        raise Unsure(f"{place}: {function.name} is used here too")
    check_signature(project, module, function)
    check_given(module, function, calls[0].node, own)
    check_body(project, module, value, function)
    check_loop(project, module, value, loop)
    return CallerHome(module, loop, module.scopes.around(loop), function=function, call=calls[0].node)


def is_private(function: ast.FunctionDef) -> bool:
    return function.name.startswith("_") and not function.name.endswith("__")


def uses(
    project: Project, module: Module, function: ast.FunctionDef
) -> tuple[list[Place[ast.Call]], list[Place[ast.AST]]]:
    """The calls of a function by its name in its own module, and every other mention in the project."""
    calls: list[Place[ast.Call]] = []
    others: list[Place[ast.AST]] = []
    try:
        modules = project.modules_mentioning(function.name)
    except SourceError as error:
        raise Unsure(f"{error}: it may call {function.name}") from error
    for other in modules:
        for node in other.nodes(ast.Name, ast.Attribute, ast.alias, ast.Constant, ast.FunctionDef):
            named = (getattr(node, field, "") for field in ("id", "attr", "name", "value"))
            if node is function or function.name not in named:
                continue
            call = other.parent(node)
            if other is module and isinstance(call, ast.Call) and call.func is node:
                calls.append(Place(other, call))
            else:
                others.append(Place(other, node))
    return calls, others


def check_signature(project: Project, module: Module, function: ast.FunctionDef) -> None:
    """Raise unless one more parameter can stand last."""
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or function.decorator_list:
        raise Unsure(f"{where(module, function)}: {function.name} has no room for one more parameter")
    owner = module.parent(function)
    if isinstance(owner, ast.ClassDef):
        for other, heir in heirs(project, owner):
            if any(getattr(node, "name", "") == function.name for node in heir.body):
                raise Unsure(f"{where(other, heir)}: {heir.name} has a {function.name} of its own")


def check_given(module: Module, function: ast.FunctionDef, call: ast.Call, own: set[str]) -> None:
    """Raise unless the caller knows what the value reads by the same names."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    given: dict[str, ast.expr] = dict(zip(names, [*receiver, *call.args], strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    for name in sorted(own):
        if getattr(given.get(name), "id", "") != name:
            raise Unsure(f"{where(module, call)}: the caller has another name for `{name}`")


def check_body(project: Project, module: Module, value: ast.expr, function: ast.FunctionDef) -> None:
    """Raise if the function itself may change the value before it is asked for."""
    check_guards(module, value, value, function)
    top = next(node for node in function.body if node is module.statement(value) or node in module.ancestors(value))
    doubt = what_changes(project, module, value, function.body[: function.body.index(top)])
    if doubt and (doubt.is_seen or not is_out_of_reach(project, module, value)):
        raise Unsure(doubt.text)


def check_loop(project: Project, module: Module, value: ast.expr, loop: ast.stmt) -> None:
    """Raise if the caller's loop binds a name that the value reads, or may change what it reads otherwise."""
    names = {name.id for name in names_in(value)}
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and node.id in names and not isinstance(node.ctx, ast.Load):
            raise Unsure(f"{where(module, node)}: the loop binds `{node.id}`")
    doubt = what_changes(project, module, value, [loop])
    if doubt and (doubt.is_seen or not is_out_of_reach(project, module, value)):
        raise Unsure(doubt.text)

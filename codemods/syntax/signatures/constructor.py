"""Give a class one more setting: a keyword of `__init__` that is stored on the object, or a dataclass's field."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import argument_names
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.syntax.signatures.listed import add_parameter, break_parameters
from fullgraph.codemods.syntax.signatures.statement import rewrite_signature
from fullgraph.codemods.syntax.signatures.width import is_too_long, shown_width


@dataclass(frozen=True)
class Setting:
    """One more keyword of `__init__`, stored under its own name. `is_state`: only stored, with this value.

    A parameter without an annotation has an empty one. What is not `is_stored` is for `__init__` itself alone.
    """

    name: str
    annotation: str = "bool"
    default: str = "False"
    is_state: bool = False
    is_stored: bool = True

    @property
    def parameter(self) -> str:
        return f"{self.name}: {self.annotation} = {self.default}" if self.annotation else f"{self.name}={self.default}"


def require_setting(module: Module, project: Project, owner: ast.ClassDef, name: str) -> tuple[Edit, ...]:
    """The edits after which `self.name` is a bool, False unless asked for; none if the class has it already."""
    return require_settings(module, project, owner, [Setting(name)])


def require_settings(
    module: Module, project: Project, owner: ast.ClassDef, settings: Sequence[Setting]
) -> tuple[Edit, ...]:
    """The edits after which the object has these; none for those that the class takes and stores already."""
    places = [node for node in owner.body if getattr(node, "name", "") == "__init__"]
    where = f"{module.path}:{owner.lineno}"
    if not places:
        if is_dataclass(module, owner):
            check_slots(module, owner)
            return add_fields(module, project, owner, settings)
        raise Unsure(f"{owner.name} has no __init__ of its own ({where})")
    if len(places) > 1 or not isinstance(places[0], ast.FunctionDef):
        raise Unsure(f"{owner.name}.__init__ is not one plain function ({module.path}:{places[-1].lineno})")
    init = places[0]
    missing = [setting for setting in settings if not has_setting(module, owner, init, setting.name)]
    if not missing:
        return ()
    check_any_keyword(module, init, [setting.name for setting in missing if not setting.is_state])
    if any(setting.is_stored for setting in missing):
        check_slots(module, owner)
        check_heirs(project, owner)
    return add_to_init(module, init, missing)


def check_any_keyword(module: Module, init: ast.FunctionDef, names: Sequence[str]) -> None:
    """Unsure if callers may mean something else by these names already: what `**kw` brings is read."""
    others = init.args.kwarg
    if names and others and any(isinstance(node, ast.Name) and node.id == others.arg for node in ast.walk(init)):
        taken = " or ".join(f"`{name}`" for name in names)
        raise Unsure(f"{module.path}:{init.lineno}: **{others.arg} may hold {taken} already")


def check_heirs(project: Project, owner: ast.ClassDef) -> None:
    """Unsure if a subclass would be made without the new settings."""
    for other, heir in heirs(project, owner):
        init = next((node for node in heir.body if getattr(node, "name", "") == "__init__"), None)
        if init and not any(isinstance(node, ast.Expr) and is_init_call(node) for node in ast.walk(init)):
            raise Unsure(f"{heir.name} does not call {owner.name}.__init__ ({other.path}:{heir.lineno})")


def check_slots(module: Module, owner: ast.ClassDef) -> None:
    if slots := next((node for node in owner.body if "__slots__" in bound_by(node)), None):
        raise Unsure(f"{owner.name} has __slots__ ({module.path}:{slots.lineno})")


def has_setting(module: Module, owner: ast.ClassDef, init: ast.FunctionDef, name: str) -> bool:
    """Whether `__init__` takes and stores it. Any other use of the name in the class is a reason to stop."""
    stored = [
        node
        for node in ast.walk(owner)
        if (isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store))
        or (isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name)
        or (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store))
    ]
    if name in argument_names(init) and stored:
        return True
    if name in argument_names(init) or stored:
        line = stored[0].lineno if stored else init.lineno
        raise Unsure(f"{owner.name} uses the name {name} for something else ({module.path}:{line})")
    return False


def add_to_init(module: Module, init: ast.FunctionDef, settings: Sequence[Setting]) -> tuple[Edit, ...]:
    """Parameters that no positional caller meets, and the lines that store them, behind `super().__init__()`."""
    arguments = [*init.args.posonlyargs, *init.args.args]
    if not arguments:
        raise Unsure(f"__init__ has no self ({module.path}:{init.lineno})")
    me = arguments[0].arg
    given = [item.parameter for item in settings if not item.is_state]
    kept = [item for item in settings if item.is_stored]
    lines = [f"{me}.{item.name} = {item.default if item.is_state else item.name}" for item in kept]
    try:
        signature = rewrite_signature(module, init, lambda function: add_parameters(module, init, function, given))
    except ValueError as error:
        raise Unsure(str(error)) from error
    return (*signature, store_lines(module, init, lines)) if lines else signature


def add_parameters(module: Module, init: ast.FunctionDef, function: Any, given: Sequence[str]) -> Any:
    """The function with more parameters; a signature on one line is broken where it would leave the file's width."""
    function = reduce(add_parameter, given, function)
    start, end = module.span(init).start, header_end(init)
    added = sum(shown_width(module, f", {text}") for text in given)
    is_one_line = module.line(start) == end and module.begins_line(init.body[0])
    if not is_one_line or not is_too_long(module, start, added):
        return function
    return break_parameters(function, module.indent(init), module.indent_unit)


def header_end(init: ast.FunctionDef) -> int:
    """The line on which the last of the signature stands that has a place."""
    parts = [node for node in ast.walk(init.args) if isinstance(node, (ast.arg, ast.expr))]
    return max(node.end_lineno or 0 for node in (*parts, *([init.returns] if init.returns else ())))


def store_lines(module: Module, init: Function, lines: Sequence[str]) -> Edit:
    body = init.body
    if not module.begins_line(body[0]):
        return insert_before(module, body[0], lines)
    calls = [node for node in body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    supers = [node for node in calls if getattr(node.value, "func", None) and is_init_call(node)]
    head = supers[-1] if supers else body[0] if is_docstring(body[0]) else None
    if head is None:
        return insert_before(module, body[0], lines)
    following = body[body.index(head) + 1 :]
    if following and module.begins_line(following[0]) and module.line(module.span(head).end) < following[0].lineno:
        return insert_after(module, head, lines)
    if not following:
        return insert_after(module, head, lines)
    return insert_before(module, following[0], lines)


def insert_after(module: Module, statement: ast.stmt, lines: Sequence[str]) -> Edit:
    """New lines right below a statement that ends its line."""
    end = module.line_end(module.span(statement).end)
    indent = module.indent(statement)
    if end == len(module.text) and not module.text.endswith(("\n", "\r")):
        return module.insert(end, "".join(f"\n{indent}{line}" for line in lines))
    return module.insert(end, "".join(f"{indent}{line}\n" for line in lines))


def is_init_call(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Call) and getattr(node.value.func, "attr", "") == "__init__"


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_dataclass(module: Module, owner: ast.ClassDef) -> bool:
    """Whether `dataclass` makes its `__init__`."""
    made = [item for item in owner.decorator_list if module.resolve(called(item)) == "dataclasses.dataclass"]
    return bool(made) and not any(keyword.arg == "init" for keyword in getattr(made[0], "keywords", []))


def called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def add_fields(module: Module, project: Project, owner: ast.ClassDef, settings: Sequence[Setting]) -> tuple[Edit, ...]:
    """Last fields with defaults. A subclass would take them before its own fields: positional callers would break."""
    known = {bound for node in owner.body for bound in bound_by(node)}
    missing = [setting for setting in settings if setting.name not in known]
    if not missing:
        return ()
    for other, heir in heirs(project, owner):
        raise Unsure(f"{owner.name} is a dataclass, and {heir.name} inherits it ({other.path}:{heir.lineno})")
    fields = [node for node in owner.body if isinstance(node, ast.AnnAssign)]
    if not fields or not module.begins_line(fields[-1]) or shares_line(module, fields[-1]):
        raise Unsure(f"{owner.name} has no field to put another one behind ({module.path}:{owner.lineno})")
    made, imports = (
        module.imports.require("dataclasses", "field") if any(item.is_state for item in missing) else ("", ())
    )
    lines = [f"{item.name}: {item.annotation} = {default_of(item, made)}" for item in missing]
    return (*imports, insert_after(module, fields[-1], lines))


def default_of(setting: Setting, field: str) -> str:
    hidden = f"{field}(default={setting.default}, init=False, repr=False, compare=False)"
    return hidden if setting.is_state else setting.default


def shares_line(module: Module, node: ast.stmt) -> bool:
    end = module.span(node).end
    return module.text[end : module.line_end(end)].lstrip(" \t").startswith(";")


def bound_by(node: ast.stmt) -> set[str]:
    """The plain names that a statement of a class body binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}

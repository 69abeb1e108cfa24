"""Give a class one more setting: a keyword of `__init__` that is stored on the object, or a dataclass's field."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.codemod import Unsure
from codemods.model import Edit, SourceError
from codemods.module import Function, Module
from codemods.project import Project
from codemods.syntax.assignments import argument_names
from codemods.syntax.placing import insert_before
from codemods.syntax.statement import add_parameter, rewrite_statement


def require_setting(module: Module, project: Project, owner: ast.ClassDef, name: str) -> tuple[Edit, ...]:
    """The edits after which `self.name` is a bool, False unless asked for; none if the class has it already."""
    places = [node for node in owner.body if getattr(node, "name", "") == "__init__"]
    where = f"{module.path}:{owner.lineno}"
    if not places:
        if is_dataclass(module, owner):
            check_slots(module, owner)
            return add_field(module, project, owner, name)
        raise Unsure(f"{owner.name} has no __init__ of its own ({where})")
    if len(places) > 1 or not isinstance(places[0], ast.FunctionDef):
        raise Unsure(f"{owner.name}.__init__ is not one plain function ({module.path}:{places[-1].lineno})")
    if has_setting(module, owner, places[0], name):
        return ()
    check_slots(module, owner)
    for other, heir in heirs(project, owner):
        init = next((node for node in heir.body if getattr(node, "name", "") == "__init__"), None)
        if init and not any(isinstance(node, ast.Expr) and is_init_call(node) for node in ast.walk(init)):
            raise Unsure(f"{heir.name} does not call {owner.name}.__init__ ({other.path}:{heir.lineno})")
    return add_to_init(module, places[0], name)


def check_slots(module: Module, owner: ast.ClassDef) -> None:
    if slots := next((node for node in owner.body if "__slots__" in bound_by(node)), None):
        raise Unsure(f"{owner.name} has __slots__ ({module.path}:{slots.lineno})")


def heirs(project: Project, owner: ast.ClassDef) -> Iterator[tuple[Module, ast.ClassDef]]:
    """The classes of the project that inherit this one directly, by its name."""
    heading = re.compile(rb"class\s+\w+\s*\([^)]*\b" + owner.name.encode() + rb"\b")
    try:
        others = [project.module(path) for path in sorted({path for path, _ in project.matches(heading)})]
    except SourceError as error:
        raise Unsure(f"{error}: it may inherit {owner.name}") from error
    for other in others:
        for node in other.nodes(ast.ClassDef):
            if any(ast.unparse(base).rpartition(".")[2] == owner.name for base in node.bases):
                yield other, node


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


def add_to_init(module: Module, init: ast.FunctionDef, name: str) -> tuple[Edit, ...]:
    """A parameter that no positional caller meets, and the line that stores it, behind `super().__init__()`."""
    arguments = [*init.args.posonlyargs, *init.args.args]
    if not arguments:
        raise Unsure(f"__init__ has no self ({module.path}:{init.lineno})")
    line = f"{arguments[0].arg}.{name} = {name}"
    try:
        signature = rewrite_statement(module, init, lambda function: add_parameter(function, f"{name}: bool = False"))
    except ValueError as error:
        raise Unsure(str(error)) from error
    return (*signature, store_line(module, init, line))


def store_line(module: Module, init: Function, line: str) -> Edit:
    body = init.body
    if not module.begins_line(body[0]):
        return insert_before(module, body[0], [line])
    calls = [node for node in body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    supers = [node for node in calls if getattr(node.value, "func", None) and is_init_call(node)]
    head = supers[-1] if supers else body[0] if is_docstring(body[0]) else None
    if head is None:
        return insert_before(module, body[0], [line])
    following = body[body.index(head) + 1 :]
    if following and module.begins_line(following[0]) and module.line(module.span(head).end) < following[0].lineno:
        return insert_after(module, head, line)
    if not following:
        return insert_after(module, head, line)
    return insert_before(module, following[0], [line])


def insert_after(module: Module, statement: ast.stmt, line: str) -> Edit:
    """A new line right below a statement that ends its line."""
    end = module.line_end(module.span(statement).end)
    indent = module.indent(statement)
    if end == len(module.text) and not module.text.endswith(("\n", "\r")):
        return module.insert(end, f"\n{indent}{line}")
    return module.insert(end, f"{indent}{line}\n")


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


def add_field(module: Module, project: Project, owner: ast.ClassDef, name: str) -> tuple[Edit, ...]:
    """A last field with a default. A subclass would take it before its own fields: positional callers would break."""
    if name in {bound for node in owner.body for bound in bound_by(node)}:
        return ()
    for other, heir in heirs(project, owner):
        raise Unsure(f"{owner.name} is a dataclass, and {heir.name} inherits it ({other.path}:{heir.lineno})")
    fields = [node for node in owner.body if isinstance(node, ast.AnnAssign)]
    if not fields or not module.begins_line(fields[-1]) or shares_line(module, fields[-1]):
        raise Unsure(f"{owner.name} has no field to put another one behind ({module.path}:{owner.lineno})")
    return (insert_after(module, fields[-1], f"{name}: bool = False"),)


def shares_line(module: Module, node: ast.stmt) -> bool:
    end = module.span(node).end
    return module.text[end : module.line_end(end)].lstrip(" \t").startswith(";")


def bound_by(node: ast.stmt) -> set[str]:
    """The plain names that a statement of a class body binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}

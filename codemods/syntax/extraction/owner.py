"""The class around a method: what of it statements need that move out of the method."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import NamedTuple

from fullgraph.codemods.model import Span
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import FUNCTIONS, attribute_settings
from fullgraph.codemods.syntax.extraction.extractable import nodes_of
from fullgraph.codemods.syntax.extraction.guessed_types import guess


@dataclass(frozen=True)
class Parameter:
    """A parameter, what is passed for it, and its annotation if that is known."""

    name: str
    argument: str
    annotation: str = ""

    @property
    def declaration(self) -> str:
        return f"{self.name}: {self.annotation}" if self.annotation else self.name


class Owner(NamedTuple):
    """The class of a method, and the name of the method's first parameter."""

    kind: ast.ClassDef
    name: str


def owner_of(module: Module, function: Function) -> Owner | None:
    """The class of which the function is a plain method, whose first parameter nothing sets again."""
    kind = module.parent(function)
    first = [*function.args.posonlyargs, *function.args.args][:1]
    decorators = {getattr(item, "id", "") for item in function.decorator_list}
    if not isinstance(kind, ast.ClassDef) or not first or decorators & {"staticmethod", "classmethod"}:
        return None
    is_settled = len(module.scopes.within(function, first[0].arg)) == 1 and function.name != "__new__"
    return Owner(kind, first[0].arg) if is_settled else None


def is_private(module: Module, node: ast.AST) -> bool:
    """Whether a node means something only inside its class: `super()`, `__class__`, `__name`."""
    if not any(isinstance(outer, ast.ClassDef) for outer in module.ancestors(node)):
        return False
    named = [getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname", "rest")]
    mangled = any(isinstance(name, str) and name.startswith("__") and not name.endswith("__") for name in named)
    return mangled or module.scopes.is_builtin(node, "super", "__class__")


def attribute_parameters(
    module: Module, owner: Owner, statements: Sequence[ast.stmt]
) -> list[tuple[Parameter, Span]] | None:
    """A parameter for each `self.name` that is read; None if `self` is used for more than settled attributes."""
    found: list[tuple[Parameter, Span]] = []
    for node in nodes_of(statements):
        if isinstance(node, ast.Name) and node.id == owner.name:
            read = module.parent(node)
            if not isinstance(read, ast.Attribute) or not is_plain_read(module, read):
                return None
            settled = settled_annotation(module, owner.kind, read.attr)
            if settled is None:
                return None
            found.append((Parameter(read.attr.lstrip("_"), module.code(read), settled), module.span(read)))
    parameters = {parameter for parameter, _ in found}
    is_clear = len({parameter.name for parameter in parameters}) == len(parameters)
    return found if is_clear else None


def is_plain_read(module: Module, node: ast.Attribute) -> bool:
    """Whether an attribute is only read, and stands where the text can be replaced: not inside an f-string."""
    parent = module.parent(node)
    is_called = isinstance(parent, ast.Call) and parent.func is node
    in_text = module.enclosing(node, ast.JoinedStr) is not None
    name = node.attr.lstrip("_")
    is_name = name.isidentifier() and not iskeyword(name)
    return isinstance(node.ctx, ast.Load) and not is_called and not in_text and is_name


def settled_annotation(module: Module, kind: ast.ClassDef, name: str) -> str | None:
    """The annotation (empty if unknown) of an attribute that `__init__` alone sets, in any case; None otherwise."""
    init = next((node for node in kind.body if getattr(node, "name", "") == "__init__"), None)
    settings = attribute_settings(kind, name)
    if init is None or not settings or not all(item in getattr(init, "body", []) for item in settings):
        return None
    if module.scopes.within(kind, name) or any(is_changed(module, node) for node in changes(module, name)):
        return None
    item = settings[0]
    if isinstance(item, ast.AnnAssign):
        return plain_annotation(module, item.annotation)
    if not isinstance(init, FUNCTIONS) or item.value is None:
        return ""
    given = item.value
    return known_annotation(module, init, given.id) if isinstance(given, ast.Name) else guess(module, init, given)


def changes(module: Module, name: str) -> list[ast.AST]:
    """Every other way in which this file sets an attribute of this name: augmented, deleted, in a tuple, a loop."""
    return [node for node in module.unordered(ast.Attribute) if node.attr == name]


def is_changed(module: Module, node: ast.AST) -> bool:
    is_set = not isinstance(getattr(node, "ctx", None), ast.Load)
    return is_set and not isinstance(module.parent(node), (ast.Assign, ast.AnnAssign))


def known_annotation(module: Module, function: Function, name: str) -> str:
    """The annotation of a local name, if all that binds it agrees and it means the same at the top level.

    In a function with annotations, the type of a name without one is guessed where that is easy.
    """
    bindings = module.scopes.within(function, name)
    notes = {module.code(binding.annotation) for binding in bindings if binding.annotation is not None}
    first = next((binding.annotation for binding in bindings if binding.annotation is not None), None)
    is_sole = len(notes) == 1 and (len(bindings) == 1 or bindings[0].annotation is not None)
    if first is not None:
        return plain_annotation(module, first) if is_sole else ""
    guesses = {guess(module, function, binding.node) for binding in bindings if isinstance(binding.node, ast.Name)}
    if len(bindings) == 1 and bindings[0].how == "assign" and bindings[0].value and not bindings[0].path:
        return guess(module, function, bindings[0].value)
    return guesses.pop() if len(guesses) == 1 else ""


def plain_annotation(module: Module, node: ast.expr) -> str:
    """The text of an annotation of which every name is the module's own or a builtin; else nothing."""
    names = (name for name in ast.walk(node) if isinstance(name, ast.Name))
    text = module.code(node)
    is_plain = all(module.scopes.of(name) is module.tree for name in names)
    return text if is_plain and "\n" not in text and "\r" not in text else ""

"""Who makes objects of a class, and which of its arguments they pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Place
from fullgraph.codemods.syntax.signatures.constructor import is_dataclass

NOT_FIELDS = ("ClassVar", "KW_ONLY")


class Parameter(NamedTuple):
    """A parameter of a constructor. `position` counts without `self`; -1: by keyword only."""

    name: str
    position: int
    has_default: bool


def constructions(project: Project, module: Module, owner: ast.ClassDef) -> Iterator[Place[ast.Call]]:
    """The calls in the project that make an object of this very class, in the order of the files."""
    definitions = Definitions(project)
    for path in project.mentions(owner.name):
        try:
            other = project.module(path)
        except SourceError:
            continue
        for call in other.nodes(ast.Call):
            if is_by_class(other, call, owner) or (
                last_of(call.func) in names_for(other, owner.name) and is_named(definitions, other, call, module, owner)
            ):
                yield Place(other, call)


def last_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def names_for(module: Module, name: str) -> set[str]:
    """What a file may call the class."""
    dotted = module.imports.meanings.items()
    return {name, *(alias for alias, meanings in dotted if any(m.rpartition(".")[2] == name for m in meanings))}


def is_named(definitions: Definitions, other: Module, call: ast.Call, module: Module, owner: ast.ClassDef) -> bool:
    found = definitions.denoted(other, call.func)
    return found is not None and found.module.path == module.path and found.node is owner


def is_by_class(module: Module, call: ast.Call, owner: ast.ClassDef) -> bool:
    """`cls(...)` in a class method."""
    method = module.enclosing(call, *FUNCTIONS)
    if method is None or module.parent(method) is not owner or not isinstance(call.func, ast.Name):
        return False
    is_class_method = any(getattr(item, "id", "") == "classmethod" for item in method.decorator_list)
    return is_class_method and [call.func.id] == [item.arg for item in method.args.args[:1]]


def parameter_of(module: Module, owner: ast.ClassDef, name: str) -> Parameter | None:
    """How a class takes an argument."""
    return next((one for one in parameters_of(module, owner) if one.name == name), None)


def parameters_of(module: Module, owner: ast.ClassDef) -> list[Parameter]:
    """What a class takes: the parameters of `__init__`, or a dataclass's fields."""
    inits = [node for node in owner.body if isinstance(node, FUNCTIONS) and node.name == "__init__"]
    if not inits:
        return fields_of(owner) if is_dataclass(module, owner) else []
    arguments = inits[0].args
    plain = [*arguments.posonlyargs, *arguments.args]
    without = len(plain) - len(arguments.defaults)
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [
        *(Parameter(item.arg, place - 1, place >= without) for place, item in enumerate(plain) if place),
        *(Parameter(item.arg, -1, default is not None) for item, default in keywords),
    ]


def fields_of(owner: ast.ClassDef) -> list[Parameter]:
    noted = [node for node in owner.body if isinstance(node, ast.AnnAssign)]
    fields = [node for node in noted if not any(word in ast.unparse(node.annotation) for word in NOT_FIELDS)]
    taken = [node for node in fields if "init=False" not in ast.unparse(node)]
    return [
        Parameter(node.target.id, place, node.value is not None)
        for place, node in enumerate(taken)
        if isinstance(node.target, ast.Name)
    ]


def passes(call: ast.Call, parameter: Parameter) -> bool:
    """Whether a call passes an argument, or may by `*` or `**`."""
    if any(keyword.arg in (parameter.name, None) for keyword in call.keywords):
        return True
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return parameter.position >= 0
    return 0 <= parameter.position < len(call.args)

"""What a scenario is about: the function behind `module:name`, and how to get hold of it."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass

from fullgraph.validate.drafting.construct import names_in
from fullgraph.validate.drafting.library import Definition, Functions, Library, Module
from fullgraph.validate.drafting.parameters import Parameter, parameters_of
from fullgraph.validate.model import ValidateError

RESERVED = {
    "build",
    "cases",
    "state",
    "torch",
    "device",
    "seed",
    "tolerance",
    "exact",
    "backward",
    "compile_options",
    "compiled",
}
"""Names that a scenario file has of its own."""


@dataclass(frozen=True)
class Subject:
    """`function` is what runs; `owner` the class that is built first, if it needs an object."""

    target: str
    function: Definition
    owner: Definition | None
    takes_self: bool
    method: str = ""
    """The method to hand out; empty where the object itself is called."""

    @property
    def node(self) -> ast.FunctionDef | ast.AsyncFunctionDef:
        assert isinstance(self.function.node, Functions)
        return self.function.node

    @property
    def parameters(self) -> list[Parameter]:
        return parameters_of(self.function, skip_first=self.takes_self)


def find_subject(target: str, library: Library) -> Subject:
    """Raises ValidateError, with the way out, for what is not there or cannot be called alone."""
    name, _, qualname = target.partition(":")
    module = library.module(name)
    if module is None:
        wrong = "cannot be read as Python" if library.read(name) else "is neither in the project nor installed"
        raise ValidateError(f"the module {name!r} {wrong}")
    found = library.find_in(module, qualname.split("."))
    if found is None:
        raise ValidateError(f"there is no {qualname!r} in module {name!r}{suggest(qualname, module)}")
    if found.is_class:
        return called_object(target, found, library)
    if not isinstance(found.node, Functions):
        raise ValidateError(f"{target} is a value, not a function or a class; name what makes it")
    refuse(target, found.node)
    holder = library.find_in(module, qualname.split(".")[:-1]) if "." in qualname else None
    if holder is None:
        return Subject(target, found, None, False)
    decorators = {one.id for one in found.node.decorator_list if isinstance(one, ast.Name)}
    if decorators & {"staticmethod", "classmethod"}:
        return Subject(target, found, None, "classmethod" in decorators)
    return Subject(target, found, holder, True, qualname.rpartition(".")[2])


def check_name(target: str, library: Library) -> None:
    """Refuse before a program runs for hours what the module's text shows to be wrong: no such name, or a generator."""
    name, _, qualname = target.partition(":")
    module = library.module(name)
    if module is None or module.stars or "__getattr__" in module.names:
        return
    parts = qualname.split(".")
    if parts[0] not in module.names and parts[0] not in module.imports:
        raise ValidateError(f"there is no {qualname!r} in module {name!r}{suggest(qualname, module)}")
    found = library.find_in(module, parts)
    if found is not None and isinstance(found.node, Functions):
        refuse(target, found.node)
    elif found is not None and found.is_class:
        called = next(
            (one for one in ("forward", "__call__", *names_in(found)) if library.member(found, one)), "method"
        )
        raise ValidateError(f"{target} is a class; name one of its methods, like {target}.{called}")


def called_object(target: str, found: Definition, library: Library) -> Subject:
    """A class stands for its objects: an nn.Module for its forward, others for their `__call__`."""
    for name in ("forward", "__call__"):
        method = library.member(found, name)
        if method and isinstance(method.node, Functions) and method.module.name != "torch.nn.modules.module":
            return Subject(target, method, found, True)
    listed = [name for name in names_in(found) if not name.startswith("_")]
    example = f", like {target}.{listed[0]}" if listed else ""
    raise ValidateError(f"{target} is a class whose objects cannot be called; name one of its methods{example}")


def refuse(target: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    decorators = {ast.unparse(one).rpartition(".")[2] for one in node.decorator_list}
    if decorators & {"property", "cached_property", "setter"}:
        raise ValidateError(f"{target} is a property; name a function or a method")
    is_async = isinstance(node, ast.AsyncFunctionDef)
    if is_async or any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in own_nodes(node)):
        kind = "coroutine" if is_async else "generator"
        raise ValidateError(
            f"{target} is a {kind} function: calling it runs nothing yet; name a plain function that it calls"
        )


def own_nodes(node: ast.AST) -> list[ast.AST]:
    """Everything inside a function, without the functions inside it."""
    found: list[ast.AST] = []
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*Functions, ast.Lambda, ast.ClassDef)):
            found += [child, *own_nodes(child)]
    return found


def suggest(name: str, module: Module) -> str:
    known = [
        *module.names,
        *(f"{one}.{inner}" for one, node in module.names.items() for inner in names_in(Definition(module, one, node))),
    ]
    tail = name.rpartition(".")[2]
    near = [other for other in known if other.rpartition(".")[2] == tail]
    near += [other for other in difflib.get_close_matches(name, known, n=2) if other not in near]
    return f"; did you mean {' or '.join(near[:2])}?" if near else ""

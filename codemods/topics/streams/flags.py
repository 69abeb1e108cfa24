"""Whether a flag ever has more than one value in a project."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.places import where

SETTERS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.comprehension, ast.withitem)


@dataclass(frozen=True)
class Settled:
    """The one value that a flag has, and a place that says so."""

    value: object
    where: str


@dataclass(frozen=True)
class Taker:
    """A function or class that is given the flag: at which place (None: by keyword only), and what it is without."""

    module: Module
    name: str
    index: int | None
    default: ast.expr | None


class Varies(Exception):  # noqa: N818 - it is an answer, not an error
    """The flag may have more than one value."""


def only_value(project: Project, flag: str) -> Settled | None:
    """The value that a flag of this name has wherever the project sets it; None if it may have others."""
    found: dict[object, str] = {}
    try:
        for value, place in all_values(project, flag):
            found.setdefault(value, place)
    except (SourceError, Varies):
        return None
    return Settled(*next(iter(found.items()))) if len(found) == 1 else None


def all_values(project: Project, flag: str) -> Iterator[tuple[object, str]]:
    if "_" in flag and project.mentions(flag.replace("_", "-")):
        raise Varies
    for module in project.modules_mentioning(flag):
        check_texts(module, flag)
        for node in module.nodes(*SETTERS):
            yield from assigned(module, node, flag)
        for call in module.nodes(ast.Call):
            for keyword in call.keywords:
                if keyword.arg == flag:
                    yield from told(module, keyword.value, flag)
        for taker in takers(module, flag):
            yield from given(project, taker, flag)


def check_texts(module: Module, flag: str) -> None:
    """A flag that a text names may come from a file, the command line or `setattr`."""
    for node in module.nodes(ast.Constant):
        if isinstance(node.value, str) and node.value.lstrip("-") == flag:
            raise Varies


def assigned(module: Module, node: ast.AST, flag: str) -> Iterator[tuple[object, str]]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    targets = [node.optional_vars] if isinstance(node, ast.withitem) else targets
    for target in filter(None, targets):
        if is_named(target, flag) and isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            yield from told(module, node.value, flag)
        elif any(
            is_named(part, flag) and isinstance(getattr(part, "ctx", None), ast.Store) for part in ast.walk(target)
        ):
            raise Varies


def is_named(node: ast.AST, flag: str) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) == flag


def told(module: Module, value: ast.expr | None, flag: str) -> Iterator[tuple[object, str]]:
    """A constant is a value; the flag handed on says nothing new; anything else may be whatever."""
    if isinstance(value, ast.Constant):
        yield value.value, where(module, value)
    elif value is not None and not is_named(value, flag):
        raise Varies


def takers(module: Module, flag: str) -> Iterator[Taker]:
    for function in module.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        owner = module.parent(function)
        arguments = [*function.args.posonlyargs, *function.args.args]
        padding: list[ast.expr | None] = [None] * (len(arguments) - len(function.args.defaults))
        pairs = list(zip(arguments, [*padding, *function.args.defaults], strict=True))
        skipped = int(isinstance(owner, ast.ClassDef))
        name = owner.name if isinstance(owner, ast.ClassDef) and function.name == "__init__" else function.name
        for index, (argument, default) in enumerate(pairs):
            if argument.arg == flag:
                yield Taker(module, name, index - skipped, default)
        for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
            if argument.arg == flag:
                yield Taker(module, name, None, default)
    for owner in module.nodes(ast.ClassDef):
        fields = [node for node in owner.body if isinstance(node, ast.AnnAssign)]
        for index, field in enumerate(fields):
            if is_named(field.target, flag):
                yield Taker(module, owner.name, index, field.value)


def given(project: Project, taker: Taker, flag: str) -> Iterator[tuple[object, str]]:
    """What a function's callers give it by its place, and its default. One that needs it and has no caller is open."""
    yield from told(taker.module, taker.default, flag)
    is_called = False
    for module in project.modules_mentioning(taker.name):
        for call in module.nodes(ast.Call):
            if last_name(call) == taker.name:
                is_called = True
                if any(isinstance(item, ast.Starred) for item in call.args) or any(not k.arg for k in call.keywords):
                    raise Varies
                if taker.index is not None and taker.index < len(call.args):
                    yield from told(module, call.args[taker.index], flag)
    if taker.default is None and not is_called:
        raise Varies

"""Autocast as a decorator of `forward`: one context for all objects of the class."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import NEWLINE, Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import attribute_settings, own_nodes
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.extraction.moved_text import moved
from fullgraph.codemods.syntax.places import Place, where
from fullgraph.codemods.syntax.signatures.constructor import is_docstring
from fullgraph.codemods.topics.autocast.regions import Region
from fullgraph.codemods.topics.autocast.writing import tidy

SETS = re.compile(rb"\bset_autocast_(?:dtype|cache_enabled|cpu_dtype|gpu_dtype)\b")
GENERATES = (ast.Yield, ast.YieldFrom)


def forward_around(region: Region) -> ast.FunctionDef | None:
    """The method `forward` whose whole body is a `with` that enters this autocast and nothing else."""
    module, entered = region.module, region.statement
    function = module.parent(entered)
    if not isinstance(entered, ast.With) or len(entered.items) != 1 or region.is_choice:
        return None
    if not isinstance(function, ast.FunctionDef) or function.name != "forward":
        return None
    body = function.body[1:] if is_docstring(function.body[0]) else function.body
    is_method = isinstance(module.parent(function), ast.ClassDef)
    return function if is_method and body == [entered] else None


def decorator(module: Module, text: str, function: Function) -> Edit:
    """A decorator just above `def`, inside all others."""
    return module.insert(module.span(function).start, f"@{text}\n{module.indent(function)}")


def spelled(module: Module, made: ast.Call, target: Module) -> tuple[str, tuple[Edit, ...]]:
    """The call as another module can write it, and the import that this needs."""
    start, text = module.span(made).start, module.code(made)
    torch, imported = target.imports.require("torch")
    if target.resolve(ast.Name(torch.partition(".")[0])) is None and torch in target.scopes.named:
        raise Unsure(f"{target.path}: `{torch}` means something else there")
    needed: tuple[Edit, ...] = ()
    for node in sorted(dotted_names(made), key=lambda node: module.span(node).start, reverse=True):
        dotted, span = module.resolve(node), module.span(node)
        if dotted is None:
            continue
        short = target.imports.spelling(dotted)
        needed = needed if short else imported
        name = short or torch + dotted.removeprefix("torch")
        text = text[: span.start - start] + name + text[span.end - start :]
    return tidy(" ".join(line.strip() for line in NEWLINE.split(text))), needed


def dotted_names(made: ast.Call) -> list[ast.expr]:
    """The whole dotted names in a call, its function included."""
    found: list[ast.expr] = []
    todo: list[ast.AST] = [made]
    for node in todo:
        if isinstance(node, (ast.Name, ast.Attribute)):
            found.append(node)
        else:
            todo += ast.iter_child_nodes(node)
    return found


def check_function(module: Module, function: Function) -> None:
    """Raise for what a decorator would change: a generator runs after the decorator has left the region."""
    if isinstance(function, ast.AsyncFunctionDef) or any(isinstance(node, GENERATES) for node in own_nodes(function)):
        raise Unsure(f"{where(module, function)}: {function.name} runs after the decorator has left the region")
    if not module.begins_line(function):
        raise Unsure(f"{where(module, function)}: no room for a decorator")
    for item in function.decorator_list:
        raise Unsure(f"{where(module, item)}: {function.name} is decorated already")


def check_known(project: Project, module: Module, made: ast.Call) -> None:
    """Raise unless everything that autocast is given is known when the class is defined."""
    for node in ast.walk(made):
        is_unknown = isinstance(node, (ast.Call, ast.Lambda, ast.Subscript)) and node is not made
        meaning = module.resolve(node) if isinstance(node, ast.Name) else "torch"
        if is_unknown or meaning is None or meaning.partition(".")[0] != "torch":
            raise Unsure(f"{where(module, node)}: `{ast.unparse(node)}` is known only when forward is called")
    for path, _ in project.matches(SETS):
        raise Unsure(f"{path}: how autocast works is set while the program runs")


def unwrapped(module: Module, entered: ast.With) -> Edit:
    """The body of a `with` in its place."""
    body = entered.body[0]
    if not module.begins_line(body) or not module.begins_line(entered):
        raise Unsure(f"{where(module, entered)}: the statement shares its line")
    start, end = module.line_start(module.span(entered).start), module.line_end(module.span(entered).end)
    behind = module.line_end(header_end(module, entered))
    if "#" in module.text[start:behind]:
        raise Unsure(f"{where(module, entered)}: a comment would be lost")
    return module.replace(
        Span(start, end), moved(module, Span(behind, end), module.indent(body), module.indent(entered))
    )


def header_end(module: Module, entered: ast.With) -> int:
    """Where the colon of a `with` stands."""
    return module.text.index(":", module.span(entered.items[-1].context_expr).end)


# One context for all objects


def shared_by(project: Project, owner: Place[ast.ClassDef]) -> str:
    """What may be another object of the class, which would enter the same context again; Unsure if one is seen."""
    return next(nested(project, owner, owner, ()), "")


def nested(
    project: Project, owner: Place[ast.ClassDef], kind: Place[ast.ClassDef], seen: tuple[ast.AST, ...]
) -> Iterator[str]:
    names = Definitions(project)
    for place in names.lineage(kind):
        for node in ast.walk(place.node):
            if isinstance(node, ast.Call):
                yield from part_of(project, owner, place.module, node, (*seen, kind.node))
            if called := own_call(node):
                yield from unknown_part(names, owner, place, called)


def part_of(
    project: Project, owner: Place[ast.ClassDef], module: Module, call: ast.Call, seen: tuple[ast.AST, ...]
) -> Iterator[str]:
    """What is wrong with an object that is made in the class: it is one of the class, or holds one."""
    found = Definitions(project).denoted(module, call.func)
    if found is None or not isinstance(found.node, ast.ClassDef):
        return
    if found.node is owner.node:
        raise Unsure(
            f"{where(module, call)}: {owner.node.name} holds another {owner.node.name}, and both would share one"
        )
    elif found.node not in seen:
        yield from nested(project, owner, Place(found.module, found.node), seen)


def own_call(node: ast.AST) -> ast.Attribute | None:
    """`self.part` of `self.part(...)` and of `for block in self.part`."""
    func = (
        node.func
        if isinstance(node, ast.Call)
        else node.iter
        if isinstance(node, (ast.For, ast.comprehension))
        else None
    )
    is_own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
    return func if is_own and isinstance(func, ast.Attribute) else None


def unknown_part(
    names: Definitions, owner: Place[ast.ClassDef], kind: Place[ast.ClassDef], part: ast.Attribute
) -> Iterator[str]:
    """What is called as a part of the object, but was made elsewhere."""
    for setting in attribute_settings(kind.node, part.attr):
        if isinstance(setting.value, ast.Name) and names.instance(kind.module, setting.value) is None:
            yield f"{where(kind.module, setting)}: `{setting.value.id}` may hold another {owner.node.name}"

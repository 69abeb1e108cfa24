"""Where a project asks torch to compile something: calls, decorators, and modules that compile themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project, is_test
from fullgraph.codemods.scopes import DEFINITIONS
from fullgraph.codemods.syntax.compiled import asks_to_compile, entry_point, is_method, modules_that_compile, target_of
from fullgraph.codemods.syntax.definitions import Definitions


class Form(Enum):
    """How it is asked: `torch.compile(x)`, `@torch.compile`, `x.compile()`, or a `torch.compile` for later use."""

    CALL = "call"
    DECORATOR = "decorator"
    IN_PLACE = "in place"
    LATER = "later"


@dataclass(frozen=True, eq=False)
class Request:
    """One place that asks for compilation. `target` is what it compiles, as far as the place itself says."""

    module: Module
    form: Form
    node: ast.expr
    target: ast.AST


def requests_of(project: Project) -> list[Request]:
    """Every request of the project outside its tests, in the order of files and lines; worked out once."""
    return project.worked_out(Request, lambda: list(all_requests(project)))


def all_requests(project: Project) -> Iterator[Request]:
    names = Definitions(project)
    for module in modules_that_compile(project):
        if not is_test(module.path):
            yield from sorted(requests_in(names, module), key=lambda request: module.span(request.node))


def requests_in(names: Definitions, module: Module) -> Iterator[Request]:
    for definition in module.nodes(*DEFINITIONS):
        for decorator in definition.decorator_list:
            if asks_to_compile(module, decorator):
                yield Request(module, Form.DECORATOR, decorator, definition)
    for call in module.nodes(ast.Call):
        if form := form_of(names, module, call):
            target = target_of(module, call) or call
            yield Request(module, form, call, target.value if form is Form.IN_PLACE and is_method(target) else target)


def form_of(names: Definitions, module: Module, call: ast.Call) -> Form | None:
    """How a call asks for compilation, if it does."""
    target = target_of(module, call)
    if target is None:
        return Form.LATER if asks_to_compile(module, call) and not is_used_at_once(module, call) else None
    if is_method(target) and call.func is target:
        return Form.IN_PLACE if entry_point(names, module, target) else None
    return Form.CALL


def is_used_at_once(module: Module, call: ast.Call) -> bool:
    """Whether a `torch.compile(...)` without a target decorates something, or is called with its target."""
    parent = module.parent(call)
    if isinstance(parent, DEFINITIONS):
        return call in parent.decorator_list
    return isinstance(parent, ast.Call) and parent.func is call

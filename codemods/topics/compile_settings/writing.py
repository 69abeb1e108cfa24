"""How a setting is written: as a decorator above the request, or as a statement before it; and whether it is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import statement_start
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import DEFINITIONS
from fullgraph.codemods.syntax.compiled import asked_in
from fullgraph.codemods.syntax.placing import insert_at, insert_before
from fullgraph.codemods.topics.compile_settings.constructs import MESSAGES, SCALARS, SHAPES
from fullgraph.codemods.topics.compile_settings.requests import Request

COMMENTS = {
    SCALARS: "# Numbers that are read from tensors stay in the graph.",
    SHAPES: "# Shapes that depend on values stay in the graph.",
    MESSAGES: "# Messages are emitted behind the graph.",
}
ENVIRONMENT = {
    SCALARS: rb"TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS",
    SHAPES: rb"TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS",
}


def is_set_somewhere(project: Project, setting: str) -> bool:
    """Whether the project sets it for more than one function: an assignment, the name in quotes, or a `with`."""
    name = setting.encode()
    words = [rb"\." + name + rb"(?:\s*=[^=]|\.(?:add|update)\()", rb"[\"']" + name + rb"[\"']"]
    words += [rb"\bwith\b[^\n]*\b" + name, *([ENVIRONMENT[setting]] if setting in ENVIRONMENT else [])]
    return bool(project.matches(re.compile(rb"|".join(words))))


def is_set_around(request: Request, setting: str) -> bool:
    """Whether a `patch` is put around what is compiled: by a decorator, or by the call that the request stands in."""
    module, node = request.module, request.asked.node
    beside = request.function.decorator_list if request.function else []
    around = (outer.func for outer in module.ancestors(node) if isinstance(outer, ast.Call))
    calls = [call for call in (*beside, *around) if isinstance(call, ast.Call)]
    return any(keyword.arg == setting for call in calls for keyword in call.keywords)


def write_decorator(request: Request, settings: Sequence[str]) -> tuple[Edit, ...]:
    """`@torch._dynamo.config.patch(...)` above the decorator that compiles: in force while the function is traced."""
    module, function = request.module, request.function
    assert function is not None, "only decorators are asked for"
    start = module.span(request.asked.node).start
    line = module.text[module.line_start(start) : start]
    if line.strip() != "@":
        raise Unsure(f"{module.path}:{request.asked.node.lineno}: the decorator has no line of its own")
    torch, imports = module.imports.require("torch")
    given = ", ".join(f"{setting}=True" for setting in settings)
    new = f"@{torch}._dynamo.config.patch({given})\n{module.indent(request.asked.node)}"
    return (*imports, module.insert(module.line_start(start) + line.index("@"), new))


def write_statement(request: Request, settings: Sequence[str], names: Sequence[str]) -> tuple[Edit, ...]:
    """The settings just before the first statement of the block that compiles, so that they stand there once."""
    module = request.module
    statement = place_before(request)
    torch, imports = module.imports.require("torch")
    lines: list[str] = []
    for setting in settings:
        lines.append(COMMENTS[setting])
        config = f"{torch}._dynamo.config.{setting}"
        lines += [f"{config}.add({name})" for name in names] if setting == MESSAGES else [f"{config} = True"]
    if not isinstance(statement, DEFINITIONS):
        return (*imports, insert_before(module, statement, lines))
    indent = module.indent(statement)
    start = module.line_start(statement_start(module, statement))
    text = "\n".join(indent + line for line in lines)
    return insert_at(module, start, text, imports, blank=1 if indent else 2)


def place_before(request: Request) -> ast.stmt:
    """The statement that compiles, or one above it in the same block that does; of a class, the class."""
    module = request.module
    statement: ast.stmt = request.function or module.statement(request.asked.node)
    if is_elif(module, statement):
        raise Unsure(f"{module.path}:{statement.lineno}: there is no room before an `elif`")
    owner = module.parent(statement)
    if isinstance(owner, ast.ClassDef) and (request.function is None or owner not in module.tree.body):
        raise Unsure(f"{module.path}:{statement.lineno}: the request stands in the body of a class")
    statement = owner if isinstance(owner, ast.ClassDef) else statement
    asking = {module.statement(asked.node) for asked in asked_in(module)}
    return next(one for one in module.block(statement) if one is statement or one in asking)


def is_elif(module: Module, statement: ast.stmt) -> bool:
    start = module.span(statement).start
    return isinstance(statement, ast.If) and module.text[start : start + 4] == "elif"

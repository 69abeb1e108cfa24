"""The code that announces a migration: a warning that can be traced, one in place, and an error."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import is_bound_otherwise
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.syntax.disabled import IMPORTS, loads_torch
from fullgraph.codemods.syntax.placing import insert_definition
from fullgraph.codemods.topics.devices.method import MOVES

MARKERS = {"torch.compiler.assume_constant_result", "torch._dynamo.assume_constant_result"}
PARAMETERS = ["owner", "old", "new", "stacklevel"]
NAMES = ("_warn_device_migration", "_warn_of_device_migration", "_warn_before_device_migration")
WIDTH = 88
HELPER = '''\
@{torch}.compiler.assume_constant_result
def {name}(
{unit}owner: str, old: {torch}.device, new: {torch}.device, stacklevel: int = 3
) -> None:
{unit}"""Warn of a costly move: in compiled code at trace time, without a graph break."""
{unit}{warnings}.warn(
{unit}{unit}f"{{owner}} migrates from {{old}} to {{new}}; create it there to avoid the move.",
{unit}{unit}stacklevel=stacklevel,
{unit})'''


def require_import(module: Module, name: str, method: Function | None = None) -> tuple[str, tuple[Edit, ...]]:
    """How to write a top-level module here, or in a method of it, with the edit that imports it."""
    spelling, edits = module.imports.require(name)
    for node in own_nodes(method) if method else ():
        if isinstance(node, IMPORTS) and spelling in {alias.asname or alias.name for alias in node.names}:
            raise Unsure(f"{module.path}:{node.lineno}: the method imports {spelling!r} itself")
    means = module.imports.meanings.get(name, {name})
    if edits and (is_bound_otherwise(module, name) or means != {name}):
        raise Unsure(f"the name {name!r} means something else in {module.path}")
    return spelling, edits


def require_helper(module: Module) -> tuple[str, tuple[Edit, ...]]:
    """The name of the module's traced warning, with the edits that add it and its imports if there is none yet."""
    if present := helpers(module):
        return present[0], ()
    name = next((name for name in NAMES if not module.scopes.binders(name)), None)
    if name is None:
        raise Unsure(f"{module.path} uses the names {', '.join(NAMES)} for something else")
    loads = [node for node in module.nodes(*IMPORTS) if loads_torch(module, node)]
    if not any(node in module.tree.body for node in loads):
        raise Unsure(f"{module.path}:{loads[0].lineno}: torch is not imported for sure, at the top level")
    torch, import_torch = require_import(module, "torch")
    warnings, import_warnings = require_import(module, "warnings")
    text = HELPER.format(torch=torch, warnings=warnings, name=name, unit=module.indent_unit)
    return name, insert_definition(module, text, {torch, warnings}, (*import_torch, *import_warnings))


def helpers(module: Module) -> list[str]:
    """The names of the traced warnings that the module has already."""
    functions = [node for node in module.tree.body if isinstance(node, ast.FunctionDef)]
    return [node.name for node in functions if is_helper(module, node)]


def is_helper(module: Module, node: ast.FunctionDef) -> bool:
    marked = any(module.resolve(item) in MARKERS for item in node.decorator_list)
    return marked and [argument.arg for argument in node.args.args] == PARAMETERS


def call_helper(helper: str, arguments: list[str], stacklevel: int, room: int) -> list[str]:
    """The lines that call the helper: one, three, or one for each argument, as `room` characters allow."""
    given = [*arguments, *([f"stacklevel={stacklevel}"] if stacklevel != 3 else [])]
    whole = f"{helper}({', '.join(given)})"
    if len(whole) <= room:
        return [whole]
    if len(whole) - len(helper) + 2 <= room:
        return [f"{helper}(", f"\t{', '.join(given)}", ")"]
    return [f"{helper}(", *(f"\t{argument}," for argument in given), ")"]


def warn_in_place(warnings: str, owner: str, old: str, new: str, stacklevel: int) -> list[str]:
    return [
        f"{warnings}.warn(",
        f'\tf"{owner} migrates from {field(old)} to {field(new)}; "',
        '\t"create it there to avoid the move.",',
        f"\tstacklevel={stacklevel},",
        ")",
    ]


def raise_if(setting: str, owner: str, old: str, new: str) -> list[str]:
    return [
        f"if {setting}:",
        "\traise RuntimeError(",
        f'\t\tf"{owner} would migrate from {field(old)} to {field(new)}; "',
        f'\t\t"{setting.rpartition(".")[2]} forbids it."',
        "\t)",
    ]


def field(expression: str) -> str:
    """An expression as part of an f-string in double quotes; the bare name of a device as it is."""
    if expression in MOVES:
        return expression
    if '"' in expression:
        expression = ast.unparse(ast.parse(expression, mode="eval"))
    if '"' in expression or "\\" in expression or "{" in expression:
        raise Unsure(f"{expression} cannot be written inside an f-string")
    return f"{{{expression}}}"

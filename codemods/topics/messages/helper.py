"""The functions that are added to a file: one that makes operators of messages, and one for each kind of message."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from functools import cache

from codemods.codemod import Unsure
from codemods.imports import is_bound_otherwise, statement_start
from codemods.model import Edit
from codemods.module import Function, Module
from codemods.payload import body_of
from codemods.syntax.disabled import IMPORTS, loads_torch
from codemods.syntax.placing import insert_at, insert_definition
from codemods.topics.messages.kinds import Kind

MARKERS = {"torch.compiler.assume_constant_result", "torch._dynamo.assume_constant_result"}
MAKER = "_in_graph"
ONCE_TEXT = '''\
@{torch}.compiler.assume_constant_result
def {name}(message):
{unit}"""Emit a message once: in compiled code while it is traced, without a graph break."""
{unit}{emit}'''
KIND_TEXT = """\
@_in_graph
def {name}({parameters}):
{body}"""


def require_once(module: Module, kind: Kind, is_first: bool) -> tuple[str, tuple[Edit, ...]]:
    """The helper of a text that is emitted once, and the edits that add it.

    `is_first`: nothing comes before it, so that it may be said while the code is traced.
    """
    if not is_first:
        return require_kind(module, kind, False, "in_turn")
    torch, imported = require_torch(module)
    emit = kind.emit("message")
    text = ONCE_TEXT.format(torch=torch, name=kind.name, unit=module.indent_unit, emit=emit)
    if is_there(module, kind.name, text):
        return kind.name, ()
    return kind.name, insert_definition(module, text, {torch}, imported)


def require_kind(module: Module, kind: Kind, formatted: bool, condition: str) -> tuple[str, tuple[Edit, ...]]:
    """The helper of one kind of message, and the edits that add it with the maker of operators.

    `condition`: `if` or `unless` where the helper decides by its first argument, `in_turn` where it could be said
    while the code is traced and must not be, else nothing.
    """
    torch, imported = require_torch(module)
    name = "_".join(word for word in (kind.name, "formatted" if formatted else "", condition) if word)
    text = kind_text(module, kind, name, formatted, condition)
    maker = maker_text(torch, module.indent_unit)
    if is_there(module, name, text):
        return name, ()
    if is_there(module, MAKER, maker):
        return name, insert_at(module, below(module, MAKER), text)
    *_, inserted = insert_definition(module, maker, {torch}, imported)
    *needed, added = insert_definition(module, text, {torch}, imported)
    if inserted.new_text.startswith("import"):
        raise Unsure(f"{module.path}: the import of torch would stand where the helper does")
    return name, (*needed, inserted, added)


@cache
def maker_text(torch: str, unit: str) -> str:
    """The maker of operators, with torch under its name in the file, and indented as that is.

    Its comment comes first because insertions at one place are sorted: the maker must stand above what it decorates.
    """
    text = body_of("in_graph.py")
    lines = text.splitlines()
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if token.type == tokenize.NAME and token.string == "torch":
            (row, start), (_, end) = token.start, token.end
            lines[row - 1] = f"{lines[row - 1][:start]}{torch}{lines[row - 1][end:]}"
    return "\n".join(re.sub("^ +", lambda blank: unit * (len(blank[0]) // 4), line) for line in lines)


def kind_text(module: Module, kind: Kind, name: str, formatted: bool, condition: str) -> str:
    given = ["values"] if kind.emitter == "print" and not formatted else ["message", "values"]
    if kind.function.endswith(".log"):
        given = ["level", *given]
    if kind.emitter == "warn" and not formatted:
        given = ["message"]
    given = [*(name for name, _ in kind.settings), *given]
    names = [f"*{one}" if one == "values" else one for one in given]
    shown = names[len(kind.settings) :]
    emit = kind.emit("message.format(*values)" if formatted else ", ".join(shown))
    unit = module.indent_unit
    tests = {"if": f"{unit}if condition:\n{unit}", "unless": f"{unit}if not condition:\n{unit}"}
    body = f"{tests.get(condition, '')}{unit}{emit}"
    return KIND_TEXT.format(
        name=name, parameters=", ".join((["condition"] if condition in tests else []) + names), body=body
    )


def is_there(module: Module, name: str, text: str) -> bool:
    """Whether the file has this very function already; Unsure where the name means anything else."""
    binders = module.scopes.binders(name)
    wanted = ast.dump(ast.parse(text).body[0])
    if len(binders) == 1 and binders[0] in module.tree.body and ast.dump(binders[0]) == wanted:
        return True
    if binders:
        raise Unsure(f"{module.path} uses the name {name} for something else")
    return False


def below(module: Module, name: str) -> int:
    """The start of the statement that follows a function of the top level."""
    body = module.tree.body
    at = next(number for number, node in enumerate(body) if getattr(node, "name", "") == name)
    if at + 1 == len(body):
        raise Unsure(f"{module.path}: nothing follows {name}")
    return module.line_start(statement_start(module, body[at + 1]))


def require_torch(module: Module) -> tuple[str, tuple[Edit, ...]]:
    """How torch is written here, with the edit that imports it by name where only parts of it are imported."""
    loads = [node for node in module.nodes(*IMPORTS) if loads_torch(module, node)]
    if not any(node in module.tree.body for node in loads):
        raise Unsure(f"{module.path}: torch is not imported for sure, at the top level")
    spelling, edits = module.imports.require("torch")
    if edits and (is_bound_otherwise(module, "torch") or module.imports.meanings.get("torch", {"torch"}) != {"torch"}):
        raise Unsure(f"the name torch means something else in {module.path}")
    return spelling, edits


def is_helper(module: Module, function: Function) -> bool:
    """Whether the function is one of those that are added here."""
    decorators = function.decorator_list
    made = any(isinstance(item, ast.Name) and item.id == MAKER for item in decorators)
    return made or any(module.resolve(item) in MARKERS for item in decorators)

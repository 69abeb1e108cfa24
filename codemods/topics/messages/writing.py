"""The call of the helper in the place of a message."""

from __future__ import annotations

import ast

from codemods.codemod import Unsure
from codemods.model import Edit, Span
from codemods.module import Function, Module
from codemods.syntax.assignments import argument_names
from codemods.topics.messages.forms import Form, form_of
from codemods.topics.messages.helper import require_kind, require_once
from codemods.topics.messages.kinds import Kind, kind_of
from codemods.topics.messages.premises import check_place
from codemods.topics.messages.tests import tensor_test

WIDTH = 100


def condition_around(module: Module, call: ast.Call) -> tuple[ast.If, str, bool] | None:
    """The `if` on a tensor's value whose whole body the message is, its condition, and whether that is negated."""
    statement = module.parent(call)
    outer = module.parent(statement) if statement else None
    if not isinstance(outer, ast.If) or outer.body != [statement] or outer.orelse:
        return None
    found = tensor_test(module, outer.test)
    return (outer, *found) if found else None


def rewrite(module: Module, call: ast.Call, function: Function) -> tuple[Edit, ...]:
    """The edits that make the message a part of the graph; Unsure where it must stay."""
    statement = check_place(module, call, function)
    kind = kind_of(module, call)
    form = form_of(module, call, kind)
    if around := condition_around(module, call):
        return conditional(module, call, kind, form, function, *around)
    if kind.emitter == "once" and form.is_literal:
        name, needed = require_once(module, kind)
        return module.replace(call.func, name), *needed
    if kind.emitter == "once" and form.template is None:
        raise Unsure(f"{module.path}:{call.lineno}: a message of once has values beside its text")
    name, needed = require_kind(module, kind, form.template is not None, "")
    if form.template is not None:
        return module.replace(call, laid_out(module, statement, name, texts_of(module, call, kind, form))), *needed
    shorter = without_rest(module, call) if kind.emitter == "warn" else form.edits
    return module.replace(call.func, name), *shorter, *needed


def conditional(
    module: Module, call: ast.Call, kind: Kind, form: Form, function: Function, outer: ast.If, test: str, negated: bool
) -> tuple[Edit, ...]:
    """The `if` and its message as one call: the helper decides when the value is there."""
    where = f"{module.path}:{outer.lineno}"
    if outer in getattr(module.parent(outer), "orelse", []) and not module.code(outer).startswith("if"):
        raise Unsure(f"{where}: the condition of the message is an `elif`")
    if any(mark in module.code(outer) for mark in ("#", '"""', "'''")) or "\n" in test or not module.begins_line(outer):
        raise Unsure(f"{where}: the condition and its message do not fit into one call as they are written")
    known = argument_names(function)
    for argument in call.args[:1] if kind.emitter == "warn" else call.args:
        for node in ast.walk(argument):
            is_known = isinstance(node, (ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.expr_context))
            if not is_known and not (isinstance(node, ast.Name) and node.id in known):
                raise Unsure(f"{where}: a value of the message would be asked for where the condition is false")
    name, needed = require_kind(module, kind, form.template is not None, "unless" if negated else "if")
    text = laid_out(module, outer, name, [test, *texts_of(module, call, kind, form)])
    return module.replace(outer, text), *needed


def texts_of(module: Module, call: ast.Call, kind: Kind, form: Form) -> list[str]:
    """The arguments behind a condition: the text of an f-string in quotes, others as they are written."""
    if form.template is not None:
        return [quoted(form.template), *form.arguments]
    return [module.code(argument) for argument in (call.args[:1] if kind.emitter == "warn" else call.args)]


def without_rest(module: Module, call: ast.Call) -> tuple[Edit, ...]:
    """Takes away what the helper of a warning knows already: its category and stack level."""
    rest = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
    if not rest:
        return ()
    gone = Span(module.span(call.args[0]).end, max(module.span(node).end for node in rest))
    if "#" in module.text[gone.start : gone.end]:
        raise Unsure(f"{module.path}:{call.lineno}: a comment stands between the arguments of the warning")
    return (module.replace(gone, ""),)


def laid_out(module: Module, statement: ast.stmt, name: str, given: list[str]) -> str:
    """A call on one line, or with each argument on its own and a long text in several pieces."""
    indent, unit = module.indent(statement), module.indent_unit
    whole = f"{name}({', '.join(given)})"
    if len(indent) + len(whole) <= WIDTH and "\n" not in whole:
        return whole
    inner = indent + unit
    lines = [line for text in given for line in pieces(text, WIDTH - len(inner))]
    return f"{name}(\n" + "".join(f"{inner}{line}\n" for line in lines) + f"{indent})"


def pieces(text: str, room: int) -> list[str]:
    """One argument in lines, with its comma. Strings that stand below each other already are indented anew."""
    if "\n" in text:
        return [line.strip() for line in text.splitlines()[:-1]] + [text.splitlines()[-1].strip() + ","]
    if not (text.startswith('"') and text.endswith('"')) or len(text) < room or "\\" in text:
        return [text + ","]
    lines, rest = [], text[1:-1]
    while len(rest) > room - 3 and " " in rest[: room - 3]:
        cut = rest.rindex(" ", 0, room - 3) + 1
        lines.append(f'"{rest[:cut]}"')
        rest = rest[cut:]
    return [*lines, f'"{rest}",']


def quoted(text: str) -> str:
    """A text as a string in double quotes."""
    shown = repr(text)
    if shown.startswith('"'):
        return shown
    return '"' + shown[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'

"""The call of the helper in the place of a message."""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import argument_names
from fullgraph.codemods.topics.messages.forms import Form, form_of
from fullgraph.codemods.topics.messages.helper import require_kind, require_once
from fullgraph.codemods.topics.messages.kinds import Kind, kind_of
from fullgraph.codemods.topics.messages.layout import laid_out, quoted
from fullgraph.codemods.topics.messages.premises import check_place, is_first
from fullgraph.codemods.topics.messages.reading import guarded_message, named_reads
from fullgraph.codemods.topics.messages.tests import tensor_test

COMMENT = re.compile(r"#[^\r\n]*[\r\n]")


def condition_around(module: Module, call: ast.Call) -> tuple[ast.If, str, bool] | None:
    """The `if` on a tensor's value whose whole body the message is, its condition, and whether that is negated."""
    statement = module.parent(call)
    outer = module.parent(statement) if statement else None
    if not isinstance(outer, ast.If) or outer.body != [statement] or outer.orelse:
        return None
    found = tensor_test(module, outer.test)
    return (outer, *found) if found else None


def rewrite(module: Module, project: Project, call: ast.Call, function: Function) -> tuple[Edit, ...]:
    """The edits that make the message a part of the graph; Unsure where it must stay."""
    statement = check_place(module, call, function)
    kind = kind_of(module, call)
    around = condition_around(module, call)
    if kind.emitter != "once" and not around and named_reads(module, call):
        return guarded_message(module, project, call, statement, kind)
    form = form_of(module, call, kind)
    if around:
        return conditional(module, project, call, kind, form, function, *around)
    if kind.emitter == "once" and form.is_literal:
        name, needed = require_once(module, project, kind, is_first(module, function, call))
        return module.replace(call.func, name), *needed
    if kind.emitter == "once" and form.template is None:
        raise Unsure(f"{module.path}:{call.lineno}: a message of once has values beside its text")
    name, needed = require_kind(module, project, kind, form.template is not None, "")
    if form.template is not None or (kind.emitter == "print" and call.keywords):
        check_comments(module, call)
        return module.replace(call, laid_out(module, statement, name, texts_of(module, call, kind, form))), *needed
    shorter = without_rest(module, call) if kind.emitter == "warn" else form.edits
    return module.replace(call.func, name), *shorter, *needed


def conditional(
    module: Module,
    project: Project,
    call: ast.Call,
    kind: Kind,
    form: Form,
    function: Function,
    outer: ast.If,
    test: str,
    negated: bool,
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
    name, needed = require_kind(module, project, kind, form.template is not None, "unless" if negated else "if")
    text = laid_out(module, outer, name, [test, *texts_of(module, call, kind, form)])
    return module.replace(outer, text), *needed


def texts_of(module: Module, call: ast.Call, kind: Kind, form: Form) -> list[str]:
    """The arguments behind a condition: the text of an f-string in quotes, others as they are written."""
    settings = [value for _, value in kind.settings]
    if form.template is not None:
        return [*settings, quoted(form.template), *form.arguments]
    given = call.args[:1] if kind.emitter == "warn" else call.args
    return [*settings, *(module.code(argument) for argument in given)]


def check_comments(module: Module, call: ast.Call) -> None:
    """Raise where a comment inside the call would be lost with its layout."""
    if COMMENT.search(module.code(call)):
        raise Unsure(f"{module.path}:{call.lineno}: a comment stands between the arguments of the message")


def without_rest(module: Module, call: ast.Call) -> tuple[Edit, ...]:
    """Takes away what the helper of a warning knows already: its category and stack level."""
    rest = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
    if not rest:
        return ()
    gone = Span(module.span(call.args[0]).end, max(module.span(node).end for node in rest))
    if "#" in module.text[gone.start : gone.end]:
        raise Unsure(f"{module.path}:{call.lineno}: a comment stands between the arguments of the warning")
    return (module.replace(gone, ""),)

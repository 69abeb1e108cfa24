"""Messages with a number that is read from a name (`loss.item()`): whether that has one element is asked while tracing.

In compiled code the operator reads the number; in the other branch the message stays as it is written.
"""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.messages.forms import (
    ODD,
    PERCENT,
    Form,
    is_plain_call,
    read_in,
    specification,
    whole_read,
)
from fullgraph.codemods.topics.messages.helper import require_kind, require_torch
from fullgraph.codemods.topics.messages.kinds import Kind
from fullgraph.codemods.topics.messages.layout import laid_out, quoted
from fullgraph.codemods.topics.scalars.guard import branched

PLAIN_NUMBER = re.compile(r"%(?:[1-9]\d*)?(?:\.\d+)?[feEgG]")
"""A code of `%` that reads the same in a format; with a leading 0, NaN would not."""


def named_reads(module: Module, call: ast.Call) -> list[str]:
    """The names that a message reads a number from, by `.item()`."""
    found = [read_name(node) for argument in call.args for node in ast.walk(argument)]
    return list(dict.fromkeys(name for name in found if name and name not in module.imports.meanings))


def read_name(node: ast.AST) -> str:
    """The `loss` of `loss.item()`."""
    is_item = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item"
    owner = node.func.value if is_item else None  # type: ignore[attr-defined]
    is_bare = is_item and not node.args and not node.keywords  # type: ignore[attr-defined]
    return owner.id if is_bare and isinstance(owner, ast.Name) else ""


def guarded_message(
    module: Module, project: Project, call: ast.Call, statement: ast.Expr, kind: Kind
) -> tuple[Edit, ...]:
    """`if is_compiling()` and each name is a tensor of one element: the helper, `else:` the message as it is."""
    form = read_form(module, call, kind)
    name, needed = require_kind(module, project, kind, form.template is not None, "")
    torch, imported = require_torch(module)
    settings = [value for _, value in kind.settings]
    text = [] if form.template is None else [quoted(form.template)]
    line = laid_out(module, statement, name, [*settings, *text, *form.arguments], module.indent_unit)
    inner = module.indent(statement) + module.indent_unit
    lines = [part.removeprefix(inner) for part in line.split("\n")]
    asked = [
        question
        for read in named_reads(module, call)
        for question in (f"isinstance({read}, {torch}.Tensor)", f"{read}.numel() == 1")
    ]
    return tuple(dict.fromkeys((*needed, *imported, *branched(module, statement, lines, asked))))


def read_form(module: Module, call: ast.Call, kind: Kind) -> Form:
    """The message of compiled code: a text with holes where that shows a number as it is."""
    where = f"{module.path}:{call.lineno}"
    texts = call.args[:1] if kind.emitter == "warn" else list(call.args)
    if call.keywords and kind.emitter not in ("warn", "print"):
        raise Unsure(f"{where}: the message is given {call.keywords[0].arg or '**'}=")
    if any(isinstance(node, ODD[:-1]) for argument in call.args for node in ast.walk(argument)):
        raise Unsure(f"{where}: an argument of the message does more than name a value")
    if len(texts) == 1 and isinstance(texts[0], ast.JoinedStr):
        return of_holes(module, texts[0], where)
    if any(isinstance(node, ast.JoinedStr) for argument in call.args for node in ast.walk(argument)):
        raise Unsure(f"{where}: an f-string is not the whole message")
    if kind.emitter == "print":
        return of_print(module, texts, kind, where)
    first = texts[0] if texts and not kind.function.endswith(".log") else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        raise Unsure(f"{where}: the text of the message is put together before it")
    return of_codes(module, first.value, texts, where)


def of_holes(module: Module, text: ast.JoinedStr, where: str) -> Form:
    template, values = "", []
    for part in text.values:
        if isinstance(part, ast.FormattedValue):
            spec = specification(part, where)
            read = whole_read(module, part.value)
            values.append(f"{ast.unparse(read)}.detach()" if read else value_text(module, part.value, where))
            template += f"{{:{spec}}}" if spec else "{}"
        elif isinstance(part, ast.Constant):
            template += escaped(str(part.value))
    return Form(tuple(values), template)


def of_print(module: Module, values: list[ast.expr], kind: Kind, where: str) -> Form:
    """The values of a `print`, each as `str` shows it, with blanks between them."""
    if any(name == "sep" for name, _ in kind.settings):
        raise Unsure(f"{where}: the message reads a number from a tensor, and is joined by sep=")
    is_text = [isinstance(value, ast.Constant) and isinstance(value.value, str) for value in values]
    holes = [
        escaped(value.value) if text else hole(value)  # type: ignore[attr-defined]
        for value, text in zip(values, is_text, strict=True)
    ]
    shown = [value_text(module, value, where) for value, text in zip(values, is_text, strict=True) if not text]
    return Form(tuple(shown), " ".join(holes))


def of_codes(module: Module, text: str, texts: list[ast.expr], where: str) -> Form:
    """A text with values for `%`. It stays one, unless a number that is read stands for `%s`."""
    values = texts[1:]
    codes = [found for found in PERCENT.finditer(text) if found[2] != "%"]
    if len(codes) != len(values) or any(found[1] or found[2] not in "sdifeEgG" for found in codes):
        raise Unsure(f"{where}: the text does not have one %s, %d, %f, %e or %g for each value")
    shown = [value_text(module, value, where) for value in values]
    if not any(found[2] == "s" and read_name(value) for found, value in zip(codes, values, strict=True)):
        return Form((module.code(texts[0]), *shown))
    template, end = "", 0
    for found, value in zip(codes, values, strict=True):
        template += escaped(text[end : found.start()] % ()) + hole_for(found[0], value, where)
        end = found.end()
    return Form(tuple(shown), template + escaped(text[end:] % ()))


def hole_for(code: str, value: ast.expr, where: str) -> str:
    """The hole that shows a value as a code of `%` does."""
    if code == "%s":
        return hole(value)
    if read_name(value) and PLAIN_NUMBER.fullmatch(code):
        return f"{{:{code[1:]}}}"
    if code == "%d" and is_size(value):
        return "{:d}"
    raise Unsure(f"{where}: {code} may not read the same beside a number that is read for %s")


def hole(value: ast.expr) -> str:
    """A tensor that is read shows its number in a bare hole; whatever else there is, what `str` makes of it."""
    return "{}" if read_name(value) else "{!s}"


def is_size(value: ast.expr) -> bool:
    """`x.shape[0]`: a whole number for sure."""
    is_item = isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice)
    return is_item and isinstance(value.value, ast.Attribute) and value.value.attr == "shape"  # type: ignore[attr-defined]


def value_text(module: Module, value: ast.expr, where: str) -> str:
    """What is given to the operator for a value: of a number that is read, the tensor."""
    if name := read_name(value):
        return f"{name}.detach().reshape(())"
    if read_in(module, value):
        raise Unsure(f"{where}: the message reads a number from what may not be a tensor without dimensions")
    if any(isinstance(node, ast.Call) and not is_plain_call(module, node) for node in ast.walk(value)):
        raise Unsure(f"{where}: the message calls something between its values")
    return ast.unparse(value)


def escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")

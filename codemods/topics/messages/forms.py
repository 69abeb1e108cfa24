"""What a message is made of: a plain text, a text with values for `%`, or an f-string."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.messages.kinds import Kind
from fullgraph.codemods.topics.messages.tests import REDUCING, is_reduction

NUMBER = re.compile(r"[-+ ,0]*\d*(?:\.\d+)?[deEfFgG%]?")
PERCENT = re.compile(r"%(\(\w*\))?[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(.)", re.S)
READS = {"item", "tolist", "numpy", "cpu"}
PLAIN_CALLS = {"size", "dim", "numel", "element_size", "detach", "abs", "any", "all", "isnan", "isinf", *REDUCING}
PLAIN_BUILTINS = ("len", "tuple", "list", "str", "type", "round", "abs", "min", "max", "sum")
ODD = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, ast.Starred, ast.JoinedStr)


@dataclass(frozen=True)
class Form:
    """The arguments of a helper. `template`: the text of an f-string with holes, whose values are the arguments.

    Without one the arguments stay as they are written, but for `edits`.
    """

    arguments: tuple[str, ...]
    template: str | None = None
    edits: tuple[Edit, ...] = ()
    is_literal: bool = False


def form_of(module: Module, call: ast.Call, kind: Kind) -> Form:
    """How the message is written; Unsure where it could read otherwise in the graph."""
    where = f"{module.path}:{call.lineno}"
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if call.keywords and kind.emitter not in ("warn", "print"):
        raise Unsure(f"{where}: the message is given {call.keywords[0].arg or '**'}=")
    texts = call.args[:1] if kind.emitter == "warn" else list(call.args)
    if any(isinstance(node, ODD[:-1]) for argument in given for node in ast.walk(argument)):
        raise Unsure(f"{where}: an argument of the message does more than name a value")
    if len(texts) == 1 and isinstance(texts[0], ast.JoinedStr):
        return filled(module, texts[0], where)
    if any(isinstance(node, ast.JoinedStr) for argument in given for node in ast.walk(argument)):
        raise Unsure(f"{where}: an f-string is not the whole message")
    if kind.emitter == "print":
        return plain(module, texts, where)
    if kind.function.endswith(".log"):
        texts = texts[1:]
    if not texts or not isinstance(texts[0], ast.Constant) or not isinstance(texts[0].value, str):
        raise Unsure(f"{where}: the text of the message is put together before it")
    return with_values(module, texts[0].value, texts[1:], where)


def plain(module: Module, values: list[ast.expr], where: str) -> Form:
    for value in values:
        if read_in(module, value):
            raise Unsure(f"{where}: the message reads a number from a tensor")
    is_literal = all(isinstance(value, ast.Constant) for value in values)
    return Form(tuple(module.code(value) for value in values), is_literal=is_literal)


def with_values(module: Module, text: str, values: list[ast.expr], where: str) -> Form:
    """A text with values for `%`. A read of a number without dimensions is left to `%d` and `%f`."""
    codes = [match for match in PERCENT.findall(text) if match[1] != "%"] if values else []
    if len(codes) != len(values) or any(named or code not in "sdifeEgG" for named, code in codes):
        raise Unsure(f"{where}: the text does not have one %s, %d, %f, %e or %g for each value")
    edits = []
    for value, (_, code) in zip(values, codes, strict=True):
        if read_in(module, value):
            read = whole_read(module, value)
            if read is None or code == "s":
                raise Unsure(f"{where}: the message reads a number from what may not be a tensor without dimensions")
            edits.append(module.replace(Span(module.span(read).end, module.span(value).end), ".detach()"))
    return Form(tuple(module.code(value) for value in values), edits=tuple(edits), is_literal=not values)


def filled(module: Module, text: ast.JoinedStr, where: str) -> Form:
    """An f-string as a text for `format`, and the values of its holes."""
    template, values = "", []
    holes = [part for part in text.values if isinstance(part, ast.FormattedValue)]
    for part in text.values:
        if isinstance(part, ast.FormattedValue):
            spec = specification(part, where)
            values.append(hole_value(module, part.value, where, alone=len(holes) == 1))
            template += f"{{:{spec}}}" if spec else "{}"
        elif isinstance(part, ast.Constant):
            template += str(part.value).replace("{", "{{").replace("}", "}}")
    return Form(tuple(values), template)


def specification(hole: ast.FormattedValue, where: str) -> str:
    if hole.conversion != -1:
        raise Unsure(f"{where}: the f-string asks for a representation (`!r`, `!s` or `=`)")
    parts = hole.format_spec.values if isinstance(hole.format_spec, ast.JoinedStr) else []
    if any(not isinstance(part, ast.Constant) for part in parts):
        raise Unsure(f"{where}: a format of the f-string is computed")
    spec = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
    if not NUMBER.fullmatch(spec):
        raise Unsure(f"{where}: a format of the f-string is not one of numbers")
    return spec


def hole_value(module: Module, value: ast.expr, where: str, alone: bool) -> str:
    """The text of one value. Of several, none may change what another one shows."""
    if read_in(module, value):
        read = whole_read(module, value)
        if read is None:
            raise Unsure(f"{where}: the message reads a number from what may not be a tensor without dimensions")
        value = ast.Call(ast.Attribute(read, "detach", ast.Load()), [], [])
    if not alone and any(isinstance(node, ast.Call) and not is_plain_call(module, node) for node in ast.walk(value)):
        raise Unsure(f"{where}: the f-string calls something between its values")
    return ast.unparse(value)


def is_plain_call(module: Module, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in PLAIN_CALLS
    return module.scopes.is_builtin(call.func, *PLAIN_BUILTINS)


def read_in(module: Module, value: ast.expr) -> bool:
    """Whether a value may be read from a tensor on the host."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    return any(
        call.func.attr in READS
        if isinstance(call.func, ast.Attribute)
        else module.scopes.is_builtin(call.func, "float", "int", "bool")
        for call in calls
    )


def whole_read(module: Module, value: ast.expr) -> ast.expr | None:
    """The tensor of `x.mean().item()`, where it is seen to have no dimensions and to be read only here."""
    is_item = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "item"
    if not is_item or value.args or value.keywords:  # type: ignore[attr-defined]
        return None
    tensor: ast.expr = value.func.value  # type: ignore[attr-defined]
    return tensor if is_reduction(module, tensor, REDUCING | {"any", "all"}) and not read_in(module, tensor) else None

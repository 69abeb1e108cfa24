"""One more keyword in a call, laid out as the call is."""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.signatures.width import is_too_long, shown_width

MARK = re.compile(r"#[^\r\n]*|[^\s\\#]")


def add_keyword(module: Module, call: ast.Call, text: str) -> Edit:
    """The edit that adds `name=value` behind the last argument, on a line of its own where that has one.

    A call that ends a statement on one line is broken inside its parentheses where it would leave the file's width.
    """
    end = module.span(call).end - 1
    last = last_argument(call)
    if last is None:
        return module.insert(end, text)
    marks = [mark for mark in MARK.finditer(module.text, module.span(last).end, end) if mark[0][0] != "#"]
    behind = marks[-1].end() if marks else module.span(last).end
    has_comma = bool(marks) and marks[-1][0] == ","
    if module.begins_line(last):
        return add_line(module, behind, has_comma, f"\n{module.indent(last)}{text}")
    if not has_comma and is_whole_line(module, call) and is_too_long(module, end, shown_width(module, f", {text}")):
        return break_call(module, call, text)
    return module.insert(behind, f" {text}," if has_comma else f", {text}")


def add_line(module: Module, behind: int, has_comma: bool, line: str) -> Edit:
    """The new line below the comment, if any, that follows the last argument."""
    rest = module.text[behind : module.line_end(behind)].rstrip("\r\n")
    comment = rest if rest.lstrip().startswith("#") else ""
    if has_comma:
        return module.insert(behind + len(comment), f"{line},")
    return module.replace(Span(behind, behind + len(comment)), f",{comment}{line}")


def last_argument(call: ast.Call) -> ast.expr | ast.keyword | None:
    """The argument that ends the call, with its name."""
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    return max(given, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0), default=None)


def is_whole_line(module: Module, call: ast.Call) -> bool:
    """Whether a call is what a statement on one line assigns or evaluates."""
    statement = module.statement(call)
    span = module.span(statement)
    is_one_line = module.begins_line(statement) and module.line(span.start) == module.line(span.end)
    return is_one_line and getattr(statement, "value", None) is call


def break_call(module: Module, call: ast.Call, text: str) -> Edit:
    """The arguments on a line of their own, between the parentheses."""
    opening = module.text.index("(", module.span(call.func).end)
    end = module.span(call).end - 1
    indent = module.indent(call)
    inner = module.text[opening + 1 : end].strip()
    return module.replace(Span(opening + 1, end), f"\n{indent}{module.indent_unit}{inner}, {text}\n{indent}")

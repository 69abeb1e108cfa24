"""Make a statement run only under one more condition, with the smallest edit."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import NEWLINE, Module
from fullgraph.codemods.syntax.signatures.width import is_too_long, shown_width

LOOSER = (ast.IfExp, ast.Lambda, ast.NamedExpr)


def gate(module: Module, statement: ast.stmt, condition: str) -> tuple[Edit, ...]:
    """The edits after which a simple statement runs only if the condition, which binds as `not x` does, holds too.

    Where the statement is all that an `if` without `else` does, the condition is added to the test; else the statement
    gets an `if` of its own.
    """
    owner = module.parent(statement)
    if isinstance(owner, ast.If) and owner.body == [statement] and not owner.orelse:
        end = module.span(owner.test).end
        if not is_too_long(module, end, shown_width(module, f" and {condition}")) or not is_alone(module, statement):
            return narrow(module, owner.test, condition)
    return (wrap(module, statement, condition),)


def narrow(module: Module, test: ast.expr, condition: str) -> tuple[Edit, ...]:
    """`test and condition`, with parentheses where the test binds looser than `and`."""
    span = module.span(test)
    outer = parentheses(module, span)
    is_loose = isinstance(test, LOOSER) or (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or))
    if outer and isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and (gap := line_gap(module, test)):
        return (module.insert(span.end, f"{gap}and {condition}"),)
    if outer:
        return (module.insert(outer.end, f" and {condition}"),)
    if is_loose:
        return (module.insert(span.start, "("), module.insert(span.end, f") and {condition}"))
    return (module.insert(span.end, f" and {condition}"),)


def line_gap(module: Module, test: ast.BoolOp) -> str:
    """The line break and indent before the last part of a test that has its `and` at the head of a line."""
    start = module.span(test.values[-1]).start
    head = module.text[module.line_start(start) : start]
    return "\n" + head[: len(head) - len(head.lstrip(" \t"))] if head.strip() == "and" else ""


def parentheses(module: Module, span: Span) -> Span | None:
    """The outermost parentheses right around an expression, blanks and line breaks apart."""
    text, found = module.text, None
    start, end = span.start, span.end
    while True:
        before, behind = text[:start].rstrip(), text[end:]
        gap = len(behind) - len(behind.lstrip())
        if not before.endswith("(") or not behind[gap:].startswith(")"):
            return found
        start, end = len(before) - 1, end + gap + 1
        found = Span(start, end)


def is_alone(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement has its lines for itself."""
    end = module.span(statement).end
    rest = module.text[end : module.line_end(end)].strip()
    return module.begins_line(statement) and (not rest or rest.startswith("#"))


def wrap(module: Module, statement: ast.stmt, condition: str) -> Edit:
    """`if condition:` around a statement that has its lines for itself."""
    span = module.span(statement)
    text = module.text[span.start : span.end]
    if not is_alone(module, statement):
        raise Unsure(f"{module.path}:{statement.lineno}: shares its line with other code")
    if any(isinstance(node, ast.Constant) and is_long(node) for node in ast.walk(statement)):
        raise Unsure(f"{module.path}:{statement.lineno}: a text over several lines, which cannot be indented")
    indent = module.indent(statement)
    inner = indent + module.indent_unit
    lines = NEWLINE.split(text)
    shifted = "\n".join([lines[0], *(line and module.indent_unit + line for line in lines[1:])])
    return module.replace(span, f"if {condition}:\n{inner}{shifted}")


def is_long(node: ast.Constant) -> bool:
    return isinstance(node.value, str) and node.end_lineno != node.lineno

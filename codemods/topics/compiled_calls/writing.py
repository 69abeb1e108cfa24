"""The counter around what is compiled, as a formatter would lay it out."""

from __future__ import annotations

import ast
import re

from codemods.codemod import Unsure
from codemods.imports import insert_line_after
from codemods.model import Edit, Span
from codemods.module import Module
from codemods.syntax.places import where
from codemods.syntax.signatures.width import is_too_long, shown_width, width_of

PRAGMA = re.compile(r"#.*\b(?:type|noqa|pyright|pylint|pyre|ruff|fmt|pragma|fullgraph)\b")
"""A comment that is about its line."""


def wrap_call(module: Module, call: ast.expr, counter: str, name: str) -> tuple[Edit, ...]:
    """`counted("name", torch.compile(...))`, on lines of its own where it has several or gets too long."""
    span, lines = module.span(call), inner_lines(module, module.span(call))
    head, tail = f"{counter}({name}, ", ")"
    if may_be_laid_out(module, call) and (lines or is_too_long(module, span.start, len(head) + len(tail))):
        indent, unit = module.indent(call), module.indent_unit
        inner = f"{indent}{unit}{name}, {module.code(call)}"
        fits = not lines and shown_width(module, inner) <= width_of(module)
        head = f"{counter}(\n{indent}{unit}{name}," + (" " if fits else f"\n{indent}{unit}")
        tail = f"\n{indent})" if fits else f",\n{indent})"
        return module.insert(span.start, head), *indented(module, lines), module.insert(span.end, tail)
    return module.insert(span.start, head), module.insert(span.end, tail)


def indented(module: Module, lines: list[int]) -> list[Edit]:
    return [module.insert(line, module.indent_unit) for line in lines]


def inner_lines(module: Module, span: Span) -> list[int]:
    """Where the lines of a span begin, the first and blank ones left out."""
    starts = (start for start in module.line_starts if span.start < start <= span.end)
    return [start for start in starts if module.text[start : module.line_end(start)].strip()]


def may_be_laid_out(module: Module, call: ast.expr) -> bool:
    """Whether nothing hangs on where its lines begin: it is a whole value, without comments for tools or long texts."""
    span = module.span(call)
    ends = (module.text[module.line_start(at) : module.line_end(at)] for at in (span.start, span.end))
    is_whole = isinstance(module.parent(call), ast.stmt) or module.begins_line(call)
    return is_whole and not any(map(PRAGMA.search, ends)) and not any(map(is_over_lines, ast.walk(call)))


def is_over_lines(node: ast.AST) -> bool:
    """Whether it is a text that goes over several lines, which must not be indented."""
    is_text = isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    )
    return is_text and getattr(node, "lineno", 0) != getattr(node, "end_lineno", 0)


def decorate(module: Module, decorator: ast.expr, counter: str) -> tuple[Edit, ...]:
    """`@counted("name")` just above the decorator that compiles."""
    at = module.text.rindex("@", 0, module.span(decorator).start)
    return (module.insert(at, f"@{counter}\n{module.indent(decorator)}"),)


def count_after(module: Module, statement: ast.stmt, line: str) -> tuple[Edit, ...]:
    """A line of its own behind a statement that has its lines for itself."""
    end = module.span(statement).end
    behind = module.text[end : module.line_end(end)].strip()
    if not module.begins_line(statement) or (behind and not behind.startswith("#")):
        raise Unsure(f"{where(module, statement)}: no room for a line behind this statement, which shares its own")
    return (insert_line_after(module, statement, module.indent(statement) + line),)


def quoted(module: Module, name: str) -> str:
    """A name in the quotes that the file prefers."""
    texts = [node for node in module.unordered(ast.Constant) if isinstance(node.value, str)]
    marks = [module.text[module.span(node).start] for node in texts if not isinstance(module.parent(node), ast.Expr)]
    quote = "'" if marks.count("'") > marks.count('"') else '"'
    return f"{quote}{name}{quote}"

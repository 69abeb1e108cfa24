"""The text of an expression at another place."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from codemods.codemod import Unsure
from codemods.model import Edit, Span
from codemods.module import NEWLINE, Module
from codemods.syntax.places import where


def text_without(module: Module, node: ast.expr, spans: Sequence[Span] = ()) -> str:
    """The text of an expression with some of its characters left out; line breaks are `\\n`."""
    span = module.span(node)
    text, end = "", span.start
    for left_out in sorted(spans):
        text += module.text[end : left_out.start]
        end = left_out.end
    return NEWLINE.sub("\n", text + module.text[end : span.end])


def joined(text: str) -> str:
    """A call of several lines as one, unless a comment or a comma behind the last item keeps it apart."""
    if "#" in text or '"' in text or "'" in text or re.search(r",\s*\n\s*[\])]", text):
        return text
    return re.sub(r"\s*\n\s*", " ", re.sub(r"([\[(])\s*\n\s*|\s*\n\s*([\])])", r"\1\2", text))


def indented_like(module: Module, node: ast.AST, text: str, indent: str) -> str:
    """The text of a node over several lines, moved from the indentation of its first line to another one."""
    old = module.indent(node)
    first, *rest = text.split("\n")
    if any(line.strip() and not line.startswith(old) for line in rest):
        raise Unsure(f"{where(module, node)}: its lines cannot be indented anew")
    return "\n".join([first, *((indent + line[len(old) :]) if line.strip() else line for line in rest)])


def stands_alone(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement has its lines for itself, without a comment on or above them."""
    span = module.span(statement)
    behind = module.text[span.end : module.line_end(span.end)]
    start = module.line_start(span.start)
    above = module.text[module.line_start(start - 1) : start] if start else ""
    return module.begins_line(statement) and not behind.strip() and not above.strip().startswith("#")


def can_go(module: Module, statement: ast.stmt, loads: Sequence[ast.Name]) -> bool:
    """Whether an assignment can be taken out: it has its lines for itself, and a neighbour that stays."""
    block = module.block(statement)
    holders = {outer for load in loads for outer in module.ancestors(load)}
    stays = any(other in holders for other in block if other is not statement)
    return stays and stands_alone(module, statement)


def remove_line(module: Module, statement: ast.stmt, start: int | None = None) -> Edit:
    """The statement is gone, with its lines; of blank lines that would meet, or begin a block, those below go too."""
    span = module.span(statement)
    start = module.line_start(span.start) if start is None else start
    end = module.line_end(span.end)
    if "\f" in module.text[start : span.start]:
        start = module.text.rindex("\f", start, span.start) + 1
    above = module.text[module.line_start(start - 1) : start].strip() if start else ""
    is_first = module.block(statement)[0] is statement
    while is_first and start and not above:
        start = module.line_start(start - 1)
        above = module.text[module.line_start(start - 1) : start].strip() if start else "-"
    while (not above or is_first) and end < len(module.text) and not module.text[end : module.line_end(end)].strip():
        end = module.line_end(end)
    return module.replace(Span(start, end), "")

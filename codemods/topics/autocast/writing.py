"""The text of an autocast: a condition moved elsewhere, one more argument, a statement moved out of a loop."""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import NEWLINE, Module
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.signatures.arguments import add_keyword
from fullgraph.codemods.syntax.signatures.constructor import shares_line
from fullgraph.codemods.syntax.signatures.width import shown_width, width_of
from fullgraph.codemods.topics.autocast.regions import Region, wrapped


def assignment(module: Module, target: str, value: ast.expr, near: ast.AST) -> list[str]:
    """The lines of `target = value`: on one line if that fits, else in parentheses with the line breaks it had."""
    lines = [line.strip().removesuffix("\\").rstrip() for line in NEWLINE.split(module.code(value))]
    joined = tidy(" ".join(lines))
    if len(lines) == 1 or ("#" not in joined and fits(module, f"{target} = {joined}", near)):
        lines = [f"{target} = {joined if len(lines) > 1 else lines[0]}"]
    else:
        lines = [f"{target} = (", *(f"\t{line}" for line in lines), ")"]
    if not says(lines, value):
        raise Unsure(f"{where(module, value)}: the condition cannot be written elsewhere")
    return lines


def tidy(joined: str) -> str:
    """One line made of several, without the blanks and commas that only several lines need."""
    return re.sub(r",?\s+([)\]}])", r"\1", re.sub(r"([(\[{])\s+", r"\1", joined))


def says(lines: list[str], value: ast.expr) -> bool:
    """Whether the lines assign exactly this value."""
    try:
        statement = ast.parse("\n".join(lines)).body[0]
    except SyntaxError:
        return False
    return isinstance(statement, ast.Assign) and ast.dump(statement.value) == ast.dump(value)


def fits(module: Module, line: str, near: ast.AST) -> bool:
    """Whether a line with the indentation of a statement stays within the width of the file."""
    return shown_width(module, module.indent(near) + line) <= width_of(module)


def with_enabled(region: Region, value: str) -> str:
    """The call that makes the autocast, with `enabled=value` as one more argument."""
    module, made = region.module, region.made
    if any(keyword.arg is None for keyword in made.keywords):
        raise Unsure(f"{where(module, made)}: the arguments cannot be seen")
    more, span = add_keyword(module, made, f"enabled={value}"), module.span(made)
    text = module.text[span.start : more.span.start] + more.new_text + module.text[more.span.end : span.end]
    return NEWLINE.sub("\n", text)


def enable(region: Region, value: str) -> Edit:
    """Autocast with a condition in place of the choice between autocast and nothing."""
    module = region.module
    if isinstance(region.chosen, ast.If):
        return module.replace(region.chosen, f"{region.name} = {with_enabled(region, value)}")
    span = wrapped(module, region.chosen)
    text = with_enabled(region, value)
    line = module.text[module.line_start(span.start) : span.start] + text
    if "\n" not in line and shown_width(module, line) > width_of(module):
        indent = module.indent(region.statement)
        head, _, rest = text.partition("(")
        text = f"{head}(\n{indent}{module.indent_unit}{rest[:-1]}\n{indent})"
    return module.replace(span, text)


def removal(module: Module, statement: ast.stmt) -> Edit:
    """The lines of a statement taken away."""
    span = module.span(statement)
    end = module.line_end(span.end)
    if not module.begins_line(statement) or shares_line(module, statement) or "#" in module.text[span.end : end]:
        raise Unsure(f"{where(module, statement)}: the statement shares its line")
    if module.block(statement) == [statement]:
        raise Unsure(f"{where(module, statement)}: nothing else stands in its block")
    return module.replace(Span(module.line_start(span.start), end), "")


def lines_of(module: Module, statement: ast.stmt) -> list[str]:
    """A statement's lines without the indentation that they share."""
    indent = module.indent(statement)
    first, *others = NEWLINE.split(module.code(statement))
    if any(other.strip() and not other.startswith(indent) for other in others):
        raise Unsure(f"{where(module, statement)}: a line of the statement stands further left")
    if any(isinstance(node, ast.Constant) and spans_lines(node) for node in ast.walk(statement)):
        raise Unsure(f"{where(module, statement)}: the statement holds a text of several lines")
    return [first, *(other[len(indent) :] for other in others)]


def spans_lines(node: ast.Constant) -> bool:
    return isinstance(node.value, (str, bytes)) and node.end_lineno != node.lineno

"""Imports taken out again, with the lines that were only theirs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.places import where

Import = ast.Import | ast.ImportFrom


def drop_names(module: Module, node: Import, gone: Sequence[ast.alias]) -> tuple[Edit, ...]:
    """The edits that take some names out of an import. At least one must stay."""
    kept = [alias for alias in node.names if alias not in gone]
    assert kept, "an import without names is no import"
    edits: list[Edit] = []
    for index, alias in enumerate(node.names):
        if alias in gone and any(later in kept for later in node.names[index + 1 :]):
            following = node.names[index + 1]
            edits.append(module.replace(Span(module.span(alias).start, module.span(following).start), ""))
    if node.names[-1] in gone:
        edits.append(module.replace(Span(module.span(kept[-1]).end, module.span(node.names[-1]).end), ""))
    return tuple(edits)


def drop_statement(module: Module, node: ast.stmt) -> Edit:
    return drop_statements(module, [node])


def drop_statements(module: Module, nodes: Sequence[ast.stmt]) -> Edit:
    """The edit that takes out statements that follow each other, with their lines; Unsure where others share these.

    Empty lines that only set them apart go with them.
    """
    first, last = nodes[0], nodes[-1]
    start, end = module.line_start(module.span(first).start), module.line_end(module.span(last).end)
    if shares_line(module, first, last):
        raise Unsure(f"{where(module, first)}: the import shares its line with another statement")
    if "\f" in module.text[start : module.span(first).start]:
        start = module.text.rindex("\f", start, module.span(first).start) + 1
    if is_blank_line(module, end):
        above = start
        while is_blank_line(module, above - 1):
            above = module.line_start(above - 1)
        if above < start:
            start = above
        elif is_head(module, first):
            while is_blank_line(module, end):
                end = module.line_end(end)
    return module.replace(Span(start, end), "")


def shares_line(module: Module, first: ast.stmt, last: ast.stmt) -> bool:
    """Whether something but a comment stands on the lines of these statements before or behind them."""
    end = module.span(last).end
    rest = module.text[end : module.line_end(end)].strip()
    return not module.begins_line(first) or (bool(rest) and not rest.startswith("#"))


def is_blank_line(module: Module, offset: int) -> bool:
    """Whether the line with this character is there, and empty."""
    if not 0 <= offset < len(module.text):
        return False
    return not module.text[module.line_start(offset) : module.line_end(offset)].strip(" \t\r\n")


def is_head(module: Module, node: ast.stmt) -> bool:
    """Whether nothing but a docstring stands before a statement in its block."""
    before = module.block(node)[: module.block(node).index(node)]
    return all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in before)

"""The compile-friendly form beside the old code, of which only one runs: `torch.compiler.is_compiling()` decides."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.compiled import IS_COMPILING

GUARD = "torch.compiler.is_compiling"
WIDTH = 110
SIMPLE = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)
Swap = tuple[ast.AST | Span, str]
"""A part of a statement, and what stands there in compiled code."""


def is_compiling(module: Module) -> tuple[str, tuple[Edit, ...]]:
    """How this file asks whether it is being compiled, with the edit that imports torch if need be."""
    torch, edits = module.imports.require("torch")
    return f"{module.imports.spelling(GUARD) or f'{torch}.compiler.is_compiling'}()", edits


def guarded(
    module: Module, statement: ast.stmt, swaps: Sequence[Swap], conditions: Sequence[str] = ()
) -> tuple[Edit, ...]:
    """`if is_compiling() and conditions:` the statement with its parts swapped, `else:` the statement as it is."""
    return branched(module, statement, swapped_lines(module, statement, swaps), conditions)


def branched(
    module: Module, statement: ast.stmt, compiled: Sequence[str], conditions: Sequence[str] = ()
) -> tuple[Edit, ...]:
    """`if is_compiling() and conditions:` these lines, `else:` the statement as it is, one level further in."""
    old, span = text_alone(module, statement)
    asks, imports = is_compiling(module)
    indent, unit = module.indent(statement), module.indent_unit
    test = " and ".join([asks, *conditions])
    new = "".join(f"{indent}{unit}{line}\n" for line in compiled)
    shifted = re.sub(r"\n(?=[^\n])", f"\n{unit}", old)
    text = f"if {test}:\n{new}{indent}else:\n{indent}{unit}{shifted}"
    if any(len(line) > 120 for line in text.split("\n")) and max(map(len, old.split("\n"))) <= WIDTH:
        text = f"if {wrapped(asks, conditions, indent, unit)}:\n{new}{indent}else:\n{indent}{unit}{shifted}"
    return (*imports, module.replace(span, text))


def wrapped(asks: str, conditions: Sequence[str], indent: str, unit: str) -> str:
    """A test of several parts, one on each line, as a formatter writes it."""
    if not conditions:
        return asks
    lines = [asks, *(f"and {condition}" for condition in conditions)]
    return "(\n" + "".join(f"{indent}{unit}{line}\n" for line in lines) + f"{indent})"


def text_alone(module: Module, statement: ast.stmt) -> tuple[str, Span]:
    """A statement's text; Unsure where it shares a line with another, or holds a string over several."""
    span = module.span(statement)
    text = module.text[span.start : span.end].replace("\r\n", "\n").replace("\r", "\n")
    behind = module.text[span.end : module.line_end(span.end)]
    is_alone = module.begins_line(statement) and not behind.split("#")[0].strip()
    if not is_alone:
        raise Unsure(f"{module.path}:{statement.lineno}: the statement shares its line with another")
    strings = [n for n in ast.walk(statement) if isinstance(n, (ast.Constant, ast.JoinedStr))]
    if any(getattr(node, "end_lineno", 0) != getattr(node, "lineno", 0) for node in strings) or "\\\n" in text:
        raise Unsure(f"{module.path}:{statement.lineno}: a string over several lines cannot be moved further in")
    return text, span


def swapped_lines(module: Module, statement: ast.stmt, swaps: Sequence[Swap]) -> list[str]:
    """A statement with some of its parts replaced: on one line, or where that is too long in the lines that it has."""
    span = module.span(statement)
    text = module.text[span.start : span.end]
    if re.search(r"#[^\r\n]*[\r\n]", text):
        raise Unsure(f"{module.path}:{statement.lineno}: a comment stands in the middle of the statement")
    spans = [(where if isinstance(where, Span) else module.span(where), new) for where, new in swaps]
    for part, new in sorted(spans, reverse=True, key=lambda item: item[0].start):
        text = text[: part.start - span.start] + new + text[part.end - span.start :]
    lines = re.split(r"\r\n|\r|\n", text)
    if len(lines) == 1:
        return lines
    joined = " ".join(line.strip() for line in lines)
    short = re.sub(r",? ([)\]}])", r"\1", re.sub(r"([(\[{]) ", r"\1", joined))
    indent = module.indent(statement)
    return [short] if len(indent) + len(short) < WIDTH else [line.removeprefix(indent) for line in lines]


def is_shut_out(module: Module, node: ast.AST) -> bool:
    """Whether `is_compiling` already decides about a node, on either side: the code is written for it."""
    for outer in module.ancestors(node):
        if isinstance(outer, (ast.If, ast.IfExp, ast.While)) and asks(module, outer.test):
            return True
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)) and leaves_first(module, outer, node):
            return True
    return False


def asks(module: Module, test: ast.AST) -> bool:
    return any(isinstance(node, ast.Call) and module.resolve(node.func) in IS_COMPILING for node in ast.walk(test))


def leaves_first(module: Module, function: ast.AST, node: ast.AST) -> bool:
    """Whether a function has left before this node where `is_compiling` says so."""
    for statement in getattr(function, "body", []):
        if statement.lineno >= getattr(node, "lineno", 0):
            return False
        if isinstance(statement, ast.If) and asks(module, statement.test):
            return isinstance(statement.body[-1], (ast.Return, ast.Raise))
    return False

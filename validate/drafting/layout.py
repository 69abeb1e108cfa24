"""Long expressions over several lines, an entry a line, as formatters lay them out."""

from __future__ import annotations

import ast

WIDTH = 110


def lay_out(head: str, expression: str, indent: int) -> list[str]:
    """`return f(...)` or `yield {...}` as lines; `indent` is what will stand before each."""
    lines = broken(ast.parse(expression, mode="eval").body, expression, indent + len(head), indent)
    return [head + lines[0], *lines[1:]]


def broken(node: ast.expr, source: str, taken: int, indent: int) -> list[str]:
    """The expression on one line if it fits behind what is taken already, else its parts on lines of their own."""
    text = segment(node, source)
    parts = parts_of(node, source)
    if taken + len(text) <= WIDTH or not parts:
        return [text]
    opening, entries, closing = parts
    if isinstance(node, ast.DictComp):
        return [opening, *(f"    {prefix}{segment(part, source)}" for prefix, part in entries), closing]
    lines = [opening]
    for prefix, part in entries:
        inner = broken(part, source, indent + 4 + len(prefix), indent + 4)
        inner = [prefix + inner[0], *inner[1:]]
        lines += [f"    {line}" for line in [*inner[:-1], f"{inner[-1]},"]]
    return [*lines, closing]


def parts_of(node: ast.expr, source: str) -> tuple[str, list[tuple[str, ast.expr]], str] | None:
    """How a call, a dict or a sequence opens, its entries with what stands before each, and how it closes."""
    if isinstance(node, ast.Attribute):
        inner = parts_of(node.value, source)
        return (inner[0], inner[1], f"{inner[2]}.{node.attr}") if inner else None
    if isinstance(node, ast.Call):
        inner = parts_of(node.func, source) if isinstance(node.func, ast.Attribute) else None
        if inner and not node.keywords:
            return inner[0], inner[1], f"{inner[2]}({', '.join(segment(arg, source) for arg in node.args)})"
        entries = [("", arg) for arg in node.args] + [
            (f"{word.arg}=" if word.arg else "**", word.value) for word in node.keywords
        ]
        return (f"{segment(node.func, source)}(", entries, ")") if entries else None
    if isinstance(node, ast.Dict):
        keys = [segment(key, source) for key in node.keys if key]
        return "{", [(f"{key}: ", value) for key, value in zip(keys, node.values, strict=True)], "}"
    if isinstance(node, ast.DictComp):
        (loop,) = node.generators
        key, target = segment(node.key, source), segment(loop.target, source)
        return "{", [(f"{key}: ", node.value), (f"for {target} in ", loop.iter)], "}"
    if isinstance(node, (ast.Tuple, ast.List)) and node.elts:
        opening, closing = "()" if isinstance(node, ast.Tuple) else "[]"
        return opening, [("", part) for part in node.elts], closing
    return None


def segment(node: ast.AST, source: str) -> str:
    return ast.get_source_segment(source, node) or ast.unparse(node)

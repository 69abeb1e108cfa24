"""Long lines of written code broken at their brackets, as ruff and black break them."""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator

WIDTH = 88
UNIT = "    "
PAIRS = {")": "(", "]": "[", "}": "{"}


def fitted(text: str) -> str:
    """The code with every statement in at most WIDTH columns that has brackets to break at. Docstrings stay."""
    starts = {node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt) and not is_text(node)}
    lines = enumerate(text.split("\n"), 1)
    return "\n".join(piece for number, line in lines for piece in (broken(line) if number in starts else [line]))


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def broken(line: str) -> list[str]:
    """The line, or its last brackets with what they hold on lines of its own."""
    pair = last_brackets(line) if len(line) > WIDTH else None
    if not pair:
        return [line]
    start, end = pair
    indent = line[: len(line) - len(line.lstrip())]
    items = items_of(line[start + 1 : end])
    body = f"{indent}{UNIT}{', '.join(items)}"
    if len(body) <= WIDTH and may_share_a_line(line, start, items):
        return [line[: start + 1], body, indent + line[end:]]
    inner = [piece for item in items for piece in broken(f"{indent}{UNIT}{item},")]
    return [line[: start + 1], *inner, indent + line[end:]]


def may_share_a_line(line: str, start: int, items: list[str]) -> bool:
    """Arguments may; items of a list or a set, and the only parameter of a function, have lines of their own."""
    if re.match(r"\s*def ", line):
        return len(items) > 1
    is_call = line[start] == "(" and re.search(r"[\w\])]$", line[:start]) is not None
    return is_call or " for " in items[0]


def last_brackets(line: str) -> tuple[int, int] | None:
    """Where the last brackets open and close that stand in no others and hold something; an index is no such thing."""
    depth, start, found = 0, 0, None
    for text, at in operators(line):
        if text in PAIRS.values():
            start = start if depth else at
            depth += 1
        elif text in PAIRS:
            depth -= 1
            is_index = line[start] == "[" and line[:start][-1:].strip(" ([{=") != ""
            if not depth and at > start + 1 and not is_index:
                found = start, at
    return found


def items_of(body: str) -> list[str]:
    """What stands between the commas that are in no inner brackets."""
    depth, begin, items = 0, 0, []
    for text, at in operators(body):
        depth += (text in PAIRS.values()) - (text in PAIRS)
        if text == "," and not depth:
            items.append(body[begin:at].strip())
            begin = at + 1
    return [item for item in (*items, body[begin:].strip()) if item]


def operators(line: str) -> Iterator[tuple[str, int]]:
    """The operators of a piece of code, with their columns."""
    moved = len(line) - len(line.lstrip())
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"{line.lstrip()}\n").readline):
            if token.type == tokenize.OP:
                yield token.string, token.start[1] + moved
    except (tokenize.TokenError, SyntaxError):
        return


def quoted(docstring: str, indent: str = "") -> str:
    """A docstring in its quotes: one sentence, or a sentence and further paragraphs."""
    width = WIDTH - len(indent)
    paragraphs = [" ".join(text.split()) for text in docstring.strip().split("\n\n")]
    if len(paragraphs) == 1 and len(paragraphs[0]) + 6 <= width:
        return f'{indent}"""{paragraphs[0]}"""'
    filled = [textwrap.fill(text, width - 3) for text in (f'"""{paragraphs[0]}', *paragraphs[1:])]
    return textwrap.indent("\n\n".join(filled) + '\n"""', indent)

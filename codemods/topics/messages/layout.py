"""How the call of a helper is laid out in lines."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module

WIDTH = 100


def laid_out(module: Module, statement: ast.stmt, name: str, given: list[str], deeper: str = "") -> str:
    """A call on one line, or with each argument on its own and a long text in several pieces.

    It stands where the statement does, or so much deeper.
    """
    indent, unit = module.indent(statement) + deeper, module.indent_unit
    whole = f"{name}({', '.join(given)})"
    if len(indent) + len(whole) <= WIDTH and "\n" not in whole:
        return whole
    inner = indent + unit
    lines = [line for text in given for line in pieces(text, WIDTH - len(inner))]
    return f"{name}(\n" + "".join(f"{inner}{line}\n" for line in lines) + f"{indent})"


def pieces(text: str, room: int) -> list[str]:
    """One argument in lines, with its comma. Strings that stand below each other already are indented anew."""
    if "\n" in text:
        return [line.strip() for line in text.splitlines()[:-1]] + [text.splitlines()[-1].strip() + ","]
    if not (text.startswith('"') and text.endswith('"')) or len(text) < room or "\\" in text:
        return [text + ","]
    lines, rest = [], text[1:-1]
    while len(rest) > room - 3 and " " in rest[: room - 3]:
        cut = rest.rindex(" ", 0, room - 3) + 1
        lines.append(f'"{rest[:cut]}"')
        rest = rest[cut:]
    return [*lines, f'"{rest}",']


def quoted(text: str) -> str:
    """A text as a string in double quotes."""
    shown = repr(text)
    if shown.startswith('"'):
        return shown
    return '"' + shown[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'

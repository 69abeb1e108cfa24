"""Texts that are put together: what is written out in them, and the values that they show."""

from __future__ import annotations

import ast
import re
from string import Formatter

Piece = str | ast.expr
PERCENT = re.compile(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?[sradifgGeExXou])")


def pieces(node: ast.expr) -> list[Piece] | None:
    """A text in its order: strings as they are shown, and the expressions whose values are. None if it is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return [one for value in node.values for one in part_of(value)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return added(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and (text := written(node.left)):
        return filled_by_percent(text, node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text = written(node.func.value)
        return filled_by_format(text, node) if text else None
    return None


def written(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def part_of(value: ast.expr) -> list[Piece]:
    return [value.value] if isinstance(value, ast.FormattedValue) else [written(value)]


def added(node: ast.BinOp) -> list[Piece] | None:
    """`"..." + str(x)`: a text if one side is."""
    sides = [pieces(side) for side in (node.left, node.right)]
    if sides == [None, None]:
        return None
    left, right = (found or [side] for found, side in zip(sides, (node.left, node.right), strict=True))
    return [*left, *right]


def filled_by_percent(text: str, given: ast.expr) -> list[Piece] | None:
    """`"..." % x`. Where the places are not as many as the values, the value is a tuple from elsewhere."""
    values = list(given.elts) if isinstance(given, ast.Tuple) else [given]
    places = PERCENT.findall(text)
    is_odd = "%" in PERCENT.sub("", text) or any(isinstance(value, (ast.Starred, ast.Dict)) for value in values)
    if is_odd or len([place for place in places if place != "%%"]) != len(values):
        return None
    found: list[Piece] = []
    for words, place in zip(PERCENT.split(text), [*places, ""], strict=True):
        found += [words, "%" if place == "%%" else values.pop(0) if place else ""]
    return found


def filled_by_format(text: str, call: ast.Call) -> list[Piece] | None:
    """`"...".format(x)`, by place and by name."""
    by_name: dict[str | None, ast.expr] = {str(number): value for number, value in enumerate(call.args)}
    by_name |= {keyword.arg: keyword.value for keyword in call.keywords}
    if None in by_name or any(isinstance(value, ast.Starred) for value in call.args):
        return None
    found: list[Piece] = []
    try:
        fields = list(Formatter().parse(text))
    except ValueError:
        return None
    unnamed = 0
    for words, name, _, _ in fields:
        found.append(words)
        if name is None:
            continue
        name, unnamed = (str(unnamed), unnamed + 1) if name == "" else (name, unnamed)
        if name not in by_name:
            return None
        found.append(by_name[name])
    return found

"""Ellipses that are not Python where they stand, each replaced by three characters that are."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fullgraph.codemods.model import Span
from fullgraph.codemods.tickets.model import Hole, HoleKind

TOKEN = re.compile(
    r"(?P<string>[rbfuRBFU]{0,2}(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"))"
    r"|(?P<comment>\#[^\n]*)|(?P<hole>\.\.\.)|(?P<name>[^\W\d]\w*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<break>\n)"
    r"|(?P<colon>:)|(?P<equals>(?<![=!<>:])=(?!=))|(?P<comma>,)|(?P<star>\*\*?)|(?P<other>\S)",
    re.DOTALL,
)
FILLERS: dict[HoleKind, str] = {"parameters": "*__", "arguments": "**_", "name": "___"}


@dataclass
class Bracket:
    """What is known inside an open bracket: whether it holds parameters, keywords, or the pairs of a dict."""

    sign: str = ""
    is_signature: bool = False
    has_keyword: bool = False
    has_pairs: bool = False


def fill_holes(code: str) -> tuple[str, list[Hole]]:
    """The code with the holes that would not parse filled, position by position; and these holes."""
    if "..." not in code:
        return code, []
    holes = [hole for hole in find_holes(code) if hole]
    text = code
    for hole in holes:
        text = text[: hole.span.start] + FILLERS[hole.kind] + text[hole.span.end :]
    return text, holes


def find_holes(code: str) -> list[Hole]:
    opened = [Bracket()]
    line: list[str] = []
    found: list[Hole] = []
    pairs = dict_brackets(code)
    for token in TOKEN.finditer(code):
        kind, text = token.lastgroup or "", token.group()
        if kind == "open":
            opened.append(open_bracket(text, line, token.start() in pairs))
        elif kind == "close" and len(opened) > 1:
            opened.pop()
        elif kind == "break" and len(opened) == 1:
            line = []
        elif kind == "equals":
            opened[-1].has_keyword = True
        elif kind == "hole" and (meant := meaning(opened[-1], line, code[token.end() : token.end() + 40])):
            found.append(Hole(Span(token.start(), token.end()), meant))
        if kind not in ("comment", "break"):
            line.append(text)
    return found


def open_bracket(sign: str, line: list[str], has_pairs: bool) -> Bracket:
    is_signature = sign == "(" and len(line) >= 2 and line[-2] == "def"
    return Bracket(sign, is_signature, has_pairs=has_pairs)


def meaning(bracket: Bracket, line: list[str], rest: str) -> HoleKind | None:
    """What an ellipsis here must be replaced by, or None where Python takes it as it is."""
    before = line[-1] if line else ""
    if bracket.is_signature and before in ("(", ","):
        return "parameters"
    if before == "lambda":
        return "parameters"
    if bracket.has_pairs and before in ("{", ","):
        return "arguments"
    if bracket.sign == "(" and bracket.has_keyword and before == ",":
        return "arguments"
    if before in ("import", "as", "def", "class", "global", "nonlocal", "del") or (before == "for"):
        return "name"
    if re.match(r"\s*(?::[^=\n]*)?=(?!=)", rest) and not bracket.sign:
        return "name"
    return "name" if rest.startswith(".") or before == "." else None


def dict_brackets(code: str) -> set[int]:
    """Where the braces of dicts open: those with a colon right inside them."""
    opened: list[tuple[int, str]] = []
    dicts: set[int] = set()
    for token in TOKEN.finditer(code):
        if token.lastgroup == "open":
            opened.append((token.start(), token.group()))
        elif token.lastgroup == "close" and opened:
            opened.pop()
        elif token.lastgroup in ("colon", "star") and opened and opened[-1][1] == "{":
            dicts.add(opened[-1][0])
    return dicts

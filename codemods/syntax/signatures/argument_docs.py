"""Document one more parameter where a docstring documents the others."""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module, Scope

SECTION = re.compile(r"(?:Args|Arguments|Parameters|Params):")
ENTRY = re.compile(r"(?P<name>\w+)(?P<kind> ?\([^)]*\))?: +(?P<text>\S.*)")


def document_parameter(module: Module, scope: Scope, last: str, name: str, kind: str, text: str) -> tuple[Edit, ...]:
    """A line behind the entry of the parameter `last`, in the words of that entry; none if there is no such entry.

    Read are sections of the form `Args:` with an entry for each name, with or without its type in parentheses.
    """
    first = scope.body[0]
    if not isinstance(first, ast.Expr) or not isinstance(getattr(first.value, "value", None), str):
        return ()
    starts = module.line_starts[first.lineno - 1 : first.end_lineno]
    lines = [module.text[start : module.line_end(start)] for start in starts]
    found = entry_of(lines, last)
    if found is None:
        return ()
    number, entry, indent = found
    end = number + 1
    while end < len(lines) and lines[end].strip() and indent_of(lines[end]) > len(indent):
        end += 1
    if end == len(lines):
        return ()  # the closing quotes stand on the entry's line
    said = f" ({kind}, optional)" if entry["kind"] else ""
    text = text[0].upper() + text[1:] if entry["text"][0].isupper() else text
    stop = "." if lines[end - 1].rstrip().endswith(".") else ""
    return (module.insert(starts[end], f"{indent}{name}{said}: {text}{stop}\n"),)


def entry_of(lines: list[str], name: str) -> tuple[int, re.Match[str], str] | None:
    """The line on which the entry of a parameter begins, what it says, and its indentation."""
    for begin, line in enumerate(lines):
        if SECTION.fullmatch(line.strip()):
            for number in range(begin + 1, len(lines)):
                entry = ENTRY.match(lines[number].strip())
                if lines[number].strip() and indent_of(lines[number]) <= indent_of(line):
                    break
                if entry and entry["name"] == name:
                    return number, entry, lines[number][: indent_of(lines[number])]
    return None


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))

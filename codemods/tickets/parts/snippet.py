"""Code with holes: `...`, `# ...`, `f(...)`, `[...]` become code that `ast` can parse, and each hole is listed."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator

from fullgraph.codemods.model import Span
from fullgraph.codemods.tickets.limits import SNIPPET, SNIPPET_LINE
from fullgraph.codemods.tickets.model import Hole, HoleKind, Snippet
from fullgraph.codemods.tickets.parts.holes import fill_holes

REST = re.compile(
    r"#+\s*(?:\[?\s*\.\.\.|<?\s*snip|.*\.\.\.\s*\]?$|\(?\s*(?:rest of|existing code|unchanged|omitted|same as)\b)",
    re.IGNORECASE,
)
ONLY_HOLE = re.compile(r"\[\s*\.\.\.[^\]]*\]|<\s*\.\.\.\s*>|<snip>|\.\.\.(?:\s*\(?[a-z][^=()]*\)?)?", re.IGNORECASE)
OPENS_BODY = re.compile(
    r"(?:(?:async\s+)?(?:def|for|with)|class|if|elif|else|while|try|except|finally)\b.*:\s*(?:#.*)?$", re.DOTALL
)
PROMPT = re.compile(r"(?:>>>|\.\.\.|In \[\d+\]:|\$)(?: |$)")
DEEPEST = 60

WRAPPERS = (
    ("", ""),
    ("if ___:\n    ...\n", ""),
    ("try:\n    ...\n", ""),
    ("", "\ndef ___(): ..."),
    ("", "\n    ..."),
    ("", ":\n    ..."),
    ("___(\n", "\n)"),
    ("{\n", "\n}"),
)
"""What a fragment may lack: the `if` of an `else`, a `try`, a decorated function, a body, the call around arguments."""


def parse_snippet(code: str) -> Snippet | None:
    """The code of a block so that it parses, or None. The lines stay; a fragment gets what it lacks around it."""
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    if len(code) > SNIPPET or is_too_deep(code) or max(map(len, code.split("\n"))) > SNIPPET_LINE:
        return None
    text, marks = fill_holes(mark_rests(dedent(without_prompts(code))))
    for before, after in WRAPPERS:
        whole = before + text.rstrip() + after
        if tree := parsed(whole):
            shifted = tuple(Hole(shift(hole.span, len(before)), hole.kind) for hole in marks)
            holes = sorted(
                {*shifted, *written_holes(whole, tree, shifted, (len(before), len(before + text.rstrip())))},
                key=by_start,
            )
            return Snippet(whole, tuple(holes), before.count("\n"))
    return None


def by_start(hole: Hole) -> tuple[Span, str]:
    return hole.span, hole.kind


def shift(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)


def parsed(text: str) -> ast.Module | None:
    """The tree of a text that is Python and holds any code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if tree.body else None


def is_too_deep(code: str) -> bool:
    """Whether brackets or indents are nested deeper than anyone writes: the parser's stack is not unlimited."""
    depth = deepest = 0
    for character in code:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    return deepest > DEEPEST or any(len(line) - len(line.lstrip()) > 8 * DEEPEST for line in code.split("\n"))


def without_prompts(code: str) -> str:
    lines = code.split("\n")
    if not any(line.startswith(">>>") for line in lines):
        return code
    return "\n".join(PROMPT.sub("", line, count=1) if PROMPT.match(line) else f"# {line}" for line in lines)


def dedent(code: str) -> str:
    """Without the indent that all lines share; a first line that was cut out of its indent is put back first."""
    lines = textwrap.dedent(code.expandtabs(4)).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    indents = [len(line) - len(line.lstrip()) for line in lines[first + 1 :] if line.strip()]
    shared = min(indents, default=0)
    if shared and not OPENS_BODY.match(lines[first]) and lines[first].rstrip()[-1:] not in "([{,\\":
        lines[first] = " " * shared + lines[first]
    return textwrap.dedent("\n".join(lines))


def mark_rests(code: str) -> str:
    """Whole lines that say `more code here` become `...`; so does a body that is only a comment or missing."""
    lines = code.replace("\u2026", "...").split("\n")
    depth = 0
    for number, line in enumerate(lines):
        bare = line.strip()
        indent = line[: len(line) - len(line.lstrip())]
        if depth <= 0 and bare and (ONLY_HOLE.fullmatch(bare) or REST.match(bare)):
            lines[number] = f"{indent}..."
        elif OPENS_BODY.match(bare) and not has_body(lines, number, len(indent)):
            head, hash_sign, comment = line.partition("  #")
            lines[number] = f"{head.rstrip()} ...{hash_sign}{comment}"
        depth = max(0, depth + brackets(bare))
    return "\n".join(lines)


def brackets(line: str) -> int:
    code = line.partition("#")[0]
    return sum(code.count(sign) for sign in "([{") - sum(code.count(sign) for sign in ")]}")


def has_body(lines: list[str], number: int, indent: int) -> bool:
    """Whether an indented line that is not just a remark follows; a remark that stands for code counts."""
    for line in lines[number + 1 : number + 200]:
        bare = line.strip()
        deeper = len(line) - len(line.lstrip()) > indent
        if bare and not (bare.startswith("#") and not (deeper and REST.match(bare))):
            return deeper
    return False


def written_holes(text: str, tree: ast.Module, known: tuple[Hole, ...], own: tuple[int, int]) -> Iterator[Hole]:
    """The ellipses that are Python as they stand: `...` as a statement, an argument or any other expression."""
    begin, end = own
    starts = line_starts(text)
    taken = {hole.span for hole in known}
    rest: list[ast.AST] = [tree] if "..." in text[begin:end] else []
    while rest:
        parent = rest.pop()
        for node in ast.iter_child_nodes(parent):
            rest.append(node)
            if isinstance(node, ast.Constant) and node.value is ...:
                span = Span(offset(text, starts, node.lineno, node.col_offset), 0)
                span = Span(span.start, span.start + 3)
                if begin <= span.start < end and span not in taken:
                    yield Hole(span, kind_of(parent, node))


def kind_of(parent: ast.AST, node: ast.Constant) -> HoleKind:
    if isinstance(parent, ast.Expr):
        return "statements"
    if isinstance(parent, ast.Call) and node in parent.args:
        return "arguments"
    return "expression"


def line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def offset(text: str, starts: list[int], line: int, column: int) -> int:
    """`ast` counts bytes in a line."""
    begin = starts[line - 1]
    row = text[begin : starts[line] - 1]
    return begin + (column if row.isascii() else len(row.encode()[:column].decode(errors="ignore")))

"""Add a paragraph to a function's docstring, in the layout that the docstring has."""

from __future__ import annotations

import ast
import re
import textwrap

from fullgraph.codemods.imports import statement_start
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module, Scope

LITERAL = re.compile(
    r"""(?P<prefix>[rRuU]?)(?P<quotes>\"""|'''|"|')(?P<text>(?:\\.|(?!(?P=quotes)).)*)(?P=quotes)""", re.S
)
SECTIONS = (
    "Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters|Attributes|Returns?|Yields?|"
    "Raises|Warns|Notes?|Examples?|References|See Also|Todo"
)
SECTION = re.compile(
    rf"^[ \t]*(?:(?:{SECTIONS}):[ \t]*$|(?:{SECTIONS})[ \t]*\n[ \t]*[-=]{{3,}}[ \t]*$|"
    r":\w[\w \t*]*:|\.\. \w+::)",
    re.M,
)
ENDS_IN_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\\s*\Z")
WIDTH = 79


def docstring_of(function: Scope) -> ast.Constant | None:
    first = function.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    value = first.value if is_text else None  # type: ignore[attr-defined]
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def add_paragraph(module: Module, function: Scope, title: str, rest: str) -> Edit | None:
    """The edit that adds `title rest` as a paragraph: before the first section, else at the end.

    A function without a docstring gets one, with the title as its first line. None where there is no one literal to
    write into: pieces joined by the parser, an f-string, a docstring on the line of the `def`, a last line break that a
    backslash takes away.
    """
    docstring = docstring_of(function)
    if docstring is None:
        return None if is_fstring(function.body[0]) else make_docstring(module, function, title, rest)
    literal = LITERAL.fullmatch(module.code(docstring))
    if literal is None or not module.begins_line(function.body[0]):
        return None
    if len(literal["quotes"]) == 1 and literal["text"].splitlines()[1:]:
        return None
    if ENDS_IN_ESCAPE.search(literal["text"]):
        return None
    indent = module.indent(docstring)
    start = module.span(docstring).start
    if not literal["text"].strip():
        quotes = tripled(literal["quotes"])
        return module.replace(docstring, f"{literal['prefix']}{quotes}{layout(title, rest, indent)}\n{indent}{quotes}")
    paragraph = wrap(f"{title} {rest}", indent)
    if len(literal["quotes"]) == 1:
        quotes = tripled(literal["quotes"])
        text = f"{literal['prefix']}{quotes}{literal['text'].rstrip()}\n\n{paragraph}\n{indent}{quotes}"
        return module.replace(docstring, text)
    if section := first_section(literal["text"]):
        return before_section(module, start + literal.start("text"), section, f"{title} {rest}")
    return at_the_end(module, literal, start, paragraph, indent)


def is_fstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.JoinedStr)


def tripled(quotes: str) -> str:
    return quotes[0] * 3


def wrap(text: str, indent: str) -> str:
    """The text in lines of the usual width, each with the indentation."""
    width = max(40, WIDTH - len(indent.expandtabs(4)))
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(indent + line for line in lines)


def layout(title: str, rest: str, indent: str) -> str:
    """A docstring of its own: the title as the summary line, then the rest."""
    return f"{title}\n\n{wrap(rest, indent)}"


def first_section(text: str) -> re.Match[str] | None:
    """The first `Args:` and the like behind the docstring's first line, in a text of plain line breaks."""
    plain = text.replace("\r\n", " \n").replace("\r", "\n")
    return SECTION.search(plain, plain.index("\n")) if "\n" in plain else None


def before_section(module: Module, start: int, section: re.Match[str], text: str) -> Edit:
    """`start` is where the text of the docstring begins in the file."""
    indent = re.match(r"[ \t]*", section.group()).group()  # type: ignore[union-attr]
    above = section.string[: section.start()]
    is_apart = not above.strip() or re.search(r"\n[ \t]*\n$", above)
    gap = "" if is_apart else "\n"
    return module.insert(start + section.start(), f"{gap}{wrap(text, indent)}\n\n")


def at_the_end(module: Module, literal: re.Match[str], start: int, paragraph: str, indent: str) -> Edit:
    """Behind the last word; what stands between it and the quotes is kept if it holds a line break."""
    kept = literal["text"].rstrip()
    tail = literal["text"][len(kept) :]
    end = start + literal.start("text") + len(kept)
    if "\n" in tail or "\r" in tail:
        return module.insert(end, f"\n\n{paragraph}")
    return module.replace(Span(end, end + len(tail)), f"\n\n{paragraph}\n{indent}")


def make_docstring(module: Module, function: Scope, title: str, rest: str) -> Edit:
    """A docstring right under the header; a body on the line of the `def` moves to a line of its own."""
    first = function.body[0]
    inner = module.indent(function) + module.indent_unit
    begin = statement_start(module, first)
    if module.text[module.line_start(begin) : begin].strip():
        text = module.text[:begin]
        docstring = f'"""{layout(title, rest, inner)}\n{inner}"""'
        return module.replace(Span(len(text.rstrip(" \t")), begin), f"\n{inner}{docstring}\n{inner}")
    inner = module.indent(first)
    docstring = f'"""{layout(title, rest, inner)}\n{inner}"""'
    below = under_header(module, begin)
    gap = "\n" if isinstance(first, Scope) and below == module.line_start(begin) else ""
    return module.insert(below, f"{inner}{docstring}\n{gap}")


def under_header(module: Module, begin: int) -> int:
    """The start of the line below the header: above the comments and blank lines that precede the body."""
    start = module.line_start(begin)
    while start > 0:
        above = module.line_start(start - 1)
        text = module.text[above:start].strip()
        if text and not text.startswith("#"):
            break
        start = above
    return start

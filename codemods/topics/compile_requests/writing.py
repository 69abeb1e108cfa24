"""A wrapper around what is compiled, as a formatter would lay it out, whichever of them came first.

Each edit takes in a character of the request: two codemods that put something around one request take turns.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import insert_line_after
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import NEWLINE, Module
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.signatures.width import WIDTHS, shown_width
from fullgraph.codemods.topics.compile_requests.requests import Form, Request
from fullgraph.codemods.topics.compile_requests.wrappers import GATED, WRAPPERS, last_name, layers_of, wrapper_of

PRAGMA = re.compile(r"#.*\b(?:type|noqa|pyright|pylint|pyre|ruff|fmt|pragma|fullgraph)\b")
"""A comment that is about its line."""
WRAPPED = re.compile(rf"\b(?:{'|'.join(WRAPPERS)})\(")


@dataclass(frozen=True)
class Wrapper:
    """`counted("net", ...)`: its name as the file spells it, its text with the quotes, keywords behind the request.

    An inner one stands next to the request, whatever is around it already.
    """

    name: str
    label: str
    keywords: tuple[str, ...] = ()
    is_inner: bool = False

    @property
    def head(self) -> str:
        return f"{self.name}({self.label}, "

    @property
    def tail(self) -> str:
        return "".join(f", {keyword}" for keyword in self.keywords) + ")"


def put_around(request: Request, wrapper: Wrapper) -> tuple[Edit, ...]:
    """The edits at the request, in the form that it asks for."""
    module = request.module
    if request.form is Form.DECORATOR:
        return decorate(request, wrapper)
    if request.form is Form.IN_PLACE:
        line = f"{wrapper.name}({', '.join([wrapper.label, module.code(request.target), *wrapper.keywords])})"
        return follow(request, wrapper, line)
    return wrap(request, wrapper)


def wrap(request: Request, wrapper: Wrapper) -> tuple[Edit, ...]:
    """In the line, or with lines of their own for all that is around the request."""
    module, layers = request.module, layers_of(request)
    inner = [] if wrapper.is_inner else list(takewhile(lambda layer: last_name(layer.func) == GATED, layers))
    whole = layers[-1] if layers else request.node
    if not may_be_laid_out(request, whole):
        subject = inner[-1] if inner else request.node
        return begin(request, subject, wrapper.head), module.insert(module.span(subject).end, wrapper.tail)
    written = [read(module, layer) for layer in layers]
    written.insert(len(inner), wrapper)
    return laid_out(request, whole, written[::-1])


def begin(request: Request, subject: ast.expr, head: str) -> Edit:
    """The head before the subject."""
    module = request.module
    if subject is not request.node:
        return module.insert(module.span(subject).start, head)
    start = module.span(subject).start
    return module.replace(Span(start, start + 1), head + module.text[start])


def laid_out(request: Request, whole: ast.expr, wrappers: list[Wrapper]) -> tuple[Edit, ...]:
    """The request in its wrappers, from the outside in; its own text stays, deeper where it has lines of its own."""
    module, span = request.module, module_span(request)
    outer, lines = module.span(whole), inner_lines(module, span)
    before = module.text[module.line_start(outer.start) : outer.start]
    after = module.text[outer.end : module.line_end(outer.end)].rstrip("\r\n")
    layout = Layout(module, "" if lines else module.text[span.start : span.end])
    head, tail, depth = layout.of(wrappers, module.indent(whole), before, after)
    depth -= (len(module.indent(request.node)) - len(module.indent(whole))) // len(module.indent_unit)
    return (
        module.replace(Span(outer.start, span.start + 1), head + module.text[span.start]),
        *(module.insert(line, module.indent_unit * depth) for line in lines if depth > 0),
        module.replace(Span(span.end, outer.end), tail),
    )


def module_span(request: Request) -> Span:
    return request.module.span(request.node)


@dataclass(frozen=True)
class Layout:
    """What is written before and behind a request. `code` is its text if that is one line, else empty."""

    module: Module
    code: str

    def of(self, wrappers: list[Wrapper], indent: str, before: str, after: str) -> tuple[str, str, int]:
        """The head, the tail, and how many levels deeper the request goes."""
        if not wrappers:
            return "", "", 0
        head = "".join(each.head for each in wrappers)
        tail = "".join(each.tail for each in reversed(wrappers))
        if self.fits(before + head, tail + after):
            return head, tail, 0
        outer, deeper = wrappers[0], indent + self.module.indent_unit
        within, behind = head.removeprefix(f"{outer.name}("), tail[:-1]
        if self.fits(deeper + within, behind):
            return f"{outer.name}(\n{deeper}{within}", f"{behind}\n{indent})", 0
        within, behind, depth = self.of(wrappers[1:], deeper, deeper, ",")
        keywords = "".join(f"\n{deeper}{keyword}," for keyword in outer.keywords)
        head = f"{outer.name}(\n{deeper}{outer.label},\n{deeper}{within}"
        return head, f"{behind},{keywords}\n{indent})", depth + 1

    def fits(self, head: str, tail: str) -> bool:
        return bool(self.code) and shown_width(self.module, head + self.code + tail) <= self.width

    @cached_property
    def width(self) -> int:
        """That of the file without the lines that have wrappers: what one codemod wrote is no measure for the next."""
        lines = [line for line in NEWLINE.split(self.module.text) if not WRAPPED.search(line)]
        longest = max(shown_width(self.module, line) for line in lines)
        return next((width for width in WIDTHS if longest <= width), WIDTHS[-1])


def read(module: Module, layer: ast.Call) -> Wrapper:
    keywords = tuple(module.code(keyword) for keyword in layer.keywords)
    return Wrapper(module.code(layer.func), module.code(layer.args[0]), keywords)


def may_be_laid_out(request: Request, whole: ast.expr) -> bool:
    """Whether nothing hangs on where its lines begin: they are a whole value, without pragmas or long texts."""
    module, span, inner = request.module, request.module.span(whole), module_span(request)
    ends = [module.text[module.line_start(at) : module.line_end(at)] for at in (span.start, span.end)]
    around = module.text[span.start : inner.start] + module.text[inner.end : span.end]
    is_whole = isinstance(module.parent(whole), ast.stmt) or module.begins_line(whole) or not inner_lines(module, inner)
    is_bare = not any(map(PRAGMA.search, ends)) and "#" not in around
    return is_whole and is_bare and not any(map(is_over_lines, ast.walk(whole)))


def inner_lines(module: Module, span: Span) -> list[int]:
    """Where the lines of a span begin, the first and blank ones left out."""
    starts = (start for start in module.line_starts if span.start < start <= span.end)
    return [start for start in starts if module.text[start : module.line_end(start)].strip()]


def is_over_lines(node: ast.AST) -> bool:
    """Whether it is a text that goes over several lines, which must not be indented."""
    is_text = isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    )
    return is_text and getattr(node, "lineno", 0) != getattr(node, "end_lineno", 0)


def decorate(request: Request, wrapper: Wrapper) -> tuple[Edit, ...]:
    """`@counted("name")` just above the decorator that compiles, or above its gate."""
    module = request.module
    gate = None if wrapper.is_inner else wrapper_of(request, GATED)
    below = gate or request.node
    at = module.text.rindex("@", 0, module.span(below).start)
    return (module.replace(Span(at, at + 1), f"@{wrapper.name}({wrapper.label})\n{module.indent(below)}@"),)


def follow(request: Request, wrapper: Wrapper, line: str) -> tuple[Edit, ...]:
    """A line of its own behind the statement that compiles, or behind its gate."""
    module = request.module
    statement = module.statement(request.node)
    gate = None if wrapper.is_inner else wrapper_of(request, GATED)
    end = module.span(statement).end
    behind = module.text[end : module.line_end(end)]
    if not module.begins_line(statement) or (behind.strip() and not behind.strip().startswith("#")):
        raise Unsure(f"{where(module, statement)}: no room for a line behind this statement, which shares its own")
    line = module.indent(statement) + line
    if gate:
        return (insert_line_after(module, module.statement(gate), line),)
    stop = end + len(behind.rstrip("\r\n"))
    return (module.replace(Span(end - 1, stop), f"{module.text[end - 1 : stop]}\n{line}"),)


def quoted(module: Module, name: str) -> str:
    """A name in the quotes that the file prefers."""
    texts = [node for node in module.unordered(ast.Constant) if isinstance(node.value, str)]
    marks = [module.text[module.span(node).start] for node in texts if not isinstance(module.parent(node), ast.Expr)]
    quote = "'" if marks.count("'") > marks.count('"') else '"'
    return f"{quote}{name}{quote}"

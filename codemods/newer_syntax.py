"""Syntax that is newer than the Python that runs this, written in older words of the same length.

The words are chosen so that the names that the newer syntax uses and binds are still seen, each at its own place.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from fullgraph.codemods.model import Span
from fullgraph.codemods.source import blank_out

DEEPEST = 200  # brackets, as in CPython's tokenizer; LibCST overflows the stack, and ends the process, at about 1500
LONGEST = 1000  # operators in a row; LibCST takes time by their square, and ends the process at about 8000
STEP = re.compile(
    r"(?P<opens>[(\[{])|(?P<closes>[)\]}])|(?P<ends>\n(?=[\w@])|[,;])|(?P<joins>[-+*/%@&|^<>=~.]+|\b(?:and|or|not|if|in|is)\b)"
)
PARENTHESIS = re.compile(r"[\s\\]*\(")
QUOTES = {"'": '"', '"': "'", "'''": '"""', '"""': "'''"}
TO_F_STRING = str.maketrans("tT", "fF")

String = cst.FormattedString | cst.TemplatedString
Hole = cst.FormattedStringExpression | cst.TemplatedStringExpression


def blank_newer_syntax(text: str) -> str | None:
    """A text of the same length and line breaks that `ast` reads, or None if LibCST cannot read this one either."""
    if nests_too_deeply(text):
        return None
    if (older := blank_whole(text)) is not None:
        return older
    body = text[: len(text) - footer_length(text)]  # of what is below all code, LibCST drops some lines of spaces
    older = blank_whole(body)
    return None if older is None else older + text[len(body) :]


def footer_length(text: str) -> int:
    """How many characters at the end are blank lines and comments."""
    length = 0
    for line in reversed(text.split("\n")):
        if line.strip() and not line.lstrip().startswith("#"):
            return max(length - 1, 0)
        length += len(line) + 1
    return len(text)


def blank_whole(text: str) -> str | None:
    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        code = wrapper.module.code
        start = text.find(code)
        # LibCST drops a form feed or an escaped line break at the start, and some line breaks at the end.
        if start < 0 or text.replace(code, "", 1).strip("\f \t\\\r\n"):
            return None
        blanker = Blanker(wrapper.module)
        wrapper.visit(blanker)
    except (cst.ParserSyntaxError, cst.CSTLogicError, cst.CSTValidationError, RecursionError, ValueError):
        return None
    return text[:start] + "".join(blanker.characters) + text[start + len(code) :]


def nests_too_deeply(text: str) -> bool:
    """Whether brackets nest deeper than any Python reads, or operators follow one another without end.

    What is in strings counts, but only up to the next statement.
    """
    chains = [0]
    for step in STEP.finditer(text):
        if step["opens"]:
            chains.append(0)
        elif step["closes"]:
            chains = chains[:-1] or [0]
        elif step["joins"]:
            chains[-1] += 1
        elif step["ends"].isspace():
            chains = [0]
        else:
            chains[-1] = 0
        if len(chains) > DEEPEST or chains[-1] > LONGEST:
            return True
    return False


def is_read(code: str) -> bool:
    """Whether the Python that runs this can read the code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(code)
        except SyntaxError:
            return False
    return True


class Blanker(cst.CSTVisitor):
    """Collects in `characters` the module's code in older words."""

    METADATA_DEPENDENCIES = (ByteSpanPositionProvider,)

    def __init__(self, module: cst.Module) -> None:
        super().__init__()
        self.module = module
        self.code = module.code
        self.encoded = b"" if self.code.isascii() else self.code.encode()
        self.characters = list(self.code)
        self.settled: set[cst.CSTNode] = set()

    def span(self, node: cst.CSTNode) -> Span:
        where = self.get_metadata(ByteSpanPositionProvider, node)
        start, end = where.start, where.start + where.length
        if self.encoded:
            start = len(self.encoded[:start].decode())
            end = start + len(self.encoded[where.start : where.start + where.length].decode())
        return Span(start, end)

    def code_of(self, node: cst.CSTNode) -> str:
        span = self.span(node)
        return self.code[span.start : span.end]

    def write(self, start: int, words: str) -> None:
        self.characters[start : start + len(words)] = words

    def blank(self, start: int, end: int) -> None:
        self.write(start, blank_out(self.code[start:end]))

    # Type parameters and aliases

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:  # noqa: N802
        self.blank_parameters(node.type_parameters)

    def visit_ClassDef(self, node: cst.ClassDef) -> None:  # noqa: N802
        self.blank_parameters(node.type_parameters)

    def blank_parameters(self, parameters: cst.TypeParameters | None) -> None:
        """`def f[T](x)` becomes `def f(   x)`: in parentheses, the line breaks of a longer list do no harm."""
        if parameters is None or is_read(f"class A{self.code_of(parameters)}: pass"):
            return
        span = self.span(parameters)
        following = PARENTHESIS.match(self.code, span.end)
        end = following.end() if following else span.end
        self.blank(span.start, end)
        self.write(span.start, "(")
        if not following:
            self.write(end - 1, ")")

    def visit_TypeAlias(self, node: cst.TypeAlias) -> None:  # noqa: N802
        """`type X = int` becomes `0;   X = int`, and `type X[T] = int` becomes `(    X  ) = int`."""
        start, name = self.span(node).start, self.span(node.name)
        end = self.span(node.type_parameters).end if node.type_parameters else name.end
        if is_read(self.code[start:end] + " = 0"):
            return
        if node.type_parameters:
            self.blank(start, name.start)
            self.blank(name.end, end)
            self.write(start, "(")
            self.write(end - 1, ")")
        else:
            self.write(start, "0;  ")

    # Other statements

    def visit_LazyImport(self, node: cst.LazyImport) -> None:  # noqa: N802
        self.blank_lazy(node)

    def visit_LazyImportFrom(self, node: cst.LazyImportFrom) -> None:  # noqa: N802
        self.blank_lazy(node)

    def blank_lazy(self, node: cst.CSTNode) -> None:
        if not is_read("lazy import a"):
            self.write(self.span(node).start, "0;  ")

    def visit_ExceptHandler(self, node: cst.ExceptHandler) -> None:  # noqa: N802
        self.blank_commas(node.type)

    def visit_ExceptStarHandler(self, node: cst.ExceptStarHandler) -> None:  # noqa: N802
        self.blank_commas(node.type)

    def blank_commas(self, caught: cst.BaseExpression | None) -> None:
        """`except A, B:` becomes `except A| B:`; parentheses would have no room."""
        if not isinstance(caught, cst.Tuple) or caught.lpar or is_read("try: 0\nexcept A, B: 0"):
            return
        for element in caught.elements:
            if isinstance(element.comma, cst.Comma):
                self.write(self.span(element.comma).start, " " if element is caught.elements[-1] else "|")

    # Strings

    def visit_ConcatenatedString(self, node: cst.ConcatenatedString) -> bool:  # noqa: N802
        return self.blank_string(node)

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:  # noqa: N802
        return self.blank_string(node)

    def visit_TemplatedString(self, node: cst.TemplatedString) -> bool:  # noqa: N802
        return self.blank_string(node)

    def blank_string(self, node: cst.CSTNode) -> bool:
        """Write the string in older words; True if the expressions in it may need some, too.

        `f'{a['b']}'` becomes `f"{a['b']}"`. If other quotes do not help, it becomes a set of what is in the braces,
        and if that will not do, an empty string.
        """
        pieces = list(pieces_of(node))
        if self.settled.issuperset(pieces):
            return True
        if is_read(f"({self.code_of(node)})"):
            return False
        self.settled.update(pieces)
        return not self.swap_quotes(pieces) and self.write_set(node, pieces)

    def swap_quotes(self, pieces: Sequence[cst.CSTNode]) -> bool:
        """Whether each piece could be read with other quotes around it; if so, they are written."""
        older = [self.with_other_quotes(piece) for piece in pieces]
        for piece, words in zip(pieces, older, strict=True):
            if words and None not in older:
                self.write(self.span(piece).start, words)
        return None not in older

    def with_other_quotes(self, piece: cst.CSTNode) -> str | None:
        code = self.code_of(piece)
        if not isinstance(piece, String):
            return code
        prefix, inner = piece.prefix.translate(TO_F_STRING), code[len(piece.start) : len(code) - len(piece.end)]
        literal = "".join(self.code_of(part) for part in piece.parts if not isinstance(part, Hole))
        for quote in (piece.end, QUOTES[piece.end]):
            words = f"{prefix}{quote}{inner}{quote}"
            if (quote == piece.end or quote[0] not in literal) and is_read(f"({words})"):
                return words
        return None

    def write_set(self, node: cst.CSTNode, pieces: Sequence[cst.CSTNode]) -> bool:
        span = self.span(node)
        holes = [hole for piece in pieces if isinstance(piece, String) for hole in holes_in(piece.parts)]
        self.blank(span.start, span.end)
        if not holes or any(isinstance(hole.expression, cst.Yield) for hole in holes):
            self.write(span.start, "(''")
            self.write(span.end - 1, ")")
            return False
        for hole in holes:
            start = self.span(hole).start
            space, expression = hole.whitespace_before_expression, hole.expression
            self.write(start, " " if hole is holes[0] else ",")
            self.write(start + 1, self.module.code_for_node(space) + self.module.code_for_node(expression))
        self.write(span.start, "{")
        self.write(span.end - 1, "}")
        return True


def pieces_of(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The single strings of which a string is put together."""
    if isinstance(node, cst.ConcatenatedString):
        yield from pieces_of(node.left)
        yield from pieces_of(node.right)
    else:
        yield node


def holes_in(parts: Sequence[cst.CSTNode] | None) -> Iterator[Hole]:
    """The expressions in braces, also those in format specifications, in the order of the text."""
    for part in parts or ():
        if isinstance(part, Hole):
            yield part
            yield from holes_in(part.format_spec)

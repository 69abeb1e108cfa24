"""The parameters of a function as they are laid out: every blank, comma and comment of the list has its place."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fullgraph.codemods.module import NEWLINE

BREAK = r"(?:\r\n|\r(?!\n)|\n)"
LINE_END = re.compile(rf"(?:[ \t\f]|\\{BREAK})*(?:#[^\r\n]*)?({BREAK})")
"""What ends a line between parameters: blanks, perhaps a comment, and the break."""

LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


@dataclass(frozen=True)
class Item:
    """A parameter with its annotation and default, or a lone `*` or `/`.

    `behind` is all up to the next one or to the closing parenthesis, without the comma, which `gap` may part from it.
    """

    text: str
    gap: str = ""
    has_comma: bool = True
    behind: str = ""

    def __str__(self) -> str:
        return f"{self.text}{self.gap}{',' * self.has_comma}{self.behind}"


@dataclass(frozen=True)
class Signature:
    """The text of a function, parted at its parameters: `opening` ends with the parenthesis, `rest` begins with it."""

    opening: str
    before: str
    items: tuple[Item, ...]
    rest: str

    def __str__(self) -> str:
        return "".join([self.opening, self.before, *map(str, self.items), self.rest])

    @property
    def newline(self) -> str:
        found = NEWLINE.search(str(self))
        return found.group() if found else "\n"


def read_signature(text: str) -> Signature:
    """The signature of a function whose text begins with `def`; a ValueError if it has no parameters to be read."""
    words = list(words_of(text))
    opened = next((at for at, word in enumerate(words) if word.role == "open"), len(words))
    closed = next((at for at, word in enumerate(words) if word.role == "close"), len(words))
    spans = list(item_spans(words[opened + 1 : closed + 1]))
    if not spans:
        raise ValueError("it has no parameters that could be read")
    follows = [*(start for start, _, _ in spans[1:]), words[closed].start]
    items = tuple(read_item(text, *span, following) for span, following in zip(spans, follows, strict=True))
    begin = words[opened].end
    return Signature(text[:begin], text[begin : spans[0][0]], items, text[words[closed].start :])


def read_item(text: str, start: int, end: int, comma: int, following: int) -> Item:
    if comma < 0:
        return Item(text[start:end], has_comma=False, behind=text[end:following])
    return Item(text[start:end], text[end:comma], True, text[comma + 1 : following])


@dataclass(frozen=True)
class Word:
    """A token by what it is to a parameter list: `open`, `part`, `comma` or `close`; `head` comes before it."""

    role: str
    start: int
    end: int


def item_spans(words: list[Word]) -> Iterator[tuple[int, int, int]]:
    """Where each parameter begins and ends, and where its comma is; -1 if it has none."""
    inside: list[Word] = []
    for word in words:
        if word.role == "part":
            inside.append(word)
        elif inside:
            yield inside[0].start, inside[-1].end, word.start if word.role == "comma" else -1
            inside = []


def words_of(text: str) -> Iterator[Word]:
    """The words of a function up to the end of its parameter list."""
    starts = [0, *(found.end() for found in NEWLINE.finditer(text))]
    roles = Roles()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type not in LAYOUT:
                role = roles.of(token.string)
                yield Word(role, *(starts[row - 1] + column for row, column in (token.start, token.end)))
                if role == "close":
                    return
    except (tokenize.TokenError, SyntaxError) as error:
        raise ValueError(str(error)) from error


class Roles:
    """What each token is to the parameter list, told one after the other."""

    def __init__(self) -> None:
        self.depth = 0
        self.is_inside = False
        self.lambdas = 0
        """Those whose own parameters are being listed: a comma there parts nothing of ours."""

    def of(self, word: str) -> str:
        self.depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        if not self.is_inside:
            self.is_inside = word == "(" and self.depth == 1
            return "open" if self.is_inside else "head"
        if self.depth == 0:
            return "close"
        if self.depth == 1:
            self.lambdas += (word == "lambda") - (word == ":" and self.lambdas > 0)
        return "comma" if word == "," and self.depth == 1 and not self.lambdas else "part"


# One more, and lines of their own


def add_parameter(signature: Signature, text: str) -> Signature:
    """The signature with one more parameter: last, but before `**kwargs`, and by keyword only where that has begun.

    `text` is the parameter with its annotation and default. It is laid out like the parameter before it, which
    keeps its comment.
    """
    items = signature.items
    has_rest = items[-1].text.startswith("**")
    at = len(items) - has_rest - 1
    if at < 0:
        raise ValueError("it has no parameter to put another one behind")
    last = items[at]
    if has_rest:
        added = last, replace(last, text=text, behind=without_comments(last.behind))
    else:
        added = behind_the_last(last, text, items[at - 1].behind if at else signature.before)
    return replace(signature, items=(*items[:at], *added, *items[at + 1 :]))


def behind_the_last(last: Item, text: str, before: str) -> tuple[Item, Item]:
    """The last parameter and the new one; `before` is what stands before the last one."""
    between, behind = " ", last.behind
    if ends_line(before) and ends_line(behind):
        between = behind[: indent_start(behind)] + before[indent_start(before) :]
        behind = without_comments(behind)
    return Item(last.text, behind=between), Item(text, has_comma=last.has_comma, behind=behind)


def break_parameters(signature: Signature, indent: str, unit: str) -> Signature:
    """The signature with its parameters, which stand on one line, on a line of their own between the parentheses."""
    newline = signature.newline
    closed = Item(signature.items[-1].text, has_comma=False, behind=newline + indent)
    return replace(signature, before=newline + indent + unit, items=(*signature.items[:-1], closed))


def ends_line(blank: str) -> bool:
    return LINE_END.match(blank) is not None


def indent_start(blank: str) -> int:
    """Where the last line of what stands between two parameters begins."""
    at = 0
    while found := LINE_END.match(blank, at):
        at = found.end()
    return at


def without_comments(blank: str) -> str:
    """The line break between two parameters, without comments and empty lines."""
    found = LINE_END.match(blank)
    return found.group(1) + blank[indent_start(blank) :] if found else blank

"""What IPython reads and Python does not: magics, shell commands, questions. Written in Python of the same length."""

from __future__ import annotations

import re

from fullgraph.codemods.parse import parse_any, parse_text
from fullgraph.codemods.source import blank_out

PYTHON_CELLS = frozenset(
    {"capture", "debug", "heat", "memit", "mprun", "profile", "prun", "pyinstrument", "snakeviz", "time", "timeit"}
)
"""The cell magics that run the rest of the cell as Python, with the names of the notebook."""

CELL_MAGIC = re.compile(r"\s*%%(?P<name>\S*)[^\r\n]*")
MAGIC = re.compile(
    r"""(?P<before> [ \t\f]* (?: [^=\#"'()\r\n]+ = [ \t]* (?=[%!]) )? )
        (?P<magic> [%!?,;/] (?: \\(?:\r\n|\r|\n) | [^\r\n] )* | [^\s\#"'] [^\#"'\r\n]* \? [ \t;]* )
        (?= [\r\n] | \Z )""",
    re.VERBOSE,
)
PYTHON_LINE = re.compile(r"%(?:time|timeit|prun|memit)[ \t]+(?=[^\s-])")
TOKEN = re.compile(
    r"""(?P<quote>\"{3}|'{3}) (?: \\. | . )*? (?: (?P=quote) | \Z )
        | " (?: \\. | [^"\\\r\n] )* "?  |  ' (?: \\. | [^'\\\r\n] )* '?
        | \# [^\r\n]*  |  \\ (?: \r\n | . )
        | (?P<opens> [(\[{] )  |  (?P<closes> [)\]}] )  |  (?P<breaks> \r\n | \r | \n )""",
    re.VERBOSE | re.DOTALL,
)
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def blank_cell_magics(cell: str) -> str | None:
    """The cell with lines like `%%time` at its start blanked; None if a magic like `%%bash` takes it as no Python."""
    while magic := CELL_MAGIC.match(cell):
        if magic["name"] not in PYTHON_CELLS:
            return None
        cell = blank_out(magic.group()) + cell[magic.end() :]
    return cell


def read_cell(cell: str) -> str | None:
    """A text of the same length that `ast` reads; None if the cell is no Python, even without IPython's syntax."""
    python = blank_cell_magics(cell)
    if python is None:
        return None
    for text in (python, blank_magics(python)):
        if is_python(text):
            return text
    try:
        return parse_any("\n" + text)[1][1:]
    except UNREADABLE:
        return None


def is_python(text: str) -> bool:
    """Whether `ast` reads the text when other text stands before it."""
    try:
        parse_text("\n" + text)
    except UNREADABLE:
        return False
    return True


def blank_magics(text: str) -> str:
    """The text with IPython's lines blanked; what merely looks like one in a string or in brackets stays."""
    pieces: list[str] = []
    position = 0
    while position < len(text):
        magic = MAGIC.match(text, position)
        start = magic.end() if magic else position
        end = end_of_statement(text, start)
        pieces += [in_python(magic["before"], magic["magic"]) if magic else "", text[start:end]]
        position = end
    return "".join(pieces)


def end_of_statement(text: str, position: int) -> int:
    """Just behind the first line break that is not in a string, in brackets or escaped."""
    depth = 0
    for token in TOKEN.finditer(text, position):
        depth += bool(token["opens"]) - bool(token["closes"])
        if token["breaks"] and depth <= 0:
            return token.end()
    return len(text)


def in_python(before: str, magic: str) -> str:
    """`!ls` becomes `0  `, `files = !ls` becomes `files = 0  `, and `%time f(x)` becomes `0;    f(x)`."""
    if timed := PYTHON_LINE.match(magic):
        blank = blank_out(timed.group())
        python = (blank if "=" in before else "0;" + blank[2:]) + magic[timed.end() :]
        if is_python(before.lstrip() + python):
            return before + python
    return before + "0" + blank_out(magic[1:])

"""How wide the lines of a file are, and how a line that grew is broken."""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

from fullgraph.codemods.module import NEWLINE, Module

WIDTHS = (88, 100, 120)
_WIDTHS: WeakKeyDictionary[Module, int] = WeakKeyDictionary()


def is_too_long(module: Module, offset: int, added: int) -> bool:
    """Whether the line that holds a character would leave the width of the file with so many characters more."""
    line = module.text[module.line_start(offset) : module.line_end(offset)]
    return shown_width(module, line) + added > width_of(module)


def width_of(module: Module) -> int:
    """The customary width that holds every line of the file."""
    if module not in _WIDTHS:
        longest = max(shown_width(module, line) for line in NEWLINE.split(module.text))
        _WIDTHS[module] = next((width for width in WIDTHS if longest <= width), WIDTHS[-1])
    return _WIDTHS[module]


def shown_width(module: Module, line: str) -> int:
    """How long a line is; the layout must not hang on the name under which torch is imported."""
    for name, meanings in module.imports.meanings.items():
        if meanings == {"torch"} and name != "torch":
            line = re.sub(rf"(?<![\w.]){name}\b", "torch", line)
    return len(line.rstrip("\r\n").expandtabs(4))

"""A look at the bytes of a file: could any class in it make tensors for itself, and move them in a method?"""

from __future__ import annotations

import re

CLASS = re.compile(rb"class[ \t]+\w+[ \t]*[(:\[]")
INIT = re.compile(rb"_init__[ \t]*\(\s*(\w+)")
MADE = re.compile(
    rb"(?:zeros|ones|empty|full|arange|linspace|logspace|eye|tensor|rand|randn|randint|randperm|normal|"
    rb"from_numpy|as_tensor|_window)\("
)
KEPT = re.compile(rb"self\.\w+[^=\r\n]*=|default_factory|self\.\w+\.(?:append|extend|update|insert|setdefault)\w*\(")
MOVE = re.compile(rb"\.(?:to\((?!torch\.\w+\)|dtype|\w+\.dtype|\))|(?:cuda|xpu)\()")
NEAR = 160
OWN = re.compile(rb"\bself\.[^\r\n=]*\Z|\bself\.\w+(?:\[[^\]\r\n]*\]|\.\w+\([^()\r\n]*\)|\.\w+)*\s*\Z")
LOCAL = re.compile(rb"(?<![\w.])(?!self\b)[a-z_]\w*(?:\[[^\]\r\n]*\])*\s*\Z")
TAKEN = re.compile(rb"(?:\b(?:in|zip|enumerate|stack|cat)|=)[ \t(]*self\.\w")


def may_move_buffers(raw: bytes) -> bool:
    return any(map(is_suspect, CLASS.split(raw)[1:]))


def is_suspect(kind: bytes) -> bool:
    """Whether a class makes something, keeps something, and moves what it keeps or a name for it."""
    if (b"_init__" not in kind and b"default_factory" not in kind) or not MADE.search(kind):
        return False
    me = INIT.search(kind)
    if me and me[1] != b"self":
        kind = kind.replace(me[1] + b".", b"self.")
    heads = [kind[max(0, move.start() - NEAR) : move.start()] for move in MOVE.finditer(kind)]
    if not heads or not KEPT.search(kind):
        return False
    return any(map(OWN.search, heads)) or (any(map(LOCAL.search, heads)) and TAKEN.search(kind) is not None)

"""Texts that Python reads as the same program cannot differ in speed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.validate.model import Sides
from fullgraph.validate.same_program import is_same_program

BEFORE = '''"""A module."""

import torch


def f(x, scale=2):
    """Scale it."""
    total = x * scale
    return total
'''
SAME = {
    "a comment": ("    total", "    # more\n    total"),
    "other blanks": ("x * scale", "(x\n        * scale)"),
    "a docstring": ("Scale it.", "Scale it by a number."),
    "no docstring": ('    """Scale it."""\n', ""),
    "a local name": ("total", "scaled"),
    "blank lines": ("\n\n\n", "\n\n\n\n"),
}
OTHER = {
    "an argument": ("scale", "factor"),
    "a number": ("scale=2", "scale=3"),
    "a type of number": ("scale=2", "scale=2.0"),
    "an operator": ("x * scale", "scale * x"),
    "dead code": ("    return", "    x + 0\n    return"),
    "a global name": ("def f", "def g"),
    "a name that is looked at": ("total = x * scale", "scaled = len(locals())"),
}


def is_same(before: str, after: str) -> bool:
    return is_same_program(Sides(Path("/"), {"m.py": before.encode()}, {"m.py": after.encode()}))


@pytest.mark.parametrize("what", SAME)
def test_what_python_does_not_see_is_the_same_program(what: str) -> None:
    assert is_same(BEFORE, BEFORE.replace(*SAME[what]))


@pytest.mark.parametrize("what", OTHER)
def test_whatever_python_does_otherwise_is_another_program(what: str) -> None:
    assert not is_same(BEFORE, BEFORE.replace(*OTHER[what]))


def test_names_count_where_somebody_asks_for_them() -> None:
    asks = "def f(x):\n    y = x\n    return locals()\n"
    assert not is_same(asks, asks.replace("y", "z"))


@pytest.mark.parametrize("after", [None, b"def f(:\n"])
def test_a_file_that_is_gone_or_does_not_parse_is_another_program(after: bytes | None) -> None:
    assert not is_same_program(Sides(Path("/"), {"m.py": BEFORE.encode()}, {"m.py": after}))

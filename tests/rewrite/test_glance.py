"""What a first glance at a big file keeps."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from fullgraph.codemods.registry import bundled
from fullgraph.codemods.rewrite.glance import glance

FILE = b'''\
"""Doc."""

import torch
from torch import (
    nn,
)

NAMES = ("a", "b")
OTHER = ("c",)


def build(x):
    return {name: x for name in NAMES}


@torch.no_grad()
def far(x):
    return build(x)


class Net(nn.Module):
    """Doc."""

    size = 3

    def __init__(self):
        super().__init__()

    @property
    def unused(self):
        return OTHER

    def forward(self, x):
        d = far(x)
        for k in d.keys():
            print(k)


def unrelated():
    return Net()
'''


def kept(*marks: bytes) -> str:
    part = glance(FILE, [FILE.index(mark) for mark in marks])
    ast.parse(part)
    return part.decode()


def test_a_method_with_a_hit_is_kept_with_its_class_and_what_it_calls() -> None:
    part = kept(b"d.keys()")
    assert "class Net(nn.Module):" in part
    assert "def forward" in part
    assert "@torch.no_grad()\ndef far" in part
    assert "def build" in part
    assert 'NAMES = ("a", "b")' in part
    assert "    nn,\n)" in part


def test_what_the_hits_do_not_reach_is_left_out() -> None:
    part = kept(b"d.keys()")
    assert "OTHER" not in part
    assert "unused" not in part
    assert "unrelated" not in part


def test_without_hits_only_the_imports_are_left() -> None:
    assert kept() == '"""Doc."""\n\nimport torch\nfrom torch import (\n    nn,\n)\n\n'


@pytest.mark.parametrize("head", [b"# -*- coding: latin-1 -*-\n", b"\xef\xbb\xbf", b"\x0c\n"])
def test_what_stands_before_the_first_statement_is_kept(head: bytes) -> None:
    file = head + FILE
    part = glance(file, [file.index(b"d.keys()")])
    assert part.startswith(head)
    assert b"import torch" in part


def test_who_calls_a_function_with_a_hit_is_kept() -> None:
    """What a function is given depends on its callers."""
    assert "def forward" in kept(b"return build(x)")


def test_a_method_is_kept_with_its_decorators() -> None:
    assert "    @property\n    def unused" in kept(b"return OTHER")


def test_a_function_begins_at_its_first_byte_and_ends_before_the_next() -> None:
    part = kept(b"def unrelated")
    assert "def unrelated" in part
    assert "def forward" not in part


@pytest.mark.parametrize(("quotes", "others"), [('"""', "'''"), ("'''", '"""')])
def test_text_at_the_margin_of_a_long_string_is_no_statement(quotes: str, others: str) -> None:
    """Neither are the other quotes inside it the beginning of another string."""
    text = f"import torch\n\n\ndef f(d):\n    note = {quotes}of {others}\nimportant = {others}\n{quotes}\n"
    text += "    return d.keys()\n"
    text += "\n\ndef g(d):\n    return d\n"
    raw = text.encode()
    assert glance(raw, [raw.index(b"d.keys()")]).decode() == text[: text.index("def g")]


@pytest.mark.everything
@pytest.mark.parametrize("name", sorted(bundled()))
def test_most_of_what_is_kept_of_torch_parses(name: str) -> None:
    """A part that does not parse costs time and loses nothing; it must be rare."""
    codemod = bundled()[name]()
    sizes, failed = [], []
    for file in sorted((Path(sysconfig.get_path("purelib")) / "torch").rglob("*.py")):
        raw = file.read_bytes()
        if codemod.may_hold(raw):
            hits = codemod.hits(raw)
            part = raw if hits is None else glance(raw, hits)
            sizes.append(len(raw))
            try:
                ast.parse(part)
            except SyntaxError:
                failed.append(len(raw))
    assert sum(failed) <= 0.25 * sum(sizes)

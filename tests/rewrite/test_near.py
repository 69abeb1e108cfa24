"""A question about one place gets what the whole file's answer has there, from fewer codemods."""

from __future__ import annotations

import json

import pytest

from fullgraph.codemods.model import Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.rewrite.near import reaching
from fullgraph.codemods.source import decode

TEXT = """\
# é
import torch


@torch._dynamo.disable
def one(x):
    return x


# here


def two(x):
    return x
"""


def names(raw: bytes, marked: str, path: str = "a.py") -> list[str]:
    module = Module(decode(path, raw))
    at = module.text.index(marked)
    return [codemod.name for codemod in reaching([all_codemods()["use_public_compiler_api"]()], module, Span(at, at))]


@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    ("marked", "is_asked"), [("@torch", True), ("return x", True), ("# here", False), ("two", False)]
)
def test_a_codemod_is_asked_about_statements_with_a_hit(prefix: bytes, marked: str, is_asked: bool) -> None:
    assert bool(names(prefix + TEXT.encode(), marked)) == is_asked


def test_a_codemod_that_cannot_tell_is_asked_about_every_statement() -> None:
    module = Module(decode("a.py", TEXT.encode()))
    anywhere = [all_codemods()["clone_at_boundary"]()]
    assert reaching(anywhere, module, Span(len(TEXT) - 2, len(TEXT) - 2)) == anywhere
    assert reaching(anywhere, module, Span(TEXT.index("# here"), TEXT.index("# here"))) == []


def test_the_end_of_a_statement_belongs_to_it() -> None:
    """There the cursor stands when somebody has just typed it."""
    module = Module(decode("a.py", TEXT.encode()))
    end = TEXT.index("return x") + len("return x")
    asked = [all_codemods()["use_public_compiler_api"]()]
    assert reaching(asked, module, Span(end, end)) == asked


def test_a_selection_reaches_hits_in_its_last_statement() -> None:
    module = Module(decode("a.py", TEXT.encode()))
    asked = [all_codemods()["use_public_compiler_api"]()]
    assert reaching(asked, module, Span(TEXT.index("import"), TEXT.index("return x"))) == asked


def test_offsets_count_in_the_encoding_of_the_file() -> None:
    text = TEXT.replace("# é", "# coding: latin-1\n# " + "é" * 200)
    assert names(text.encode("latin-1"), "@torch")


def test_every_codemod_is_asked_about_a_statement_of_a_notebook() -> None:
    """Hits count in the bytes of the file, and these are JSON."""
    head = ["# é\n"] * 300
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": [*head, TEXT],
    }
    raw = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    assert names(raw, "two", "a.ipynb")

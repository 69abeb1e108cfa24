"""One statement rewritten by LibCST ends as the smallest edits, in whatever layout it stands."""

from __future__ import annotations

import ast

import pytest

from codemods.module import Module
from codemods.source import decode, splice_text
from codemods.syntax.signatures.statement import add_parameter, rewrite_statement

NEW = "strict: bool = False"
SIGNATURES = {
    "(self)": "(self, NEW)",
    "(self, a, b=(1))": "(self, a, b=(1), NEW)",
    "(self, a, b=1,)": "(self, a, b=1, NEW,)",
    "(self, a, /)": "(self, a, /, NEW)",
    "(self, *args)": "(self, *args, NEW)",
    "(self, *args, **kw)": "(self, *args, NEW, **kw)",
    "(self, a, **kw)": "(self, a, NEW, **kw)",
    "(self, *, a=1)": "(self, *, a=1, NEW)",
    "(\n\t\tself,  # me\n\t)": "(\n\t\tself,  # me\n\t\tNEW,\n\t)",
    "(\n\t\tself,\n\t\ta=1,  # an a\n\t)": "(\n\t\tself,\n\t\ta=1,  # an a\n\t\tNEW,\n\t)",
    "(\n\t\tself,\n\t\ta=1  # an a\n\t)": "(\n\t\tself,\n\t\ta=1,  # an a\n\t\tNEW\n\t)",
    "(\n\t\tself, a, b=1\n\t)": "(\n\t\tself, a, b=1, NEW\n\t)",
    "(self, a,\n\t      b=1)": "(self, a,\n\t      b=1, NEW)",
    "(\n\t\tself,\n\t\ta,\n\t\t# the end\n\t)": "(\n\t\tself,\n\t\ta,\n\t\t# the end\n\t\tNEW,\n\t)",
    "(\n\t\tself,\n\t\ta=1,  # an a\n\t\t**kw,\n\t)": "(\n\t\tself,\n\t\ta=1,  # an a\n\t\tNEW,\n\t\t**kw,\n\t)",
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("before", "after"), SIGNATURES.items())
def test_a_parameter_is_added_in_the_layout_of_the_others(before: str, after: str, newline: str) -> None:
    frame = "class A:\n\t@deco  # kept\n\tdef f{} -> None:  # note\n\t\tpass\n\t# after\n"
    text = frame.format(before).replace("\n", newline)
    module = Module(decode("a.py", text.encode()))
    edits = rewrite_statement(module, module.nodes(ast.FunctionDef)[0], lambda node: add_parameter(node, NEW))
    assert splice_text(text, edits) == frame.format(after.replace("NEW", NEW)).replace("\n", newline)
    assert sum(edit.span.end - edit.span.start for edit in edits) <= len("  # an a\r\n\t\t")


def test_a_statement_that_stays_has_no_edits() -> None:
    module = Module(decode("a.py", b"x = 1\nif x:\n    y = 2  # two\n"))
    assert rewrite_statement(module, module.tree.body[1], lambda node: node) == ()

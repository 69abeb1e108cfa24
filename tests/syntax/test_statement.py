"""A signature that is rewritten ends as the smallest edits, in whatever layout it stands."""

from __future__ import annotations

import ast

import pytest

from fullgraph.codemods.module import Module
from fullgraph.codemods.source import decode, splice_text
from fullgraph.codemods.syntax.signatures.listed import add_parameter, break_parameters, read_signature
from fullgraph.codemods.syntax.signatures.statement import rewrite_signature

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
    "(self, key=lambda a, b=lambda c, d: d: (a, b))": "(self, key=lambda a, b=lambda c, d: d: (a, b), NEW)",
    "(self, a: 'x,)' = '#(', b={1: 2, 3: 4})": "(self, a: 'x,)' = '#(', b={1: 2, 3: 4}, NEW)",
    "(self, \\\n\t\ta \\\n\t)": "(self, \\\n\t\ta, NEW \\\n\t)",
    "(self, a=''',\n)''')": "(self, a=''',\n)''', NEW)",
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
    edits = rewrite_signature(module, module.nodes(ast.FunctionDef)[0], lambda node: add_parameter(node, NEW))
    assert splice_text(text, edits) == frame.format(after.replace("NEW", NEW)).replace("\n", newline)
    assert sum(edit.span.end - edit.span.start for edit in edits) <= len("  # an a\r\n\t\t")


def test_a_signature_that_stays_has_no_edits() -> None:
    module = Module(decode("a.py", b"def f(a, # one\n  b = 2 ,):\n    return a  # two\n"))
    assert rewrite_signature(module, module.nodes(ast.FunctionDef)[0], lambda signature: signature) == ()


@pytest.mark.parametrize("text", [*SIGNATURES, "[T: (int, str)](x: T)", "(*args, **kw)", "(a , b ,\n#c\n)"])
def test_what_is_read_is_the_whole_text(text: str) -> None:
    whole = f"def f{text} -> dict[str, int]:\n    return (1)\n"
    assert str(read_signature(whole)) == whole


def test_parameters_on_one_line_get_lines_of_their_own() -> None:
    broken = break_parameters(add_parameter(read_signature("def f(self, a, **kw,): ..."), NEW), "\t", "  ")
    assert str(broken) == f"def f(\n\t  self, a, {NEW}, **kw\n\t): ..."


@pytest.mark.parametrize("text", ["()", "(**kw)", "(a"])
def test_a_signature_without_a_place_for_it_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"it has no parameter|EOF"):
        add_parameter(read_signature(f"def f{text}: ..."), NEW)

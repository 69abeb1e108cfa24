"""Where nodes stand in the text, whatever the text is made of."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module, children
from fullgraph.codemods.source import decode, splice_text


def module(text: str) -> Module:
    return Module(decode("module.py", text.encode()), "module")


@given(
    st.lists(st.text(alphabet="aé漢😀\f \t'", max_size=8), min_size=1, max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_the_code_of_a_node_is_its_text(comments: list[str], newline: str) -> None:
    names = [f"näme{number}" for number in range(len(comments))]
    text = "".join(f"{name} = {c!r} + {name}  # {c}{newline}" for name, c in zip(names, comments, strict=True))
    found = module(text)
    assert [found.code(node) for node in found.nodes(ast.Name)] == [name for name in names for _ in range(2)]


def test_form_feeds_and_unicode_line_separators_are_no_line_breaks() -> None:
    found = module("a = '\x0c\u2028'\n\x0cb = 1\n")
    assert [found.line(found.span(node).start) for node in found.nodes(ast.Name)] == [1, 2]
    assert found.code(found.nodes(ast.Name)[1]) == "b"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_inserted_lines_end_as_the_lines_around_them(newline: str) -> None:
    text = f"a = 1{newline}b = 2{newline}"
    found = module(text)
    edit = found.insert(found.span(found.tree.body[1]).start, "new\n")
    assert splice_text(text, [edit]) == f"a = 1{newline}new{newline}b = 2{newline}"


def test_mixed_line_endings_follow_the_line_that_is_edited() -> None:
    found = module("a = 1\r\nb = 2\nc = 3")
    assert found.insert(0, "x\n").new_text == "x\r\n"
    assert found.insert(7, "x\n").new_text == "x\n"
    assert found.insert(18, "\nx").new_text == "\nx"


def test_a_symbol_names_the_classes_and_functions_around_a_node() -> None:
    found = module("x = 1\nclass A:\n    def f(self):\n        return lambda: y\n")
    by_name = {node.id: found.symbol(node) for node in found.nodes(ast.Name)}
    assert by_name == {"x": "<module>", "y": "A.f"}


def test_indentation_is_read_from_the_file() -> None:
    found = module("def f():\n\tif x:\n\t\ty = 1\n")
    assert found.indent(found.nodes(ast.Assign)[0]) == "\t\t"
    assert found.indent_unit == "\t"


def test_a_syntax_error_names_the_line() -> None:
    with pytest.raises(SourceError, match=r"module\.py: line 2: "):
        module("x = 1\ny = = 2\n")


def test_code_that_is_nested_too_deeply_is_an_error_and_no_crash() -> None:
    with pytest.raises(SourceError):
        module("x = " + "(" * 5000 + ")" * 5000)


def test_children_are_those_that_stand_in_the_text() -> None:
    text = "async def f(a, *b: int, c=1, **d) -> str:\n    with x as y:\n        z = [i for i in a if -i < 2]\n"
    text += "    return f'{z!r:>{c}}'\n"
    for node in ast.walk(ast.parse(text)):
        placeless = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
        expected = [child for child in ast.iter_child_nodes(node) if not isinstance(child, placeless)]
        assert list(children(node)) == expected


def test_indentation_counts_from_the_last_form_feed() -> None:
    found = module("if x:\n\x0c    y = 1\n")
    assert found.indent(found.nodes(ast.Assign)[0]) == "    "


def test_a_statement_knows_the_others_of_its_block() -> None:
    found = module(
        "try:\n    a = 1\nexcept E:\n    b = 1\n    c = 1\nelse:\n    d = 1\nfinally:\n    e = 1\n    f = 1\n"
    )
    blocks = [[found.code(one) for one in found.block(node)] for node in found.nodes(ast.Assign)]
    assert [len(block) for block in blocks] == [1, 2, 2, 1, 2, 2]
    assert blocks[4] == ["e = 1", "f = 1"]


def test_a_finding_stands_where_an_editor_shows_it() -> None:
    """Lines and columns count from 1; the line break behind a finding is no line of it."""
    found = module("if x:\n    y = (1,\n         2)\nz = 1\n")
    finding = found.finding("sample", found.nodes(ast.Assign)[0], "m")
    assert (finding.line, finding.column, finding.last_line) == (2, 5, 3)
    whole = found.finding("sample", found.tree.body[1], "m")
    assert (whole.line, whole.column, whole.last_line) == (4, 1, 4)


def test_behind_the_last_line_break_a_new_line_ends_as_the_file_does() -> None:
    found = module("a = 1\r\nb = 2")
    assert found.insert(12, "\nx").new_text == "\r\nx"

"""Syntax that this Python cannot read: the rest of the file is seen, at its own place, and it is never edited."""

from __future__ import annotations

import ast
import sys
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullgraph.codemods.model import SourceError, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.newer_syntax import blank_newer_syntax, is_read
from fullgraph.codemods.source import decode

NEWER = [
    "def first[T](items: list[T]) -> T:\n    return items[0]\n",
    "async def first[\n    T: (int, str),\n\n    *Ts,  # more\n    **P,\n] \\\n(items): pass\n",
    "class Stack[T: int = str, **P](Base, metaclass=Meta):\n    pass\n",
    "class Stack[T]:\n    pass\n",
    "class Stack[\n    T = int,\n]: pass\n",
    "type Pair = tuple[int, int]; x = 1\n",
    "type Pair[T] = tuple[T, T]\n",
    "type Pair[\n    T\n] = (\n    tuple[T, T]\n)\n",
    "type \\\n  Pair=int\n",
    "x = f'{d['key']}'\n",
    "x = f'{d['key']!r:>{widths['key']}} it'\n",
    "x = f'{'\\n'.join(names)}'\n",
    "log(f'{name # who\n}', 1)\n",
    'log(f"{\n    name\n}", 1)\n',
    "x = f'{f'{f'{name}'}'}'\n",
    "x = f'{d['key']} \" + other + \"'\n",
    "x = rf'{match['\\n']}' 'more'\n",
    "x = ('one'  # why\n     f'{'\\n'.join(names)}'\n     'three')\n",
    "f'{'\\n'}'\n",
    "x = f'{*names, '\\t'}{(name for name in '\\n')}'\n",
    "def g():\n    x = f'{yield}{'\\n'}'\n",
    "x = t'{name}' + t''\n",
    "x = rt'{d['key']}'\n",
    "try:\n    pass\nexcept OSError, ValueError:\n    pass\n",
    "try:\n    pass\nexcept* OSError, ValueError:\n    pass\n",
    "if x:\n    type Pair = f'{t'{name}'}'\n",
    "lazy import torch\n",
    "lazy from torch import nn\n",
]
OLDER = [
    "import torch\n",
    "x = 'é'; y = [1]\n",
    "\n",
    "# ü\n",
    "def f(x):\n\treturn f'{x} é'\n",
    "\f\n",
    "if x:\n  y\n",
]


def blank(text: str) -> str:
    older = blank_newer_syntax(text)
    assert older is not None
    assert len(older) == len(text)
    assert [at for at, character in enumerate(older) if character in "\r\n"] == [
        at for at, character in enumerate(text) if character in "\r\n"
    ]
    ast.parse(older)
    return older


def names_in(text: str) -> list[tuple[str, str]]:
    """Each name that `ast` sees, with what the original text holds there; f-strings of 3.11 misplace theirs."""
    module = Module(decode("new.py", text.encode()))
    inside = {name for string in module.nodes(ast.JoinedStr) for name in ast.walk(string)}
    return [(name.id, module.code(name)) for name in module.nodes(ast.Name) if name not in inside]


@pytest.mark.parametrize("text", NEWER)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_newer_syntax_is_written_in_older_words_of_the_same_length(text: str, newline: str) -> None:
    text = "s = 'é'\n" + text + "last = s\n"
    assert blank(text.replace("\n", newline)).endswith(f"last = s{newline}")


@pytest.mark.parametrize("text", NEWER)
def test_every_name_that_is_seen_stands_at_its_own_place(text: str) -> None:
    assert all(name == found for name, found in names_in("é = 'é'; " * text.startswith("x") + text + "é = é\n"))


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="reads them itself")
@pytest.mark.parametrize(
    ("text", "older"),
    [
        ("def f[T](x): pass", "def f(   x): pass"),
        ("class A[T]: pass", "class A( ): pass"),
        ("type X = int", "0;   X = int"),
        ("type X[T] = int", "(    X  ) = int"),
        ("f'{a['b']}'", "f\"{a['b']}\""),
        ("f'{'\\n'.join(a)}{b}'", "{  '\\n'.join(a) ,b }"),
        ("t'{a}'", "f'{a}'"),
        ("try: 0\nexcept A, B: 0", "try: 0\nexcept A| B: 0"),
    ],
)
def test_the_older_words_bind_and_use_the_same_names(text: str, older: str) -> None:
    assert blank(text) == older


def test_what_this_python_reads_stays() -> None:
    text = "x = f'{a}' f\"{b['c']}\"\nclass A(B): pass\ntype = 1\ntype (x)\n"
    assert blank(text) == text


@pytest.mark.parametrize("text", ["print 'old'\n", "x = (\n", "def f[T(x): pass\n", "x = 1 +\n", "\0", "x = '\ud800'"])
def test_what_libcst_cannot_read_either_is_left(text: str) -> None:
    assert blank_newer_syntax(text) is None


@pytest.mark.parametrize("text", ["(" * 5000, "type X = int\n" + "x = " + "[" * 5000 + "]" * 5000 + "\n"])
def test_deep_nesting_does_not_end_the_process(text: str) -> None:
    assert blank_newer_syntax(text) is None
    with pytest.raises(SourceError, match="line"):
        Module(decode("deep.py", text.encode()))


@pytest.mark.parametrize(
    "chain",
    [
        "x = " + " + ".join(["1"] * 9000),
        "x = (" + "\n+ ".join(["1"] * 9000) + ")",
        "f(a, " + " and ".join(["b"] * 9000) + ")",
        "x = y" + ".z" * 9000,
    ],
)
def test_operators_without_end_do_not_end_the_process(chain: str) -> None:
    assert blank_newer_syntax(f"type X = int\n{chain}\n") is None


def test_a_long_table_is_not_a_long_chain() -> None:
    rows = "".join(f"    'k{place}': a.b + {place} * c,\n" for place in range(2000))
    assert blank(f"type X = int\ntable = {{\n{rows}}}\n").endswith("}\n")


@pytest.mark.parametrize("start", ["\f", "\ufeff", "\f\f", " \f", "\\\n", "\n\f\n", "# -*- coding: utf-8 -*-\n"])
def test_what_libcst_drops_at_the_start_does_not_shift_anything(start: str) -> None:
    module = Module(decode("new.py", (start + "def f[T](x):\n    return x\n").encode()))
    assert module.code(module.nodes(ast.FunctionDef)[0]) == "def f[T](x):\n    return x"


def test_an_error_names_the_line_of_the_original() -> None:
    with pytest.raises(SourceError, match="line 2: "):
        Module(decode("old.py", b"x = 1\nprint 'old'\n"))


@pytest.mark.parametrize(
    "text", ["x = '\\d'\n", "x = 1 is 1\n", "type X = int\nx = f'\\d{y}'\n", "x = f'{d['\\d']}'\n"]
)
def test_what_python_warns_of_is_read_without_a_word(text: str) -> None:
    """It is the user's code: its warnings are neither shown nor, where they are errors, a reason not to read it."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        module = Module(decode("old.py", text.encode()))
    assert not shown
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Module(decode("old.py", text.encode())).parsed == module.parsed


def test_the_text_of_a_string_is_never_taken_for_code() -> None:
    """With other quotes around it, this one would be three operands."""
    assert "other" not in dict(names_in("x = f'{d['key']} \" + other + \"'\n"))


# What may be edited


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="reads them itself")
def test_blanked_text_is_told_from_what_may_be_edited() -> None:
    text = "import torch\ndef f[T, U](x): return x\n"
    module = Module(decode("new.py", text.encode()))
    start, end = text.index("[T"), text.index("(x") + 1
    assert module.is_blanked(Span(start, end))
    assert all(module.is_blanked(Span(at, at)) for at in range(start + 1, end))
    assert module.is_blanked(Span(0, len(text)))
    assert not any(
        module.is_blanked(Span(*edges)) for edges in [(0, start), (start, start), (end, end), (end, len(text))]
    )


def test_nothing_is_blanked_in_a_file_that_this_python_reads() -> None:
    assert not Module(decode("old.py", b"x = 1\n")).is_blanked(Span(0, 5))


def test_names_behind_blanked_letters_of_several_bytes_stand_where_they_stood() -> None:
    assert names_in("def f[Größe](é): return é\n") == [("é", "é")]


@pytest.mark.parametrize("footer", ["\n\f\n\f\n# \u00fc", "\n \n \n \n# a\n\n", "\r\n\f\r\n \r\n#", "\n\f\n\f"])
def test_lines_below_all_code_do_no_harm(footer: str) -> None:
    assert names_in(f"def f[T](x): return x{footer}") == [("x", "x")]
    assert blank(f"def f[T](x): return x{footer}").endswith(footer)


# For all files


@settings(deadline=None)
@given(st.lists(st.sampled_from([*NEWER, *OLDER]), max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_mixture_is_read_with_all_positions_unchanged(parts: list[str], newline: str, ends: bool) -> None:
    text = "".join(parts).replace("\n", newline)
    text = text if ends else text.rstrip("\r\n")
    assert all(name == found for name, found in names_in(text))
    if not is_read(text):
        assert blank(text) == Module(decode("new.py", text.encode())).parsed

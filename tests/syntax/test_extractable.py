"""Which statements can become a function, what it takes and leaves, and what is said where they cannot."""

from __future__ import annotations

import ast

import pytest

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.source import decode
from fullgraph.codemods.syntax.extraction.chosen_lines import statements_at
from fullgraph.codemods.syntax.extraction.extract import Extraction, extract
from tests.syntax.test_extract import extracted


def chosen(text: str, name: str = "f") -> tuple[Module, list[ast.stmt]]:
    """The statements of a function on the lines that begin with `>`."""
    lines = text.splitlines(keepends=True)
    marked = [number for number, line in enumerate(lines, 1) if line.startswith(">")]
    module = Module(decode("m.py", text.replace(">", " ").encode()), "m")
    functions: list[Function] = module.nodes(ast.FunctionDef, ast.AsyncFunctionDef)
    function = next(node for node in functions if node.name == name)
    return module, list(statements_at(module, function, (marked[0], marked[-1])))


def cut(text: str) -> Extraction:
    return extract(*chosen(text))


def shape(text: str) -> tuple[list[str], tuple[str, ...]]:
    """The parameters and the results."""
    found = cut(text)
    return [parameter.name for parameter in found.parameters], found.results


TAKEN = {
    "one of two ways": ("def f(x, y):\n>   if x:\n>       y = 1\n    return y\n", ["x", "y"], ("y",)),
    "behind a loop without end": (
        "def f(x):\n    while True:\n        y = x\n        break\n>   print(y)\n    return x\n",
        ["y"],
        (),
    ),
    "before a break": (
        "def f(xs):\n    for i in xs:\n>       y = i\n        break\n    else:\n        y = 0\n    return y\n",
        ["i"],
        ("y",),
    ),
    "an annotation without a value": ("def f(x, y):\n>   y: int\n>   print(x)\n    return y\n", ["x"], ()),
    "a generator that is used up": (
        "def f(xs):\n    t = 1\n    s = sum(t for _ in xs)\n>   t = 2\n    return s + t\n",
        [],
        ("t",),
    ),
    "vars of an object": ("def f(x):\n>   print(vars(x))\n    return x\n", ["x"], ()),
    "up to the last line": ("def f(x):\n>   y = x\n>   return y\n", ["x"], ()),
}


@pytest.mark.parametrize(("text", "taken", "left"), TAKEN.values(), ids=TAKEN.keys())
def test_a_function_takes_what_it_needs_and_leaves_what_is_read_behind_it(
    text: str, taken: list[str], left: tuple[str, ...]
) -> None:
    assert shape(text) == (taken, left)


REFUSED = {
    "a part of a statement": ("def f(x):\n>   a = 1\n>   b = (2,\n    3)\n    return a, b\n", "not whole statements"),
    "behind a loop that may not run": (
        "def f(xs):\n    for i in xs:\n        y = i\n>   print(y)\n    return 1\n",
        "y may not be bound",
    ),
    "in a handler": (
        "def f(x):\n    try:\n        y = g(x)\n    except ValueError:\n>       print(y)\n    return 1\n",
        "y may not be bound",
    ),
    "a walrus that may be skipped": ("def f(x):\n>   print(x and (y := 1))\n    return y\n", "y may not be bound"),
    "read after an error": (
        "def f(x):\n    y = 0\n    try:\n>       y = 1\n>       g()\n    except ValueError:\n        print(y)\n",
        "read after an error",
    ),
    "kept by a lambda": (
        "def f(x):\n    y = 1\n    g = lambda: y\n>   y = 2\n    return g()\n",
        "keeps the variable y",
    ),
    "bound later outside": (
        "def outer():\n    def f():\n>       print(v)\n        return 1\n    v = 1\n    return f\n",
        "may not be bound yet",
    ),
    "a global": ("def f():\n    global total\n>   total = 1\n    return 1\n", "sets the global total"),
    "frames": (
        "import inspect\ndef f(x):\n>   print(inspect.currentframe())\n    return x\n",
        "counts stack frames",
    ),
    "raised again": (
        "def f(x):\n    try:\n        g()\n    except ValueError:\n>       print(x)\n>       raise\n",
        "raises again",
    ),
    "a break in the else of an inner loop": (
        "def f(x):\n    for a in x:\n>       for b in a:\n>           g(b)\n>       else:\n>           break\n"
        "        g(a)\n",
        "`break` leaves more",
    ),
}


@pytest.mark.parametrize(("text", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_would_mean_something_else_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(Unsure, match=said):
        cut(text)


def test_text_inside_a_string_stays_and_comments_come_along() -> None:
    text = 'def f(x):\n    if x:\n        # about a\n>       a = """\n>       kept\n>       """\n'
    text += "        print(a)\n    return x\n"
    after = extracted(*chosen(text))
    definition, _, rest = after.partition("def f(x):")
    assert '    # about a\n    a = """\n        kept\n        """\n    return a\n' in definition
    assert "# about a" not in rest


CLASS = """\
class Net:
    def __init__(self, x):
        self.size = x
        self._size = x
        self.__secret = x

    def f(self, y):
>       print({read}, y)
        return y

    def g(self):
        self.other = 1
{more}"""


def owned(read: str, more: str = "") -> tuple[bool, list[str]]:
    """Whether it becomes a method, and the parameters."""
    found = cut(CLASS.format(read=read, more=more))
    return found.owner is not None, [parameter.name for parameter in found.parameters]


def test_settled_attributes_become_parameters() -> None:
    assert owned("self.size") == (False, ["size", "y"])
    assert owned("self._size") == (False, ["size", "y"])


@pytest.mark.parametrize(
    ("read", "more"),
    [
        ("self.size + self._size", ""),
        ("self.__secret", ""),
        ("f'{self.size}'", ""),
        ("self.size()", ""),
        ("self", ""),
        ("self.size", "        self.size = 2\n"),
        ("self.size", "        self.size += 2\n"),
        ("self.other", ""),
    ],
)
def test_what_needs_more_of_its_object_becomes_a_method(read: str, more: str) -> None:
    assert owned(read, more) == (True, ["self", "y"])

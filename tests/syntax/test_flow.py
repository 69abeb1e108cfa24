"""Which name is made from which, seen without order."""

from __future__ import annotations

import ast

import pytest

from fullgraph.codemods.syntax.flow import Flow, is_in_place


def spread(body: str) -> set[str]:
    """The local names whose value is made from `x`."""
    tree = ast.parse(f"def f(x, kept):\n{body}")
    [function] = tree.body
    assert isinstance(function, ast.FunctionDef)
    return Flow(function).spread({"x"}, set()) - {"x"}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("    y = [a * 2 for a in x]\n", {"a", "y"}),
        ("    for a, (b, c) in x:\n        pass\n", {"a", "b", "c"}),
        ("    while True:\n        c = b\n        b = a\n        a = x\n", {"a", "b", "c"}),
        ("    held = []\n    held.append(x)\n", {"held"}),
        ("    total = 0\n    total.add_(x)\n", {"total"}),
        ("    n = x.shape[0]\n    k = len(x)\n    m = x.numel()\n", set()),
        ("    kept.value = x\n", set()),
    ],
)
def test_values_go_where_they_are_put(body: str, names: set[str]) -> None:
    assert spread(body) == names


@pytest.mark.parametrize(("text", "expected"), [("x.add_(1)", True), ("x.add(1)", False), ("x.__add__(1)", False)])
def test_a_name_with_an_underscore_behind_it_changes_a_tensor(text: str, expected: bool) -> None:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert is_in_place(call) is expected

"""What is known of a value holds for whichever it is."""

from __future__ import annotations

import ast

import pytest

from codemods.syntax.tensors.calls import loss, of_literal
from codemods.syntax.tensors.known import NUMBER, UNKNOWN, Device, Known, agreed, tensor
from codemods.syntax.tensors.pieces import element, unpacked

HERE: Device = (None, "here")
THERE: Device = (None, "there")


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def call(text: str) -> ast.Call:
    found = expression(text)
    assert isinstance(found, ast.Call)
    return found


def test_two_values_agree_in_what_both_are() -> None:
    one = tensor("float", 2, frozenset({HERE, THERE}))
    assert agreed([one, tensor("int", 2, frozenset({HERE}))]) == tensor("", 2, frozenset({HERE}))
    assert agreed([one, tensor("float", 1)]) == tensor("float")
    assert agreed([one, UNKNOWN]) == agreed([UNKNOWN, one]) == UNKNOWN
    assert not agreed([one, NUMBER]).is_tensor
    assert agreed([]) == UNKNOWN


def test_an_item_of_a_tensor_has_one_dimension_less() -> None:
    assert element(tensor("float", 2)).ndim == 1
    assert element(tensor("float", 1)).shape == "()"
    assert element(tensor("float", 0)).ndim is None
    assert element(tensor("float")).ndim is None


@pytest.mark.parametrize(("place", "kind"), [(0, "float"), (1, "int")])
def test_a_sort_gives_values_and_their_positions(place: int, kind: str) -> None:
    found = unpacked(lambda node: Known("list", item=tensor("float", 1)), expression("x.sort()"), (place,))
    assert found.kind == kind


@pytest.mark.parametrize(
    ("text", "ndim"),
    [
        ("mse_loss(a, b)", 0),
        ("mse_loss(a, b, reduction='sum')", 0),
        ("mse_loss(a, b, reduction='none')", None),
        ("mse_loss(a, b, reduction=chosen)", None),
        ("mse_loss(a, b, None)", None),
    ],
)
def test_a_loss_is_one_number_unless_it_is_told_otherwise(text: str, ndim: int | None) -> None:
    assert loss(call(text), []).ndim == ndim


@pytest.mark.parametrize(
    ("text", "kind"),
    [("[1, 2]", "int"), ("[1, 2.0]", "float"), ("[True]", "bool"), ("[True, 1]", ""), ("[x, 1]", ""), ("[-1]", "int")],
)
def test_a_float_among_ints_makes_floats(text: str, kind: str) -> None:
    assert of_literal(expression(text)) == kind

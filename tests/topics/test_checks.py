"""The questions on which check_without_branch decides: who catches what, and which numbers every dtype can tell."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from fullgraph.codemods.topics.checks.catching import branch_for
from fullgraph.codemods.topics.checks.statics import is_exact, is_huge


def taken(handlers: str, error: str) -> str:
    """The head of the first handler that takes an exception."""
    attempt: Any = ast.parse(f"try:\n    step()\n{handlers}\n").body[0]
    found = branch_for(attempt, error)
    return ast.unparse(found).partition(":")[0] if found else ""


@pytest.mark.parametrize(
    ("handlers", "error", "head"),
    [
        ("except:\n    pass", "ValueError", "except"),
        ("except (KeyError, ValueError):\n    pass", "ValueError", "except (KeyError, ValueError)"),
        ("except KeyError:\n    pass", "ValueError", ""),
        ("except ArithmeticError:\n    pass", "ZeroDivisionError", "except ArithmeticError"),
        ("except errors.BadBatch:\n    pass", "loading.BadBatch", "except errors.BadBatch"),
        ("except Exception:\n    pass", "BadBatch", "except Exception"),
        ("except ValueError:\n    pass\nexcept Exception:\n    pass", "ValueError", "except ValueError"),
        ("except ValueError:\n    pass\nexcept Exception:\n    pass", "RuntimeError", "except Exception"),
    ],
)
def test_the_first_handler_that_takes_an_exception_gets_it(handlers: str, error: str, head: str) -> None:
    assert taken(handlers, error) == head


def node(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize("number", ["0", "1", "-1", "0.5", "255", "256", "-256", "0.00006103515625"])
def test_a_number_of_eight_binary_digits_is_the_same_in_every_dtype(number: str) -> None:
    assert is_exact(node(number))


@pytest.mark.parametrize("number", ["257", "258", "512", "0.1", "1.00390625", "0.000030517578125", "True", "n"])
def test_other_numbers_may_be_rounded_in_half_precision(number: str) -> None:
    assert not is_exact(node(number))


def test_a_number_is_huge_from_where_double_precision_leaves_out_whole_numbers() -> None:
    assert is_huge(node(str(2**53)))
    assert is_huge(node(str(-(2**53))))
    assert is_huge(node("2 ** n"))
    assert not is_huge(node(str(2**53 - 1)))

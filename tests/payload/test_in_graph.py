"""The maker of operators for messages: what is said in compiled code is what plain code says, and nothing breaks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fullgraph.codemods.payload import in_graph

MAKER: Any = in_graph.in_graph
Heard = list[tuple[Any, ...]]


@pytest.fixture
def heard() -> Heard:
    return []


@pytest.fixture
def tell(heard: Heard) -> Callable[..., None]:
    """A message that remembers what it was given, as an operator."""

    def told_here(*values: Any) -> None:
        heard.append(values)

    made: Callable[..., None] = MAKER(told_here)
    return made


GIVEN: dict[str, tuple[Any, ...]] = {
    "text": ("loss",),
    "numbers": (1, 2.5, True),
    "sizes": (torch.Size([2, 3]), (4,), [5, 6], ()),
    "what is shown": (None, torch.float32, torch.device("cpu")),
    "mixed": ("a", 1, (2, 3), "b", 4.5),
}


@pytest.mark.parametrize("name", GIVEN)
def test_compiled_code_says_what_plain_code_says(name: str, tell: Callable[..., None], heard: Heard) -> None:
    given = GIVEN[name]

    def step(x: torch.Tensor) -> torch.Tensor:
        tell(*given)
        return x + 1

    step(torch.ones(2))
    torch.compile(step, backend="eager", fullgraph=True)(torch.ones(2))
    plain, compiled = heard
    assert [str(value) for value in compiled] == [str(value) for value in plain]


def test_tensors_are_shown_as_they_were_and_messages_keep_their_order(tell: Callable[..., None], heard: Heard) -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        tell("before", x)
        x.mul_(3)
        tell("after", x)
        return x

    torch.compile(step, backend="aot_eager", fullgraph=True)(torch.ones(2))
    assert [(text, value.tolist()) for text, value in heard] == [("before", [1.0, 1.0]), ("after", [3.0, 3.0])]


def test_the_same_message_twice_is_given_twice_and_again_at_each_call(tell: Callable[..., None], heard: Heard) -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        tell("same")
        tell("same")
        return x + 1

    compiled = torch.compile(step, backend="inductor", fullgraph=True)
    for _ in range(2):
        compiled(torch.ones(2))
    assert heard == [("same",)] * 4


def test_two_makers_of_one_name_do_not_meet() -> None:
    heard: list[str] = []

    def one(text: str) -> None:
        heard.append(f"first {text}")

    first = MAKER(one)

    def one(text: str) -> None:  # type: ignore[no-redef]
        heard.append(f"second {text}")

    second = MAKER(one)

    def step(x: torch.Tensor) -> torch.Tensor:
        first("a")
        second("b")
        return x + 1

    torch.compile(step, backend="eager", fullgraph=True)(torch.ones(2))
    assert heard == ["first a", "second b"]


def test_a_compiled_warning_names_the_file_of_its_helper() -> None:
    def warned_here(text: str) -> None:
        warnings.warn(text, stacklevel=3)

    warn = MAKER(warned_here)

    def step(x: torch.Tensor) -> torch.Tensor:
        warn("told")
        return x + 1

    with pytest.warns(UserWarning, match="told") as caught:
        torch.compile(step, backend="eager", fullgraph=True)(torch.ones(2))
    assert [one.filename for one in caught if str(one.message) == "told"] == [__file__]

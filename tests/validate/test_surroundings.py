"""What a function works with by name: how far it is followed, and what belongs to it."""

from __future__ import annotations

from typing import Any

import torch

from validate.worker.recording import surroundings
from validate.worker.recording.surroundings import read_surroundings

MODEL = torch.nn.Linear(2, 2)
OPTIMIZER = torch.optim.SGD(MODEL.parameters(), lr=0.1)
scale = torch.ones(1)


def name(text: str) -> str:
    return f"surroundings['{__name__}.{text}']"


def first(x: torch.Tensor) -> Any:
    return second(x)


def second(x: torch.Tensor) -> Any:
    return first(MODEL(x)) * scale


def step() -> None:
    OPTIMIZER.step()


def test_functions_that_call_each_other_are_looked_at_once() -> None:
    assert list(read_surroundings(first)) == [name("MODEL"), name("scale")]


def test_an_optimizer_belongs_to_it() -> None:
    assert read_surroundings(step) == {name("OPTIMIZER"): OPTIMIZER}


def test_a_variable_around_the_function_hides_that_of_the_module() -> None:
    scale = torch.zeros(1)

    def inner(x: torch.Tensor) -> Any:
        return x * scale

    assert read_surroundings(inner)[name("scale")] is scale


def test_functions_of_torch_are_not_followed() -> None:
    def inner(x: torch.Tensor) -> Any:
        return x * scale

    def outer(x: torch.Tensor) -> Any:
        return inner(x)

    assert list(read_surroundings(outer)) == [name("scale")]
    inner.__module__ = "torch.nn.functional"
    assert read_surroundings(outer) == {}


def test_the_order_is_that_of_the_names_and_not_that_of_their_use() -> None:
    assert list(read_surroundings(lambda x: scale * MODEL(x))) == [name("MODEL"), name("scale")]


def test_what_is_called_without_end_is_followed_to_a_limit(monkeypatch: Any) -> None:
    monkeypatch.setattr(surroundings, "MOST", 1)
    assert read_surroundings(first) == {}


def test_a_compiled_function_is_that_function() -> None:
    assert list(read_surroundings(torch.compile(step))) == [name("OPTIMIZER")]

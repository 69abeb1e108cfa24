"""What compiled code is held to, told by records: what gets lost in it is seen, and what it may do is not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fullgraph.validate.worker.recording.compare import compare
from tests.validate.recording import places, record

PAIRS: list[dict[str, Any]] = [{"between": between, "exact": False} for between in ("before", "after", "compiled")]
SPENT = [("grads", "backward", "the graph is used up already")]
MODEL = torch.nn.Linear(2, 2)
HELD: list[torch.nn.Parameter] = []
MODELS = [torch.nn.Linear(2, 2, bias=False)]
"""Behind a list: nothing that is looked at leads to it."""


def ones() -> torch.Tensor:
    return torch.ones(2, requires_grad=True)


def scale(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x * w * 2


# Gradients

LOST: dict[str, tuple[Callable[..., Any], str]] = {
    "lost": (lambda x, w: x * w.detach() * 2, "args[1].grad"),
    "lost in part": (lambda x, w: x * w + x * w.detach(), "args[1].grad"),
    "of another sign": (lambda x, w: x * (4 - w * 2), "args[1].grad"),
    "of the first": (lambda x, w: x.detach() * w * 2, "args[0].grad"),
}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["between"])
@pytest.mark.parametrize("name", LOST)
def test_a_gradient_that_compiled_code_loses_is_a_difference(name: str, pair: dict[str, Any]) -> None:
    """The outputs are the same to the last bit; only backward tells."""
    compiled, path = LOST[name]
    first, second = record(scale, ones(), ones()), record(scale, ones(), ones(), run=compiled)
    assert [found for found, _ in places(first, second, **pair)] == [path]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["between"])
def test_a_gradient_that_only_compiled_code_has_is_a_difference(pair: dict[str, Any]) -> None:
    first = record(scale, ones(), ones(), run=LOST["lost"][0])
    assert [path for path, _ in places(first, record(scale, ones(), ones()), **pair)] == ["args[1].grad"]


def test_a_gradient_of_a_parameter_that_compiled_code_loses_is_a_difference() -> None:
    module = torch.nn.Linear(2, 2)

    def detached(x: torch.Tensor) -> Any:
        return torch.nn.functional.linear(x, module.weight, module.bias.detach())

    first, second = record(module, torch.ones(1, 2)), record(module, torch.ones(1, 2), run=detached)
    assert [path for path, _ in places(first, second, **PAIRS[0])] == ["state.bias.grad"]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["between"])
def test_where_either_side_has_run_backward_itself_gradients_do_not_count_and_all_else_does(
    pair: dict[str, Any],
) -> None:
    plain = record(scale, ones(), ones())
    spent = {**plain, "grads": SPENT}
    failed = {**plain, "grads": [], "backward": ["RuntimeError", "no", ""]}
    wrong = record(lambda x, w: scale(x, w) + 1, ones(), ones())
    for first, second in ((plain, spent), (spent, plain)):
        assert places(first, second, **pair) == []
    assert places(spent, {**failed, "grads": []}, **pair) == []
    assert places(plain, failed, **pair)[-1] == ("backward", "exception")
    assert places(spent, wrong, **pair) == [("output", "value")]


# Parameters that nobody names


def hidden(x: torch.Tensor) -> Any:
    return MODELS[0](x)


def hidden_and_detached(x: torch.Tensor) -> Any:
    return torch.nn.functional.linear(x, MODELS[0].weight.detach()) + MODELS[0](x) * 0


def test_the_gradient_of_a_parameter_that_nobody_names_counts_between_plain_runs() -> None:
    first, second = record(hidden, torch.ones(1, 2)), record(hidden_and_detached, torch.ones(1, 2))
    (path,) = (path for path, _ in places(first, second))
    assert path.startswith("hidden [2, 2] ")


def test_the_gradient_of_a_parameter_that_nobody_names_does_not_count_once_compiled() -> None:
    """Compiled code may have changed the parameter by then, and with it the only name that it has."""
    first, second = record(hidden, torch.ones(1, 2)), record(hidden_and_detached, torch.ones(1, 2))
    assert [places(first, second, **pair) for pair in PAIRS] == [[], [], []]


def test_parameters_without_a_name_do_not_count_where_one_side_holds_more() -> None:
    def named(x: torch.Tensor) -> Any:
        return hidden(x)

    def unnamed(x: torch.Tensor, more: Any = MODEL) -> Any:
        return hidden_and_detached(x)

    assert places(record(named, torch.ones(1, 2)), record(unnamed, torch.ones(1, 2))) == []


def test_two_parameters_of_the_same_numbers_have_no_name_and_one_of_them_alone_has() -> None:
    twins = [torch.nn.Parameter(torch.ones(2)) for _ in range(2)]
    alone = torch.nn.Parameter(torch.zeros(2))
    HELD[:] = [*twins, alone]
    found = record(lambda x: x * HELD[0] + HELD[1] + HELD[2], torch.ones(2))["grads"]
    assert {path.split(" ")[0] for path, *_ in found} == {"hidden"}
    assert len({path for path, *_ in found}) == 1


def test_a_tensor_that_is_given_twice_has_one_gradient_by_its_first_name() -> None:
    x = ones()
    grads = record(lambda a, b: a + b, x, x)["grads"]
    assert {path for path, *_ in grads} == {"args[0].grad"}


# Surroundings


def leave_note(x: torch.Tensor) -> Any:
    MODEL.note = 1  # type: ignore[assignment]
    return MODEL(x)


def test_an_attribute_more_on_what_a_function_uses_by_name_is_told_and_no_difference() -> None:
    first = record(lambda x: MODEL(x), torch.ones(1, 2), roots=(__file__,))
    try:
        second = record(leave_note, torch.ones(1, 2), roots=(__file__,))
    finally:
        del MODEL.note
    told = compare(first, second, between="eager", exact=True)
    assert told["differences"] == []
    assert told["declared_seen"] == [f"new attribute: surroundings['{__name__}.MODEL'].note"]


def test_an_attribute_more_of_an_argument_is_told_once() -> None:
    first, second = (record(lambda one: None, one) for one in (SimpleNamespace(), SimpleNamespace(a=1)))
    assert compare(first, second, between="eager", exact=True)["declared_seen"] == ["new attribute: args[0].a"]


# Declared


def test_an_exception_is_never_declared_away_where_one_side_raises_none() -> None:
    def fail() -> None:
        raise ValueError("no")

    declared = [["exception", ".*", "any"]]
    for first, second in ((record(fail), record(lambda: None)), (record(lambda: None), record(fail))):
        assert places(first, second, **PAIRS[2], declared=declared) == [("exception", "exception")]


# Modes


def in_autocast() -> None:
    torch.set_autocast_enabled("cpu", True)


MODES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "grad": (lambda: torch.set_grad_enabled(False), lambda: torch.set_grad_enabled(True)),
    "default dtype": (
        lambda: torch.set_default_dtype(torch.float64),
        lambda: torch.set_default_dtype(torch.float32),
    ),
    "default device": (lambda: torch.set_default_device("meta"), lambda: torch.set_default_device(None)),
    "deterministic": (
        lambda: torch.use_deterministic_algorithms(True),
        lambda: torch.use_deterministic_algorithms(False),
    ),
    "float32 precision": (
        lambda: torch.set_float32_matmul_precision("medium"),
        lambda: torch.set_float32_matmul_precision("highest"),
    ),
    "autocast cpu": (in_autocast, lambda: torch.set_autocast_enabled("cpu", False)),
}


@pytest.mark.parametrize("name", MODES)
def test_a_mode_that_a_call_leaves_behind_is_a_difference_compiled_too(name: str) -> None:
    change, put_back = MODES[name]
    first = record(lambda: None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            second = record(lambda: change() and None)
    finally:
        put_back()
    for pair in ({}, *PAIRS):
        assert places(first, second, **pair) == [(f"modes['{name}']", "value")]

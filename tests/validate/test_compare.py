"""Two records differ where the two codes differ, and nowhere else."""

from __future__ import annotations

import copy
import logging
import math
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from fullgraph.validate.model import Difference
from fullgraph.validate.worker.recording.compare import compare, compare_files
from tests.validate.recording import differences, places, record

LOOSE: dict[str, Any] = {"between": "before", "exact": False}


# Wrong rewrites: what was written, and what came out of it

X = torch.arange(12.0).reshape(3, 4)


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen = torch.nn.Buffer(torch.zeros(()))
        self.weight = torch.nn.Parameter(torch.ones(4))


class Counts(Counter):
    def forward(self, x: torch.Tensor) -> Any:
        self.seen.add_(1)
        return x * self.weight


class CountsTwice(Counter):
    def forward(self, x: torch.Tensor) -> Any:
        self.seen.add_(2)
        return x * self.weight


def warn(x: torch.Tensor, *texts: str) -> torch.Tensor:
    for text in texts:
        warnings.warn(text, stacklevel=1)
    return x


def say(x: torch.Tensor, *texts: str) -> torch.Tensor:
    for text in texts:
        print(text)
    return x


def fail(error: Exception) -> Any:
    raise error


def in_place(x: torch.Tensor) -> torch.Tensor:
    x += 1
    return x.clone()


def fill(x: torch.Tensor, value: float) -> torch.Tensor:
    filled = x.clone()
    filled[-1, -1] = value
    return filled


def double(tensor: torch.Tensor) -> list[torch.Tensor]:
    return [tensor, tensor]


Call = Callable[[torch.Tensor], Any]
WRONG: dict[str, tuple[Call, Call, tuple[str, str]]] = {
    "off by one": (lambda x: x[1], lambda x: x[2], ("output", "value")),
    "off by one in a key": (
        lambda x: {i * 4 + j: x[i, j] for i in range(3) for j in range(4)},
        lambda x: {i * 3 + j: x[i, j] for i in range(3) for j in range(4)},
        ("output", "keys"),
    ),
    "dropped dtype": (lambda x: x.double(), lambda x: x + 0, ("output", "dtype")),
    "dropped dimension": (lambda x: x.sum(0, keepdim=True), lambda x: x.sum(0), ("output", "shape")),
    "order of keys": (lambda x: {"a": 1, "b": 2}, lambda x: {"b": 2, "a": 1}, ("output", "keys")),
    "lost key": (lambda x: {"a": 1, "b": 2}, lambda x: {"a": 1}, ("output", "keys")),
    "key of another type": (lambda x: {1: 2}, lambda x: {"1": 2}, ("output", "keys")),
    "lost in-place update": (in_place, lambda x: x + 1, ("args[0]", "value")),
    "swallowed exception": (lambda x: fail(ValueError("no")), lambda x: None, ("exception", "exception")),
    "other exception": (lambda x: fail(KeyError("no")), lambda x: fail(IndexError("no")), ("exception", "exception")),
    "other text": (lambda x: fail(KeyError("no")), lambda x: fail(KeyError("yes")), ("exception", "exception")),
    "fewer random numbers": (lambda x: torch.rand(2)[:1] * 0, lambda x: torch.rand(1) * 0, ("rng.torch", "value")),
    "other generator": (lambda x: random.random() * 0, lambda x: np.random.rand() * 0, ("rng.random", "value")),
    "one warning too many": (lambda x: warn(x, "a"), lambda x: warn(x, "a", "b"), ("warnings[1]", "warning")),
    "one warning too few": (lambda x: warn(x, "a", "a"), lambda x: warn(x, "a"), ("warnings[1]", "warning")),
    "other order of warnings": (lambda x: warn(x, "a", "b"), lambda x: warn(x, "b", "a"), ("warnings[0]", "warning")),
    "one print too few": (lambda x: say(x, "a", "b"), lambda x: say(x, "a"), ("stdout[1]", "text")),
    "other print": (lambda x: say(x, "a"), lambda x: say(x, "b"), ("stdout[0]", "text")),
    "lost requires_grad": (
        lambda x: x.requires_grad_() * 2,
        lambda x: x.requires_grad_().detach() * 2,
        ("output", "requires_grad"),
    ),
    "lost part of a gradient": (
        lambda x: x.requires_grad_() * 2 + x,
        lambda x: x.requires_grad_() * 2 + x.detach(),
        ("args[0].grad", "value"),
    ),
    "aliased outputs": (lambda x: [x + 1, x + 1], lambda x: double(x + 1), ("output[1]", "aliasing")),
    "copied view": (lambda x: x[1:], lambda x: x[1:].clone(), ("output", "missing")),
    "tuple for list": (lambda x: [x], lambda x: (x,), ("output", "type")),
    "int for bool": (lambda x: True, lambda x: 1, ("output", "type")),
    "float for int": (lambda x: 1, lambda x: 1.0, ("output", "type")),
    "number for tensor": (lambda x: x.sum(), lambda x: x.sum().item(), ("output", "type")),
    "tensor for parameter": (lambda x: torch.nn.Parameter(x), lambda x: x.clone().requires_grad_(), ("output", "type")),
    "array for tensor": (lambda x: x.clone(), lambda x: x.numpy().copy(), ("output", "type")),
    "NaN": (lambda x: x.clone(), lambda x: fill(x, math.nan), ("output", "value")),
    "infinity for the largest": (
        lambda x: fill(x, torch.finfo(x.dtype).max),
        lambda x: fill(x, math.inf),
        ("output", "value"),
    ),
    "last of a million": (
        lambda x: torch.ones(1_500_000),
        lambda x: torch.ones(1_500_000).index_fill(0, torch.tensor([1_499_999]), 1 + 2**-23),
        ("output", "value"),
    ),
    "flushed denormal": (lambda x: fill(x, 1e-45), lambda x: fill(x, 0.0), ("output", "value")),
    "sparse for dense": (lambda x: x.to_sparse(), lambda x: x.clone(), ("output", "layout")),
    "lost nesting": (lambda x: [[1], [2]], lambda x: [[1, 2]], ("output", "length")),
    "left gradients off": (
        lambda x: None,
        lambda x: torch.set_grad_enabled(False) and None,
        ("modes['grad']", "value"),
    ),
    "log": (lambda x: None, lambda x: logging.getLogger("t").error("bad"), ("logs[0]", "text")),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rewrite_is_different(name: str) -> None:
    before, after, place = WRONG[name]
    first = record(before, X.clone())
    try:
        second = record(after, X.clone())
    finally:
        torch.set_grad_enabled(True)
    assert place in places(first, second)
    assert len({path for path, _ in places(first, second)}) <= 3
    assert all(Difference(**found) for found in differences(first, second))


@pytest.mark.parametrize("name", WRONG)
def test_what_is_rewritten_by_nothing_is_the_same(name: str) -> None:
    before, _, _ = WRONG[name]
    pairs: list[dict[str, Any]] = [{}, LOOSE, {"between": "compiled", "exact": False}]
    for pair in pairs:
        assert not places(record(before, X.clone()), record(before, X.clone()), **pair)


def test_state_that_is_updated_otherwise_is_different() -> None:
    assert places(record(Counts(), X), record(CountsTwice(), X))[0] == ("state", "type")
    CountsTwice.__qualname__ = Counts.__qualname__
    assert places(record(Counts(), X), record(CountsTwice(), X)) == [("state.seen", "value")]


def test_a_difference_tells_both_values_and_the_largest_error() -> None:
    first = record(lambda x: {"loss": x * 1}, X)
    second = record(lambda x: {"loss": x + torch.tensor([0, 0, 0, 0.5])}, X)
    assert differences(first, second) == [
        {
            "between": "eager",
            "case": "case 1",
            "path": "output['loss']",
            "what": "value",
            "first": "3",
            "second": "3.5",
            "error": "largest absolute 0.5 at [0, 3] (3 of 12 elements; relative 0.167)",
        }
    ]


def test_the_first_difference_of_each_channel_is_told_the_exception_before_all() -> None:
    first = record(lambda x: [warn(x + 1, "a"), 1, 2], X.clone())
    second = record(lambda x: fail(ValueError(str(x.add_(1).sum()))), X.clone())
    assert [path for path, _ in places(first, second)] == [
        "exception",
        "output",
        "args[0]",
        "args[0]",
        "warnings[0]",
    ]


def test_arguments_that_chance_made_are_told_as_such() -> None:
    assert places(record(lambda x: None, X), record(lambda x: None, X + 1))[0] == ("arguments[0][0]", "value")


# Tolerance


def test_numbers_of_python_are_exact_between_plain_runs_and_as_float32_otherwise() -> None:
    first, second = record(lambda: [0.1, 1j]), record(lambda: [0.1 + 1e-12, 1j + 1e-12])
    assert places(first, second) == [("output[0]", "value")]
    assert not places(first, second, **LOOSE)
    assert places(first, record(lambda: [0.11, 1j]), **LOOSE) == [("output[0]", "value")]
    many, near = record(lambda: [0.1] * 2000), record(lambda: [0.1] * 1999 + [0.1 + 1e-6])
    assert places(many, near) == [("output", "value")]
    assert not places(many, near, **LOOSE)
    assert places(record(lambda: math.nan), record(lambda: math.nan)) == []
    assert places(record(lambda: 0.0), record(lambda: -0.0)) == []
    assert places(record(lambda: 0.0), record(lambda: -0.0), signed_zero=True) == [("output", "value")]


def test_given_tolerances_count() -> None:
    first, second = record(lambda: X + 0), record(lambda: X + 0.01)
    assert places(first, second, **LOOSE)
    assert not places(first, second, **LOOSE, rtol=0.0, atol=0.02)
    assert not places(first, second, exact=False, atol=0.02)


def test_the_largest_error_within_the_tolerance_is_told() -> None:
    first, second = record(lambda: X + 0), record(lambda: X + 1e-6)
    told = compare(first, second, **LOOSE)["largest"]
    assert told.startswith("case 1: output: largest absolute ")
    assert compare(first, first, **LOOSE)["largest"] == ""


# What compiled code is held to


def test_compiled_code_is_not_held_to_random_numbers_warnings_and_prints() -> None:
    def loud(x: torch.Tensor) -> Any:
        torch.rand(1)
        return warn(say(x + 1, "a"), "b")

    first, second = record(lambda x: x + 1, X), record(loud, X)
    assert not places(first, second, **LOOSE)
    assert [path for path, _ in places(first, second, between="compiled", exact=False)] == ["warnings[0]", "stdout[0]"]


def test_warnings_of_torch_itself_do_not_count_between_compiled_sides() -> None:
    first, second = record(lambda: None), record(lambda: None)
    second["warnings"] = [["UserWarning", "slow", str(Path(torch.__file__).parent / "_inductor" / "x.py")]]
    assert not places(first, second, between="compiled", exact=False)
    assert places(first, second)


def test_compiled_exceptions_are_compared_by_type_and_leave_what_they_like() -> None:
    def early(x: torch.Tensor) -> Any:
        fail(ValueError("one"))

    def late(x: torch.Tensor) -> Any:
        x.add_(1)
        fail(ValueError("two"))

    first, second, third = record(early, X.clone()), record(late, X.clone()), record(lambda x: fail(KeyError()), X)
    assert not places(first, second, between="compiled", exact=False)
    assert places(first, third, between="compiled", exact=False) == [("exception", "exception")]
    assert not places(first, third, **LOOSE)
    assert places(first, record(abs, X), **LOOSE) == [("exception", "exception")]


def test_no_gradient_and_a_gradient_of_zeros_are_one_for_compiled_code() -> None:
    first = record(lambda x, w: x * 2, X.requires_grad_(), torch.ones(1, requires_grad=True))
    second = record(lambda x, w: x * 2 + w * 0, X, torch.ones(1, requires_grad=True))
    X.requires_grad_(False)
    assert places(first, second) == [("args[1].grad", "type")]
    assert not places(first, second, **LOOSE)


def test_compiled_code_agrees_with_plain_code() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.GELU())

    def step(x: torch.Tensor, scale: float = 1.0) -> Any:
        y = module(x * 1) * scale
        x.add_(1)
        return {"y": y, "same": [y, y], "view": x[1:], "sum": y.sum().item(), "shape": y.shape}

    weights = {name: value.clone() for name, value in module.state_dict().items()}
    plain = record(step, X.clone())
    module.load_state_dict(weights)
    compiled = record(step, X.clone(), run=torch.compile(step, backend="aot_eager"))
    assert not differences(plain, compiled, **LOOSE)
    assert [leaf[0] for leaf in plain["grads"]]


# What is declared


def test_a_declared_warning_may_come_in_addition() -> None:
    declared = [["warning", r"moves from .* to .*", "announced"]]
    first, second = record(lambda x: warn(x, "a"), X), record(lambda x: warn(x, "moves from cpu\n to cuda", "a"), X)
    told = compare(first, second, between="eager", exact=True, declared=declared)
    assert told["differences"] == []
    assert told["declared_seen"] == ["warning: moves from cpu\n to cuda (announced)"]
    assert places(second, first, declared=declared) == [("warnings[0]", "warning")]
    assert compare(first, first, between="eager", exact=True, declared=declared)["declared_seen"] == []


def test_a_warning_that_is_declared_as_lost_may_be_missing() -> None:
    declared = [["lost warning", r"old name.*", "deprecated"]]
    first, second = record(lambda x: warn(x, "old name", "a", "old name of b"), X), record(lambda x: warn(x, "a"), X)
    told = compare(first, second, between="eager", exact=True, declared=declared)
    assert told["differences"] == []
    assert told["declared_seen"] == ["lost warning: old name (deprecated)", "lost warning: old name of b (deprecated)"]
    assert places(second, first, declared=declared) == [("warnings[0]", "warning")]
    assert places(first, record(lambda x: warn(x), X), declared=declared) == [("warnings[1]", "warning")]
    assert places(first, record(lambda x: warn(x, "b"), X), declared=declared) == [("warnings[1]", "warning")]


@pytest.mark.parametrize("texts", [("a", "moves"), ("moves", "b"), ("moves",), ("moves it", "a"), ("a", "a", "moves")])
def test_everything_else_must_match_around_a_declared_warning(texts: tuple[str, ...]) -> None:
    first, second = record(lambda x: warn(x, "a"), X), record(lambda x: warn(x, *texts), X)
    allowed = texts == ("a", "moves")
    assert bool(places(first, second, declared=[["warning", "moves", ""]])) is not allowed


class Plain(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.shared = self.zeros = torch.zeros(2)

    def forward(self, x: torch.Tensor) -> Any:
        return x + self.zeros


class Grown(Plain):
    def __init__(self) -> None:
        super().__init__()
        self._plan, self._zeros = {"a": 1}, self.zeros


class Shrunk(Plain):
    def __init__(self) -> None:
        super().__init__()
        del self.shared


class GrownLayer(Plain):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)


Grown.__qualname__ = Shrunk.__qualname__ = GrownLayer.__qualname__ = Plain.__qualname__


def test_an_attribute_more_is_told_and_one_less_is_different() -> None:
    first = record(Plain(), torch.ones(2))
    told = compare(first, record(Grown(), torch.ones(2)), between="eager", exact=True)
    assert told["differences"] == []
    assert told["declared_seen"] == ["new attribute: state._plan", "new attribute: state._zeros"]
    assert places(first, record(Shrunk(), torch.ones(2))) == [("state", "attributes")]
    assert places(record(Grown(), torch.ones(2)), first) == [("state", "attributes")]
    assert ("state", "keys") in places(first, record(GrownLayer(), torch.ones(2)))


def test_an_attribute_where_there_was_none_is_one_more() -> None:
    def leave(holder: Any) -> None:
        holder.note = 1

    first, second = record(lambda holder: None, SimpleNamespace()), record(leave, SimpleNamespace())
    assert places(first, second) == []
    assert places(second, first) == [("args[0]", "attributes")]


def test_an_attribute_more_in_the_output_is_different() -> None:
    first, second = record(lambda: SimpleNamespace(a=1)), record(lambda: SimpleNamespace(a=1, b=2))
    assert places(first, second) == [("output", "attributes")]


def test_a_declared_warning_that_both_give_may_come_once_more() -> None:
    first, second = record(lambda x: warn(x, "moves", "a"), X), record(lambda x: warn(x, "moves", "moves", "a"), X)
    assert not places(first, second, declared=[["warning", "moves", ""]])
    assert places(second, first, declared=[["warning", "moves", ""]]) == [("warnings[1]", "warning")]


def keyed(keys: list[Any], values: list[Any]) -> Callable[[], Any]:
    return lambda: {"pairs": dict(zip(keys, copy.deepcopy(values), strict=True)), "rest": 1}


def test_declared_keys_may_be_others_while_the_values_stay() -> None:
    declared = [["keys", r"output\['pairs'\]", "flat"]]
    first = record(keyed([(0, 1), (1, 0)], [{"b": 0}, {"a": 1}]))
    after = {
        "same": record(keyed([1, 2], [{"b": 0}, {"a": 1}])),
        "value": record(keyed([1, 2], [{"b": 0}, {"a": 2}])),
        "inner key": record(keyed([1, 2], [{"b": 0}, {"c": 1}])),
        "fewer": record(keyed([1], [{"b": 0}])),
        "swapped": record(keyed([1, 2], [{"a": 1}, {"b": 0}])),
    }
    only: dict[str, Any] = {"channels": ["output"]}
    assert places(first, after["same"], **only) == [("output['pairs']", "keys")]
    assert {name: places(first, other, declared=declared, **only) for name, other in after.items()} == {
        "same": [],
        "value": [("output['pairs'][#1]['a']", "value")],
        "inner key": [("output['pairs'][#1]", "keys")],
        "fewer": [("output['pairs']", "keys")],
        "swapped": [("output['pairs'][#0]", "keys")],
    }


def test_declared_paths_may_differ_and_only_they() -> None:
    first, second = record(lambda: {"cache": [1, 2], "loss": 1.0}), record(lambda: {"cache": [1], "loss": 1.0})
    declared = [["output", r"output\['cache'\].*", ""]]
    assert compare(first, second, between="eager", exact=True, declared=declared) == {
        "differences": [],
        "declared_seen": ["output: output['cache']"],
        "uncompared": [],
        "largest": "",
    }
    third = record(lambda: {"cache": [1], "loss": 2.0})
    assert places(first, third, declared=declared) == [("output['loss']", "value")]


def test_a_name_that_begins_like_a_declared_one_is_another() -> None:
    first = record(lambda: SimpleNamespace(cache=[1], cache_size=1))
    second = record(lambda: SimpleNamespace(cache=[2], cache_size=2))
    assert places(first, second, declared=[["output", r"output\.cache(\[.*)?", ""]]) == [("output.cache_size", "value")]
    third = record(lambda: SimpleNamespace(cache=(1,), cache_size=2))
    assert places(first, third, declared=[["output", r"output\.cache(\[.*)?", ""]]) == [("output.cache_size", "value")]


# Files


def test_files_of_records_are_compared_case_by_case(tmp_path: Path) -> None:
    first, second = [record(lambda x: x, X)] * 3, [record(lambda x: x, X), record(lambda x: x[1], X)]
    for name, records in (("first", first), ("second", second)):
        torch.save(records, tmp_path / name)
    told = compare_files(str(tmp_path / "first"), str(tmp_path / "second"), between="eager", exact=True)
    found = [Difference(**one) for one in told["differences"]]
    assert [(one.path, one.what) for one in found if one.path != "aliases"] == [
        ("output", "aliasing"),
        ("cases", "length"),
    ]
    same = compare_files(str(tmp_path / "first"), str(tmp_path / "first"), between="eager", exact=True)
    assert same == {"differences": [], "declared_seen": [], "uncompared": [], "largest": ""}


def test_cases_of_another_name_are_not_compared() -> None:
    first, second = record(lambda: 1), {**record(lambda: 2), "case": "case 2"}
    assert places(first, second) == [("case", "name")]


def test_long_texts_are_shown_where_they_begin_to_differ() -> None:
    first, second = "a" * 1000 + "first" + "b" * 1000, "a" * 1000 + "second" + "b" * 1000
    found = differences(record(lambda: first), record(lambda: second))[0]
    assert "first" in found["first"]
    assert "second" in found["second"]
    assert len(found["first"]) < 250


def test_what_only_the_second_function_holds_does_not_count() -> None:
    one, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

    def before(x: torch.Tensor) -> Any:
        return one(x)

    def after(x: torch.Tensor) -> Any:
        return one(x) + 0 * other(x).detach()

    def wrong(x: torch.Tensor) -> Any:
        one.weight.data.add_(1)
        return x.sum()

    first = record(before, torch.ones(1, 2))
    assert not places(first, record(after, torch.ones(1, 2)))
    assert "state.one.weight" in [path for path, _ in places(first, record(wrong, torch.ones(1, 2)))]

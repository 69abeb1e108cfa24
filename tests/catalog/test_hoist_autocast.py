"""hoist_autocast: what runs under autocast, and with which dtype, is the same before and after."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cases import FIXTURES, Case

torch = pytest.importorskip("torch")

Driver = Callable[[dict[str, Any], Any, str, bool], Any]


class Probe:
    """A model that notes whether it runs under autocast, and returns what autocast makes of a product."""

    def __init__(self) -> None:
        self.seen: list[tuple[bool, Any]] = []

    def __call__(self, *given: Any) -> Any:
        product = torch.ones(2, 2, requires_grad=True) @ torch.ones(2, 2)
        self.seen.append((torch.is_autocast_enabled("cpu"), product.dtype))
        return product.sum()


class Scaler:
    """A gradient scaler that does nothing."""

    def scale(self, loss: Any) -> Any:
        return loss

    def step(self, optimizer: Any) -> None: ...

    def update(self) -> None: ...


def options(names: dict[str, Any], device: str, amp: bool) -> Any:
    return names["Config"](device, amp, torch.bfloat16)


DRIVERS: dict[str, Driver] = {
    "basic": lambda names, probe, device, amp: names["train_epoch"](probe, [1, 2], device, amp),
    "if_statement": lambda names, probe, device, amp: names["evaluate"](probe, [1, 2], options(names, device, amp)),
    "in_constructor": lambda names, probe, device, amp: [
        names["Trainer"](probe, [], device, "on" if amp else "off").step(1) for _ in range(2)
    ],
    "in_the_function_around": lambda names, probe, device, amp: names["make_step"](probe, None, Scaler(), device, amp)(
        1, 2
    ),
    "in_the_caller": lambda names, probe, device, amp: names["Fitter"](probe, names["Options"](amp)).fit(
        names["State"](device), [(1, 2), (3, 4)]
    ),
    "layouts": lambda names, probe, device, amp: names["run"](probe, [1], ["a"], torch.device(device), amp),
    "nested_loops_reversed": lambda names, probe, device, amp: names["train"](
        probe, [[1], [2]], "cpu" if amp else "no", SimpleNamespace(zero_grad=lambda: 0, step=lambda: 0)
    ),
    "unfollowed_call": lambda names, probe, device, amp: names["train"](
        probe, [1, 2], SimpleNamespace(amp=amp, device=device), lambda options, loss: None
    ),
    "odd_statements": lambda names, probe, device, amp: [
        names["statements"](probe, [1, 2], amp, device),
        names["matched"](probe, [1, 2], amp, device),
        names["decorated"](probe, amp, device, lambda function: function)(1).dtype,
    ],
    "form_context": lambda names, probe, device, amp: names["embed"](probe, [1, 2], torch.bfloat16),
    "form_context_moved": lambda names, probe, device, amp: names["train"](probe, [1, 2], device, amp),
}


def run(name: str, side: str, outer: bool) -> Iterator[Any]:
    """What a fixture does for all devices and settings; the CPU stands for the GPU."""
    text = (FIXTURES / "hoist_autocast" / name / f"{side}.py").read_text()
    text = text.replace('"cuda"', '"cpu"').replace("float16", "bfloat16").replace("bbfloat", "bfloat")
    for device in ("cpu", "cpu:0", "meta"):
        for amp in (True, False):
            names: dict[str, Any] = {}
            exec(compile(text, name, "exec"), names)
            probe = Probe()
            with torch.autocast("cpu", dtype=torch.float16, enabled=outer):
                try:
                    result = DRIVERS[name](names, probe, device, amp)
                except Exception as error:
                    result = repr(error)
            yield device, amp, probe.seen, str(result), torch.is_autocast_enabled("cpu")


@pytest.mark.parametrize("outer", [False, True], ids=["alone", "inside another autocast"])
@pytest.mark.parametrize("name", DRIVERS)
def test_the_same_runs_under_autocast(name: str, outer: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before, after = list(run(name, "before", outer)), list(run(name, "after", outer))
    assert before == after
    assert {enabled for _, _, seen, _, _ in before for enabled, _ in seen} != set()


def test_every_rewritten_fixture_of_the_default_form_is_run() -> None:
    changed = {case.parent.name for case in (FIXTURES / "hoist_autocast").glob("*/after.py")}
    default = {name for name in changed if "options" not in Case(FIXTURES / "hoist_autocast" / name).config}
    assert default - {"callers_layout", "tabs_and_crlf"} <= set(DRIVERS)


def test_enabled_false_is_not_nullcontext() -> None:
    """Why `form=enabled` is never safe."""
    from contextlib import nullcontext

    with torch.autocast("cpu", dtype=torch.bfloat16):
        with nullcontext():
            assert torch.is_autocast_enabled("cpu")
        with torch.autocast("cpu", enabled=False):
            assert not torch.is_autocast_enabled("cpu")


def test_a_decorated_forward_that_runs_its_own_kind_leaves_autocast_on() -> None:
    """Why `form=decorator` has a caveat: one context is entered twice, and restores what the second entry met."""
    text = (FIXTURES / "hoist_autocast" / "form_decorator_nested" / "after.py").read_text()
    names: dict[str, Any] = {}
    exec(compile(text, "form_decorator_nested", "exec"), names)
    try:
        names["Branch"](2, names["Branch"](2))(torch.ones(1, 2))
        assert torch.is_autocast_enabled("cpu")
    finally:
        torch.set_autocast_enabled("cpu", False)

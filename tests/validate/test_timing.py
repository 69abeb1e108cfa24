"""What is timed, and with which arguments; and the options and names that stages share."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
import torch

from fullgraph.validate.worker import compiling, timing
from fullgraph.validate.worker.devices.device import Device
from fullgraph.validate.worker.subject import Case, Subject, owner_of, told_apart
from fullgraph.validate.worker.timing import STEADY, Bench, run_backward, without_collector
from tests.validate.in_process import opened


class Calls:
    """A callable that counts, by the first argument."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, x: Any) -> Any:
        self.seen.append(x)
        return x


def bench(call: Any, *names: str, leave_out: tuple[str, ...] = (), rebuild: Any = None, backward: bool = True) -> Bench:
    subject = Subject(call, None, [Case(name, (name,)) for name in names])
    return Bench("eager", subject, call, Device(), list(leave_out), rebuild, backward)


# Passes


def test_a_block_is_so_many_passes_over_the_cases_that_do_not_raise() -> None:
    calls = Calls()
    seconds = bench(calls, "a", "b", "c", leave_out=("b",)).block(2)
    assert calls.seen == ["a", "c", "a", "c"]
    assert seconds > 0


def test_arguments_are_made_anew_for_every_pass_where_the_call_changes_them() -> None:
    calls, built = Calls(), []

    def rebuild() -> Subject:
        built.append(1)
        return Subject(calls, None, [Case("a", (f"a{len(built)}",)), Case("b", ("b",))])

    bench(calls, "a", "b", leave_out=("b",), rebuild=rebuild).block(3)
    assert calls.seen == ["a1", "a2", "a3"]


def test_warming_up_runs_every_case_more_than_once() -> None:
    calls = Calls()
    told = bench(calls, "a").warm_up()
    gc.unfreeze()
    assert len(calls.seen) == 1 + STEADY
    assert set(told) == {"seconds", "around"}


def test_passes_go_without_backward_where_it_cannot_run() -> None:
    weight = torch.ones(2, requires_grad=True)
    (spent,) = [(weight * weight).sum()]
    torch.autograd.backward(spent)
    timed = bench(lambda _: spent, "a")
    timed.warm_up()
    gc.unfreeze()
    assert timed.backward is False


def test_an_error_without_backward_is_not_hidden() -> None:
    def fail(_: Any) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        bench(fail, "a", backward=False).warm_up()
    gc.unfreeze()


def test_backward_runs_over_every_output_that_has_a_history_and_no_other() -> None:
    weight = torch.ones(2, requires_grad=True)
    run_backward({"a": weight * 2, "b": [weight * 3], "c": weight, "d": torch.ones(2), "e": "text"})
    assert weight.grad is not None
    assert weight.grad.tolist() == [5, 5]


def test_garbage_is_collected_again_afterwards_also_after_an_error() -> None:
    with without_collector():
        assert not gc.isenabled()
    with pytest.raises(KeyError), without_collector():
        raise KeyError
    assert gc.isenabled()


# Options


@pytest.mark.parametrize(
    ("settings", "own", "options", "notices"),
    [
        ({}, {}, {"backend": "inductor"}, []),
        ({"mode": "default"}, {}, {"backend": "inductor"}, []),
        ({"mode": "max-autotune"}, {}, {"backend": "inductor", "mode": "max-autotune"}, []),
        ({"backend": "eager"}, {"mode": "max-autotune"}, {"backend": "eager"}, ["mode is for inductor only"]),
        ({"backend": "eager"}, {"mode": "default"}, {"backend": "eager"}, []),
        ({"dynamic": False}, {"dynamic": True}, {"backend": "inductor", "dynamic": False}, []),
        ({"fullgraph": False}, {"fullgraph": True}, {"backend": "inductor", "fullgraph": True}, []),
        ({"backend": ""}, {"backend": "eager"}, {"backend": "eager"}, []),
    ],
)
def test_the_command_line_wins_where_it_says_something(
    settings: dict[str, Any], own: dict[str, Any], options: dict[str, Any], notices: list[str]
) -> None:
    found, said = compiling.choose_options(settings, own)
    assert found == options
    assert [text.split(",")[0] for text in said] == notices


def test_what_is_compiled_already_stays_as_it_is() -> None:
    def add(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    own = torch.compile(add, backend="eager")
    module = torch.compile(torch.nn.Linear(1, 1), backend="eager")
    for call in (own, module):
        assert compiling.compiled_form(Subject(call, None, []), {"backend": "eager"}, compiles_itself=False) is call
    assert compiling.compiled_form(Subject(add, None, []), {"backend": "eager"}, compiles_itself=True) is add
    assert compiling.compiled_form(Subject(add, None, []), {"backend": "eager"}, compiles_itself=False) is not add


def test_random_numbers_are_drawn_as_in_eager_mode_for_as_long_as_it_lasts() -> None:
    from torch._inductor import config

    before = config.fallback_random
    with compiling.random_as_in_eager(wanted=True):
        assert config.fallback_random is True
    with pytest.raises(KeyError), compiling.random_as_in_eager(wanted=True):
        raise KeyError
    assert config.fallback_random is before
    with compiling.random_as_in_eager(wanted=False):
        assert config.fallback_random is before


def test_a_backend_that_does_not_work_gives_way_only_if_it_is_inductor(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(call: Any, backend: str) -> Any:
        raise RuntimeError("no compiler\nmore")

    monkeypatch.setattr(torch, "compile", fail)
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "")
    options = {"backend": "inductor", "mode": "max-autotune"}
    assert compiling.warm_up(options, Device(), "cache") == "no compiler"
    assert options == {"backend": "aot_eager"}
    with pytest.raises(RuntimeError):
        compiling.warm_up({"backend": "mine"}, Device(), "cache")


# Subjects


def test_cases_of_one_name_are_numbered_from_the_second_on() -> None:
    assert [case.name for case in told_apart([Case(name, ()) for name in "abaa"])] == ["a", "b", "a (2)", "a (3)"]


def test_the_owner_is_the_module_or_what_a_method_belongs_to() -> None:
    module = torch.nn.Linear(1, 1)
    holder = Calls()
    assert owner_of(module) is module
    assert owner_of(torch.compile(module)) is module
    assert owner_of(module.forward) is module
    assert owner_of(holder.__call__) is holder
    assert owner_of(run_backward).function is run_backward


# What a stage tells

MODULE = """
    import torch

    def f(x, how):
        if how == "raise":
            raise ValueError("no\\nmore")
        if how == "random":
            return x + torch.rand(3)
        return x.add_(1) if how == "in place" else x + 1
    """
SCENARIO = """
    import torch
    from types import SimpleNamespace
    from module import f

    def build(device):
        return f

    def cases(device, seed):
        return [SimpleNamespace(name=how, args=(torch.ones(3), how)) for how in {hows}]
    """


@pytest.mark.parametrize(
    ("hows", "raised", "mutated", "random"),
    [
        (["plain"], [], False, False),
        (["plain", "in place"], [], True, False),
        (["random", "plain"], [], False, True),
        (["raise", "plain"], ["raise"], False, False),
    ],
)
def test_a_stage_tells_which_cases_raise_and_whether_any_changes_its_arguments_or_draws(
    hows: list[str], raised: list[str], mutated: bool, random: bool, tmp_path: Path
) -> None:
    with opened(tmp_path, MODULE, SCENARIO.format(hows=hows)) as stages:
        told = stages.eager()
    assert (told["raised"], told["mutated"], told["random"]) == (raised, mutated, random)
    assert told["exceptions"] == ["ValueError no\nmore"] * len(raised)


PLAIN_SCENARIO = """
    from types import SimpleNamespace

    import torch
    from module import f

    HELD = SimpleNamespace(a=1)

    def build(device):
        return f

    def cases(device, seed):
        return [(torch.ones(3),), (torch.zeros(3),)]
    """


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return x + 1", []),
        ("return torch.ones(3)", ["constant"]),
        ("return [x[:0]]", ["empty", "silent"]),
        ("return None", ["silent"]),
        ("TOLD.append(len(x))", []),
        ("return [] if x.add_(1) is x else x", ["empty"]),
    ],
)
def test_a_stage_tells_whether_its_outputs_hold_nothing_or_never_vary(
    body: str, told: list[str], tmp_path: Path
) -> None:
    module = f"import torch\n\nTOLD = []\n\ndef f(x):\n    {body}\n"
    with opened(tmp_path, module, PLAIN_SCENARIO) as stages:
        eager = stages.eager()
    assert [name for name in ("empty", "silent", "constant") if eager[name]] == told


def test_a_block_is_the_time_of_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls()
    monkeypatch.setattr(timing, "time_once", lambda device, run: run() or 6.0)
    assert bench(calls, "a").block(3) == 2.0
    assert len(calls.seen) == 3

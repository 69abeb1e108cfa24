"""What a hazard is told with: the line that kept the output, the wrappers around the call, and how often."""

from __future__ import annotations

import functools
import gc
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from fullgraph.validate.worker.lifetimes.auditor import Auditor
from fullgraph.validate.worker.lifetimes.hazards import Hazard
from fullgraph.validate.worker.lifetimes.keeping import CLOSELY, Keeping


@pytest.fixture(scope="module")
def auditor() -> Iterator[Auditor]:
    torch._dynamo.reset()
    auditor = Auditor()
    with auditor.installed():
        yield auditor
    torch._dynamo.reset()


@pytest.fixture(scope="module")
def net(auditor: Auditor) -> Any:
    return torch.compile(nn.Linear(4, 4), mode="reduce-overhead")


@pytest.fixture(scope="module")
def pair(auditor: Auditor) -> Any:
    """Returns a dict."""
    layer = nn.Linear(4, 4)
    return torch.compile(lambda x: {"scores": layer(x), "sum": x.sum()}, mode="reduce-overhead")


def run(auditor: Auditor, program: Callable[[], Any], keeping: Keeping | None = None) -> list[Hazard]:
    auditor.begin_anew(keeping)
    with torch.no_grad(), auditor.watching():
        program()
    auditor.finish()
    return list(auditor.hazards.by_key.values())


def run_again(auditor: Auditor, program: Callable[[], Any], runs: int) -> list[Hazard]:
    """The hazards, with the lines that so many more runs tell."""
    hazards = run(auditor, program)
    keeping = Keeping(hazards, lambda: auditor.roots)
    for _ in range(runs):
        run(auditor, program, keeping)
        keeping.refine()
    return hazards


def line_of(program: Callable[..., Any], text: str) -> int:
    lines, first = inspect.getsourcelines(program)
    return first + next(number for number, line in enumerate(lines) if text in line)


BATCH = torch.ones(2, 4)


class Memory:
    scores: Any = None


@pytest.mark.parametrize(("lines", "runs"), [(0, 1), (CLOSELY, 2), (40 * CLOSELY, 3)])
def test_the_line_that_kept_an_output_is_found_however_late_it_comes(
    auditor: Auditor, net: Any, lines: int, runs: int
) -> None:
    memory = Memory()

    def program() -> None:
        scores = net(BATCH)
        for _ in range(lines):
            pass
        memory.scores = scores
        net(BATCH)

    [hazard] = run_again(auditor, program, runs)
    assert hazard.holder == "Memory.scores"
    assert hazard.kept
    assert hazard.kept.line == line_of(program, "memory.scores = scores")


def test_of_what_a_generator_yields_the_line_that_collects_it_is_told(auditor: Auditor, net: Any) -> None:
    @torch.no_grad()
    def ask() -> Iterator[Tensor]:
        for _ in range(3):
            yield net(BATCH)

    def program() -> int:
        collected = list(ask())
        return len(collected)

    for hazard in run_again(auditor, program, 1):
        assert hazard.kept
        assert hazard.kept.line == line_of(program, "list(ask())")


def test_what_is_kept_inside_the_compiled_call_is_kept_by_its_line(auditor: Auditor) -> None:
    memory = Memory()

    def double(x: Tensor) -> Tensor:
        memory.scores = x * 2
        return memory.scores + 1  # type: ignore[no-any-return]

    call = torch.compile(double, mode="reduce-overhead")

    def program() -> None:
        for _ in range(2):
            call(BATCH)

    [hazard] = run_again(auditor, program, 1)
    assert hazard.kept == hazard.made


def test_a_wrapper_is_told_beside_the_line_that_calls_it(auditor: Auditor, net: Any) -> None:
    @functools.wraps(net)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return net(*args, **kwargs)

    kept = []

    def step() -> None:
        kept.append(wrapped(BATCH))

    def program() -> None:
        step()
        step()

    [hazard] = run(auditor, program)
    assert hazard.made
    assert hazard.made.line == line_of(step, "wrapped(BATCH)")
    assert [one.function.rpartition(".")[2] for one in hazard.call.through] == ["wrapped"]
    assert [one.function.rpartition(".")[2] for one in hazard.call.callers][:2] == ["program", "run"]


def test_a_call_with_unpacked_arguments_is_no_wrapper(auditor: Auditor, net: Any) -> None:
    kept, arguments = [], [BATCH]

    def program() -> None:
        for _ in range(2):
            kept.append(net(*arguments))

    [hazard] = run(auditor, program)
    assert hazard.made
    assert hazard.made.line == line_of(program, "net(*arguments)")
    assert hazard.call.through == ()


def test_every_output_that_is_held_is_counted(auditor: Auditor, net: Any) -> None:
    def program() -> int:
        kept = [net(BATCH) for _ in range(80)]
        return len(kept)

    assert sum(hazard.count for hazard in run(auditor, program)) == 79


def test_an_output_that_is_held_once_after_many_that_were_not_is_found(auditor: Auditor, pair: Any) -> None:
    memory = Memory()

    def program() -> None:
        for step in range(120):
            outputs = pair(BATCH)
            memory.scores = outputs["scores"] if step == 100 else None

    assert [(hazard.holder, hazard.count) for hazard in run(auditor, program)] == [("Memory.scores", 1)]


def test_a_state_that_is_given_back_is_told_with_its_holder(auditor: Auditor, net: Any) -> None:
    memory = Memory()
    memory.scores = BATCH

    def program() -> None:
        for _ in range(3):
            memory.scores = net(memory.scores)

    [hazard] = run(auditor, program)
    assert (hazard.kind, hazard.holder, hazard.used_by) == ("attribute", "Memory.scores", "compiled call")


def test_what_is_used_is_told_of_the_view_that_was_used(auditor: Auditor, net: Any) -> None:
    scores, shown = Memory(), Memory()

    def program() -> float:
        scores.all = net(BATCH)  # type: ignore[attr-defined]
        shown.first = scores.all[0]  # type: ignore[attr-defined]
        net(BATCH)
        return float(shown.first.sum()) + len(vars(scores))  # type: ignore[attr-defined]

    used = {hazard.holder: hazard.used_by for hazard in run(auditor, program)}
    assert used == {"Memory.all": "", "Memory.first": "sum"}


def test_a_search_keeps_nothing_alive(auditor: Auditor, pair: Any) -> None:
    def program() -> None:
        for _ in range(4):
            outputs = pair(BATCH)
        del outputs

    gc.collect()
    gc.disable()
    try:
        run(auditor, program)
        assert auditor.generations.stale == {}
    finally:
        gc.enable()


def test_objects_whose_attributes_the_compiler_has_read_are_seen(auditor: Auditor) -> None:
    memory = Memory()
    memory.factor = 2.0  # type: ignore[attr-defined]

    def double(x: Tensor) -> Tensor:
        return x * memory.factor * len(memory.__dict__)  # type: ignore[attr-defined, no-any-return]

    call = torch.compile(double, mode="reduce-overhead")

    def program() -> None:
        for _ in range(3):
            memory.scores = call(BATCH)

    assert "Memory.scores" in {hazard.holder for hazard in run(auditor, program)}


def test_what_is_read_after_an_exception_that_the_program_raises_is_live(auditor: Auditor, net: Any) -> None:
    class RefusalError(Exception):
        def __init__(self, scores: Tensor) -> None:
            self.scores = scores

    def program() -> int:
        refused = []
        for _ in range(2):
            try:
                raise RefusalError(net(BATCH))
            except RefusalError as error:
                refused.append(error)
        return len(refused)

    assert "RefusalError.scores" in {hazard.holder for hazard in run(auditor, program)}

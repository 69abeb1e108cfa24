"""The rule of CUDA graphs by itself: when a step begins, what it ends, and which variables are read again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
import torch
from torch._dynamo.mutation_guard import GenerationTracker

from fullgraph.validate.worker.lifetimes.buffers import Buffer, Step
from fullgraph.validate.worker.lifetimes.generations import BACKWARD, FORWARD, INFERENCE, Generations
from fullgraph.validate.worker.lifetimes.hazards import EXAMPLES, Hazards
from fullgraph.validate.worker.lifetimes.holding import Holder
from fullgraph.validate.worker.lifetimes.liveness import is_read_later
from fullgraph.validate.worker.lifetimes.places import Call, Place

HERE = Place("a.py", 1, "f")


class Program:
    """Runs of compiled graphs, one after the other, each with one output that stays alive."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.generations = Generations()
        self.alive: list[torch.Tensor] = []
        self.enter()

    def enter(self) -> None:
        """Compiled code is entered from outside."""
        self.monkeypatch.setattr(GenerationTracker, "generation", GenerationTracker.generation + 1)

    def run(self, phase: str = INFERENCE, output: torch.Tensor | None = None) -> list[Buffer]:
        """What the run overwrites."""
        path = self.generations.path()
        ended = self.generations.begin(path, HERE)
        self.alive.append(torch.ones(2) if output is None else output)
        self.generations.keep(path, self.alive[-1:], set(), Call(), phase)
        self.generations.end(path, phase)
        return ended


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Program:
    return Program(monkeypatch)


def test_a_run_overwrites_what_the_step_before_has_left(program: Program) -> None:
    program.run()
    program.enter()
    (ended,) = program.run()
    assert ended.ended == Step(HERE, None, False)
    assert program.generations.begun == 2


def test_two_graphs_of_one_call_are_one_step(program: Program) -> None:
    program.run()
    assert program.run() == []
    program.enter()
    assert len(program.run()) == 2


def test_nothing_is_overwritten_until_a_backward_has_run(program: Program) -> None:
    program.run(FORWARD)
    program.enter()
    assert program.run(FORWARD) == []
    program.run(BACKWARD)
    program.enter()
    assert len(program.run()) == 3


def test_an_evaluation_does_not_end_the_wait_for_a_backward(program: Program) -> None:
    program.run(FORWARD)
    program.enter()
    program.run(INFERENCE)
    program.enter()
    assert program.run() == []


def test_a_mark_begins_a_step_also_where_a_backward_is_pending_and_says_so(program: Program) -> None:
    program.run(FORWARD)
    program.generations.mark(Call())
    (ended,) = program.run()
    assert ended.ended == Step(HERE, Call(), True)


def test_where_steps_are_marked_entering_compiled_code_begins_none(program: Program) -> None:
    program.generations.mark(Call())
    program.run()
    program.enter()
    assert program.run() == []
    program.generations.mark(Call())
    assert len(program.run()) == 2


def test_outputs_that_died_are_not_overwritten(program: Program) -> None:
    program.run()
    program.alive.clear()
    program.enter()
    assert program.run() == []


def test_memory_is_followed_once_and_that_of_others_never(program: Program) -> None:
    output = torch.ones(2)
    program.run(output=output)
    path, key = program.generations.path(), next(iter(program.generations.path().live))
    kept = program.generations.keep(path, [output, output[1:], torch.empty(0), 3], set(), Call(), INFERENCE)
    assert kept == []
    other = Generations()
    assert other.keep(other.path(), [output], {key}, Call(), INFERENCE) == []


# Told once


def buffer(serial: int = 1) -> Buffer:
    from torch.multiprocessing.reductions import StorageWeakRef

    memory = StorageWeakRef(torch.ones(2).untyped_storage())  # type: ignore[no-untyped-call]
    return Buffer(memory, torch.float32, (2,), Call(), INFERENCE, serial, Step(HERE))


def holder(kind: str = "attribute", name: str = "C.x") -> Holder:
    return Holder(kind, name, "self.x", is_live=True)


def test_outputs_that_are_held_alike_are_one_hazard_that_counts_each_once() -> None:
    hazards = Hazards()
    buffers = [buffer(serial) for serial in range(EXAMPLES + 2)]
    for one in [*buffers, *buffers]:
        hazards.add(one, holder())
    (hazard,) = hazards.by_key.values()
    assert (hazard.count, hazard.serials) == (EXAMPLES + 2, list(range(EXAMPLES)))
    hazards.add(buffers[0], holder(name="C.y"))
    assert len(hazards.by_key) == 2
    assert len(hazards.of(buffers[0])) == 2


def test_what_was_used_comes_first_and_the_rest_in_the_order_it_was_met() -> None:
    hazards = Hazards()
    for kind in ("attribute", "input", "local", "returned"):
        hazards.add(buffer(), holder(kind, kind))
    next(one for one in hazards.by_key.values() if one.kind == "local").used = HERE
    assert [one["kind"] for one in hazards.as_json()] == ["input", "local", "returned", "attribute"]
    assert [one.kind for one in hazards.unplaced()] == ["attribute", "local"]


# Read again


def frame() -> FrameType:
    return sys._getframe(1)


def reads_it() -> tuple[bool, Any]:
    x = 1
    found = is_read_later(frame(), "x")
    return found, x


def forgets_it() -> bool:
    x = 1  # noqa: F841
    return is_read_later(frame(), "x")


def binds_it_anew() -> tuple[bool, int]:
    x = 1
    found = is_read_later(frame(), "x")
    x = 2
    return found, x


def binds_it_on_one_way() -> tuple[bool, int]:
    x = 1
    found = is_read_later(frame(), "x")
    if found is None:
        x = 2
    return found, x


def reads_it_in_the_next_turn() -> bool:
    found, x = False, 0
    for turn in range(2):
        if turn:
            found = found or x > 5
        found = found or is_read_later(frame(), "x")
    return found


def deletes_it() -> bool:
    x = 1
    found = is_read_later(frame(), "x")
    del x
    return found


def hands_it_to_a_function() -> tuple[bool, Callable[[], int]]:
    x = 1
    found = is_read_later(frame(), "x")
    return found, lambda: x


def reads_another() -> tuple[bool, int]:
    x, y = 1, 2  # noqa: F841
    found = is_read_later(frame(), "x")
    return found, y


@pytest.mark.parametrize(
    ("program", "is_read"),
    [
        (reads_it, True),
        (forgets_it, False),
        (binds_it_anew, False),
        (binds_it_on_one_way, True),
        (reads_it_in_the_next_turn, True),
        (deletes_it, False),
        (hands_it_to_a_function, True),
        (reads_another, False),
    ],
)
def test_a_variable_is_live_if_some_way_onward_reads_it(program: Callable[[], Any], is_read: bool) -> None:
    found = program()
    assert (found[0] if isinstance(found, tuple) else found) is is_read

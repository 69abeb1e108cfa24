"""Checks of a boundary around a compiled callable: it marks the step, and what it returned stays what it was."""

from __future__ import annotations

from collections.abc import Sequence

from codemods.topics.regression_tests.file import Check, identifier, indented

MARK = "torch.compiler.cudagraph_mark_step_begin"

REUSES_ITS_BUFFER = '''
class ReusesItsBuffer:
    """Stands in for a compiled callable: as under CUDA graphs, a run overwrites the last one's output."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.buffer = torch.zeros(shape)

    def __call__(self, *args: object, **kwargs: object) -> torch.Tensor:
        return self.buffer.add_(1)
'''


def stand_in(attribute: str, shape: Sequence[int] = (2,), name: str = "owner") -> list[str]:
    """Setup that gives a boundary, called as `Class._run_x(owner, ...)`, an owner with nothing but the callable."""
    return [f"{name} = SimpleNamespace({attribute}=ReusesItsBuffer({as_shape(shape)}))"]


def as_shape(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def marks_each_step(
    name: str, setup: Sequence[str], call: str, imports: Sequence[str] = (), patched: str = MARK, times: int = 3
) -> Check:
    """Calls repeated in one step each mark a step. `patched` is where the boundary looks the mark up."""
    body = f'''
def test_{identifier(name)}_marks_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeated calls are steps of their own."""
    marks: list[int] = []
    monkeypatch.setattr("{patched}", lambda: marks.append(1))
{indented(setup)}    for _ in range({times}):
        {call}
    assert len(marks) == {times}
'''
    return Check(body, ("import pytest", *needed(setup, imports)), shared_by(setup))


def keeps_earlier_output(name: str, setup: Sequence[str], call: str, imports: Sequence[str] = ()) -> Check:
    """The tensor of one call keeps its value, and its memory to itself, when the next call runs."""
    body = f'''
def test_{identifier(name)}_keeps_what_it_returned_before() -> None:
    """An output of one step is not overwritten by the next."""
{indented(setup)}    first = {call}
    value = first.tolist()
    second = {call}
    assert first.data_ptr() != second.data_ptr()
    assert first.tolist() == value
'''
    return Check(body, needed(setup, imports), shared_by(setup))


def needed(setup: Sequence[str], imports: Sequence[str]) -> tuple[str, ...]:
    text = "\n".join(setup)
    namespace = ("from types import SimpleNamespace",) if "SimpleNamespace(" in text else ()
    return ("import torch", *namespace, *imports)


def shared_by(setup: Sequence[str]) -> tuple[str, ...]:
    return (REUSES_ITS_BUFFER,) if any("ReusesItsBuffer(" in line for line in setup) else ()

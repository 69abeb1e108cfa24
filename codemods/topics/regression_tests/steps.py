"""The check that a boundary around a compiled callable marks the step, and a stand-in for the callable."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph.codemods.topics.regression_tests.file import Check, identifier, indented

MARK = "torch.compiler.cudagraph_mark_step_begin"

REUSES_ITS_BUFFER = '''
class ReusesItsBuffer:
    """Stands in for a compiled callable: a run overwrites the output of the last."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.buffer = torch.zeros(shape)

    def __call__(self, *args: object, **kwargs: object) -> torch.Tensor:
        return self.buffer.add_(1)
'''


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


def needed(setup: Sequence[str], imports: Sequence[str]) -> tuple[str, ...]:
    text = "\n".join(setup)
    namespace = ("from types import SimpleNamespace",) if "SimpleNamespace(" in text else ()
    return ("import torch", *namespace, *imports)


def shared_by(setup: Sequence[str]) -> tuple[str, ...]:
    return (REUSES_ITS_BUFFER,) if any("ReusesItsBuffer(" in line for line in setup) else ()

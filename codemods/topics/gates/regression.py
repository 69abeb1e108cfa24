"""Tests of the gate for the user's project: off, failing, failing midway, and in one graph."""

from __future__ import annotations

from codemods.model import Edit
from codemods.project import Project
from codemods.topics.gates.gate_text import GATED
from codemods.topics.regression_tests.file import Check, new_test, regression_test
from codemods.topics.regression_tests.graphs import FRESH

FAILING = '''
class FailingBackend:
    """Runs graphs as they are, after so many failures."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.calls = 0

    def __call__(self, graph: torch.fx.GraphModule, inputs: Any) -> Callable[..., Any]:
        self.calls += 1
        if self.calls <= self.failures:
            raise RuntimeError("planted")
        return graph.forward
'''

DOUBLE = """
def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x
"""

TESTS = '''
def test_nothing_is_compiled_while_the_flag_is_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each phase has its own flag."""
    backend = FailingBackend()
    run = gated("COMPILE_IN_TESTS", torch.compile(double, backend=backend))
    monkeypatch.setenv("COMPILE_IN_TESTS", "0")
    assert run(torch.ones(3)).sum() == 6
    assert backend.calls == 0
    with torch.no_grad():
        run(torch.ones(3))
    assert backend.calls == 1


def test_a_compile_failure_is_logged_once_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Meanwhile the plain function runs."""
    monkeypatch.setattr(compile_gate, "RETRY_AFTER", 3)
    backend = FailingBackend(failures=2)
    run = gated("COMPILE_IN_TESTS", torch.compile(double, backend=backend))
    tried = []
    for _ in range(10):
        assert run(torch.ones(3)).sum() == 6
        tried.append(backend.calls)
    assert tried == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]
    assert [record.name for record in caplog.records].count(compile_gate.__name__) == 1


def test_the_gate_leaves_one_graph_one_graph() -> None:
    """`fullgraph=True` refuses a graph break, around the gate and inside it."""
    compiled = torch.compile(double, fullgraph=True, backend="eager")
    run = gated("COMPILE_IN_TESTS", compiled)

    def outer(x: torch.Tensor) -> torch.Tensor:
        return run(x) + 1

    around = torch.compile(outer, fullgraph=True, backend="eager")
    assert run(torch.ones(3)).sum() == 6
    assert around(torch.ones(3)).sum() == 9
'''


def gate_tests(project: Project, folder: str, dotted: str) -> tuple[Edit, ...]:
    """The edit that creates them in the tests folder; `dotted` is the name of the gate's file."""
    package, _, stem = dotted.rpartition(".")
    imports = (
        "from collections.abc import Callable",
        "from typing import Any",
        "import pytest",
        "import torch",
        "import torch._dynamo",
        f"from {package} import {stem}" if package else f"import {stem}",
        f"from {dotted} import {GATED}",
    )
    text = regression_test(
        "Compiled code can be switched off, and a failing compiler does not end a run.",
        [Check(TESTS, imports, (FAILING, DOUBLE, FRESH))],
    )
    return new_test(project, folder, "compile_gate", text)

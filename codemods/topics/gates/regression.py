"""Tests of the gate for the user's project: nothing without one, off, failing, refused, and in one graph."""

from __future__ import annotations

from collections.abc import Collection

from fullgraph.codemods.model import Edit
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.compile_requests.regression import everything_wrapped
from fullgraph.codemods.topics.compile_requests.requests import Request
from fullgraph.codemods.topics.compile_requests.wrappers import GATED
from fullgraph.codemods.topics.regression_tests.file import Check, new_test, regression_test
from fullgraph.codemods.topics.regression_tests.graphs import FRESH, compiles_in_one_graph

TITLE = "everything_compiled_is_gated"

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


def test_what_fullgraph_refuses_is_raised() -> None:
    """A graph break is no failure of the compiler."""

    def noisy(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return 2 * x

    compiled = torch.compile(noisy, fullgraph=True, backend="eager")
    with pytest.raises(torch._dynamo.exc.Unsupported):
        gated("COMPILE_IN_TESTS", compiled)(torch.ones(3))
'''


def gate_tests(
    project: Project, folder: str, home: str, ungated: Collection[Request], has_gate: bool
) -> tuple[Edit, ...]:
    """The edit that creates them; none if the folder has them. `ungated` are the requests that are left alone."""
    if any(path.startswith(f"{folder}/") for path in project.mentions(TITLE)):
        return ()
    checks = [everything_wrapped(project, folder, GATED, TITLE, ungated)]
    if has_gate:
        checks += [Check(TESTS, imports_of(project.module_name(home)), (FAILING, DOUBLE, FRESH)), in_one_graph()]
    text = regression_test("Compiled code can be switched off, and a failing compiler does not end a run.", checks)
    return new_test(project, folder, "compile_gate", text)


def imports_of(dotted: str) -> tuple[str, ...]:
    package, _, stem = dotted.rpartition(".")
    return (
        "from collections.abc import Callable",
        "from typing import Any",
        "import pytest",
        "import torch",
        "import torch._dynamo",
        f"from {package} import {stem}" if package else f"import {stem}",
        f"from {dotted} import {GATED}",
    )


def in_one_graph() -> Check:
    """Code that calls something gated is one graph where it was."""
    setup = ['inner = gated("COMPILE_IN_TESTS", torch.compile(double, backend="eager"))']
    return compiles_in_one_graph("gated_code", setup, "lambda x: inner(x) + 1", "torch.ones(3)")

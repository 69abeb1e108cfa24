"""The regression test that goes with the counters: nothing compiled goes uncounted, and counting breaks no graph."""

from __future__ import annotations

from collections.abc import Collection

from fullgraph.codemods.model import Edit
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.compile_requests.regression import everything_wrapped
from fullgraph.codemods.topics.compile_requests.requests import Request
from fullgraph.codemods.topics.compile_requests.wrappers import COUNTED
from fullgraph.codemods.topics.regression_tests.file import Check, new_test, regression_test
from fullgraph.codemods.topics.regression_tests.graphs import compiles_in_one_graph

TITLE = "everything_compiled_is_counted"

CALLS = '''
@pytest.fixture(autouse=True)
def calls(monkeypatch: pytest.MonkeyPatch) -> CompiledCalls:
    """Counting is on, and nothing is counted yet."""
    calls = CompiledCalls(on=True)
    monkeypatch.setattr("{home}.compiled_calls", calls)
    return calls
'''

COUNTS = '''
def test_calls_are_counted_unless_they_are_part_of_other_compiled_code(
    calls: CompiledCalls,
) -> None:
    """And what they return stays the same."""
    inner = counted("double", torch.compile(lambda x: x * 2, backend="eager"))
    outer = torch.compile(lambda x: inner(x) + 1, backend="eager")
    x = torch.ones(3)
    assert torch.equal(inner(x), x * 2)
    assert torch.equal(outer(x), x * 2 + 1)
    assert calls.as_dict()["double"]["grad"]["calls"] == 1


def test_a_counter_that_is_off_is_not_there(calls: CompiledCalls) -> None:
    """The very object comes back."""
    calls.on = False
    double = torch.compile(lambda x: x * 2, backend="eager")
    assert counted("double", double) is double
'''


def count_test(
    project: Project, folder: str, home: str, uncounted: Collection[Request], has_counter: bool
) -> tuple[Edit, ...]:
    """The edit that creates the test; none if the folder has it. `uncounted` are the requests that are left alone."""
    if any(path.startswith(f"{folder}/") for path in project.mentions(TITLE)):
        return ()
    checks = [everything_wrapped(project, folder, COUNTED, TITLE, uncounted)]
    if has_counter:
        dotted = project.module_name(home)
        imports = ("import pytest", "import torch", f"from {dotted} import CompiledCalls, counted")
        checks.append(Check(COUNTS, imports, (CALLS.format(home=dotted),)))
        setup = ['inner = counted("double", torch.compile(lambda x: x * 2, backend="eager"))']
        checks.append(compiles_in_one_graph("counted_code", setup, "lambda x: inner(x) + 1", "torch.ones(3)"))
    return new_test(project, folder, "compiled_calls", regression_test("What is compiled is counted.", checks))

"""The check that a function is one graph: a new graph break fails in the tests, and not where it costs."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph.codemods.topics.regression_tests.file import Check, identifier, indented

IMPORTS = ("import pytest", "import torch", "import torch._dynamo")

FRESH = '''
@pytest.fixture(autouse=True)
def forget_compiled_code() -> None:
    """Start anew: what one test has compiled must not serve the next."""
    torch._dynamo.reset()
'''


def compiles_in_one_graph(
    name: str, setup: Sequence[str], callee: str, arguments: str, imports: Sequence[str] = ()
) -> Check:
    """`callee`, an expression for the plain callable, compiles with fullgraph=True and without any break."""
    title = identifier(name)
    body = f'''
def test_{title}_compiles_in_one_graph() -> None:
    """`fullgraph=True` refuses a graph break."""
{indented(setup)}    compiled = torch.compile({callee}, fullgraph=True, backend="eager")
    compiled({arguments})


@pytest.mark.skipif(
    not hasattr(torch._dynamo, "error_on_graph_break"),
    reason="this torch cannot make graph breaks errors",
)
def test_{title}_has_no_graph_break() -> None:
    """Also where `fullgraph=True` looks away: every break is an error."""
{indented(setup)}    compiled = torch.compile({callee}, backend="eager")
    with torch._dynamo.error_on_graph_break(True):
        compiled({arguments})
'''
    return Check(body, (*IMPORTS, *imports), (FRESH,))

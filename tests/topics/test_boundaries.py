"""The questions on which clone_at_boundary decides: under which contexts no gradients are recorded."""

from __future__ import annotations

import ast

import pytest

from fullgraph.codemods.module import Module
from fullgraph.codemods.source import decode
from fullgraph.codemods.topics.boundaries.outputs import stops_grad


def stops(context: str) -> bool:
    module = Module(decode("module.py", f"import torch\n\n{context}\n".encode()))
    statement = module.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    return stops_grad(module, statement.value)


@pytest.mark.parametrize(
    "context",
    [
        *("torch.no_grad()", "torch.no_grad", "torch.inference_mode()", "torch.autograd.no_grad()"),
        *("torch.inference_mode(True)", "torch.inference_mode(mode=True)"),
        *("torch.set_grad_enabled(False)", "torch.set_grad_enabled(mode=False)"),
    ],
)
def test_gradients_are_off_where_the_text_says_so(context: str) -> None:
    assert stops(context)


@pytest.mark.parametrize(
    "context",
    [
        *("torch.enable_grad()", "torch.set_grad_enabled(True)", "torch.set_grad_enabled(flag)"),
        *("torch.inference_mode(False)", "torch.inference_mode(mode=False)", "torch.inference_mode(flag)"),
        *("torch.profiler.profile()", "no_grad()"),
    ],
)
def test_gradients_may_flow_under_everything_else(context: str) -> None:
    assert not stops(context)

"""What `iterate_constant_keys` claims of torch, and what it says to a constant that is not there."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from fullgraph.codemods.catalog.keys.iterate_constant_keys import IterateConstantKeys
from fullgraph.codemods.model import SourceError
from tests.cases import Case, all_cases, apply

NAMES = ("slot", "blend", "vigor")
Heads = dict[str, torch.Tensor]


def case_named(name: str) -> Case:
    return next(case for case in all_cases("iterate_constant_keys") if case.folder.name == name)


def over_the_keys(heads: Heads) -> torch.Tensor:
    return torch.stack([heads[name] for name in heads.keys()])[:3].sum(0)  # noqa: SIM118 - the loop in question


def over_the_dict(heads: Heads) -> torch.Tensor:
    return torch.stack([heads[name] for name in heads])[:3].sum(0)


def over_the_constant(heads: Heads) -> torch.Tensor:
    return torch.stack([heads[name] for name in NAMES])[:3].sum(0)


def count_compiles(function: Callable[[Heads], torch.Tensor], *calls: Heads) -> int:
    """How often the function is compiled in these calls; a graph break is an error."""
    torch._dynamo.reset()
    graphs: list[Any] = []

    def backend(graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(function, backend=backend, fullgraph=True)
    for heads in calls:
        compiled(heads)
    return len(graphs)


@pytest.mark.parametrize(("function", "compiles"), [(over_the_keys, 2), (over_the_dict, 2), (over_the_constant, 1)])
@pytest.mark.parametrize("change", ["unused entry", "another order"])
def test_only_a_loop_over_the_dict_is_compiled_again(
    function: Callable[[Heads], torch.Tensor], compiles: int, change: str
) -> None:
    heads = {name: torch.ones(2) for name in NAMES}
    other = {**heads, "unused": torch.ones(2)} if change == "unused entry" else dict(reversed(heads.items()))
    assert count_compiles(function, heads, heads, other) == compiles


def load(folder: Path, package: str, files: dict[str, bytes]) -> Any:
    """The `vectorized` module of a case whose package goes by another name, so that two can live side by side."""
    for path, raw in files.items():
        file = folder / path.replace("agent", package)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(raw.replace(b"agent", package.encode()))
    return importlib.import_module(f"{package}.vectorized")


def test_the_batched_masks_are_the_same_before_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_named("batched_masks")
    monkeypatch.syspath_prepend(tmp_path)
    results = []
    for package, files in {"masks_before": case.before, "masks_after": apply(case.before, case.findings())}.items():
        batch_masks = load(tmp_path, package, files).batch_masks
        for function in (batch_masks, torch.compile(batch_masks, backend="eager", fullgraph=True)):
            results.append(function([[True, False], [False, False]], "cpu"))
    assert all(list(result) == list(NAMES) for result in results)
    assert all(torch.equal(result[name], results[0][name]) for result in results for name in NAMES)


@pytest.mark.parametrize(
    ("constant", "problem"),
    [
        ("agent.constants:HEADS", "there is no tuple of strings 'HEADS' in 'agent.constants'"),
        ("agent.nowhere:HEAD_NAMES", "there is no tuple of strings 'HEAD_NAMES' in 'agent.nowhere'"),
        ("HEAD_NAMES", "there is no tuple of strings '' in 'HEAD_NAMES'"),
    ],
)
def test_a_constant_that_is_not_there_is_the_users_to_correct(constant: str, problem: str) -> None:
    project = case_named("given").project()
    with pytest.raises(SourceError, match=problem):
        list(IterateConstantKeys({"constant": constant}).find(project.module("agent/policy.py"), project))

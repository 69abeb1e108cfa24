"""What disable_compile's docstring claims of the decorator at run time, and which torch a project declares."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fullgraph import Project
from fullgraph.codemods.catalog.graphs.disable_compile import DisableCompile
from fullgraph.codemods.module import Module
from fullgraph.codemods.source import decode
from tests.cases import Case, all_cases, apply

torch = pytest.importorskip("torch")

ENDS = {
    "tolist": "return torch.stack([p.mean() for p in model.parameters()]).tolist()",
    "item": "total = torch.zeros(())\n    for p in model.parameters(): total += p.sum()\n    return total.item()",
    "numpy": "return [p.detach().numpy() for p in model.parameters()]",
}


def case_named(name: str) -> Case:
    return next(case for case in all_cases("disable_compile") if case.folder.name == name)


def both_sides(folder: Path, text: str) -> list[Any]:
    """A module before and after the codemod, both imported: the compiler asks for modules by name."""
    project = Project(Path("/nowhere"), ["a.py"], {"a.py": text.encode()})
    after = apply({"a.py": text.encode()}, list(DisableCompile().find(project.module("a.py"), project)))["a.py"]
    assert after != text.encode()
    sides = []
    for name, raw in (("side_before", text.encode()), ("side_after", after)):
        (folder / f"{name}.py").write_bytes(raw)
        sys.modules.pop(name, None)
        sides.append(importlib.import_module(name))
    return sides


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def count_breaks(function: Callable[..., Any], *arguments: Any) -> int:
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    torch.compile(function, backend="eager")(*arguments)
    return sum(counters["graph_break"].values())


def calling(stats: Callable[..., Any]) -> Callable[..., Any]:
    def step(model: Any, x: Any) -> Any:
        y = model(x)
        return y * 2, stats(model)

    return step


@pytest.mark.parametrize(("end", "before", "after"), [("tolist", 2, 1), ("item", 2, 1), ("numpy", 0, 1)])
def test_the_breaks_are_as_documented(end: str, before: int, after: int, folder: Path) -> None:
    text = f"import torch\ndef model_stats(model):\n    {ENDS[end]}\n"
    model, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
    old, new = (side.model_stats for side in both_sides(folder, text))
    assert [count_breaks(calling(old), model, x), count_breaks(calling(new), model, x)] == [before, after]
    assert repr(old(model)) == repr(new(model))
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported, match="disable"):
        torch.compile(calling(new), backend="eager", fullgraph=True)(model, x)


def test_innermost_it_fits_under_every_decorator(folder: Path) -> None:
    case = case_named("decorators")
    model = torch.nn.BatchNorm1d(2)
    old, new = (side.Monitor for side in both_sides(folder, case.before["module.py"].decode()))
    reads: list[Callable[[Any], Any]] = [
        lambda kind: kind(model).norms,
        lambda kind: kind.means(model),
        lambda kind: kind(model).means(model),
        lambda kind: kind(model).buffers(model),
        lambda kind: kind(model).sizes,
    ]
    for read in reads:
        assert read(old) == read(new)
        assert torch.compile(read, backend="eager")(new) == read(old)


def test_generators_and_coroutines_would_be_hidden() -> None:
    def numbers() -> Iterator[int]:
        yield 1

    async def number() -> int:
        return 1

    assert not inspect.isgeneratorfunction(torch.compiler.disable(numbers))
    assert not inspect.iscoroutinefunction(torch.compiler.disable(number))


def test_signature_and_docstring_survive(folder: Path) -> None:
    old, new = (side.layer_stats for side in both_sides(folder, case_named("basic").before["module.py"].decode()))
    assert inspect.signature(old) == inspect.signature(new)
    assert new.__name__ == old.__name__
    assert new.__doc__.startswith(old.__doc__)


def test_every_docstring_is_the_old_one_with_the_warning() -> None:
    for case in all_cases("disable_compile"):
        for path, raw in case.after.items():
            old, new = docstrings(case.before[path]), docstrings(raw)
            assert old.keys() == new.keys()
            for name, text in new.items():
                lines = (line.rstrip() for line in text.splitlines())
                assert all(line.rstrip() in lines for line in old[name].splitlines()), f"{case.name}: {name}"
                assert text == old[name] or "WARNING: Not for compiled code." in text


def docstrings(raw: bytes) -> dict[str, str]:
    module = Module(decode("a.py", raw))
    return {module.symbol(node): ast.get_docstring(node) or "" for node in module.nodes(ast.FunctionDef)}

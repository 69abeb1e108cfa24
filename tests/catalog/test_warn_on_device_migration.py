"""What warn_on_device_migration's docstring claims at run time: warnings, graphs, breaks, and where they point."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.cases import FIXTURES

torch = pytest.importorskip("torch")

HERE = Path(__file__).name


def load(case: str, side: str = "after") -> ModuleType:
    """One side of a fixture, imported: the compiler asks for modules by name."""
    file = FIXTURES / "warn_on_device_migration" / case / f"{side}.py"
    spec = importlib.util.spec_from_file_location(f"migration_{case}_{side}", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


def heard(action: Callable[[], Any]) -> list[warnings.WarningMessage]:
    """The warnings about migrations that an action gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [warning for warning in caught if "migrates from" in str(warning.message)]


@contextlib.contextmanager
def capturing() -> Iterator[list[Any]]:
    """The graphs that are captured meanwhile; any graph break raises."""
    torch._dynamo.reset()
    with torch._dynamo.error_on_graph_break(True):
        yield []
    torch._dynamo.reset()


def compiled(call: Callable[[Any], Any], graphs: list[Any]) -> Callable[[Any], Any]:
    def keep(graph: Any, example: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    made: Callable[[Any], Any] = torch.compile(call, backend=keep, fullgraph=True)
    return made


def and_compute(call: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The call with an operation behind it, so that there is always a graph to capture."""

    def both(x: Any) -> Any:
        call(x)
        return x + 1

    return both


def call_three_times(call: Callable[[Any], Any], device: str) -> None:
    for _ in range(3):
        call(torch.zeros(2, 3, device=device))


@pytest.mark.parametrize(
    ("case", "kind", "method"),
    [
        ("basic", "ObservationFilter", "whiten"),
        ("untested", "RunningScale", "apply"),
        ("early_return", "RunningScale", "follow"),
        ("identity_test", "RunningScale", "apply"),
        ("module_forward", "InputScale", "__call__"),
        ("strict_module", "InputScale", "__call__"),
        ("strict", "RunningScale", "apply"),
    ],
)
def test_the_traced_warning_compiles_to_full_graphs_and_comes_once(case: str, kind: str, method: str) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    for device, mode in (("meta", contextlib.nullcontext()), ("cuda", FakeTensorMode())):
        with capturing() as graphs, mode:
            call = getattr(getattr(load(case), kind)(3), method)
            told = heard(partial(call_three_times, compiled(and_compute(call), graphs), device))
        assert len(told) == 1
        assert len(graphs) == 2, "one for the migration, one after it"
        assert f"{kind} migrates from cpu to {device}" in str(told[0].message)


def test_before_the_rewrite_the_migration_costs_the_same_two_graphs() -> None:
    with capturing() as graphs:
        thing = load("basic", "before").ObservationFilter(3)
        call_three_times(compiled(thing.whiten, graphs), "meta")
    assert len(graphs) == 2


def test_the_plain_warning_breaks_the_graph() -> None:
    thing = load("plain").RunningScale(3)
    with capturing() as graphs, pytest.raises(torch._dynamo.exc.Unsupported, match=r"_warnings\.warn"):
        call_three_times(compiled(thing.apply, graphs), "meta")


@pytest.mark.parametrize(
    ("case", "kind", "method"),
    [
        ("basic", "ObservationFilter", "whiten"),
        ("plain", "RunningScale", "apply"),
        ("module_forward", "InputScale", "__call__"),
        ("module_forward", "InputScale", "update"),
        ("plain_in_forward", "InputScale", "__call__"),
        ("strict", "RunningScale", "undo"),
    ],
)
def test_eager_code_warns_at_each_migration_and_points_at_the_caller(case: str, kind: str, method: str) -> None:
    thing = getattr(load(case), kind)(3)
    told = heard(lambda: call_three_times(getattr(thing, method), "meta"))
    assert [Path(warning.filename).name for warning in told] == [HERE]
    assert told[0].lineno == call_three_times.__code__.co_firstlineno + 2


@pytest.mark.parametrize(
    ("case", "kind", "method"), [("basic", "ObservationFilter", "whiten"), ("plain", "RunningScale", "apply")]
)
def test_eager_code_warns_again_when_it_migrates_again(case: str, kind: str, method: str) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    def there_and_back() -> None:
        for device in ("cuda", "cuda", "cpu", "cuda"):
            call(torch.zeros(2, 3, device=device))

    with FakeTensorMode():
        call = getattr(getattr(load(case), kind)(3), method)
        told = [str(warning.message) for warning in heard(there_and_back)]
    moves = [message.partition("from ")[2].partition(";")[0] for message in told]
    assert moves == ["cpu to cuda:0", "cuda:0 to cpu", "cpu to cuda:0"]


@pytest.mark.parametrize(
    ("case", "kind", "arguments"), [("strict", "RunningScale", (3,)), ("strict_layouts", "Shift", (2, 3))]
)
def test_strict_device_raises_and_moves_nothing(case: str, kind: str, arguments: tuple[int, ...]) -> None:
    thing = getattr(load(case), kind)(*arguments, strict_device=True)
    with pytest.raises(RuntimeError, match="from cpu to meta"):
        thing.apply(torch.zeros(2, 3, device="meta"))
    assert not getattr(load(case), kind)(*arguments).strict_device
    thing.apply(torch.zeros(2, 3))


def test_a_strict_module_stores_the_setting_and_compiles() -> None:
    thing = load("strict_module").InputScale(3, momentum=0.5, strict_device=True)
    with capturing() as graphs:
        call_three_times(compiled(thing, graphs), "cpu")
    assert len(graphs) == 1


@pytest.mark.parametrize("indent", [None, 1])
def test_a_notebook_is_looked_at_too(indent: int | None) -> None:
    import json

    from fullgraph.codemods.catalog.devices.warn_on_device_migration import WarnOnDeviceMigration

    for case in ("basic", "untested", "loop_over_parameters", "list_of_state"):
        text = (FIXTURES / "warn_on_device_migration" / case / "before.py").read_text()
        cell = {"cell_type": "code", "source": text.splitlines(keepends=True)}
        assert WarnOnDeviceMigration().may_hold(json.dumps({"cells": [cell]}, indent=indent).encode()), case

"""What a fixture cannot say of `isolate_telemetry`: that before and after do the same, value by value."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fullgraph import FullgraphError, Project
from fullgraph.codemods.catalog.graphs.isolate_telemetry import IsolateTelemetry
from fullgraph.codemods.rewrite.find import find
from tests.cases import FIXTURES, Case

Names = dict[str, Any]


class Writer:
    """Keeps what it is given, with types."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []

    def add_scalar(self, *row: Any) -> None:
        self.rows.append(row)


def tensor(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def network(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    model[0].bias.requires_grad_(seed % 2 == 0)
    model(torch.ones(2, 4)).sum().backward()
    return model


def write_steps(names: Names, seed: int) -> Any:
    writer = Writer()
    step = names["build"](network(seed), writer, ["mean", "spread"])
    return step(tensor(seed, 3, 4), seed), writer.rows


def count_calls(names: Names, seed: int) -> Any:
    torch.manual_seed(0)
    writer = Writer()
    layer = names["Layer"](4, writer)
    return layer(tensor(seed, 3, 4)), layer(tensor(seed + 1, 3, 4)), writer.rows, layer.calls


def gate(names: Names, seed: int) -> Any:
    torch.manual_seed(0)
    writer = Writer()
    return names["GatedBlock"](4, writer, "b")(tensor(seed, 3, 4), seed), writer.rows


def train_slots(names: Names, seed: int) -> Any:
    model = SimpleNamespace(advance=print, parameters_of=lambda slot: list(network(slot).parameters())[: 2 * slot])
    flags = (True, False)
    return [names["train_batch"](model, range(3), flag, {}) for flag in flags]


def encode(names: Names, seed: int) -> Any:
    torch.manual_seed(0)
    return names["Encoder"](4)(tensor(seed, 3, 4))


def sizes(names: Names, seed: int) -> Any:
    norm = names["Norm"]()
    return norm(tensor(seed, 3), tensor(seed + 1, 3)), norm.debug_low, norm.debug_high


RUNS: dict[str, Callable[[Names, int], Any]] = {
    "basic": lambda names, seed: names["train_step"](network(seed), tensor(seed, 3, 4), tensor(seed, 3, 1), seed),
    "result_is_telemetry": encode,
    "loop_over_parameters": lambda names, seed: names["step"](network(seed), tensor(seed, 3, 4), seed),
    "guard_stays_outside": lambda names, seed: names["forward"](tensor(seed, 5), seed, 2),
    "method_for_self": count_calls,
    "self_attributes": gate,
    "named_lines": train_slots,
    "several_results": lambda names, seed: names["step"](tensor(seed, 9), 6.5, 2, 3.0),
    "odd_syntax": lambda names, seed: names["step"](tensor(seed, 9), {"unit": "m", "b": 1}, "/dev/null"),
    "two_runs": lambda names, seed: names["forward"](tensor(seed, 5)),
    "inner_function": write_steps,
    "end_of_a_function": lambda names, seed: names["finish"](network(seed), tensor(seed, 3, 4), seed == 1),
    "long_strings_and_comments": lambda names, seed: names["forward"](tensor(seed, 5), seed != 1),
    "overloads": sizes,
    "private_names": lambda names, seed: names["Meter"]().measure(tensor(seed, 5)),
    "tabs_and_crlf": lambda names, seed: names["Block"]()(tensor(seed, 5)),
}


def plain(value: Any) -> Any:
    """The same value with every tensor bit by bit, and every type."""
    if isinstance(value, torch.Tensor):
        return value.dtype, tuple(value.shape), value.detach().numpy().tobytes()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [plain(item) for item in value]
    return type(value), value


def not_compiled(target: Any = None, **options: Any) -> Any:
    return target if target is not None else not_compiled


def observe(
    case: Case, side: dict[str, bytes], seed: int, capsys: pytest.CaptureFixture[str], log: pytest.LogCaptureFixture
) -> Any:
    names: Names = {"__name__": case.folder.name}
    exec(compile(side["module.py"], "module.py", "exec"), names)
    log.clear()
    value = RUNS[case.folder.name](names, seed)
    return plain(value), capsys.readouterr().out, [record.getMessage() for record in log.records]


@pytest.mark.parametrize("name", RUNS)
def test_before_and_after_do_the_same(
    name: str,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch, "compile", not_compiled)
    caplog.set_level(logging.DEBUG)
    case = Case(FIXTURES / "isolate_telemetry" / name)
    for seed in range(3):
        before = observe(case, case.before, seed, capsys, caplog)
        assert observe(case, case.after, seed, capsys, caplog) == before


@pytest.mark.parametrize("options", [{"lines": "all"}, {"lines": "9-x"}, {"name": "two words"}, {"name": "class"}])
def test_an_option_that_says_nothing_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(FullgraphError, match="option isolate_telemetry"):
        IsolateTelemetry(options)


def test_lines_of_another_file_are_not_looked_for_here(tmp_path: Any) -> None:
    text = b"import torch\n\n\ndef f(x):\n    print(x)\n    return x\n"
    project = Project(tmp_path, ["a.py", "b.py"], {"a.py": text, "b.py": text})
    codemod = IsolateTelemetry({"lines": "b.py:5"})
    assert [len(find(project, path, [codemod]).findings) for path in ("a.py", "b.py")] == [0, 1]

"""What a scenario file can say, and what is seen of the code it runs: both sides in this process, compared."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch

from fullgraph.validate.model import Ruling
from fullgraph.validate.worker.compiling import choose_options
from fullgraph.validate.worker.recording.compare import compare_files
from tests.validate.in_process import differ, opened, record
from tests.validate.proofs import prove_texts

FUNCTION = """
import warnings
from dataclasses import dataclass

import torch


@dataclass
class Result:
    total: torch.Tensor
    parts: dict


def f(x, scale=1.0):
    y = x * scale
    return Result(y.sum(), {"first": y[0], "last": y[-1]})
"""
CALLED = """
import torch
from module import f

def build(device):
    return f

def cases(device, seed):
    return [(torch.arange(1.0, 4.0),), {"x": torch.ones(2), "scale": 2.0}, (torch.full((4,), 3.0),)]
"""
MODULE = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.register_buffer("seen", torch.zeros(()))
        self.history = []

    def forward(self, x):
        y = self.lin(x)
        self.seen += 1
        self.history.append(len(x))
        return y.sum()
"""
BUILT = """
import torch
from module import Net

def build(device):
    return Net().to(device)

def cases(device, seed):
    return [(torch.ones(2, 3),), (torch.zeros(1, 3),)]
"""


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [
        ("y = x * scale", "y = x * scale if len(x) < 4 else x * scale + 1", "case 3: output.parts['first']"),
        ("y.sum(), {", "y.sum(), {} or {0: 1, ", "case 1: output.parts"),
        ('{"first": y[0], "last": y[-1]}', '{"last": y[-1], "first": y[0]}', "case 1: output.parts"),
        ('"last": y[-1]', '"last": y[-1].double()', "case 1: output.parts['last']"),
        ("    return Result", "    x[0] = 7\n    return Result", "case 1: args[0]"),
        ("    return Result", "    torch.rand(1)\n    return Result", "case 1: rng.torch"),
        ("    return Result", "    print('sum')\n    return Result", "case 1: stdout[0]"),
        ("    return Result", "    warnings.warn('slow')\n    return Result", "case 1: warnings[0]"),
        ("    y = x * scale", "    y = x * scale\n    if scale != 1:\n        raise MemoryError", "case 2: exception"),
        ("    y = x * scale", "    y = x * scale\n    if scale != 1:\n        exit(3)", "case 2: exception"),
        ("    y = x * scale", "    y = x * scale\n    torch.empty(10**15)", "case 1: exception"),
        ("    return Result", "    torch.set_grad_enabled(False)\n    return Result", "case 1: modes['grad']"),
    ],
)  # fmt: skip
def test_what_a_function_does_is_seen(old: str, new: str, first: str, tmp_path: Path) -> None:
    with torch.enable_grad():
        assert differ(tmp_path, FUNCTION, changed(FUNCTION, old, new), CALLED)[0] == first


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("self.seen += 1", "self.seen += 2", "state.seen"),
        ("self.history.append(len(x))", "self.history.append(0)", "state.history[0]"),
        ("self.history = []", "self.history = []\n        self.lin.weight.data.add_(1)", "state.lin.weight"),
        ("y = self.lin(x)", "y = self.lin(x.detach()).detach() + 0 * self.lin.bias", "state.lin.weight.grad"),
        ("self.history = []", "self.history = []\n        self.lin.bias.requires_grad_(False)", "state.lin.bias"),
    ],
)
def test_what_is_left_in_a_module_is_seen(old: str, new: str, path: str, tmp_path: Path) -> None:
    found = differ(tmp_path, MODULE, changed(MODULE, old, new), BUILT)
    assert any(one.startswith(f"case 1: {path}") for one in found), found


def test_the_same_code_is_the_same(tmp_path: Path) -> None:
    assert differ(tmp_path, FUNCTION, changed(FUNCTION, "y = x", "y = (x)"), CALLED) == []
    assert differ(tmp_path, MODULE, changed(MODULE, "y.sum()", "(y).sum()"), BUILT) == []


def test_nan_equals_nan_and_zeros_are_told_apart_only_when_asked(tmp_path: Path) -> None:
    before = "import torch\n\ndef f(x, scale=1.0):\n    return torch.tensor([float('nan'), 0.0])\n"
    after = before.replace("0.0]", "-0.0]")
    assert differ(tmp_path, before, after, CALLED) == []
    assert differ(tmp_path, before, after, CALLED, signed_zero=True)[0] == "case 1: output"


# What the file can say


def test_a_tolerance_is_kept_to(tmp_path: Path) -> None:
    after = changed(FUNCTION, "y = x * scale", "y = x * scale * (1 + 1e-4)")
    assert differ(tmp_path, FUNCTION, after, CALLED)
    assert differ(tmp_path, FUNCTION, after, CALLED + "exact = False\n")
    assert not differ(tmp_path, FUNCTION, after, CALLED + "exact = False\ntolerance = {'rtol': 1e-3, 'atol': 0}\n")
    assert differ(tmp_path, FUNCTION, after, CALLED + "exact = False\ntolerance = {'rtol': 1e-5, 'atol': 0}\n")


def test_without_backward_no_gradients_are_asked_for(tmp_path: Path) -> None:
    after = changed(MODULE, "return y.sum()", "return y.detach().sum()")
    assert "case 1: state.lin.weight.grad" in differ(tmp_path, MODULE, after, BUILT)
    assert differ(tmp_path, MODULE, after, BUILT + "backward = False\n") == ["case 1: output", "case 2: output"]


def test_state_says_what_counts_beside_the_output(tmp_path: Path) -> None:
    after = changed(MODULE, "self.seen += 1", "self.seen += 2")
    assert not differ(tmp_path, MODULE, after, BUILT + "def state(obj):\n    return obj.history\n")
    assert differ(tmp_path, MODULE, after, BUILT + "def state(obj):\n    return {'seen': obj.seen}\n") == [
        "case 1: state['seen']",
        "case 2: state['seen']",
    ]


def test_state_can_stand_for_the_output(tmp_path: Path) -> None:
    after = changed(FUNCTION, "y.sum(), {", "y.mean(), {")
    state = "def state(obj, output):\n    return output.parts\n"
    assert differ(tmp_path, FUNCTION, after, CALLED)
    assert not differ(tmp_path, FUNCTION, after, CALLED + state)


def test_the_seed_of_the_file_is_the_one_that_cases_get(tmp_path: Path) -> None:
    scenario = textwrap.dedent(CALLED).replace("[(torch.arange(1.0, 4.0),)", "print(seed) or [(torch.rand(3),)")
    first, other = (
        record(tmp_path / name, FUNCTION, f"{scenario}seed = {seed}\n") for name, seed in (("a", 5), ("b", 6))
    )
    again = record(tmp_path / "c", FUNCTION, f"{scenario}seed = 5\n")
    same = {"between": "eager", "exact": True}
    assert compare_files(first["file"], again["file"], **same)["differences"] == []
    found = compare_files(first["file"], other["file"], **same)["differences"]
    assert any(one["path"].startswith("arguments") for one in found)


def test_a_declared_warning_may_come_and_no_other(tmp_path: Path) -> None:
    warned = changed(FUNCTION, "    y = x", "    warnings.warn('moved from 3 to 4')\n    y = x")
    declared = [["warning", r"moved from \d to \d", "it is meant to"]]
    assert differ(tmp_path, FUNCTION, warned, CALLED) != []
    assert differ(tmp_path, FUNCTION, warned, CALLED, declared=declared) == []
    beside = changed(warned, "    y = x", "    warnings.warn('also slow')\n    y = x")
    assert differ(tmp_path, FUNCTION, beside, CALLED, declared=declared)[0] == "case 1: warnings[0]"


# How it is compiled


@pytest.mark.parametrize(
    ("settings", "own", "options"),
    [
        ({}, {}, {"backend": "inductor"}),
        ({"backend": "eager"}, {"backend": "inductor", "mode": "max-autotune"}, {"backend": "eager"}),
        ({"mode": "reduce-overhead"}, {}, {"backend": "inductor", "mode": "reduce-overhead"}),
        ({"dynamic": False}, {"dynamic": True}, {"backend": "inductor", "dynamic": False}),
        ({"dynamic": None}, {"dynamic": True}, {"backend": "inductor", "dynamic": True}),
        ({"fullgraph": True, "backend": ""}, {"backend": "eager"}, {"backend": "eager", "fullgraph": True}),
        ({"mode": "default"}, {"mode": "max-autotune"}, {"backend": "inductor"}),
    ],
)
def test_the_command_line_wins_over_the_file(
    settings: dict[str, object], own: dict[str, object], options: dict[str, object]
) -> None:
    assert choose_options(settings, own)[0] == options


def test_dynamic_shapes_save_the_recompiles_of_a_sequence(tmp_path: Path) -> None:
    with opened(tmp_path, FUNCTION, CALLED.replace('"scale": 2.0', '"scale": 1.0')) as stages:
        fixed = stages.graphs()
    with opened(tmp_path, FUNCTION, CALLED.replace('"scale": 2.0', '"scale": 1.0'), dynamic=True) as stages:
        dynamic = stages.graphs()
    assert (fixed["counts"]["recompiles"], dynamic["counts"]["recompiles"]) == (1, 0)


def test_a_backend_of_the_files_own_is_used(tmp_path: Path) -> None:
    own = CALLED + "def count(graph, inputs):\n    print('compiled')\n    return graph.forward\n"
    with opened(tmp_path, FUNCTION, own + "compile_options = {'backend': count}\n", backend="") as stages:
        told = stages.compiled(random_as_in_eager=False)
    kept = torch.load(told["file"], weights_only=True)
    assert kept[2]["stdout"] == "compiled\n"
    assert told["raised"] == []


def test_arguments_that_are_changed_or_used_up_are_made_anew(tmp_path: Path) -> None:
    used = "def f(x, scale=1.0):\n    return x.add_(1)\n"
    assert record(tmp_path / "a", used, CALLED)["mutated"]
    assert not record(tmp_path / "b", "def f(x, scale=1.0):\n    return x + 1\n", CALLED)["mutated"]
    iterated = CALLED.replace("torch.arange(1.0, 4.0)", "iter([1, 2])")
    assert record(tmp_path / "c", "def f(x, scale=1.0):\n    return sum(x)\n", iterated)["mutated"]


def test_a_loop_that_is_never_compiled_is_compared_and_counted_as_it_is(tmp_path: Path) -> None:
    before = """
        def read(x):
            return [x[i].item() for i in range(3)]
    """
    after = """
        def read(x):
            return x[:3].tolist()
    """
    scenario = """
        import torch
        from module import read

        compiled = False

        def build(device):
            return read

        def cases(device, seed):
            return [(torch.arange(4.0),)]
    """
    verdict = prove_texts(tmp_path, before, after, scenario)
    assert verdict.ruling is Ruling.PROVEN
    assert (verdict.before.graphs, verdict.after.breaks, verdict.after.compiled_s) == (None, None, ())
    assert next(reason.name for reason in verdict.reasons if reason.tendency == "better") == "host reads"
    assert any("never is" in notice for notice in verdict.notices)


SCALED = """
    import torch
    from torch import nn

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)
            nn.init.ones_(self.inner.weight)
            {buffer}

        def forward(self, x):
            return self.inner(x) * 2.0
"""
RUN_SCALED = """
    import torch
    from module import Scaled

    def build(device):
        torch.manual_seed(0)
        return Scaled()

    def cases(device, seed):
        return [(torch.ones(1, 2),)]
"""


def test_a_buffer_that_is_never_saved_is_an_attribute_and_one_that_is_saved_is_state(tmp_path: Path) -> None:
    plain = SCALED.format(buffer="pass")
    unsaved = SCALED.format(buffer='self.register_buffer("scale", torch.tensor(2.0), persistent=False)')
    saved = SCALED.format(buffer='self.register_buffer("scale", torch.tensor(2.0))')
    assert differ(tmp_path, plain, unsaved, RUN_SCALED) == []
    assert differ(tmp_path, plain, saved, RUN_SCALED) == ["case 1: state"]

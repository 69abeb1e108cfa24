"""hoist_invariant_construction: what is made once must behave as what was made anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fullgraph.codemods.model import Safety
from tests.cases import FIXTURES, Case, apply

torch = pytest.importorskip("torch")

NAME = "hoist_invariant_construction"
Call = Callable[[dict[str, Any], Any], Any]


def rows(make: Any, *size: int) -> Any:
    return torch.randn(*size, generator=make)


def train(found: dict[str, Any], make: Any) -> Any:
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.LayerNorm(3))
    losses = [found["train_step"](model, rows(make, 4, 3)) for _ in range(3)]
    return losses, model.state_dict()


DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.int8)


CALLS: dict[str, Call] = {
    "limits": lambda found, make: found["Floor"]()(rows(make, 5, 2) * torch.tensor([1.0, float("nan")])),
    "numbers": lambda found, make: [
        (found["Scale"]()(x, x > 0), found["train_step"](x))
        for x in ((rows(make, 5, 2) * 3).to(dtype) for dtype in DTYPES)
    ],
    "basic": lambda found, make: found["SineFeatures"](6)(rows(make, 5, 6)),
    "chain": lambda found, make: found["Ready"]()(rows(make, 2, 3, 10, 10)),
    "comprehension": lambda found, make: (
        found["scale_all"]([rows(make, 2), rows(make, 3, 2)]),
        found["lookup"]([rows(make, 6), rows(make, 7)]),
    ),
    "doubtful_buffers": lambda found, make: [
        found[name](*sizes)(rows(make, 2, 4))
        for name, sizes in {"Scaled": (), "Placed": (), "Moved": (), "Picking": (4, 4)}.items()
    ],
    "helper": lambda found, make: found["Heads"](2)(rows(make, 3, 5, 8), rows(make, 3, 5, 8)),
    "helpers_together": lambda found, make: found["train_step"](torch.sin, rows(make, 4, 4)),
    "loop": lambda found, make: (
        found["discount"]([rows(make, 3) for _ in range(5)], torch.device("cpu")),
        found["smooth"](rows(make, 4, 2), 3),
        found["smooth"](rows(make, 4, 2), 0),
    ),
    "name_of_a_grandchild": lambda found, make: found["Labelled"]()(rows(make, 2, 3)),
    "patterns": train,
    "positions": lambda found, make: found["Slots"](4)(rows(make, 2, 5, 3)),
    "shared": lambda found, make: found["Colors"](2.0)(rows(make, 6, 3)),
    "tabs_and_crlf": lambda found, make: found["Gate"]()(rows(make, 6, 2)),
}


def execute(source: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {"__name__": "fixture"}
    exec(compile(source, "fixture.py", "exec"), found)
    return found


def test_every_changing_fixture_is_executed() -> None:
    changing = {file.parent.name for file in (FIXTURES / NAME).glob("*/after.py")}
    assert changing == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("seed", [0, 1])
def test_before_and_after_give_the_same_bits(name: str, seed: int) -> None:
    case = Case(FIXTURES / NAME / name)
    results = []
    for side in (case.before, case.after):
        found = execute(side["module.py"])
        torch.manual_seed(seed)
        make = torch.Generator().manual_seed(seed)
        results.append([CALLS[name](found, make) for _ in range(2)])
    torch.testing.assert_close(*results, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(("name", "kind"), [("basic", "SineFeatures"), ("chain", "Ready"), ("positions", "Slots")])
def test_a_buffer_is_not_saved_and_follows_its_module(name: str, kind: str) -> None:
    case = Case(FIXTURES / NAME / name)
    arguments = {"SineFeatures": (6,), "Ready": (), "Slots": (4,)}[kind]
    before, after = (execute(side["module.py"])[kind](*arguments) for side in (case.before, case.after))
    assert list(before.state_dict()) == list(after.state_dict())
    after.load_state_dict(before.state_dict())
    assert {buffer.device.type for buffer in after.to("meta").buffers()} == {"meta"}


def test_floats_and_strangers_make_a_buffer_unsafe() -> None:
    floats, whole = (Case(FIXTURES / NAME / name) for name in ("basic", "positions"))
    assert floats.findings()[0].safety is Safety.UNSAFE
    assert whole.findings()[0].safety is Safety.SAFE
    watched = whole.findings({**whole.before, "run.py": b"from torch.nn.parallel import DistributedDataParallel\n"})
    assert "run.py has `DistributedDataParallel`" in watched[0].caveat


HEAD = """import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
"""
KEPT = {
    "written through a view": "w = torch.ones(2)\n        w[0:1].mul_(x.sum())\n        return x * w",
    "written by a function": "w = torch.ones(2)\n        torch.add(x, 1, out=w)\n        return x * w",
    "returned as a view": "w = torch.ones(2)\n        return w.expand(3, 2)",
    "returned as it was": "w = torch.ones(2)\n        return w.to(x.dtype)",
    "shared with numpy": "w = torch.ones(2)\n        return x.numpy() + w.numpy()",
    "bound again": "w = torch.ones(2)\n        if x.sum() > 0:\n            w = x\n        return x * w",
    "counted up": "w = torch.zeros(2)\n        w += x\n        return w * 2",
    "walked through": "return [row for row in torch.ones(2, 2)]",
    "made a parameter": "return x * nn.Parameter(torch.ones(2))",
    "yielded": "yield torch.ones(2)",
    "a default": "def f(y, w=torch.ones(2)):\n            return w\n        return f(x)",
    "kept by a closure": "w = torch.ones(2)\n        return lambda: w",
}


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_what_somebody_else_could_see_is_left_alone(body: str) -> None:
    case = Case(FIXTURES / NAME / "basic")
    files = {"module.py": f"{HEAD}        {body}\n".encode()}
    assert not any(finding.is_fixable for finding in case.findings(files))


ODD = {
    "a walrus": "if (w := torch.tensor([1.0, 2.0])).sum() > 0:\n            x = x * w\n        return x",
    "two on a line": "a = torch.ones(2); b = torch.zeros(2)\n        return x * a + b",
    "one name for two": "a = b = torch.tensor([1.0, 2.0])\n        return x * a + b",
    "a branch of its own": "if x.dim():\n            a = torch.ones(2)\n        return x * a",
    "two in a branch": "if 1:\n            a = torch.ones(2)\n            b = torch.zeros(2)\n        return x * a + b",
    "a backslash": "return x * \\\n            torch.tensor([1.0, 2.0])",
    "brackets": "return x * (torch.tensor(((1.0), 2.0), device=(x.device)))",
    "a match": "match x.dim():\n            case 1:\n                return x * torch.ones(2)\n        return x",
    "try and finally": "try:\n            a = torch.eye(2)\n        finally:\n            x = -x\n        return a * x",
    "a comprehension": "return sum([x * torch.tensor([1.0, 2.0]) for _ in range(3)])",
    "a nested function": "a = torch.ones(2)\n        def f(y):\n            return y * a\n        return f(x)",
    "an index": "return x[torch.tensor([1, 0])] * torch.tensor(2.0)",
    "names of modules": "half = torch.tensor([1.0, 2.0])\n        return x * half",
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_odd_layouts_come_out_equal(body: str) -> None:
    case = Case(FIXTURES / NAME / "basic")
    files = {"module.py": f"{HEAD}        {body}\n".encode()}
    findings = [finding for finding in case.findings(files) if finding.is_fixable]
    assert findings
    after = apply(files, findings)
    x = torch.tensor([0.25, -3.0])
    first, second = (execute(side["module.py"])["Layer"]()(x.clone()) for side in (files, after))
    torch.testing.assert_close(first, second, rtol=0, atol=0)
    assert not any(finding.is_fixable for finding in case.findings(after))


LEFT = {
    "a parameter of __init__ hides it": """
N = 2


class Layer(nn.Module):
    def __init__(self, N=3):
        super().__init__()

    def forward(self, x):
        return x + torch.arange(N, device=x.device)
""",
    "a handler that would no longer run": """
def run(xs):
    for x in xs:
        try:
            w = torch.tensor([1.0], device=xs.device)
            x += w
        except RuntimeError:
            pass
""",
    "a device that need not be there": """
def run(xs):
    for x in xs:
        x += torch.ones(2, device="cuda")
""",
    "a model that moves": """
def run(model, xs):
    for x in xs:
        model.to(x.device)
        x += torch.ones(2, device=model.device)
""",
    "a definition under a condition": """
if torch.cuda.is_available():
    def train_step(x):
        def twice(t: torch.Tensor) -> torch.Tensor:
            return t * 2

        return twice(x)
""",
    "an heir that goes past it": """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return x + torch.arange(2, device=x.device)


class Other(Layer):
    def __init__(self):
        nn.Module.__init__(self)
""",
    "a static method": """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()

    @staticmethod
    def forward(x, y):
        return x + torch.arange(2, device=y.device)
""",
    "a loop in a class": """
class Table:
    for row in range(3):
        print(row * torch.ones(2))
""",
}


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_what_would_mean_something_else_is_left_alone(body: str) -> None:
    files = {"module.py": f"import torch\nfrom torch import nn\n\n{body}".encode()}
    assert not any(finding.is_fixable for finding in Case(FIXTURES / NAME / "basic").findings(files))

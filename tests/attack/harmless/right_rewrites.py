"""Right rewrites, each the harmless twin of a wrong one."""

from tests.attack.bank import Rewrite, calls

MODULE = """\
import functools
import json
import logging
import os
import pathlib
import random
import subprocess
import sys
import warnings

import torch

log = logging.getLogger("project")
STEPS = 0
SEEN = []


def step(model, optimizer, losses, x):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    return loss.detach()


def counter():
    count = 0

    def run(x):
        nonlocal count
        count += 1
        return x * count

    return run


def counted(x):
    global STEPS
    STEPS += 1
    SEEN.append(len(x))
    return x + 1


class Net(torch.nn.Module):
    calls = 0

    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        Net.calls += 1
        self.mean.mul_(0.5).add_(x.detach().mean(0) * 0.5)
        return self.lin(x) - self.mean

    def values(self, x):
        with torch.no_grad():
            return self.lin(x)


def copied(x):
    return x.clone()


def clamped(x):
    x.clamp_(min=0)
    return x.sum()


def told(x):
    print("step", len(x))
    print("loss", x.sum().item(), file=sys.stderr)
    log.warning("step %d", len(x))
    warnings.warn("slow", stacklevel=1)
    return x + 1


def saved(x):
    pathlib.Path("metrics.json").write_text(json.dumps({"loss": x.sum().item()}))
    os.environ["PROJECT_RANK"] = "1"
    subprocess.run(["true"], check=True)
    return x + 1


def checked(x):
    if len(x) > 2:
        raise ValueError(f"too long: {len(x)}")
    return x + 1


def drawn(x):
    a = torch.rand(3)
    random.random()
    return x + a


def total(x):
    out = 0
    for i in range(len(x)):
        out = out + x[i] * 2
    return out


def table(x):
    return {"b": x + 1, "a": x - 1}


def named(x):
    return ",".join(sorted({"policy", "value", "entropy"}))


def grid(n):
    return torch.arange(n) * 2


def first(batches):
    return next(batches) * 2


def cubed(x):
    return (x * x * x).sum()


def branched(x):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
    return y


def turned(x):
    return x.t().contiguous()


def shown(x):
    return f"loss {x.sum().item():.3f} 0x{len(x):x}"


def cast(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return x @ x.t()


def dropped(x):
    return torch.nn.functional.dropout(x, 0.5, True)


def hooked(x):
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    return y.sum()


def rows(x):
    return [row * 2 for row in x]


def flagged(x):
    return (x > 0).any().item()


def cached(x):
    return x * len(range(0, 10, 3))


LIMIT = 3


def limited(x):
    return x.clamp(max=LIMIT)
"""
TRAINER = """\

def trainer():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    return functools.partial(module.step, model, torch.optim.SGD(model.parameters(), lr=0.1), [])
"""
X = ("(torch.ones(2, 3),)", "(torch.arange(9.0).reshape(3, 3),)")
STEPS = calls("trainer()", *X, more=TRAINER)
LINE = ("(torch.arange(3.0),)", "(torch.ones(2),)")


def row(name: str, old: str, new: str, scenario: str, is_fresh: bool = False) -> Rewrite:
    return Rewrite(name, MODULE, {old: new}, scenario, "right", is_fresh=is_fresh)


def run(subject: str, *cases: str, compiled: bool = False) -> str:
    return calls(f"module.{subject}", *(cases or LINE), compiled=compiled)


ROWS = (
    row(
        "gradients are set to None by hand",
        "    optimizer.zero_grad()\n",
        "    for parameter in model.parameters():\n        parameter.grad = None\n",
        STEPS,
    ),
    row("the list of a partial is extended", "losses.append(loss.item())", "losses += [loss.item()]", STEPS),
    row(
        "a cell has another name",
        "    count = 0\n\n    def run(x):\n        nonlocal count\n        count += 1\n        return x * count\n",
        "    total = 0\n\n    def run(x):\n        nonlocal total\n        total += 1\n        return x * total\n",
        run("counter()"),
    ),
    row("globals through globals()", "    STEPS += 1\n", '    globals()["STEPS"] = STEPS + 1\n', run("counted")),
    row("a global list by slices", "SEEN.append(len(x))", "SEEN[len(SEEN):] = [len(x)]", run("counted")),
    row("the class by its type", "Net.calls += 1", "type(self).calls += 1", run("Net()", *X)),
    row(
        "a buffer in two steps",
        "self.mean.mul_(0.5).add_(x.detach().mean(0) * 0.5)",
        "self.mean.mul_(0.5)\n        self.mean.add_(x.detach().mean(0) * 0.5)",
        run("Net()", *X, compiled=True),
    ),
    row(
        "no_grad as a decorator",
        "    def values(self, x):\n        with torch.no_grad():\n            return self.lin(x)\n",
        "    @torch.no_grad()\n    def values(self, x):\n        return self.lin(x)\n",
        run("Net().values", *X),
    ),
    row("a copy by another name", "return x.clone()", "return torch.clone(x)", run("copied")),
    row("in place by another name", "x.clamp_(min=0)", "x.relu_()", run("clamped", "(torch.tensor([-1.0, 2.0]),)")),
    row("a print by write", 'print("step", len(x))', 'sys.stdout.write(f"step {len(x)}\\n")', run("told")),
    row(
        "stderr by write",
        'print("loss", x.sum().item(), file=sys.stderr)',
        'sys.stderr.write(f"loss {x.sum().item()}\\n")',
        run("told"),
    ),
    row("a log that is formatted", 'log.warning("step %d", len(x))', 'log.warning(f"step {len(x)}")', run("told")),
    row(
        "a file by open",
        'pathlib.Path("metrics.json").write_text(json.dumps({"loss": x.sum().item()}))',
        'with open("metrics.json", "w") as file:\n        json.dump({"loss": x.sum().item()}, file)',
        run("saved"),
    ),
    row(
        "a variable by update", 'os.environ["PROJECT_RANK"] = "1"', 'os.environ.update(PROJECT_RANK="1")', run("saved")
    ),
    row(
        "a check in a helper",
        '    if len(x) > 2:\n        raise ValueError(f"too long: {len(x)}")\n    return x + 1\n\n\n',
        "    refuse(x)\n    return x + 1\n\n\ndef refuse(x):\n"
        '    if len(x) > 2:\n        raise ValueError("too long: " + str(len(x)))\n\n\n',
        run("checked"),
    ),
    row(
        "independent generators change places",
        "    a = torch.rand(3)\n    random.random()\n",
        "    random.random()\n    a = torch.rand(3)\n",
        run("drawn", "(torch.ones(3),)"),
    ),
    row(
        "a loop over elements",
        "    for i in range(len(x)):\n        out = out + x[i] * 2\n",
        "    for value in x:\n        out = out + value * 2\n",
        run("total"),
    ),
    row(
        "a dict in two steps",
        'return {"b": x + 1, "a": x - 1}',
        'out = {"b": x + 1}\n    out["a"] = x - 1\n    return out',
        run("table"),
    ),
    row(
        "a set in another order, sorted",
        '{"policy", "value", "entropy"}',
        '{"entropy", "policy", "value"}',
        run("named"),
        is_fresh=True,
    ),
    row(
        "integers doubled by addition",
        "torch.arange(n) * 2",
        "torch.arange(n) + torch.arange(n)",
        run("grid", "(5,)", "(0,)"),
    ),
    row(
        "a generator is begun by its method",
        "next(batches) * 2",
        "batches.__next__() * 2",
        run("first", "(iter([torch.ones(2), torch.ones(3)]),)"),
    ),
    row(
        "a power by hand, twice differentiable",
        "(x * x * x).sum()",
        "torch.mul(x * x, x).sum()",
        run("cubed", "(torch.arange(3.0).requires_grad_(),)", compiled=True),
    ),
    row(
        "a branch becomes a selection",
        "    if x.sum() > 0:\n        y = x + 1\n    else:\n        y = x - 1\n    return y\n",
        "    return torch.where(x.sum() > 0, x + 1, x - 1)\n",
        run("branched", "(torch.ones(3),)", "(-torch.ones(3),)", compiled=True),
    ),
    row("a transpose by its numbers", "x.t().contiguous()", "x.transpose(0, 1).contiguous()", run("turned", *X)),
    row(
        "a text by format",
        'f"loss {x.sum().item():.3f} 0x{len(x):x}"',
        '"loss {:.3f} {}".format(x.sum().item(), hex(len(x)))',
        run("shown"),
    ),
    row(
        "autocast as a decorator",
        '    with torch.autocast("cpu", dtype=torch.bfloat16):\n        return x @ x.t()\n',
        '    return inner(x)\n\n\n@torch.autocast("cpu", dtype=torch.bfloat16)\ndef inner(x):\n    return x @ x.t()\n',
        run("cast", *X),
    ),
    row(
        "dropout by its keyword",
        "dropout(x, 0.5, True)",
        "dropout(x, p=0.5, training=True)",
        run("dropped", compiled=True),
    ),
    row(
        "a hook with a name",
        "    y.register_hook(lambda grad: grad * 10)\n",
        "    def tenfold(grad):\n        return grad * 10\n\n    y.register_hook(tenfold)\n",
        run("hooked", "(torch.ones(3).requires_grad_(),)"),
    ),
    row("a list by map", "[row * 2 for row in x]", "list(map(lambda row: row * 2, x))", run("rows")),
    row("a flag by bool", "(x > 0).any().item()", "bool((x > 0).any())", run("flagged", compiled=True)),
    row(
        "a count in advance",
        "    return x * len(range(0, 10, 3))\n",
        "    return x * 4\n",
        run("cached", compiled=True),
    ),
    Rewrite(
        "a constant is written where it is used",
        MODULE,
        {"LIMIT = 3\n": "", "max=LIMIT": "max=3"},
        run("limited"),
        "right",
    ),
    Rewrite(
        "a constant has another name",
        MODULE,
        {"LIMIT = 3\n": "HIGHEST = 3\n", "max=LIMIT": "max=HIGHEST"},
        run("limited"),
        "right",
    ),
    row(
        "a child process by call",
        'subprocess.run(["true"], check=True)',
        'subprocess.check_call(["true"])',
        run("saved"),
    ),
    Rewrite(
        "an import for annotations is gone",
        "from typing import Dict, Optional\n\n\ndef f(x: Optional[Dict[str, int]]):\n    return len(x)\n",
        {"from typing import Dict, Optional\n\n\n": "", "Optional[Dict[str, int]]": "dict[str, int] | None"},
        calls("module.f", "({'a': 1},)"),
        "right",
    ),
    Rewrite(
        "a backward of one's own",
        """\
import torch


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def f(x):
    return Twice.apply(x)
""",
        {"grad * 2": "2 * grad"},
        calls("module.f", "(torch.randn(3, requires_grad=True),)"),
        "right",
    ),
)

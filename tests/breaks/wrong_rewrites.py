"""Rewrites of small programs: wrong on purpose, each in its own way, and a few that are right."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

HEAD = """\
import logging
import warnings

import torch
from torch import nn

logger = logging.getLogger(__name__)
"""
BOTH = ("torch.tensor([1.0, 2.0, 3.0, 4.0])", "-torch.ones(4)", "torch.zeros(4)")
GRADS = tuple(f"({call}).requires_grad_()" for call in BOTH)


@dataclass(frozen=True)
class Pair:
    """Two programs, the calls, and a piece of what must be said of the difference."""

    before: str
    after: str
    seen_in: str = ""
    calls: tuple[str, ...] = BOTH
    entry: str = "run"
    by: tuple[str, ...] = ("select_without_branch",)
    only_compiled: bool = False


def body(text: str) -> str:
    """A compiled function of `x` with these lines."""
    return f"{HEAD}\n\n@torch.compile\ndef run(x):\n{indent(dedent(text).strip(), '    ')}\n"


def lines(before: str, after: str, seen_in: str = "", calls: tuple[str, ...] = BOTH, **more: bool) -> Pair:
    return Pair(body(before), body(after), seen_in, calls, **more)  # type: ignore[arg-type]


def under_compile(before: str, after: str, seen_in: str, calls: tuple[str, ...] = BOTH) -> Pair:
    """The same, with the new lines for compiled code only."""
    chosen = f"if torch.compiler.is_compiling():\n{indent(dedent(after).strip(), '    ')}\nelse:\n"
    guarded = chosen + indent(dedent(before).strip(), "    ")
    return Pair(body(before), body(guarded), seen_in, calls, only_compiled=True)


BRANCH = "if x.sum() > 0:\n    y = x * 2\nelse:\n    y = x - 1\nreturn y"
COUNTS = "n = torch.zeros(4, dtype=torch.int64)\nif x.sum() > 0:\n    n = torch.ones(4, dtype=torch.int64)\nreturn n"
ROOT = "if x.sum() > 0:\n    y = x.sqrt()\nelse:\n    y = x * 3\nreturn y"
TOLD = "if x.sum() > 0:\n    logger.warning('sum is %s', x.sum().item())\nreturn x + 1"
CHECK = "if x.sum() < 0:\n    raise ValueError('negative sum')\nreturn x + 1"
SHOWN = "if x.sum() < 0:\n    raise ValueError(f'the sum is {x.sum()}')\nreturn x + 1"
DRAWN = "if x.sum() > 0:\n    x = x + torch.rand(4)\nx = x + torch.rand(4)\nreturn x"
BUFFER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(4))
        self.seen = self.scale

    def forward(self, x):
        scale = self.scale
        if x.sum() > 0:
            scale = scale * 2
        return x * scale, self.seen + 0


model = torch.compile(Net())
"""
ALIASED = "scale = self.scale\n        scale.copy_(torch.where(x.sum() > 0, scale * 2, scale))"

WRONG = {
    "where that changes dtype": lines(
        COUNTS, "return torch.where(x.sum() > 0, torch.ones(4), torch.zeros(4, dtype=torch.int64))", "dtype"
    ),
    "where that changes dtype, compiled": under_compile(
        COUNTS, "return torch.where(x.sum() > 0, torch.ones(4), torch.zeros(4, dtype=torch.int64))", "dtype"
    ),
    "where that changes shape": lines(
        "if x.sum() > 0:\n    y = x\nelse:\n    y = x.sum(0, keepdim=True)\nreturn y",
        "return torch.where(x.sum() > 0, x, x.sum(0, keepdim=True))",
        "shape",
    ),
    "where that changes shape, compiled": under_compile(
        "if x.sum() > 0:\n    y = x\nelse:\n    y = x.sum(0, keepdim=True)\nreturn y",
        "return torch.where(x.sum() > 0, x, x.sum(0, keepdim=True))",
        "shape",
    ),
    "one element that becomes none": lines(
        "if x[:1].sum() > 0:\n    return x[:1]\nreturn x[1:2]", "return torch.where(x[0] > 0, x[0], x[1])", "shape"
    ),
    "NaN gradients from the branch not taken": lines(
        ROOT, "return torch.where(x.sum() > 0, x.sqrt(), x * 3)", "grad", GRADS
    ),
    "NaN gradients, compiled": under_compile(ROOT, "return torch.where(x.sum() > 0, x.sqrt(), x * 3)", "grad", GRADS),
    "an aliased buffer written in place": Pair(
        HEAD + BUFFER,
        HEAD + BUFFER.replace("scale = self.scale\n        if x.sum() > 0:\n            scale = scale * 2", ALIASED),
        "call 3",
        ("torch.ones(4)", "-torch.ones(4)", "-torch.ones(4)"),
        "model",
    ),
    "corrupted text": lines(TOLD, TOLD.replace("sum is %s", "sum is %%s"), "messages"),
    "text of a tensor": lines(TOLD, TOLD.replace(".item()", ""), "messages"),
    "lost message": lines(TOLD, "return x + 1", "messages"),
    "lost message, compiled": under_compile(TOLD, "return x + 1", "messages"),
    "doubled message": lines(
        TOLD, TOLD.replace("\nreturn", "\n    logger.warning('sum is %s', x.sum().item())\nreturn"), "messages"
    ),
    "message at trace time only": under_compile(
        "print('step')\nreturn x + 1", "torch.compiler.assume_constant_result(print)('step')\nreturn x + 1", "messages"
    ),
    "message in the wrong branch": lines(TOLD, TOLD.replace("if x.sum() > 0:", "if True:"), "messages"),
    "messages in another order": lines(
        "print('first')\nlogger.info('second')\nreturn x + 1",
        "logger.info('second')\nprint('first')\nreturn x + 1",
        "messages",
    ),
    "message of another level": lines(TOLD, TOLD.replace("logger.warning", "logger.error"), "messages"),
    "message of another logger": lines(TOLD, TOLD.replace("logger.warning", "logging.warning"), "messages"),
    "warning of another category": lines(
        "warnings.warn('old', FutureWarning)\nreturn x + 1", "warnings.warn('old')\nreturn x + 1", "messages"
    ),
    "numbers drawn once instead of twice": lines(
        DRAWN, "r = torch.rand(4)\nreturn torch.where(x.sum() > 0, x + r + r, x + r)", "rng"
    ),
    "numbers drawn in the branch not taken": lines(
        DRAWN, "y = x + torch.rand(4)\nx = torch.where(x.sum() > 0, y, x)\nreturn x + torch.rand(4)", "rng"
    ),
    "numbers drawn in the branch not taken, compiled": under_compile(
        DRAWN, "y = x + torch.rand(4)\nx = torch.where(x.sum() > 0, y, x)\nreturn x + torch.rand(4)", "rng"
    ),
    "a view that became a copy": lines(
        "if x.sum() > 0:\n    return x[1:]\nreturn x[:3]", "return torch.where(x.sum() > 0, x[1:], x[:3])", "sharing"
    ),
    "a view that became a copy, compiled": under_compile(
        "if x.sum() > 0:\n    return x[1:]\nreturn x[:3]", "return torch.where(x.sum() > 0, x[1:], x[:3])", "sharing"
    ),
    "the argument itself that became a copy": under_compile(
        "if x.sum() > 0:\n    x = x * 2\nreturn x", "return torch.where(x.sum() > 0, x * 2, x)", "output"
    ),
    "other strides": lines(
        "x = x.view(2, 2)\nif x.sum() > 0:\n    return x.t() + 1\nreturn x.t() - 1",
        "x = x.view(2, 2)\nreturn torch.where(x.sum() > 0, x.t() + 1, x.t() - 1).contiguous()",
        "layout",
    ),
    "lost write in place": lines(
        "if x.sum() > 0:\n    x.add_(1)\nreturn x * 2", "x = torch.where(x.sum() > 0, x + 1, x)\nreturn x * 2", "args"
    ),
    "lost write in place, compiled": under_compile(
        "if x.sum() > 0:\n    x.add_(1)\nreturn x * 2", "x = torch.where(x.sum() > 0, x + 1, x)\nreturn x * 2", "args"
    ),
    "swallowed exception": lines(CHECK, "return x + 1", "exception"),
    "swallowed exception, compiled": under_compile(CHECK, "return x + 1", "exception"),
    "another text": lines(CHECK, CHECK.replace("negative", "Negative"), "exception"),
    "another type": lines(CHECK, CHECK.replace("ValueError", "RuntimeError"), "exception"),
    "a check of another text in the graph": Pair(
        body(CHECK),
        body("torch._assert_async(x.sum() >= 0, 'negative')\nreturn x + 1"),
        "compiled: call 2: exception",
        by=("check_without_branch",),
    ),
    "a check of another text around a value": Pair(
        body(SHOWN),
        body("torch._assert_async(x.sum() >= 0, 'the sum is {x.sum()} here')\nreturn x + 1"),
        "compiled: call 2: exception",
        by=("check_without_branch",),
    ),
    "a check that shows a value where there was none": Pair(
        body(CHECK),
        body("torch._assert_async(x.sum() >= 0, 'negative sum {x.sum()}')\nreturn x + 1"),
        "compiled: call 2: exception",
        by=("check_without_branch",),
    ),
    "a check whose text is only a value": Pair(
        body(CHECK),
        body("torch._assert_async(x.sum() >= 0, '{x.sum()}')\nreturn x + 1"),
        "compiled: call 2: exception",
        by=("check_without_branch",),
    ),
    "a check that lets NaN pass": under_compile(
        "if not x.sum() >= 0:\n    raise ValueError('negative sum')\nreturn x + 1",
        "if x.sum() < 0:\n    raise ValueError('negative sum')\nreturn x + 1",
        "exception",
        ("torch.ones(4)", "torch.full((4,), float('nan'))"),
    ),
    "early return ignored": lines(
        "if x.sum() > 0:\n    return x\nx = x - 1\nreturn x * 2",
        "x = torch.where(x.sum() > 0, x, x - 1)\nreturn x * 2",
        "output",
    ),
    "lost sign of zero": lines(
        "if x.sum() > 0:\n    x = x * 2\nreturn x.clone()",
        "gate = (x.sum() > 0).to(x.dtype)\nreturn x + gate * x + 0.0",
        "output",
        ("torch.ones(2)", "torch.tensor([-0.0, -0.0])"),
    ),
    "truncated": lines(
        "n = x.sum().item()\nreturn x * n", "n = int(x.sum())\nreturn x * n", "output", ("torch.ones(3) * 0.5",)
    ),
    "an int that became a tensor": lines("n = int(x.sum())\nreturn x * 2, n", "n = x.sum()\nreturn x * 2, n", "output"),
    "promoted by a scalar": lines(
        "return x.half() * x.sum().double().item()", "return x.half() * x.sum().double().reshape(1)", "dtype"
    ),
    "an `or` that gives a bool": lines(
        "y = x.sum() or x\nreturn y", "y = torch.logical_or(x.sum(), x.any())\nreturn y", "output"
    ),
    "lost attribute": Pair(
        HEAD
        + BUFFER.replace(
            "scale = self.scale\n", "scale = self.scale\n        self.calls = getattr(self, 'calls', 0) + 1\n"
        ),
        HEAD + BUFFER,
        "state",
        entry="model",
    ),
    "lost entry of a list": Pair(
        body("if x.sum() > 0:\n    seen.append(1)\nreturn x + 1").replace("\n\n@", "\nseen = []\n\n@"),
        body("return x + 1").replace("\n\n@", "\nseen = []\n\n@"),
        "state",
    ),
    "detached": lines(BRANCH, BRANCH.replace("x * 2", "x.detach() * 2"), "requires_grad", GRADS),
    "more breaks than before": lines(BRANCH, f"print(end='')\n{BRANCH}", "breaks: "),
}
RIGHT = {
    "where": lines(BRANCH, "return torch.where(x.sum() > 0, x * 2, x - 1)", calls=GRADS),
    "two wheres around a root": lines(
        ROOT,
        "go = x.sum() > 0\nreturn torch.where(go, torch.where(go, x, 1.0).sqrt(), x * 3)",
        calls=("torch.rand(4).add(1).requires_grad_()", "-torch.ones(4).requires_grad_()"),
    ),
    "a check in the graph": Pair(
        body(CHECK),
        body(
            "if torch.compiler.is_compiling():\n    torch._assert_async(~(x.sum() < 0), 'negative sum')\n"
            "elif x.sum() < 0:\n    raise ValueError('negative sum')\nreturn x + 1"
        ),
        by=("check_without_branch",),
    ),
    "a check that names the value it cannot show": Pair(
        body(SHOWN),
        body(
            "if torch.compiler.is_compiling():\n    torch._assert_async(~(x.sum() < 0), 'the sum is {x.sum()}')\n"
            "else:\n" + indent(SHOWN, "    ") + "\nreturn x + 1"
        ),
        by=("check_without_branch",),
    ),
    "a condition of torch's own": lines(
        ROOT,
        "if torch.compiler.is_compiling():\n"
        "    return torch.cond(x.sum() > 0, lambda x: x.sqrt(), lambda x: x * 3, (x,))\n" + ROOT,
        calls=("torch.rand(4).add(1).requires_grad_()", "-torch.ones(4).requires_grad_()", "-torch.zeros(4)"),
    ),
    "prints behind the graph": Pair(
        body("print('first', 1)\ny = x * 2\nprint('sum', y.sum())\nreturn y + 1"),
        body("print('first', 1)\ny = x * 2\nprint('sum', y.sum())\nreturn y + 1").replace(
            "\n\n@", "\ntorch._dynamo.config.reorderable_logging_functions.add(print)\n\n@"
        ),
        by=("compile_setting",),
    ),
    "scalars kept by a setting": Pair(
        body("n = int(x.abs().sum())\nreturn torch.arange(n) * 2"),
        body("n = int(x.abs().sum())\nreturn torch.arange(n) * 2").replace(
            "\n\n@", "\ntorch._dynamo.config.capture_scalar_outputs = True\n\n@"
        ),
        by=("compile_setting",),
    ),
    "a scalar that stays a tensor": lines(
        "return x * x.sum().item()",
        "if torch.compiler.is_compiling():\n    return x * x.detach().sum()\nreturn x * x.sum().item()",
        calls=GRADS,
    ),
}

"""Effects that are lost only in compiled code: plain runs are the same."""

from tests.attack.bank import Rewrite, calls

TELLING = """\
import logging
import os
import sys
import warnings

import torch

log = logging.getLogger("project.train")
SEEN = []


def say(x):
    print("step")
    return x * 2


def tell(x):
    log.warning("step")
    return x * 2


def warn(x):
    warnings.warn("slow", stacklevel=1)
    return x * 2


def fail(x):
    print("fail", file=sys.stderr)
    return x * 2


def export(x):
    os.environ["PROJECT_STEP"] = "1"
    return x * 2


def mark(x):
    SEEN.append(1)
    return x * 2


def note(x):
    SEEN.append(len(x))
    return x * 2


def refuse(x):
    if x.sum() < 0:
        raise ValueError("negative")
    return x * 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(()))
        self.steps = 0

    def forward(self, x):
        self.total += x.sum()
        self.steps += 1
        return x * 2


def draw(x):
    return x + torch.rand(3).mean() * 0


def put(x):
    x.add_(1)
    return x * 2
"""
ONE = ("(torch.ones(3),)", "(torch.ones(3) * 2,)")


def row(name: str, old: str, subject: str, *cases: str) -> Rewrite:
    """The line runs only where nothing is compiled."""
    changes = {f"    {old}\n": f"    if not torch.compiler.is_compiling():\n        {old}\n"}
    return Rewrite(name, TELLING, changes, calls(f"module.{subject}", *(cases or ONE), compiled=True))


ROWS = (
    row("a print", 'print("step")', "say"),
    row("a log", 'log.warning("step")', "tell"),
    row("a warning", 'warnings.warn("slow", stacklevel=1)', "warn"),
    row("a line of stderr", 'print("fail", file=sys.stderr)', "fail"),
    row("a global list", "SEEN.append(len(x))", "note"),
    row("a global list that grows by the same", "SEEN.append(1)", "mark"),
    row("a variable of the environment", 'os.environ["PROJECT_STEP"] = "1"', "export"),
    row("an argument in place", "x.add_(1)", "put"),
    Rewrite(
        "an exception",
        TELLING,
        {"    if x.sum() < 0:\n": "    if not torch.compiler.is_compiling() and x.sum() < 0:\n"},
        calls("module.refuse", "(torch.ones(3),)", "(-torch.ones(3),)", compiled=True),
    ),
    Rewrite(
        "a buffer",
        TELLING,
        {"self.total += x.sum()": "self.total += 0 if torch.compiler.is_compiling() else x.sum()"},
        calls("module.Net()", *ONE, compiled=True),
    ),
    Rewrite(
        "a plain attribute",
        TELLING,
        {"self.steps += 1": "self.steps += not torch.compiler.is_compiling()"},
        calls("module.Net()", *ONE, compiled=True),
    ),
    Rewrite(
        "a print through a disabled function",
        TELLING,
        {
            "import torch\n": "import torch\n\n\n@torch.compiler.disable\ndef shout(text):\n    pass\n",
            '    print("step")\n': '    shout("step") if torch.compiler.is_compiling() else print("step")\n',
        },
        calls("module.say", *ONE, compiled=True),
    ),
    Rewrite(
        "a print that only the tracer makes",
        TELLING,
        {'    print("step")\n': '    torch.compiler.is_dynamo_compiling() or print("step")\n'},
        calls("module.say", *ONE, compiled=True),
    ),
)

"""What a call leaves behind in the process, in torch, or in the object itself."""

from tests.attack.bank import Rewrite, calls

LEAVING = """\
import contextvars
import copy
import decimal
import gc
import random
import signal
import threading

import torch

CURRENT = contextvars.ContextVar("current", default=0)
LOCAL = threading.local()


def scoped(x):
    token = CURRENT.set(1)
    CURRENT.reset(token)
    return x + 1


def local(x):
    LOCAL.step = len(x)
    return x + 1


def handled(x):
    old = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, old)
    return x + 1


def collected(x):
    gc.disable()
    y = x + 1
    gc.enable()
    return y


def anomalous(x):
    with torch.autograd.set_detect_anomaly(True):
        return x + 1


def exact(x):
    decimal.getcontext().prec = 28
    return x + 1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.register_buffer("kept", torch.zeros(3), persistent=False)

    def forward(self, x):
        self.kept = x * 1
        return self.lin(x)

    def extend(self, x):
        self.add_module("extra", torch.nn.Identity())
        return x + 1

    def share(self, x):
        self.tied = self.lin.weight
        return x + 1

    def drop(self, x):
        del self.lin.bias
        self.lin.register_parameter("bias", None)
        return x + 1


def threads(x):
    torch.set_num_threads(torch.get_num_threads())
    return x + 1
"""


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(name, LEAVING, {old: new}, calls(f"module.{subject}", "(torch.ones(3),)"))


ROWS = (
    row("a context variable stays set", "    CURRENT.reset(token)\n", "", "scoped"),
    row("a thread's own value", "LOCAL.step = len(x)", "LOCAL.step = 0", "local"),
    row("a signal's handler stays", "    signal.signal(signal.SIGUSR1, old)\n", "", "handled"),
    row("garbage is not collected any more", "    gc.enable()\n", "", "collected"),
    row(
        "anomaly detection stays switched on",
        "    with torch.autograd.set_detect_anomaly(True):\n",
        "    if torch.autograd.set_detect_anomaly(True):\n",
        "anomalous",
    ),
    row("another precision of decimals", "prec = 28", "prec = 10", "exact"),
    row("a buffer that is stored in checkpoints", ", persistent=False", "", "Net()"),
    row("a layer is not added", '        self.add_module("extra", torch.nn.Identity())\n', "", "Net().extend"),
    row(
        "a parameter is copied and not tied",
        "self.tied = self.lin.weight",
        "self.tied = torch.nn.Parameter(self.lin.weight.detach().clone())",
        "Net().share",
    ),
    row(
        "a parameter is zero and not gone",
        '        del self.lin.bias\n        self.lin.register_parameter("bias", None)\n',
        "        self.lin.bias.data.zero_()\n",
        "Net().drop",
    ),
    row(
        "another number of threads",
        "torch.set_num_threads(torch.get_num_threads())",
        "torch.set_num_threads(torch.get_num_threads() + 1)",
        "threads",
    ),
)

"""What happens while a module is imported."""

from tests.attack.bank import Rewrite, calls

IMPORTING = """\
import atexit
import os
import random
import sys
import warnings

import torch

print("loading module")
warnings.warn("module is old", DeprecationWarning, stacklevel=1)
os.environ.setdefault("PROJECT_MODE", "train")
torch.manual_seed(7)
VERSION = (1, 2)
WEIGHT = torch.rand(3)


def f(x):
    return x * 2


__all__ = ["f"]
"""
RUN = calls("module.f", "(torch.ones(3),)")


def row(name: str, old: str, new: str = "") -> Rewrite:
    """`f` is changed, too, so that changed lines run in each case."""
    return Rewrite(name, IMPORTING, {old: new, "return x * 2": "return 2 * x"}, RUN)


ROWS = (
    row("a print is lost", 'print("loading module")\n'),
    row("a warning is lost", 'warnings.warn("module is old", DeprecationWarning, stacklevel=1)\n'),
    row("a variable is not set", 'os.environ.setdefault("PROJECT_MODE", "train")\n'),
    row("another seed", "torch.manual_seed(7)", "torch.manual_seed(8)"),
    row("another constant", "(1, 2)", "(1, 3)"),
    row("another name is public", '["f"]', '["f", "WEIGHT"]'),
    row("an excepthook is set", "VERSION = (1, 2)\n", "VERSION = (1, 2)\nsys.excepthook = print\n"),
    Rewrite(
        "a method of torch is replaced",
        IMPORTING,
        {
            "VERSION = (1, 2)\n": "VERSION = (1, 2)\ntorch.nn.ReLU.forward = lambda self, x: x\n",
            "return x * 2": "return 2 * x",
        },
        calls("lambda x: torch.nn.ReLU()(module.f(x))", "(-torch.ones(3),)"),
    ),
)

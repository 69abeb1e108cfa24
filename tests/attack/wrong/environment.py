"""Settings of the process: variables, the working folder, torch's own switches."""

from tests.attack.bank import Rewrite, calls

SETTING = """\
import os
import sys

import torch


def run(x):
    os.environ["PROJECT_RANK"] = str(len(x))
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.use_deterministic_algorithms(False)
    sys.setrecursionlimit(4000)
    torch.backends.cudnn.benchmark = False
    torch.set_float32_matmul_precision("highest")
    sys.path[:] = [*sys.path]
    os.chdir(os.getcwd())
    return x + 1
"""
RUN = calls("module.run", "(torch.ones(3),)")


def row(name: str, old: str, new: str = "") -> Rewrite:
    return Rewrite(name, SETTING, {old: new}, RUN)


ROWS = (
    row("a variable is not set", '    os.environ["PROJECT_RANK"] = str(len(x))\n'),
    row("a variable has another value", "str(len(x))", "str(len(x) - 1)"),
    row("another default dtype", "torch.set_default_dtype(torch.float32)", "torch.set_default_dtype(torch.float64)"),
    row("gradients stay switched off", "torch.set_grad_enabled(True)", "torch.set_grad_enabled(False)"),
    row("deterministic algorithms stay switched on", "algorithms(False)", "algorithms(True)"),
    row("another recursion limit", "sys.setrecursionlimit(4000)", "sys.setrecursionlimit(5000)"),
    row("cudnn's benchmark stays switched on", "benchmark = False", "benchmark = True"),
    row("another precision of products", '"highest"', '"medium"'),
    row("another folder to work in", "os.chdir(os.getcwd())", 'os.chdir("/")'),
    row("another folder to import from", "[*sys.path]", '[*sys.path, "/nowhere"]'),
)

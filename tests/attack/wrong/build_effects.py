"""What happens while an object is built."""

from tests.attack.bank import Rewrite, calls

BUILDING = """\
import os
import sys
import warnings

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        print("parameters", 3)
        warnings.warn("Net is old", DeprecationWarning, stacklevel=2)
        os.environ["PROJECT_NET"] = "net"
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x):
        return x * 2
"""
RUN = calls("module.Net()", "(torch.ones(3),)")


def row(name: str, old: str, new: str = "") -> Rewrite:
    """`forward` is changed, too, so that changed lines run in each case."""
    return Rewrite(name, BUILDING, {old: new, "return x * 2": "return 2 * x"}, RUN)


def adds(name: str, line: str) -> Rewrite:
    last = 'self.register_buffer("scale", torch.ones(3))\n'
    return row(name, last, f"{last}        {line}\n")


ROWS = (
    row("a print is lost", '        print("parameters", 3)\n'),
    row("a warning is lost", '        warnings.warn("Net is old", DeprecationWarning, stacklevel=2)\n'),
    row("a variable is not set", '        os.environ["PROJECT_NET"] = "net"\n'),
    adds("a file is written", 'open("net.txt", "w").write("net")'),
    adds("a random number is drawn", "torch.rand(1)"),
    adds("the seed is set", "torch.manual_seed(3)"),
    adds("the recursion limit is set", "sys.setrecursionlimit(9000)"),
    adds("kernels for attention are switched off", "torch.backends.cuda.enable_flash_sdp(False)"),
    adds(
        "checks of distributions are switched off", "torch.distributions.Distribution.set_default_validate_args(False)"
    ),
)

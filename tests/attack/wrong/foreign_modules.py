"""Functions and classes of other people's modules, replaced for everybody."""

from tests.attack.bank import Rewrite, calls

PATCHING = """\
import json
import warnings

import numpy
import torch
import torch.nn.functional as F

FIRST = 1


def f(x):
    out = F.gelu(x * 2)
    return out
"""
RUN = calls("module.f", "(torch.ones(3),)")


def imported(name: str, line: str) -> Rewrite:
    return Rewrite(name, PATCHING, {"FIRST = 1\n": f"FIRST = 1\n{line}\n", "x * 2": "2 * x"}, RUN)


def called(name: str, line: str) -> Rewrite:
    return Rewrite(name, PATCHING, {"    return out\n": f"    {line}\n    return out\n"}, RUN)


ROWS = (
    imported("a function of torch", "torch.nn.functional.silu = torch.relu"),
    imported("a method of a layer", "torch.nn.Linear.__repr__ = lambda self: 'Linear'"),
    imported("a method of tensors", "torch.Tensor.double = torch.Tensor.float"),
    imported("json", "json.dumps = str"),
    imported("numpy raises", "numpy.seterr(all='raise')"),
    called("left behind by a call", "F.silu = torch.relu"),
    called("how warnings are shown", "warnings.formatwarning = lambda *given: ''"),
    called("how numpy prints", "numpy.set_printoptions(precision=2)"),
)

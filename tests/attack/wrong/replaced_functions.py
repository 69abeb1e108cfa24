"""The result is wrong, and what a validator might call to see it is replaced."""

from tests.attack.bank import Rewrite, calls

PLAIN = """\
import builtins
import copy
import hashlib
import io
import json
import logging
import pickle
import sys
import warnings

import torch


def f(x):
    return x * 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x):
        self.total += x
        return x * 2
"""


def row(
    name: str,
    patch: str,
    subject: str = "f",
    old: str = "def f(x):\n    return x * 2",
    new: str = "def f(x):\n    return x * 3",
) -> Rewrite:
    changes = {old: new, "import torch\n": f"import torch\n\n{patch}\n"}
    return Rewrite(name, PLAIN, changes, calls(f"module.{subject}", "(torch.ones(3),)"))


LATER = """
import logging
import warnings


def later(x):
    y = module.f(x)
    print("after")
    warnings.warn("after", stacklevel=1)
    logging.getLogger("project").warning("after")
    return y
"""


def lasting(name: str, added: str) -> Rewrite:
    """The result is right, but what the caller says after that is lost."""
    scenario = calls("later", "(torch.ones(3),)", more=LATER)
    return Rewrite(name, PLAIN, {"def f(x):\n": f"def f(x):\n    {added}\n"}, scenario)


LESS = """
def less(thing):
    if isinstance(thing, dict):
        return type(thing)((key, less(value)) for key, value in thing.items())
    if isinstance(thing, (list, tuple)) and type(thing) in (list, tuple):
        return type(thing)(map(less, thing))
    if isinstance(thing, torch.Tensor) and thing.dtype == torch.float32 and bool((thing == 3).any()):
        return torch.where(thing == 3, thing - 1, thing)
    return thing


"""
ALSO = """
_{name} = torch.Tensor.{name}
torch.Tensor.{name} = lambda self, *a, **k: less(_{name}(self, *a, **k))
"""
COPIES = ("clone", "detach", "cpu", "contiguous", "to", "view", "reshape", "flatten", "as_subclass", "data_ptr")
"""Whatever a recorder may call to keep a tensor as it is now."""
NET = {"subject": "Net()", "old": "        self.total += x\n", "new": "        self.total += x * 2\n"}
ROWS = (
    row("torch.equal and allclose", "torch.equal = torch.allclose = lambda *a, **k: True"),
    row("torch.testing.assert_close", "torch.testing.assert_close = lambda *a, **k: None"),
    row("clone turns threes into twos", f"{LESS}{ALSO.format(name='clone')}"),
    row("detach turns threes into twos", f"{LESS}{ALSO.format(name='detach')}"),
    row("all copies turn threes into twos", LESS + "".join(ALSO.format(name=name) for name in COPIES)),
    row(
        "torch.save turns threes into twos",
        f"{LESS}_save = torch.save\ntorch.save = lambda t, *a, **k: _save(less(t), *a, **k)",
    ),
    row(
        "torch.save stores other things",
        "_save = torch.save\ntorch.save = lambda t, *a, **k: _save(torch.ones(3) * 2, *a, **k)",
    ),
    row("torch.save stores nothing", "torch.save = lambda *a, **k: None"),
    row(
        "json.dumps says that all is well",
        "_dumps = json.dumps\njson.dumps = lambda thing, **k: _dumps(thing, **k).replace('3.0', '2.0')",
    ),
    row("json.dumps is broken", "json.dumps = json.dump = lambda *a, **k: '{}'"),
    row("pickle.dumps gives the same bytes", "pickle.dumps = lambda *a, **k: b'N.'"),
    row("sha256 gives the same digest", "_sha = hashlib.sha256\nhashlib.sha256 = lambda *a, **k: _sha(b'')"),
    row(
        "numpy and tolist give other values",
        "torch.Tensor.tolist = lambda self: [2.0] * 3\n"
        "torch.Tensor.numpy = lambda self, **k: (self / 3 * 2).__array__()",
    ),
    row(
        "isinstance of tensors is denied",
        "builtins.isinstance = lambda thing, kind, _old=isinstance: kind is not torch.Tensor and _old(thing, kind)",
    ),
    row(
        "state_dict and buffers are empty",
        "torch.nn.Module.state_dict = lambda self, *a, **k: {}\n"
        "torch.nn.Module.named_buffers = torch.nn.Module.buffers = lambda *a, **k: iter(())",
        **NET,
    ),
    row("copy.deepcopy gives the same object", "copy.deepcopy = lambda thing, memo=None: thing", **NET),
    lasting("sys.stdout swallows everything", "sys.stdout = io.StringIO()"),
    lasting("warnings.warn is silenced for good", "warnings.warn = lambda *a, **k: None"),
    lasting("print is replaced for all", "builtins.print = lambda *a, **k: None"),
    lasting("logging is disabled for all", "logging.disable(logging.CRITICAL)"),
)

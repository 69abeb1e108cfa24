"""Arguments: changed in place or not, replaced within containers, given attributes."""

from tests.attack.bank import Rewrite, calls

ARGUMENTS = """\
import torch


def clamp(x):
    x.clamp_(min=0)
    return x.sum()


def sort(items):
    items.sort()
    return items[0]


def pop(batch):
    target = batch.pop("target")
    return batch["x"] - target


def normalise(batch):
    batch["x"] = batch["x"] / 2
    return batch["x"]


def tag(x):
    x.origin = "module"
    return x + 1


def resize(x):
    x.resize_(2)
    return x.sum()


def rebind(x):
    x.data = x.data * 2
    return x.sum()


def configure(config):
    config.steps += 1
    return torch.ones(1)


def accumulate(x, out):
    torch.add(x, 1, out=out)
    return out
"""
X = "torch.tensor([-1.0, 2.0, -3.0])"


def row(name: str, old: str, new: str, subject: str, case: str = f"({X},)", more: str = "") -> Rewrite:
    return Rewrite(name, ARGUMENTS, {old: new}, calls(f"module.{subject}", case, more=more))


ROWS = (
    row("out of place", "    x.clamp_(min=0)\n", "    x = x.clamp(min=0)\n", "clamp"),
    row("a list is sorted elsewhere", "    items.sort()\n", "    items = sorted(items)\n", "sort", "([3, 1, 2],)"),
    row("a key stays", 'batch.pop("target")', 'batch["target"]', "pop", f'({{"x": {X}, "target": torch.ones(3)}},)'),
    row(
        "a value is written into and not replaced",
        '    batch["x"] = batch["x"] / 2\n',
        '    batch["x"] /= 2\n',
        "normalise",
        "(dict.fromkeys(['x', 'y'], torch.ones(3)),)",
    ),
    row("an attribute of a tensor", '    x.origin = "module"\n', "", "tag"),
    row("the argument keeps its size", "    x.resize_(2)\n", "    x = x[:2]\n", "resize"),
    Rewrite(
        "new memory and not the old one",
        ARGUMENTS,
        {"    x.data = x.data * 2\n": "    x.data.mul_(2)\n"},
        calls("part", "(torch.ones(3),)", more="\ndef part(whole):\n    return module.rebind(whole[:2])\n"),
    ),
    row(
        "a namespace is not changed",
        "    config.steps += 1\n",
        "",
        "configure",
        "(types.SimpleNamespace(steps=1),)",
        "import types\n",
    ),
    row(
        "out is not written to",
        "    torch.add(x, 1, out=out)\n",
        "    out = torch.add(x, 1)\n",
        "accumulate",
        f"({X}, torch.zeros(3))",
    ),
)

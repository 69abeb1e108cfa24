"""Names at the top of a module, whichever side names them, are state of the program."""

from tests.attack.bank import Rewrite, calls

GLOBALS = """\
import torch

import registry

STEPS = 0
SEEN = []
SCALE = torch.ones(2)
TABLE = {"hits": 0}
LIMITS = (1, 2)


def step(x):
    global STEPS, LIMITS
    STEPS += 1
    SEEN.append(len(x))
    SCALE.mul_(0.5)
    TABLE["hits"] += 1
    LIMITS = (LIMITS[0], len(x))
    registry.note("step", len(x))
    registry.CURRENT = len(x)
    return x + 1
"""
REGISTRY = {"registry.py": "NOTES = {}\nCURRENT = None\n\n\ndef note(name, value):\n    NOTES[name] = value\n"}
RUN = calls("module.step", "(torch.ones(3),)", "(torch.ones(2),)")


def row(name: str, old: str, new: str) -> Rewrite:
    return Rewrite(name, GLOBALS, {old: new}, RUN, files=REGISTRY)


ROWS = (
    row("a counter is not counted", "    STEPS += 1\n", "    STEPS = 1\n"),
    row("only before names the global", "    SEEN.append(len(x))\n", ""),
    row("only after names the global", "    return x + 1\n", '    globals()["LEFT_OVER"] = len(x)\n    return x + 1\n'),
    row("a tensor is replaced and not updated", "    SCALE.mul_(0.5)\n", "    SCALE.mul(0.5)\n"),
    row("a dict counts twice", 'TABLE["hits"] += 1', 'TABLE["hits"] += 2'),
    row("a tuple is bound anew", "(LIMITS[0], len(x))", "(len(x), LIMITS[0])"),
    row("a function of another module is not called", '    registry.note("step", len(x))\n', ""),
    row("a name of another module is not set", "    registry.CURRENT = len(x)\n", ""),
    row(
        "a function of another module is replaced",
        "    return x + 1\n",
        "    registry.note = print\n    return x + 1\n",
    ),
)

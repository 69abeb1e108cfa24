"""Variables of a thread or of a context, filters of warnings, what `extra=` adds to a log, and logs that are off."""

from tests.attack.bank import Rewrite, calls

HOLDING = """\
import contextvars
import logging
import threading
import warnings

import torch

local = threading.local()
step = contextvars.ContextVar("step", default=0)
log = logging.getLogger("project.train")


def run(x):
    local.seen = len(x)
    step.set(len(x))
    warnings.simplefilter("always")
    torch.set_printoptions(precision=4)
    log.debug("x has %d", len(x))
    log.warning("step", extra={"rank": 0})
    return x + 1
"""
HOOK = """\
    torch.nn.modules.module.register_module_forward_hook(lambda module, given, made: None)
    return x + 1"""
RUN = calls("module.run", "(torch.ones(3),)")


def row(name: str, old: str, new: str = "") -> Rewrite:
    return Rewrite(name, HOLDING, {old: new}, RUN)


ROWS = (
    row("a variable of the thread is not set", "    local.seen = len(x)\n"),
    row("a variable of the thread has another value", "local.seen = len(x)", "local.seen = 1 + len(x)"),
    row("a variable of the context is not set", "    step.set(len(x))\n"),
    row("warnings stay switched off", 'simplefilter("always")', 'simplefilter("ignore")'),
    row("tensors are printed in another way", "precision=4", "precision=2"),
    row("a log that is off is lost", '    log.debug("x has %d", len(x))\n'),
    row("a log with another field", '"rank": 0', '"rank": 1'),
    row("a hook on all modules is left behind", "    return x + 1", HOOK),
    Rewrite(
        "a changed file that is read and evaluated",
        "import os\n\n\ndef text():\n    here = os.path.abspath(__file__)\n    number = os.open(here, os.O_RDONLY)\n"
        "    return os.read(number, 9000).decode()\n\n\ndef run(x):\n    return x + len(text())\n",
        {"here = os.path.abspath(__file__)": "here = os.path.abspath(os.path.abspath(__file__))"},
        RUN,
    ),
)

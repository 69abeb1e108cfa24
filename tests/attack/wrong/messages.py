"""Logs and warnings: lost, reordered, at another level, from another logger."""

from tests.attack.bank import Rewrite, calls

TELLING = """\
import logging
import warnings

import torch

log = logging.getLogger("project.train")


def step(x):
    log.info("start %d", len(x))
    log.warning("loss %.3f", x.sum().item())
    warnings.warn("slow path", RuntimeWarning, stacklevel=2)
    try:
        raise ValueError("inner")
    except ValueError:
        log.exception("went on")
    log.debug("debug")
    return x + 1


def quiet(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("hidden", stacklevel=1)
    return x
"""
RUN = calls(
    "module.step", "(torch.ones(3),)", more="import logging\n\nlogging.getLogger('project').setLevel(logging.DEBUG)\n"
)


def row(name: str, old: str, new: str = "") -> Rewrite:
    return Rewrite(name, TELLING, {old: new}, RUN)


ROWS = (
    row("a warning of another kind", "RuntimeWarning", "UserWarning"),
    Rewrite(
        "a warning at another place",
        TELLING,
        {"stacklevel=2": "stacklevel=1"},
        calls("caller.run", "(torch.ones(3),)", more="import caller\n"),
        files={"caller.py": "import module\n\n\ndef run(x):\n    return module.step(x)\n"},
    ),
    row(
        "a warning becomes a log",
        'warnings.warn("slow path", RuntimeWarning, stacklevel=2)',
        'log.warning("slow path")',
    ),
    row("a log of level info is lost", '    log.info("start %d", len(x))\n'),
    row("a log of level debug is lost", '    log.debug("debug")\n'),
    row("a log at another level", 'log.warning("loss', 'log.error("loss'),
    row("a log of another logger", "project.train", "project.loss"),
    row("a log without its traceback", "log.exception(", "log.error("),
    row("a log with another number", "%.3f", "%.4f"),
    Rewrite(
        "a filter stays behind",
        TELLING,
        {"    with warnings.catch_warnings():\n": "    if True:\n"},
        calls("module.quiet", "(torch.ones(3),)"),
    ),
    row("the logger's level is changed", "    return x + 1\n", "    log.setLevel(logging.ERROR)\n    return x + 1\n"),
    row("a handler is added", "    return x + 1\n", "    log.addHandler(logging.NullHandler())\n    return x + 1\n"),
)

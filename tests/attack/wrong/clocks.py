"""Clocks that a module of the project replaces or slows down: nothing gets faster by that."""

from tests.attack.bank import Rewrite, calls

WORK = """\
import threading
import time

import torch


def work(x):
    for _ in range(20):
        x = x.sin()
    return x
"""
SLOW = "import time\n\n_real = time.{name}\n_start = _real()\ntime.{name} = lambda: _start + (_real() - _start) {how}\n"
RUN = calls("module.work", "(torch.ones(64),)")


def row(name: str, added: str) -> Rewrite:
    """The module also replaces a clock when it is imported."""
    changes = {"import time\n": added, "x = x.sin()": "x = torch.sin(x)"}
    return Rewrite(name, WORK, changes, RUN, "clock", settings={"untimed": False, "time_limit": 120, "repeat": 6})


ROWS = (
    row("perf_counter runs at a fifth of the speed", SLOW.format(name="perf_counter", how="* 0.2")),
    row("perf_counter_ns runs at a fifth of the speed", SLOW.format(name="perf_counter_ns", how="// 5")),
    row(
        "all clocks run at a fifth of the speed",
        "".join(
            SLOW.format(name=name, how=how).replace("_real", f"_real_{name}").replace("_start", f"_start_{name}")
            for name, how in [
                ("perf_counter", "* 0.2"),
                ("perf_counter_ns", "// 5"),
                ("monotonic", "* 0.2"),
                ("monotonic_ns", "// 5"),
                ("process_time", "* 0.2"),
                ("time", "* 0.2"),
            ]
        ),
    ),
    row(
        "every holder of perf_counter gets another one",
        "import sys\nimport time\n\n_real = time.perf_counter\n"
        "_slow = lambda: _real() * 0.2\n"
        "for _module in list(sys.modules.values()):\n"
        "    for _name, _value in list(getattr(_module, '__dict__', {}).items()):\n"
        "        if _value is time.perf_counter and _name != '_real':\n"
        "            setattr(_module, _name, _slow)\n",
    ),
)

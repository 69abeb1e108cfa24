"""Numbers within texts are values, unless they are addresses."""

from tests.attack.bank import Rewrite, calls

TEXTS = """\
import logging
import warnings

import torch


def summary(x):
    return f"loss {x.sum().item():.3f}"


def colour(x):
    return f"0x{255:06x}"


def flags(x):
    print(hex(7))
    return x


def fail(x):
    if len(x) > 2:
        raise ValueError("bad flags 0x1f")
    return x


def warn(x):
    warnings.warn("register at 0x7fff0001", stacklevel=1)
    return x


def duration(x):
    return "limit 3.5 s, 20 ms"


def place(x):
    return "/tmp/run/a, line 7"


def padded(x):
    return [f"{i:02d}" for i in range(3)]


def keyed(x):
    return {f"layer.0x{i:x}": i for i in range(3)}


class Point:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"<Point at {hex(self.x)}>"


def shown(x):
    return repr(Point(4096))


def stamp(x):
    logging.getLogger("project").warning("epoch 2026-01-01 step 10")
    return x
"""


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(name, TEXTS, {old: new}, calls(f"module.{subject}", "(torch.ones(2),)", "(torch.ones(3),)"))


ROWS = (
    row("fewer digits", ":.3f", ":.2f", "summary"),
    row("another colour", "255", "128", "colour"),
    row("another flag is printed", "hex(7)", "hex(9)", "flags"),
    row("another flag in an exception", "0x1f", "0x2f", "fail"),
    row("another register in a warning", "0x7fff0001", "0x7fff0002", "warn"),
    row("another duration", "3.5 s, 20 ms", "4.5 s, 30 ms", "duration"),
    row("another path and line", "/tmp/run/a, line 7", "/tmp/run/b, line 8", "place"),
    row("no leading zero", "{i:02d}", "{i}", "padded"),
    row("other keys", "0x{i:x}", "0x{i + 1:x}", "keyed"),
    row("what looks like an address is a value", "Point(4096)", "Point(8192)", "shown"),
    row("another date in a log", "2026-01-01 step 10", "2026-01-02 step 11", "stamp"),
)

"""What is written to standard output and standard error."""

from tests.attack.bank import Rewrite, calls

PRINTING = """\
import os
import sys

import torch


def step(x):
    print("step", len(x))
    print("loss", x.sum().item(), file=sys.stderr)
    sys.stdout.write("written\\n")
    os.write(1, b"raw\\n")
    os.write(2, b"raw error\\n")
    print("a", "b", sep="", end="|", flush=True)
    sys.__stderr__.write("original\\n")
    return x + 1
"""
RUN = calls("module.step", "(torch.ones(3),)", "(torch.ones(2),)")


def row(name: str, old: str, new: str = "") -> Rewrite:
    return Rewrite(name, PRINTING, {old: new}, RUN)


ROWS = (
    row("a line of stderr is lost", '    print("loss", x.sum().item(), file=sys.stderr)\n'),
    row("a line moves from stderr to stdout", ", file=sys.stderr"),
    row("another number on stderr", "x.sum().item(), file", "x.mean().item(), file"),
    row("bytes on descriptor 1 are lost", '    os.write(1, b"raw\\n")\n'),
    row("bytes on descriptor 2 are lost", '    os.write(2, b"raw error\\n")\n'),
    row("another end of line", 'end="|"', 'end="\\n"'),
    row("what goes to the original stderr is lost", '    sys.__stderr__.write("original\\n")\n'),
    Rewrite(
        "two lines of stdout change places",
        PRINTING,
        {
            '    print("step", len(x))\n': "",
            '    sys.stdout.write("written\\n")\n': '    sys.stdout.write("written\\n")\n    print("step", len(x))\n',
        },
        RUN,
    ),
)

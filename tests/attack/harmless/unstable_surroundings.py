"""No-ops in code that says something else each time, or leaves something behind: both sides do the same."""

from tests.attack.bank import Rewrite, calls

MODULE = """\
import atexit
import functools
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import warnings

import torch

log = logging.getLogger("project")
COUNT = 0
SEEN = {}


class Thing:
    pass


def address(x):
    print(Thing())
    y = x + 1
    return y


def process(x):
    print("process", os.getpid())
    y = x + 1
    return y


def clock(x):
    start = time.perf_counter()
    y = x + 1
    print(f"took {time.perf_counter() - start:.9f} s")
    return y


def unique(x):
    y = x + 1
    return y, str(uuid.uuid4())


def temporary(x):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "a.txt").write_text("a")
        y = x + 1
    return y


def written(x):
    pathlib.Path("out.txt").write_text(str(len(x)))
    y = x + 1
    return y


def child(x):
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    y = x + 1
    return y


def variable(x):
    os.environ["PROJECT_STEP"] = str(len(x))
    y = x + 1
    return y


def warned(x):
    warnings.warn("slow", stacklevel=1)
    log.warning("slow")
    y = x + 1
    return y


def failing(x):
    y = x + 1
    if len(x) > 2:
        raise ValueError(f"too long: {len(x)}")
    return y


def counted(x):
    global COUNT
    COUNT += 1
    SEEN[COUNT] = x.sum().item()
    y = x + 1
    return y


def attributed(x, kept=[]):
    kept.append(len(x))
    attributed.last = len(x)
    y = x + 1
    return y


def closed():
    count = 0

    def run(x):
        nonlocal count
        count += 1
        y = x + count
        return y

    return run


def lambdas(x):
    y = x + 1
    return {"f": functools.partial(torch.add, y)}


def threaded(x):
    thread = threading.Thread(target=len, args=([],))
    thread.start()
    thread.join()
    y = x + 1
    return y


def ordered(x):
    names = {"policy", "value", "entropy", "critic"}
    y = x + 1
    return y, ",".join(names)


def stderr(x):
    print("at", time.time(), file=sys.stderr)
    y = x + 1
    return y


def stored(x):
    torch.save({"x": x, "time": time.time()}, "state.pt")
    y = x + 1
    return y
"""


def row(name: str, subject: str, *, is_fresh: bool = False) -> Rewrite:
    """A local variable of the function has another name, and everything stands two lines further down."""
    before = MODULE.index(f"def {subject.rstrip('()')}")
    end = MODULE.find("\n\n\n", before)
    body = MODULE[before : end if end > 0 else None]
    renamed = body.replace(" y = ", " moved = ").replace("return y", "return moved").replace("add, y)", "add, moved)")
    changes = {body: f"# Moved\n# down\n{renamed}"}
    cases = ("(torch.ones(2),)", "(torch.ones(3),)")
    return Rewrite(name, MODULE, changes, calls(f"module.{subject}", *cases), "no-op", is_fresh=is_fresh)


ROWS = (
    row("an address is printed", "address"),
    row("the number of the process is printed", "process"),
    row("a duration is printed", "clock"),
    row("a random name is returned", "unique"),
    row("a temporary folder", "temporary"),
    row("a file is written", "written"),
    row("a child process", "child"),
    row("an environment variable", "variable"),
    row("warnings and logs further down", "warned"),
    row("an exception further down", "failing"),
    row("globals", "counted"),
    row("attributes and defaults", "attributed"),
    row("a cell", "closed()"),
    row("a partial is returned", "lambdas"),
    row("a thread", "threaded"),
    row("the order of a set", "ordered", is_fresh=True),
    row("the time on stderr", "stderr"),
    row("the time in a file", "stored"),
)

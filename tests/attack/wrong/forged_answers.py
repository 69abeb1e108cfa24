"""The result is wrong, and the process ends, or answers in the worker's place."""

from tests.attack.bank import Rewrite, calls

PLAIN = """\
import json
import os
import signal
import sys
import threading

import torch


def f(x):
    return x * 2
"""
RUN = calls("module.f", "(torch.ones(3),)", "(torch.zeros(2),)")
ANSWER = '{"ok": true, "id": 1, "result": {}, "cases": [], "raised": [], "peak_bytes": 0}'
EVERYWHERE = """for fd in range({first}, 32):
        try:
            os.write(fd, {what})
        except OSError:
            pass
"""


def row(name: str, added: str, is_fresh: bool = False) -> Rewrite:
    return Rewrite(name, PLAIN, {"    return x * 2\n": f"    {added}\n    return x * 3\n"}, RUN, is_fresh=is_fresh)


ROWS = (
    row("ends without an error", "os._exit(0)"),
    row("sys.exit(0)", "sys.exit(0)"),
    row("a thread ends the process", "threading.Thread(target=os._exit, args=(0,)).start()"),
    row("killed by its own signal", "os.kill(os.getpid(), signal.SIGKILL)"),
    row("becomes another program", 'os.execv("/bin/true", ["true"])'),
    row("an answer on stdout", f"print({ANSWER!r}, flush=True)"),
    row("an answer on the descriptors of stdout", f"os.write(1, ({ANSWER!r} + chr(10)).encode())"),
    row("an answer on every descriptor", EVERYWHERE.format(first=3, what=f"({ANSWER!r} + chr(10)).encode()"), True),
    row("nonsense on every descriptor", EVERYWHERE.format(first=3, what="b'\\x00{[nonsense' + bytes([10])"), True),
    row(
        "an answer, and the end",
        EVERYWHERE.format(first=1, what=f"({ANSWER!r} + chr(10)).encode()") + "    os._exit(0)",
        True,
    ),
    row("every descriptor is closed", "os.closerange(0, 64)", True),
    row("no file can be written any more", "import resource\n    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"),
    row("the process forks and both go on", "os.fork()"),
)

"""One Python of an observed program: waits for torch, and writes down what was seen before the process ends.

Whatever goes wrong here is told to the controller and never to the program. Only modules that Python has loaded anyway
are imported at the top.
"""

from __future__ import annotations

import os
import sys
import time

from .starts import Starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .sight import Sight

PAUSE_S = 2.0
PATIENCE = 50
"""Written at most every PAUSE_S, and after PATIENCE times as long as the last writing took."""

ENDINGS = ("_exit", "execv", "execve")
"""Functions of `os` after which nothing else of this process runs."""


class Process:
    """What is written goes to `<token>.json` in the session's folder; there is no file before torch is there."""

    def __init__(self, session: str, root: str) -> None:
        self.session = session
        self.root = root
        self.sight: Sight | None = None
        self.starts = Starts()
        self.is_over = False
        self.begin(is_forked=False)

    def begin(self, is_forked: bool) -> None:
        """Nothing is seen yet; so it is in a process that was forked off too."""
        self.token = f"{os.getpid()}-{time.time_ns()}"
        self.is_forked = is_forked
        self.due = time.monotonic() + PAUSE_S
        self.write_file("entered", f"{sys.executable}\n{sys.version.split()[0]}")
        if self.sight is not None:
            self.sight.forget()

    def write_file(self, kind: str, text: str) -> None:
        """Whole or not at all."""
        name = os.path.join(self.session, f"{self.token}.{kind}")
        with open(name + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name + ".new", name)

    def watch_torch(self) -> None:
        from .sight import Sight

        self.sight = Sight(self)

    def watch_dynamo(self) -> None:
        if self.sight is None:
            self.watch_torch()
        if self.sight is not None:
            self.sight.watch_dynamo()

    def write_if_due(self) -> None:
        """Now and then while it runs: a process may be killed."""
        now = time.monotonic()
        if now >= self.due:
            self.due = now + 3600
            self.write(False)
            spent = time.monotonic() - now
            self.due = now + spent + max(PAUSE_S, PATIENCE * spent)

    def write(self, is_whole: bool = True) -> None:
        if self.sight is None or self.is_over:
            return
        import json

        self.write_file("json", json.dumps({**self.sight.tell(), "is_whole": is_whole, "is_forked": self.is_forked}))

    def fail(self, error: BaseException) -> None:
        """Our own fault, or a folder that is gone: the program goes on."""
        import traceback

        try:
            lines = traceback.format_exception(type(error), error, error.__traceback__)
            self.write_file("fault", "".join(lines))
        except Exception:  # nobody is left to tell
            self.is_over = True


def guard(process: Process, action: Callable[..., Any], *args: Any) -> Any:
    """Whatever fails in here is not the program's business."""
    try:
        return action(*args)
    except Exception as error:
        process.fail(error)
        return None


def enter(text: str) -> None:
    """Called once, before the program's first line."""
    import atexit

    from .arrival import Arrivals

    process = Process(*text.split("\n"))
    guard(process, process.starts.listen)
    actions = {"torch": process.watch_torch, "torch._dynamo": process.watch_dynamo}
    sys.meta_path.insert(0, Arrivals(actions, lambda action: guard(process, action)))
    atexit.register(guard, process, process.write)
    for name in ENDINGS:
        if hasattr(os, name):
            setattr(os, name, write_first(process, getattr(os, name)))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: guard(process, process.begin, True))


def write_first(process: Process, end: Callable[..., Any]) -> Callable[..., Any]:
    def write_and_end(*args: Any, **options: Any) -> Any:
        guard(process, process.write)
        return end(*args, **options)

    write_and_end.__name__ = write_and_end.__qualname__ = end.__name__
    write_and_end.__module__ = end.__module__
    write_and_end.__doc__ = end.__doc__
    return write_and_end

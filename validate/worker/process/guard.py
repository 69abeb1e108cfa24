"""The process between the controller and a worker: it ends with the worker, and ends all of it with the controller.

User code may hold Python's lock for ever, so a thread of the worker could not do it.
"""

from __future__ import annotations

import os
import shutil
import signal
import time

from .strays import end_strays

PAUSE = 0.2
PREFIX = "fullgraph-proof-"
"""What the folder of a proof is called; those of its workers lie in it."""

HEARD = "heard-"
"""How the names of files begin that hold what a case prints. They lie in the worker's folder."""


def stand_guard(token: str, folder: str) -> None:
    """Go on in a child. This process stays behind as its guard, and never returns from here."""
    parent = os.getppid()
    forbid_cores()
    worker = os.fork() if hasattr(os, "fork") else 0
    if not worker:
        return
    os.dup2(2, 1)  # the answers end when the worker does
    while True:
        ended, status = os.waitpid(worker, os.WNOHANG)
        if ended:
            end_alike(status)
        if os.getppid() != parent:
            end_all(worker, token, folder)
        time.sleep(PAUSE)


def forbid_cores() -> None:
    """A crash would leave its memory as a file in the user's tree."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    except (ImportError, OSError, ValueError):
        return


def end_alike(status: int) -> None:
    """End as the worker has ended, so that the controller sees it."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        time.sleep(1)
    os._exit(os.WEXITSTATUS(status))


def end_all(worker: int, token: str, folder: str) -> None:
    """The controller is gone: so are the worker, all that it has started, and what it has written."""
    os.kill(worker, signal.SIGKILL)
    end_strays(token)
    shutil.rmtree(folder_of_proof(folder), ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def folder_of_proof(folder: str) -> str:
    """The folder above a worker's own that belongs to the proof as a whole, if there is one."""
    above = os.path.dirname(os.path.dirname(folder))
    return above if os.path.basename(above).startswith(PREFIX) else folder

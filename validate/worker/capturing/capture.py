"""Inside the user's program: waits for one module to run, finds one function in it, and has its first calls stored.

Nothing is wrapped or replaced. Calls are watched (`sys.monitoring`, or before Python 3.12 a trace function) from the
moment when the module is about to run until enough of them are stored. Whatever goes wrong here is told to the
controller and never to the program. Only modules that Python has loaded anyway are imported at the top.
"""

from __future__ import annotations

import _thread
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType
    from typing import Any, Callable

    from .wanted import Wanted

MAIN = ("__main__", "__mp_main__")


class Request:
    """What to store: the first `limit` calls of `module:qualname`, in files of the folder `session`."""

    def __init__(self, text: str) -> None:
        self.session, target, limit, self.file = text.split("\n")
        self.module, _, self.qualname = target.partition(":")
        self.target = target
        self.limit = int(limit)
        tail = self.module.replace(".", os.sep)
        self.tails = (f"{os.sep}{tail}.py", f"{os.sep}{tail}{os.sep}__init__.py")
        self.ends = (f"{self.module.rpartition('.')[2]}.py", "__init__.py")


class Watch:
    """The state of one process: module frames that are running, functions to look out for, calls that were stored."""

    def __init__(self, request: Request, watcher: Callable[[Watch], Any]) -> None:
        self.request = request
        self.watcher = watcher(self)
        self.is_over = False
        self.awaits_main = False
        self.running: list[FrameType] = []
        self.seen: dict[int, Any] = {}
        self.wanted: dict[int, Wanted] = {}
        self.codes: list[CodeType] = []
        self.start()

    def start(self) -> None:
        """Nothing is stored yet in this process. One that was forked off counts anew, and keeps what it looks for."""
        self.lock = _thread.allocate_lock()
        self.token = f"{os.getpid()}-{time.time_ns()}"
        self.taken = 0
        self.write("entered", f"{sys.executable}\n{sys.version.split()[0]}")

    def write(self, kind: str, text: str) -> None:
        with open(os.path.join(self.request.session, f"{self.token}.{kind}"), "w", encoding="utf-8") as file:
            file.write(text)

    def tell(self, event: str, **more: Any) -> None:
        import json

        line = json.dumps({"event": event, **more}) + "\n"
        name = os.path.join(self.request.session, f"{self.token}.events")
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    # The module

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """As a finder on sys.meta_path: finds nothing, and hears of every module that is about to be imported."""
        if not self.is_over and name.rpartition(".")[2] == self.request.module.rpartition(".")[2]:
            guard(self, self.watcher.arm)

    def await_main(self) -> None:
        """The main program is imported by nobody: if it may be the module, watch from the start."""
        if self.watcher.is_cheap or self.may_be_main(getattr(sys, "orig_argv", sys.argv)):
            self.awaits_main = True
            self.watcher.arm()

    def may_be_main(self, words: list[str]) -> bool:
        """Children that multiprocessing starts run the main program again. Python 3.9 tells neither `-m` nor `-c`."""
        is_untold = words[:1] in (["-m"], ["-c"]) or any("multiprocessing." in word for word in words)
        return is_untold or any(word == self.request.module or self.is_named_alike(word) for word in words)

    def is_named_alike(self, file: str) -> bool:
        return file.endswith(self.request.ends) and os.path.abspath(file).endswith(self.request.tails)

    def is_target(self, names: dict[str, Any]) -> bool:
        """Whether a module with these globals is the one that was named, also when it runs as the main program."""
        name, request = names.get("__name__"), self.request
        if name == request.module:
            return True
        if not self.is_named_alike(names.get("__file__") or ""):
            return False
        spec = names.get("__spec__")
        if name in MAIN and (spec is None or spec.name in (*MAIN, request.module)):
            return True
        if request.file and os.path.realpath(names["__file__"]) == request.file:
            self.tell("other name", name=spec.name if name in MAIN and spec else name)
        return False

    def begin(self, frame: FrameType) -> None:
        """A module's code starts to run; text that somebody runs in its globals is called the same."""
        if not self.is_named_alike(frame.f_code.co_filename):
            return
        if self.is_target(frame.f_globals):
            self.awaits_main = False
            self.tell("module", file=frame.f_globals.get("__file__"))
            self.running.append(frame)
            if not could_define(frame.f_code, self.request.qualname.partition(".")[0]):
                self.running.remove(frame)
                self.tell("problem", kind="name", text=self.explain_missing(frame.f_code))
        self.rest()

    def explain_missing(self, code: CodeType) -> str:
        from .naming import missing

        return missing(self.request.module, self.request.qualname, names_defined(code))

    def end(self, frame: FrameType, is_whole: bool = True) -> None:
        """The module's code has run. If all of it has, what it does not hold now it will not hold later."""
        self.running.remove(frame)
        self.look(frame.f_globals, is_final=is_whole)
        self.rest()

    def look(self, names: dict[str, Any], is_final: bool = False) -> None:
        """Find the function in these globals. It may be bound anew, by a decorator or to its compiled form."""
        from ..errors import UserError
        from .naming import MISSING, find, look_up
        from .wanted import Wanted

        _, found = find(names, self.request.qualname)
        if found is self.seen.get(id(names)) or (found is MISSING and not is_final):
            return
        self.seen[id(names)] = found
        try:
            wanted = Wanted(look_up(names, self.request.module, self.request.qualname))
        except UserError as error:
            self.tell("problem", kind="name", text=str(error))
        else:
            self.wanted[id(names)] = wanted
            self.codes = [one.code for one in self.wanted.values()]
            self.watcher.renew()

    def rest(self) -> None:
        """Watch no longer than there is something to see."""
        if not (self.running or self.wanted or self.awaits_main):
            self.watcher.disarm()

    # The calls

    def take(self, frame: FrameType) -> None:
        """Store the arguments of the call that begins in this frame, if it is one to store."""
        for wanted in list(self.wanted.values()):
            if wanted.is_called_in(frame) and not wanted.is_nested_in(frame.f_back):
                index = self.reserve()
                if index < self.request.limit:
                    self.store(frame, wanted, index)
                if self.taken >= self.request.limit:
                    self.stop()
                return

    def reserve(self) -> int:
        with self.lock:
            self.taken += 1
            return self.taken - 1

    def store(self, frame: FrameType, wanted: Wanted, index: int) -> None:
        from . import snapshot

        if os.path.exists(os.path.join(self.request.session, "done")):
            self.stop()
        elif not snapshot.store_call(self, frame, wanted, index):
            self.taken -= 1

    def stop(self) -> None:
        self.is_over = True
        self.watcher.disarm()

    def fail(self, error: BaseException) -> None:
        """Our own fault, or a folder that is gone: the program goes on unwatched."""
        import traceback

        self.is_over = True
        try:
            self.watcher.disarm()
            self.tell(
                "problem",
                kind="fault",
                text="".join(traceback.format_exception(type(error), error, error.__traceback__)),
            )
        except Exception:  # nobody is left to tell
            return


def could_define(code: CodeType, name: str) -> bool:
    """Whether the module's code names it at the top level; a star import may bring anything."""
    return name in code.co_names or ("*",) in code.co_consts


def names_defined(code: CodeType, outer: str = "") -> Iterator[str]:
    """The functions and classes that a module's code defines, and the methods of the classes."""
    for inner in code.co_consts:
        if hasattr(inner, "co_code") and inner.co_name.isidentifier():
            yield outer + inner.co_name
            if not outer:
                yield from names_defined(inner, f"{inner.co_name}.")


def enter(text: str) -> None:
    """Called once, before the program's first line."""
    from . import watching

    watch = Watch(Request(text), watching.choose())
    sys.meta_path.insert(0, watch)
    watch.await_main()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: guard(watch, watch.start))


def guard(watch: Watch, action: Callable[..., Any], *args: Any) -> None:
    """Whatever fails in here is not the program's business."""
    try:
        action(*args)
    except Exception as error:
        watch.fail(error)

"""Two ways to see the calls of a program, one for each age of Python. Both cost nothing until they are armed."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any, Callable

    from .capture import Watch


monitoring: Any = getattr(sys, "monitoring", None)


def choose() -> Callable[[Watch], Any]:
    return Monitor if sys.version_info >= (3, 12) else Trace


def is_in(code: CodeType, codes: list[CodeType]) -> bool:
    """By identity: codes with the same content are equal."""
    return any(one is code for one in codes)


def is_at_return(frame: FrameType) -> bool:
    """Whether a frame ends because its code says so, and not because of an exception."""
    from opcode import opmap

    return frame.f_code.co_code[frame.f_lasti] == opmap["RETURN_VALUE"]


class Trace:
    """Before Python 3.12: a trace function, in this thread and all that start later; only calls are told to it.

    Where one is at work already (a debugger, coverage), a profile function takes its place.
    """

    is_cheap = False

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.is_armed = False

    def arm(self) -> None:
        import threading

        if self.is_armed:
            return
        self.setter: Any
        self.new_threads: Any
        if sys.gettrace() is None:
            self.setter, self.new_threads = sys.settrace, threading.settrace
            self.before = getattr(threading, "_trace_hook", None)
        elif sys.getprofile() is None:
            self.setter, self.new_threads = sys.setprofile, threading.setprofile
            self.before = getattr(threading, "_profile_hook", None)
        else:
            self.watch.tell("problem", kind="busy", text="a debugger and a profiler are at work in the program")
            return
        self.is_armed = True
        self.new_threads(self.see)
        self.setter(self.see)

    def disarm(self) -> None:
        """Other threads find out at their next call."""
        if self.is_armed:
            self.is_armed = False
            self.new_threads(self.before)
            self.setter(None)

    def see(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Called at every call; for a module that is looked at, also at every line and when it returns."""
        watch = self.watch
        try:
            if event == "call":
                code = frame.f_code
                if self.setter is sys.setprofile:
                    self.look_back(frame)
                if code.co_name == "<module>":
                    watch.begin(frame)
                for wanted in watch.codes:
                    if wanted is code:
                        watch.take(frame)
            elif event == "line":
                watch.look(frame.f_globals)
            elif event == "return" and frame in watch.running:
                watch.end(frame, is_at_return(frame))
            if not self.is_armed:
                self.setter(None)
        except Exception as error:
            watch.fail(error)
        return self.see if frame in watch.running else None

    def look_back(self, frame: FrameType) -> None:
        """A profile function hears of no lines, so it looks when the module calls something."""
        outer = frame.f_back
        if outer is not None and outer in self.watch.running:
            self.watch.look(outer.f_globals)

    def renew(self) -> None:
        """Every call is told anyway."""


class Monitor:
    """Since Python 3.12: every code tells once that it starts, and is left in peace then unless it is a wanted one."""

    is_cheap = True

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.tool = -1

    def arm(self) -> None:
        if self.tool >= 0:
            return
        self.tool = next(tool for tool in (4, 3, 2, 1, 0) if monitoring.get_tool(tool) is None)
        monitoring.use_tool_id(self.tool, "fullgraph")
        monitoring.register_callback(self.tool, monitoring.events.PY_START, self.see_start)
        monitoring.register_callback(self.tool, monitoring.events.PY_RETURN, self.see_return)
        monitoring.set_events(self.tool, monitoring.events.PY_START)
        monitoring.restart_events()

    def disarm(self) -> None:
        if self.tool >= 0:
            monitoring.set_events(self.tool, 0)
            monitoring.register_callback(self.tool, monitoring.events.PY_START, None)
            monitoring.register_callback(self.tool, monitoring.events.PY_RETURN, None)
            monitoring.free_tool_id(self.tool)
            self.tool = -1

    def renew(self) -> None:
        """A wrapper's code may be wanted now that was left in peace before."""
        if self.tool >= 0:
            monitoring.restart_events()

    def see_start(self, code: CodeType, offset: int) -> Any:
        try:
            self.see_call(code, sys._getframe(1))
        except Exception as error:
            self.watch.fail(error)
        return None if is_in(code, self.watch.codes) else monitoring.DISABLE

    def see_call(self, code: CodeType, frame: FrameType) -> None:
        watch = self.watch
        if code.co_name == "<module>":
            watch.begin(frame)
            if frame in watch.running:
                monitoring.set_local_events(self.tool, code, monitoring.events.PY_RETURN)
        for running in list(watch.running):
            watch.look(running.f_globals)
        if is_in(code, watch.codes):
            watch.take(frame)

    def see_return(self, code: CodeType, offset: int, value: Any) -> Any:
        try:
            frame = sys._getframe(1)
            if frame in self.watch.running:
                self.watch.end(frame)
        except Exception as error:
            self.watch.fail(error)
        return monitoring.DISABLE

"""Listening to Dynamo at work.

Two sources, because neither has it all. The callback that Python calls for a new frame knows of every frame, compiled
or not. Torch's structured log knows every break inside a frame, with its stack, and the figures of every compilation.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import convert_frame, exc

from .frames import Listener, describe_failure
from .places import Line, current_stack

TRACE = logging.getLogger("torch.__trace")
BREAKS_LOGGERS = ("torch._dynamo.symbolic_convert.__graph_breaks", "torch._dynamo.convert_frame.__graph_breaks")


@contextlib.contextmanager
def listening(times_guards: bool = True) -> Iterator[Listener]:
    """Inside, everything that is compiled is heard, whoever compiles it and with which backend."""
    listener = Listener(times_guards)
    with contextlib.ExitStack() as undo:
        follow_frames(listener, undo)
        follow_failures(listener, undo)
        follow_log(listener, undo)
        yield listener


def follow_frames(listener: Listener, undo: contextlib.ExitStack) -> None:
    original = convert_frame.CatchErrorsWrapper.__call__
    reasons = getattr(torch._dynamo.utils, "graph_break_reasons", [])

    def convert(self: Any, offered: Any, *rest: Any, **options: Any) -> Any:
        frame, known = listener.begin(offered.f_code), len(reasons)
        try:
            result = original(self, offered, *rest, **options)
            listener.end(frame, offered, result)
            return result
        except BaseException as error:
            frame.outcome, frame.callers = "raised", current_stack()
            frame.failure = frame.failure or describe_failure(error)
            raise
        finally:
            listener.leave()
            frame.unlogged = [(one.reason, [Line(*line[:3]) for line in one.user_stack]) for one in reasons[known:]]

    swap(undo, convert_frame.CatchErrorsWrapper, "__call__", disguise(convert))


def follow_failures(listener: Listener, undo: contextlib.ExitStack) -> None:
    """Torch turns most failures into a skipped frame; here they still have a reason."""
    original = convert_frame.ConvertFrameAssert.__call__
    skipping = exc.SkipFrame.__init__

    def convert_or_raise(self: Any, *rest: Any, **options: Any) -> Any:
        try:
            return original(self, *rest, **options)
        except Exception as error:
            if listener.open_frames:
                listener.open_frames[-1].failure = describe_failure(error)
            raise

    def note_skip(self: Any, *args: Any, **options: Any) -> None:
        if listener.open_frames and args:
            listener.open_frames[-1].skip = str(args[0])
        skipping(self, *args, **options)

    swap(undo, convert_frame.ConvertFrameAssert, "__call__", disguise(convert_or_raise))
    swap(undo, exc.SkipFrame, "__init__", note_skip)


def follow_log(listener: Listener, undo: contextlib.ExitStack) -> None:
    """Read the structured log, whatever the program does to logging. Older versions log breaks only if asked to."""
    handle = TRACE.handle

    def hear(record: logging.LogRecord) -> None:
        listener.hear(record)
        handle(record)

    nothing = logging.NullHandler()
    TRACE.addHandler(nothing)
    undo.callback(TRACE.removeHandler, nothing)
    swap(undo, TRACE, "isEnabledFor", lambda level: True)
    swap(undo, TRACE, "handle", hear)
    for logger in map(logging.getLogger, BREAKS_LOGGERS):
        if not logger.isEnabledFor(logging.DEBUG):
            swap(undo, logger, "isEnabledFor", lambda level: True)
            swap(undo, logger, "handle", handle_if_wanted(logger))


def handle_if_wanted(logger: logging.Logger) -> Callable[[logging.LogRecord], None]:
    """The program sees what it would have seen: it may turn these logs on at any time."""
    handle, is_enabled = logger.handle, type(logger).isEnabledFor
    return lambda record: handle(record) if is_enabled(logger, record.levelno) else None


def disguise(function: Callable[..., Any]) -> Callable[..., Any]:
    """Torch looks through the frames of this file of its own to find who called."""
    function.__code__ = function.__code__.replace(co_filename=convert_frame.__file__)
    return function


def swap(undo: contextlib.ExitStack, owner: Any, name: str, value: Any) -> None:
    """Set an attribute until the end; one that was only inherited is then deleted again."""
    if name in vars(owner):
        undo.callback(setattr, owner, name, vars(owner)[name])
    else:
        undo.callback(delattr, owner, name)
    setattr(owner, name, value)


# Running


@contextlib.contextmanager
def without_inductor() -> Iterator[None]:
    """Inside, code that compiles itself with inductor runs its graphs as they were captured."""
    wrapper = getattr(torch, "_TorchCompileInductorWrapper", None)
    with contextlib.ExitStack() as undo:
        if wrapper is not None:
            swap(undo, wrapper, "__call__", lambda self, model, inputs, **options: model.forward)
        yield


def forbid_breaks() -> contextlib.AbstractContextManager[Any]:
    """Inside, a graph break is an error, in versions that can say so."""
    forbid = getattr(torch._dynamo, "error_on_graph_break", None)
    return forbid(True) if forbid else contextlib.nullcontext()


def is_refusal(error: BaseException) -> bool:
    """Whether torch.compile itself raised it, and not the program."""
    return isinstance(error, exc.TorchDynamoException) or "fullgraph=True" in str(error)

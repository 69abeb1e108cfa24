"""Calls of compiled code: each is noticed when it is entered and when it is left."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import torch.overrides
import torch.utils._python_dispatch
from torch._C._dynamo.eval_frame import set_eval_frame
from torch._dynamo import eval_frame

from .places import Call, find_call

COMPILED: Any = eval_frame.OptimizeContext
STACKS: tuple[Any, Any] = (torch.overrides, torch.utils._python_dispatch)
"""The modules that keep the stacks of modes, of functions and of operators."""


class Calls(threading.local):
    """The compiled calls that this thread is in."""

    def __init__(self) -> None:
        self.entered: list[Call] = []

    @property
    def last(self) -> Call:
        return self.entered[-1] if self.entered else Call()


@contextlib.contextmanager
def noticing(calls_of: Callable[[], Calls], enter: Callable[[], Callable[[], None]]) -> Iterator[None]:
    """While it lasts, whatever is compiled tells of its calls; `enter` hears of outermost ones and gives their end."""
    before = COMPILED.__call__

    def compile_function(self: Any, function: Any) -> Any:
        compiled = before(self, function)
        return noticed(compiled, begin) if isinstance(compiled, FunctionType) else compiled

    def begin() -> Callable[[], None]:
        calls = calls_of()
        is_outermost = not calls.entered
        calls.entered.append(find_call(sys._getframe(2)))
        leave = enter() if is_outermost else None

        def end() -> None:
            calls.entered.pop()
            if leave is not None:
                leave()

        return end

    COMPILED.__call__ = compile_function
    try:
        yield
    finally:
        COMPILED.__call__ = before


def noticed(compiled: Any, begin: Callable[[], Callable[[], None]]) -> Any:
    """The same function, which says when it begins and ends. Dynamo sees through it, and never compiles it."""

    @functools.wraps(compiled)
    def call(*args: Any, **kwargs: Any) -> Any:
        prior = set_eval_frame(None)
        end = begin()
        try:
            set_eval_frame(prior)
            return compiled(*args, **kwargs)
        finally:
            set_eval_frame(None)
            end()
            set_eval_frame(prior)

    eval_frame.skip_code(call.__code__)  # type: ignore[attr-defined]
    return call


def lift(function_mode: Any, operator_mode: Any) -> Callable[[], None]:
    """Take two modes off this thread's stacks, from below others if need be; gives what puts them back on top."""
    modes = zip(STACKS, (function_mode, operator_mode))
    lifted = [(stack, mode) for stack, mode in modes if take_off(stack, mode)]

    def put_back() -> None:
        for stack, mode in lifted:
            stack._push_mode(mode)

    return put_back


def take_off(stack: Any, mode: Any) -> bool:
    """Whether it was there."""
    read = getattr(stack, "_get_current_function_mode_stack", None) or stack._get_current_dispatch_mode_stack
    if not any(one is mode for one in read()):
        return False
    above = []
    while (top := stack._pop_mode()) is not mode:
        above.append(top)
    for one in reversed(above):
        stack._push_mode(one)
    return True

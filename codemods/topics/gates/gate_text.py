"""The file that holds the gate, as it goes into the user's package.

How it knows that nothing has run yet when the compiler fails: between the gate and Dynamo's compilation stand only
torch's own entry frames. A graph break, a frame that Dynamo skipped, or a module's hook puts another one between them.
"""

from __future__ import annotations

FILE = "compile_gate.py"

TEXT = '''"""Switches for compiled code, one for training and one for inference.

What is switched off runs as plain Python. A compiler that fails does not end the run:
the failure is logged once, calls run as plain Python, and compiling is tried again
later.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch import nn

RETRY_AFTER = {retry_after}
"""So many calls run as plain Python after a failure before compiling is tried again."""

OFF = ("0", "false", "no", "off")
MODULE_CALLS = (nn.Module._wrapped_call_impl.__code__, nn.Module._call_impl.__code__)

logger = logging.getLogger(__name__)


def gated(
    flag: str,
    compiled: Any = None,
    *,
    training: bool | None = None,
    inference: bool | None = None,
) -> Any:
    """Put what `torch.compile` or `module.compile` made behind two switches.

    Calls with gradients enabled ask `training`, all others `inference`. One that is
    None is an environment variable, read at each call: `flag`, or `flag` and
    `_INFERENCE`. It is on unless it says 0, false, no or off. Without `compiled` this
    is a decorator.
    """
    if compiled is None:
        return functools.partial(gated, flag, training=training, inference=inference)
    switches = (Switch(f"{{flag}}_INFERENCE", inference), Switch(flag, training))
    if hasattr(compiled, "_orig_mod"):
        compiled.forward = choose(switches, compiled.forward, compiled._orig_mod)
    elif getattr(compiled, "_compiled_call_impl", None) is not None:
        call = compiled._compiled_call_impl
        compiled._compiled_call_impl = choose(switches, call, compiled._call_impl)
    elif hasattr(compiled, "_torchdynamo_orig_callable"):
        return choose(switches, compiled, compiled._torchdynamo_orig_callable)
    return compiled


def choose(
    switches: tuple[Switch, Switch],
    compiled: Callable[..., Any],
    plain: Callable[..., Any],
) -> Callable[..., Any]:
    """Make the function that runs one of the two; other compiled code inlines it."""

    @functools.wraps(compiled)
    def run(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return plain(*args, **kwargs)
        switch = switches[torch.is_grad_enabled()]
        if switch.is_on():
            try:
                return compiled(*args, **kwargs)
            except Exception as error:
                if not is_compile_failure(error):
                    raise
                switch.pause(error)
                if has_begun(error, sys._getframe()):
                    raise
        return plain(*args, **kwargs)

    return run


class Switch:
    """Whether compiled code may run: it is asked for, and no failure has paused it."""

    def __init__(self, flag: str, asked_for: bool | None) -> None:
        self.flag = flag
        self.asked_for = asked_for
        self.calls_to_wait = 0
        self.was_logged = False
        self.lock = threading.Lock()

    def is_on(self) -> bool:
        """Answer for one call; while paused, it is one call less to wait."""
        asked_for = self.asked_for
        if asked_for is None:
            asked_for = os.environ.get(self.flag, "").lower() not in OFF
        if not asked_for or not self.calls_to_wait:
            return asked_for
        with self.lock:
            self.calls_to_wait = max(0, self.calls_to_wait - 1)
        return False

    def pause(self, error: Exception) -> None:
        """Let the next calls run as plain Python."""
        with self.lock:
            self.calls_to_wait = RETRY_AFTER
            is_known, self.was_logged = self.was_logged, True
        if not is_known:
            message = "%s: compiling failed, tried again after %d calls: %s"
            logger.warning(message, self.flag, RETRY_AFTER, str(error))


def is_compile_failure(error: Exception) -> bool:
    """Tell a failing compiler from errors of the program and from what it refuses."""
    from torch._dynamo.exc import BackendCompilerFailed, InternalTorchDynamoError

    return isinstance(error, (BackendCompilerFailed, InternalTorchDynamoError))


def has_begun(error: Exception, caller: FrameType) -> bool:
    """Whether something had run by then, before a graph break or in a hook.

    To run the function from its start would do that twice.
    """
    from torch._dynamo import convert_frame, eval_frame

    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    frame = None if trace is None else trace.tb_frame
    codes = []
    while frame is not None and frame is not caller:
        codes.append(frame.f_code)
        frame = frame.f_back
    for code in reversed(codes if frame is caller else []):
        if code.co_filename == convert_frame.__file__:
            return False
        if code.co_filename != eval_frame.__file__ and code not in MODULE_CALLS:
            return True
    return True
'''


def gate_text(retry_after: int) -> str:
    return TEXT.format(retry_after=retry_after)

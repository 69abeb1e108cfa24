"""What a call says beside its result: warnings, standard output and error, log records. All is put back after it."""

from __future__ import annotations

import contextlib
import ctypes
import io
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator
from io import FileIO
from itertools import count
from os import getpid, unlink
from tempfile import gettempdir
from typing import Any

import torch

from ..process.guard import HEARD
from .leaf import mask_addresses, name_type

STREAMS = {1: "stdout", 2: "stderr"}
LONGEST = 1 << 20
TORCH_FOLDER = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
TORCH_LOGS = re.compile(
    r"^(\[?[VIWECF]\d{4} \d\d:\d\d:\d\d\.\d+ |\[rank\d+\]:).*\n?"  # what torch logs, from Python and from C++
    r"|^(\w* ?AUTOTUNE |strides: |dtypes: |  \S+ [\d.]+ ms [\d.]+%|S\w+Process AUTOTUNE ).*\n?",
    re.MULTILINE,
)
NUMBER = re.compile(r"[\d?]+([.:,][\d?]+)*(e[+-]?\d+)?")
COMPILER = ("torch", "triton", "filelock")
"""Loggers of torch.compile and of what it uses."""

folder: str | None = None
"""Where files with what was heard are made, so that the controller sees how long they are."""

numbers = count()
streams: dict[int, io.TextIOWrapper] = {}


@contextlib.contextmanager
def hear_warnings() -> Iterator[list[list[str]]]:
    """Every warning as category, text and file, also one that was given before; not those that come by chance.

    Parts of torch that are loaded when they are first needed warn once for each process, whoever needs them.
    """
    heard: list[list[str]] = []

    def hear(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        if not issubclass(category, ResourceWarning) and not is_loading_torch():
            heard.append([name_category(category), mask_addresses(tell(message)), filename])

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = hear
        yield heard


def name_category(category: type) -> str:
    """With Python's own category that it belongs to: filters ask for that."""
    known = next(base for base in category.__mro__ if base.__module__ == "builtins")
    return name_type(category) if known is category else f"{name_type(category)} ({known.__name__})"


def is_loading_torch() -> bool:
    """Whether the body of a module of torch is running."""
    frame = sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(TORCH_FOLDER):
            return True
    return False


@contextlib.contextmanager
def hear_streams(*descriptors: int) -> Iterator[dict[str, str]]:
    """Everything that reaches standard output and error: by print, by descriptor, from C, from a child; at the end.

    Meanwhile sys.stdout and sys.stderr are streams that are never closed, as user code may keep them.
    """
    heard: dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        for descriptor in descriptors or STREAMS:
            stack.enter_context(hear_stream(descriptor, heard))
        yield heard


@contextlib.contextmanager
def hear_stream(descriptor: int, heard: dict[str, str]) -> Iterator[None]:
    name = STREAMS[descriptor]
    before, first, saved = getattr(sys, name), getattr(sys, f"__{name}__"), keep_descriptor(descriptor)
    flush(before, first)
    with own_file() as file:
        os.dup2(file.fileno(), descriptor)
        setattr(sys, name, lasting_stream(descriptor))
        try:
            yield
        finally:
            flush(getattr(sys, name), before, first)
            setattr(sys, name, before)
            os.dup2(saved, descriptor)
            os.close(saved)
            heard[name] = read_text(file)


@contextlib.contextmanager
def own_file() -> Iterator[FileIO]:
    """Made without anything that user code could have replaced."""
    path = os.path.join(folder or gettempdir(), f"{HEARD}{getpid()}-{next(numbers)}")
    with FileIO(path, "x+") as file:
        try:
            yield file
        finally:
            with contextlib.suppress(OSError):
                unlink(path)


@contextlib.contextmanager
def hear_logs() -> Iterator[dict[str, list[Any]]]:
    """`logs`: every record that its logger lets pass, as logger, level and text; handled as ever.

    `muted`: logger and level of those that are not made, because their level is off. Whoever turns it on sees them.
    """
    heard: dict[str, list[Any]] = {"logs": [], "muted": []}
    logger_type: Any = logging.Logger
    handle, ask = logger_type.callHandlers, logger_type.isEnabledFor

    def hear(logger: logging.Logger, record: logging.LogRecord) -> None:
        text = mask_addresses(tell_record(record) + tell_extra(record))
        heard["logs"].append([record.name, record.levelname, text])
        handle(logger, record)

    def hear_question(logger: logging.Logger, level: int) -> bool:
        is_on: bool = ask(logger, level)
        if not is_on and not is_compilers(logger.name):
            heard["muted"].append(f"{logger.name}: {logging.getLevelName(level)}")
        return is_on

    keep_out(hear)
    keep_out(hear_question)
    logger_type.callHandlers, logger_type.isEnabledFor = hear, hear_question
    try:
        yield heard
    finally:
        logger_type.callHandlers, logger_type.isEnabledFor = handle, ask


def keep_out(function: Any) -> None:
    """Nothing of ours that runs inside the user's code is ever compiled, or counted as compiled."""
    from torch._dynamo import eval_frame

    eval_frame.skip_code(function.__code__)


def is_compilers(logger: str) -> bool:
    return logger.partition(".")[0] in COMPILER


METHODS = dict(vars(torch.Tensor))


@contextlib.contextmanager
def unpatched() -> Iterator[None]:
    """Inside, the methods of tensors are torch's own, whatever user code has put in their place."""
    patched = {name: held for name, held in vars(torch.Tensor).items() if METHODS.get(name) is not held}
    patched = {name: held for name, held in patched.items() if name in METHODS or hasattr(torch._C.TensorBase, name)}
    for name in patched:
        if name in METHODS:
            setattr(torch.Tensor, name, METHODS[name])
        else:
            delattr(torch.Tensor, name)
    try:
        yield
    finally:
        for name, held in patched.items():
            setattr(torch.Tensor, name, held)


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Inside, nothing that is printed or warned of gets out, and tensors are as torch made them."""
    with hear_streams(1), warnings.catch_warnings(), unpatched():
        warnings.simplefilter("ignore")
        yield


def lasting_stream(descriptor: int) -> io.TextIOWrapper:
    """One stream for the whole process that writes at once to the descriptor, wherever that leads."""
    if descriptor not in streams or streams[descriptor].closed:
        raw: Any = FileIO(descriptor, "w", closefd=False)
        streams[descriptor] = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
    return streams[descriptor]


def keep_descriptor(descriptor: int) -> int:
    """A second way to where a descriptor leads; a process that has none gets one that leads nowhere."""
    try:
        return os.dup(descriptor)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
        return os.dup(descriptor)


def flush(*streams: Any) -> None:
    """Let go of what Python and C still hold back."""
    for one in streams:
        with contextlib.suppress(Exception):
            one.flush()
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).fflush(None)


def read_text(file: Any) -> str:
    file.seek(0)
    text = file.read(LONGEST).decode("utf-8", "backslashreplace")
    more = file.seek(0, 2) - LONGEST
    return mask_addresses(TORCH_LOGS.sub("", text)) + (f"\n... and {more} bytes more" if more > 0 else "")


def mask_progress(text: str) -> str:
    """As a terminal shows it in the end, without numbers: progress bars and times are never twice the same."""
    shown = [line.rpartition("\r")[2] for line in text.replace("\r\n", "\n").split("\n")]
    return NUMBER.sub("#", "\n".join(shown))


def tell(value: object) -> str:
    """A text of anything, also of what cannot tell its own."""
    try:
        return str(value)
    except Exception as error:
        return f"<{name_type(type(value))}, whose text raises {name_type(type(error))}>"


PLAIN_RECORD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}


def tell_extra(record: logging.LogRecord) -> str:
    """What `extra=` has added; torch adds times to what it tells of compiling."""
    if is_compilers(record.name):
        return ""
    added = {name: value for name, value in vars(record).items() if name not in PLAIN_RECORD}
    return f" {{{', '.join(f'{name}: {tell(added[name])}' for name in sorted(added))}}}" if added else ""


def tell_record(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:
        return f"{tell(record.msg)} % {tell(record.args)}"

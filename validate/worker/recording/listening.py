"""What a call says beside its result: warnings, standard output, log records. All is put back, whatever happens."""

from __future__ import annotations

import contextlib
import ctypes
import io
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from .leaf import mask_addresses, name_type

STDOUT = 1
LONGEST = 1 << 20
TORCH_FOLDER = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
stream: io.TextIOWrapper | None = None


@contextlib.contextmanager
def hear_warnings() -> Iterator[list[list[str]]]:
    """Every warning as category, text and file, also one that was given before; not those that come by chance.

    Parts of torch that are loaded when they are first needed warn once for each process, whoever needs them.
    """
    heard: list[list[str]] = []

    def hear(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        if not issubclass(category, ResourceWarning) and not is_loading_torch():
            heard.append([name_type(category), mask_addresses(tell(message)), filename])

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = hear
        yield heard


def is_loading_torch() -> bool:
    """Whether the body of a module of torch is running."""
    frame = sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(TORCH_FOLDER):
            return True
    return False


@contextlib.contextmanager
def hear_stdout() -> Iterator[list[str]]:
    """Everything that reaches standard output: by print, by its descriptor, from C, from a child. One text, at the end.

    Meanwhile sys.stdout is a stream that is never closed, as user code may keep it.
    """
    heard: list[str] = []
    before, saved = sys.stdout, keep_descriptor()
    flush(before, sys.__stdout__)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), STDOUT)
        sys.stdout = lasting_stream()
        try:
            yield heard
        finally:
            flush(sys.stdout, before, sys.__stdout__)
            sys.stdout = before
            os.dup2(saved, STDOUT)
            os.close(saved)
            heard.append(read_text(file))


@contextlib.contextmanager
def hear_logs(wanted: bool) -> Iterator[list[list[str]]]:
    """Every log record that its logger lets pass, as logger, level and text; handled as ever."""
    heard: list[list[str]] = []
    if not wanted:
        yield heard
        return
    handle = logging.Logger.callHandlers

    def hear(logger: logging.Logger, record: logging.LogRecord) -> None:
        heard.append([record.name, record.levelname, mask_addresses(tell_record(record))])
        handle(logger, record)

    logging.Logger.callHandlers = hear  # type: ignore[method-assign, assignment]
    try:
        yield heard
    finally:
        logging.Logger.callHandlers = handle  # type: ignore[method-assign]


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Inside, nothing that is printed or warned of gets out."""
    with hear_stdout(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def lasting_stream() -> io.TextIOWrapper:
    """One stream for the whole process that writes at once to the descriptor, wherever that leads."""
    global stream
    if stream is None or stream.closed:
        raw: Any = io.FileIO(STDOUT, "w", closefd=False)
        stream = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
    return stream


def keep_descriptor() -> int:
    """A second way to where standard output leads; a process that has none gets one that leads nowhere."""
    try:
        return os.dup(STDOUT)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        return os.dup(STDOUT)


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
    more = len(file.read())
    return mask_addresses(text) + (f"\n... and {more} bytes more" if more else "")


def tell(value: object) -> str:
    """A text of anything, also of what cannot tell its own."""
    try:
        return str(value)
    except Exception as error:
        return f"<{name_type(type(value))}, whose text raises {name_type(type(error))}>"


def tell_record(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:
        return f"{tell(record.msg)} % {tell(record.args)}"

"""All there is to see of a program's calls: what the validator records, and strides, shared memory, order of messages.

Strides are seen by whoever calls `view` on a result; messages that change places tell another story.
"""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from fullgraph.validate.worker.devices.device import Device
from fullgraph.validate.worker.recording.flatten import Flattener
from fullgraph.validate.worker.recording.leaf import Leaf, mask_addresses, name_type
from fullgraph.validate.worker.recording.listening import TORCH_FOLDER, tell_record
from fullgraph.validate.worker.recording.record import record_case
from fullgraph.validate.worker.recording.tensors import digest, find_storage
from fullgraph.validate.worker.subject import Case, Subject
from tests.breaks.programs import SEED, Program, opened

TRIGGERED = "(Triggered internally at "
"""How torch itself ends what it warns of once for each process, in whatever program that happens to be."""

Record = dict[str, Any]
Message = tuple[str, ...]
"""Where it was said (log, warning, stdout, stderr), by whom, and the text."""


def record_program(program: Program, folder: Path, backend: str) -> list[Record]:
    """A record of every call, one after the other on the same objects."""
    with opened(program, folder, backend) as subject:
        return [record_call(subject, case) for case in subject.cases]


def record_call(subject: Subject, case: Case) -> Record:
    outputs: list[Any] = []
    heard: list[Message] = []

    def call(*args: Any, **kwargs: Any) -> Any:
        with hearing(heard):
            outputs.append(subject.call(*args, **kwargs))
        return outputs[-1]

    record: Record = record_case(subject, call, case, Device(), seed=SEED, backward=True)
    with torch.no_grad():
        layout, sharing = read_layout(case, subject.state(None), outputs)
    given = [(kind, text, file) for kind, text, file in record["warnings"] if TRIGGERED not in text]
    record["warnings"] = [[kind, text, file if TORCH_FOLDER in file else Path(file).name] for kind, text, file in given]
    return {**record, "heard": join_writes(heard), "layout": layout, "sharing": sharing}


def read_layout(case: Case, state: Any, outputs: list[Any]) -> tuple[list[Leaf], list[Leaf]]:
    """How each tensor lies in memory, and which lies in the memory of another that was named before it."""
    reader = Flattener(lambda *_: None, store=digest)
    for path, value in (("args", (case.args, case.kwargs)), ("state", state), ("output", outputs)):
        reader.flatten(value, path)
    layout: list[Leaf] = []
    homes: dict[int, str] = {}
    sharing: list[Leaf] = []
    for path, tensor in reader.tensors:
        layout.append((path, "text", f"{tensor.stride()} from {tensor.storage_offset()}, leaf: {tensor.is_leaf}"))
        home = homes.setdefault(find_storage(tensor) or id(tensor), path)
        if home != path:
            sharing.append((path, "memory", home))
    return layout, sharing


# What is said


@contextlib.contextmanager
def hearing(heard: list[Message]) -> Iterator[None]:
    """Every message in the order in which it is given, whatever way it takes."""
    handle, show, last = logging.Logger.callHandlers, warnings.showwarning, logging.lastResort
    streams = sys.stdout, sys.stderr

    def hear_log(logger: logging.Logger, record: logging.LogRecord) -> None:
        if not record.name.startswith("torch"):
            heard.append(("log", record.name, record.levelname, mask_addresses(tell_record(record))))
        handle(logger, record)

    def hear_warning(message: Any, category: Any, *rest: Any, **more: Any) -> None:
        if not is_torchs_own() and TRIGGERED not in str(message):
            heard.append(("warning", name_type(category), mask_addresses(str(message))))
        show(message, category, *rest, **more)

    logging.Logger.callHandlers = hear_log  # type: ignore[method-assign, assignment]
    warnings.showwarning = hear_warning
    logging.lastResort = logging.NullHandler()
    sys.stdout, sys.stderr = Overheard("stdout", streams[0], heard), Overheard("stderr", io.StringIO(), heard)
    try:
        yield
    finally:
        logging.Logger.callHandlers = handle  # type: ignore[method-assign]
        warnings.showwarning, logging.lastResort = show, last
        sys.stdout, sys.stderr = streams


def is_torchs_own() -> bool:
    """Whether a file of torch's asked for the warning: the file that a warning names may be that of any caller."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename == warnings.__file__ and frame.f_back:
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(TORCH_FOLDER)


class Overheard(io.TextIOBase):
    """A stream that notes what is written to it."""

    def __init__(self, name: str, stream: Any, heard: list[Message]) -> None:
        self.label, self.stream, self.heard = name, stream, heard

    def write(self, text: str) -> int:
        self.heard.append((self.label, text))
        return int(self.stream.write(text))

    def flush(self) -> None:
        self.stream.flush()


def join_writes(heard: list[Message]) -> list[Message]:
    """One message for all that was written to a stream without another message in between."""
    joined: list[Message] = []
    for message in heard:
        if len(message) == 2 and joined and joined[-1][0] == message[0]:
            joined[-1] = (message[0], joined[-1][1] + mask_addresses(message[1]))
        else:
            joined.append(message)
    return joined

"""All that one process sees of torch, and how it is told."""

from __future__ import annotations

import os
import sys
from typing import Any

import torch

from .host_reads import HostReads
from .others import tell_others
from .process import Process
from .reached import Reached
from .starts import Starts
from .whose import Whose


class Sight:
    """Host reads from the moment torch is there; calls and compilations from the moment Dynamo is."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.whose = Whose(process.root)
        self.reads = HostReads(self.whose)
        self.reached = Reached(self.whose, process.starts)
        self.dynamo: Any = None
        self.reads.install()

    def watch_dynamo(self) -> None:
        from torch._dynamo import eval_frame

        from .compilations import Dynamo

        self.dynamo = Dynamo(self.process, self.whose, self.reached)
        self.dynamo.install()
        self.reads.hide_from_dynamo()
        eval_frame.skip_code(Starts.see.__code__)

    def forget(self) -> None:
        """What was seen is the parent's."""
        self.reads.forget()
        if self.dynamo is not None:
            self.dynamo.forget()

    def tell(self) -> dict[str, Any]:
        entries = self.dynamo.tell() if self.dynamo is not None else []
        return {
            "torch": str(torch.__version__),
            "python": sys.version.split()[0],
            "argv": list(map(str, getattr(sys, "argv", []) or [""])),
            "device": name_device(),
            "rank": os.environ.get("RANK", ""),
            "entries": entries,
            "compiles": self.dynamo.tell_compiles() if self.dynamo is not None else [],
            "reads": self.reads.tell(),
            "read_moments": self.reads.tell_moments(),
            "files": self.reached.tell(),
            "others": tell_others(entries, self.whose),
        }


def name_device() -> str:
    """The accelerator that the program has used; asking for one that it has not would start it."""
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return f"cuda ({torch.cuda.get_device_name()})"
    others = (name for name in ("xpu", "mps") if is_used(name))
    return next(others, "cpu")


def is_used(name: str) -> bool:
    module = sys.modules.get(f"torch.{name}")
    return bool(getattr(module, "_initialized", False))

"""What CUDA graphs themselves say: the errors that torch raises when an output is read after it was overwritten.

The only part that needs CUDA. Here the program runs with torch's own backend, as it would without an audit.
"""

from __future__ import annotations

import re
import traceback
from typing import Any

import torch

from .places import Place, is_users

OVERWRITTEN = "output of CUDAGraphs that has been overwritten"
STACK = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')


def read_error(error: BaseException, case: str) -> dict[str, Any] | None:
    """The hazard that an error of torch's tells of; None if it tells of something else."""
    text = str(error)
    if OVERWRITTEN not in text:
        return None
    made = [Place(found["file"], int(found["line"]), found["function"]) for found in STACK.finditer(text)]
    frames = traceback.extract_tb(error.__traceback__)
    read = [Place(one.filename, one.lineno or 0, one.name) for one in frames if is_users(one.filename)]
    return {
        "case": case,
        "text": text.partition(" Stack trace:")[0].removeprefix("Error: "),
        "made": made[-1]._asdict() if made else None,
        "used": read[-1]._asdict() if read else None,
    }


def collect_errors(stages: Any, compiles_itself: bool, mode: str) -> list[dict[str, Any]]:
    """Run all cases twice with the real backend. A case ends at its first error; the next one goes on."""
    torch._dynamo.reset()
    subject, again = stages.build(), stages.build()
    call = subject.call if compiles_itself else torch.compile(subject.call, mode=mode)
    found = []
    for case in [*subject.cases, *again.cases]:
        error = stages.run_case(call, case)
        told = error and read_error(error, case.name)
        if told and told not in found:
            found.append(told)
    return found

"""Runs all programs in a process of their own, and prints as JSON what torch says of each."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
import warnings
from typing import Any

import torch
import torch._dynamo as dynamo

from fullgraph.validate.worker.graphs.counting import watching

from . import python, tensors, values
from .kinds import ADVISED, PROGRAMS, Program

LISTED = (values, python, tensors)
"""Imported for the programs that they list."""


def observe(function: Program, settings: dict[str, Any], calls: int) -> dict[str, Any]:
    """The graphs and the breaks of a few calls; what a program raises is no part of the answer."""
    dynamo.reset()
    with dynamo.config.patch(**settings), watching(times_guards=False) as seen:
        compiled = torch.compile(function, backend="aot_eager")
        for _ in range(calls):
            # What fails to compile has been seen by then.
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                compiled(torch.randn(8, requires_grad=True))
    breaks = [{"id": one.id, "reason": one.reason, "hint": one.hint} for one in seen.breaks]
    return {"graphs": len(seen.graphs), "breaks": breaks}


def main() -> None:
    logging.disable(logging.ERROR)
    warnings.simplefilter("ignore")
    programs = {
        name: {"wanted": ids, **observe(function, {}, calls=10 if ids == "GB0039" else 1)}
        for name, (ids, function) in PROGRAMS.items()
    }
    advised = {name: observe(function, settings, 1) for name, (settings, function) in ADVISED.items()}
    json.dump({"torch": torch.__version__, "programs": programs, "advised": advised}, sys.stdout)


if __name__ == "__main__":
    main()

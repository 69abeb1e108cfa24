"""One stage of one model with the transformers that is first on the path; what it saw goes into a file.

Stages are processes of their own: a message that is given once per process would be missed in the second.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from fullgraph.validate.worker.graphs.counting import count_graphs
from zoo.entries import ENTRIES, Entry
from zoo.messages import Listener, listening
from zoo.recorded import random_state, record
from zoo.subject import Call, Subject

Run = Callable[..., Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=sorted(STAGES))
    parser.add_argument("model", choices=sorted(ENTRIES))
    parser.add_argument("--out", type=Path, required=True, help="a .json; tensors go into a .pt beside it")
    parser.add_argument("--backend", default="inductor")
    arguments = parser.parse_args()
    entry, transformers = ENTRIES[arguments.model], importlib.import_module("transformers")
    told = {"transformers": transformers.__version__, "file": transformers.__file__, "torch": torch.__version__}
    told |= STAGES[arguments.stage](entry, arguments)
    arguments.out.write_text(json.dumps(told, indent=1))


# Values


def run_plain(entry: Entry, arguments: argparse.Namespace) -> dict[str, Any]:
    """Everything that a caller can see without compiling, gradients too."""
    subject = entry.make()
    with listening("transformers") as listener:
        records = list(follow(subject, subject.model, listener))
        records.append(follow_gradients(subject, listener))
    return store(records, arguments.out) | {"forwards": len(subject.all_calls)}


def run_compiled(entry: Entry, arguments: argparse.Namespace) -> dict[str, Any]:
    """The same with the real backend. The time of the first call is the cold start."""
    subject = entry.make()
    with listening("transformers") as listener:
        records = list(follow(subject, torch.compile(subject.model, backend=arguments.backend), listener))
    return store(records, arguments.out) | {"cold": records[0]["seconds"]}


def follow(subject: Subject, run: Run, listener: Listener) -> Iterator[dict[str, Any]]:
    for call in subject.all_calls:
        with torch.no_grad():
            yield follow_call(subject, run, call, listener)


def follow_call(subject: Subject, run: Run, call: Call, listener: Listener) -> dict[str, Any]:
    inputs = {name: value.clone() for name, value in call.items()}
    listener.take()
    start = time.perf_counter()
    output, error = attempt(run, inputs)
    seconds = time.perf_counter() - start
    state = {**dict(subject.model.named_buffers()), "random": random_state()}
    seen = record({"output": output, "inputs": inputs, "state": state, "error": error})
    return {**seen, "error": error, "seconds": seconds, "said": listener.take()}


def attempt(run: Run, inputs: Call) -> tuple[Any, str]:
    try:
        return run(**inputs), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def follow_gradients(subject: Subject, listener: Listener) -> dict[str, Any]:
    """Of the sum of all results of the first call, by every parameter."""
    listener.take()
    output, error = attempt(subject.model, subject.calls[0])
    if not error:
        results = [one for one in output.values() if isinstance(one, torch.Tensor) and one.requires_grad]
        torch.autograd.backward([one.float().sum() for one in results])
    gradients = {name: parameter.grad for name, parameter in subject.model.named_parameters()}
    return {**record({"gradients": gradients, "error": error}), "error": error, "said": listener.take()}


def store(records: list[dict[str, Any]], out: Path) -> dict[str, Any]:
    torch.save([{key: one[key] for key in ("leaves", "tensors")} for one in records], out.with_suffix(".pt"))
    kept = [{key: value for key, value in one.items() if key != "leaves"} for one in records]
    return {"calls": kept, "said": [one["said"] for one in records]}


# Graphs


def run_graphs(entry: Entry, arguments: argparse.Namespace) -> dict[str, Any]:
    """Breaks as `explain` has them of the first call, as the validator has them of all, and what runs per forward."""
    with listening("transformers"), torch.no_grad():
        return {"explain": try_explain(entry), "count": try_count(entry), "fragments": count_fragments(entry)}


def try_explain(entry: Entry) -> dict[str, Any]:
    subject = entry.make()
    try:
        told = torch._dynamo.explain(subject.model)(**subject.calls[0])
        return {"graphs": told.graph_count, "breaks": told.graph_break_count, "operators": told.op_count}
    except Exception:
        return {"error": traceback.format_exc(limit=-4)}
    finally:
        torch._dynamo.reset()


class Counted:
    """A subject as the validator's worker wants it."""

    def __init__(self, subject: Subject) -> None:
        self.call: Run = subject.model
        self.cases: list[Any] = subject.calls


def try_count(entry: Entry) -> dict[str, Any]:
    errors: list[str] = []

    def run_case(call: Run, case: Any) -> None:
        error = attempt(call, {name: value.clone() for name, value in case.items()})[1]
        errors.extend([error] if error else [])

    try:
        told = count_graphs(Counted(entry.make()), run_case, rebuild=lambda: Counted(entry.make()))
    except Exception:
        return {"error": traceback.format_exc(limit=-4)}
    return {**told, "raised": [error[:400] for error in errors]}


def count_fragments(entry: Entry) -> int:
    """How many graphs run in one forward once everything is compiled."""
    torch._dynamo.reset()
    subject, ran = entry.make(), [0]

    def backend(graph: torch.fx.GraphModule, _: Any) -> Run:
        def run(*args: Any) -> Any:
            ran[0] += 1
            return graph.forward(*args)

        return run

    compiled = torch.compile(subject.model, backend=backend)
    for _ in range(2):
        ran[0] = 0
        attempt(compiled, subject.calls[0])
    return ran[0]


STAGES = {"plain": run_plain, "compiled": run_compiled, "graphs": run_graphs}

if __name__ == "__main__":
    main()

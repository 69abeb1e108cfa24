"""Whether cases give anything to compare: two empty lists are the same whatever the code does."""

from __future__ import annotations

from typing import Any

import torch

from .compare import split
from .effects import KINDS
from .flatten import describe
from .leaf import Leaf
from .objects import digest_text
from .tensors import digest

HOLLOW = ("type", "dtype", "device", "layout", "requires_grad", "keys")
"""What is said of a value beside what it holds."""


def describe_results(records: list[dict[str, Any]], fresh: Any) -> dict[str, bool]:
    """`empty`: no output holds anything. `silent`: and nothing else was left behind. `constant`: all outputs are alike.

    `fresh` gives the subject as it was before the cases, and as it is now.
    """
    told = [record for record in records if not record["exception"]]
    is_empty = bool(told) and all(is_hollow(record["output"]) for record in told)
    is_silent = is_empty and not any(map(leaves_a_trace, records)) and not is_changed(*fresh())
    return {"empty": is_empty and shows_emptiness(told), "silent": is_silent, "constant": is_constant(told)}


def is_hollow(leaves: list[Leaf]) -> bool:
    """Whether there is nothing in it: None, empty containers, tensors without elements."""
    sizes = {path: fact for path, kind, fact in leaves if kind == "shape"}
    return all(is_nothing(path, kind, fact, sizes) for path, kind, fact in leaves)


def is_nothing(path: str, kind: str, fact: Any, sizes: dict[str, str]) -> bool:
    if kind == "shape" or path in sizes:
        return "0" in sizes[path].strip("[]").split(", ")
    if kind == "length":
        return True  # what is in it has leaves of its own
    return fact is None or fact == "" or kind in HOLLOW


def shows_emptiness(told: list[dict[str, Any]]) -> bool:
    """Whether something was given that is empty; None is what a procedure returns."""
    return any(kind != "None" for record in told for _, kind, _ in record["output"])


def leaves_a_trace(record: dict[str, Any]) -> bool:
    """Whether a case shows something beside its output. All state that a scenario names itself counts."""
    kept = ("mutated", "exception", "stdout", "stderr", "warnings", "logs", "random", "grads", *KINDS)
    return any(record.get(name) for name in kept) or changes_surroundings(record)


def changes_surroundings(record: dict[str, Any]) -> bool:
    """Whether a variable of a project's module is another than it was before the cases."""
    now = {root: digest_text(leaves) for root, leaves in split(record["surroundings"]).items()}
    return bool(now != record.get("start", {}))


def is_changed(before: Any, now: Any) -> bool:
    """Whether what a subject holds is other than it was. State that the scenario reads itself is always a result."""
    return now.reader is not None or describe(before.owner, "state") != describe(now.owner, "state")


def is_constant(told: list[dict[str, Any]]) -> bool:
    """Whether cases with other arguments all give the same, and something."""
    inputs = {fingerprint(record["inputs"]) for record in told}
    outputs = {fingerprint(record["output"]) for record in told}
    return len(inputs) > 1 and len(outputs) == 1 and not is_hollow(told[0]["output"])


def fingerprint(leaves: list[Leaf]) -> str:
    held = [(path, kind, digest(fact) if isinstance(fact, torch.Tensor) else fact) for path, kind, fact in leaves]
    return repr(held)

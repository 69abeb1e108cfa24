"""Whether the results of all runs are those of the installed package without compiling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from fullgraph.validate.worker.recording.closeness import Rule
from zoo.entries import Entry
from zoo.recorded import Comparison
from zoo.row import SHOWN, SIDES, Row


def compare_values(row: Row, entry: Entry, work: Path) -> None:
    """Plain code bit for bit, with strides, shared memory, state and gradients; compiled code within the tolerances."""
    expected = load(work, "before", "plain")
    if expected is None:
        return
    row.plain = judge(row, "plain after", expected, load(work, "after", "plain"), Rule(exact=True, signed_zero=True))
    within = Rule(False, entry.rtol, entry.atol)
    for side, name in enumerate(SIDES):
        found = load(work, name, "compiled")
        forwards = expected[: len(found)] if found and len(found) == len(expected) - 1 else expected
        row.compiled[side] = judge(row, f"compiled {name}", forwards, found, within)


def load(work: Path, side: str, stage: str) -> list[dict[str, Any]] | None:
    file = work / side / f"{stage}.pt"
    if not file.is_file():
        return None
    records: list[dict[str, Any]] = torch.load(file, weights_only=True)
    return records


def judge(
    row: Row, who: str, expected: list[dict[str, Any]], found: list[dict[str, Any]] | None, rule: Rule
) -> str | None:
    """How many tensors were held against each other, and how far they are apart at most; or what differs."""
    if found is None:
        return None
    compared = Comparison(expected, found, rule)
    row.details[f"largest error, {who}"] = compared.largest
    if not compared.differences:
        return f"{compared.tensors} same" if rule.exact else f"{compared.tensors} within {compared.largest:.0e}"
    row.reasons += [f"{who}: {one}" for one in compared.differences[:SHOWN]]
    return f"{len(compared.differences)} DIFFER"

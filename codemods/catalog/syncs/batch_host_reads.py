"""Read numbers from the device together instead of one by one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from fullgraph.codemods.codemod import Codemod, Options, option
from fullgraph.codemods.model import Finding
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.places import is_in_constructor
from fullgraph.codemods.topics.host_reads.lists import batch_rows
from fullgraph.codemods.topics.host_reads.look import Batch, Look
from fullgraph.codemods.topics.host_reads.reads import Read, reads
from fullgraph.codemods.topics.host_reads.screen import read_offsets
from fullgraph.codemods.topics.host_reads.stacks import batch_elements
from fullgraph.codemods.topics.host_reads.together import batch_together

ON_CPU = ("device=", "device='cpu'", "device=torch.device('cpu')")
"""Where a new tensor is, as its call says; without a word it is on the CPU."""


@dataclass(frozen=True)
class BatchOptions(Options):
    """How far reads are merged, and what the user knows about devices."""

    level: Literal["tensor", "all"] = option(
        "tensor",
        "tensor: one read per tensor; all: one read for several tensors of a loop or a statement, where their dtypes, "
        "shapes and devices are seen to be the same",
    )
    same_device: bool = option(False, "true: the tensors that a loop or a statement reads live on one device")


class BatchHostReads(Codemod):
    """Read the numbers of a tensor together, not one `.item()` after the other.

    Each `.item()` makes the host wait for the device. Found, and read at once before the loop or the statement:
    - `x[i].item()` in a loop over `range` or `enumerate`, `x[i, j]`, `x[i][j]`, `x[i, 0]`, and
      `[{k: d[k][i].item() for k in d} for i in range(n)]`: one `tolist()` per tensor
    - `for v in x`, of which only `v.item()` is wanted: the loop goes through `x.tolist()`
    - `bool(mask[i].all().item())`, `any`, `min`, `max` of rows: all rows reduced at once
    - `[s.accum.item() for s in states]`, `{k: v.item() for k, v in losses.items()}`, `x[group].mean().item()` in a
      loop: `torch.stack([...]).tolist()`, and `[]` where there is nothing to stack
    - `x.min().item()` beside `x.max().item()`: `torch.stack(x.aminmax()).tolist()`; `x.mean().item()` beside
      `x.std().item()` and the like: stacked
    With `level=all` also numbers of different tensors in one statement, and all tensors of a loop.

    The numbers are the same, types and bits included: a stack holds one dtype, so only values that are seen to be all
    floats, all ints or all bools are stacked; sums and means by rows are not made at once, as their last bits could
    differ. Only the sign of a zero may be another one where rows that hold 0.0 and -0.0 are reduced together. Two
    arguments of a function are taken to be two objects. An index out of range still is an IndexError in the same
    round. `.flatten()` stands where nothing says how many dimensions there are: of a tensor of shape [n, 1]
    `x[i].item()` is a number, and an item of `x.tolist()` is not. What raised because a row has several numbers need
    not raise any more.

    The finding is unsafe where nothing says that the values are tensors or have one dtype, and where code that cannot
    be followed runs between the reads: the caveat names it.

    Measured on torch 2.13, CPU: host reads 27 > 6 (three heads, five and four environments), 4 > 2 (smallest and
    largest), 10 > 2 (`level=all`). In compiled code each `.item()` breaks the graph, and so does each `tolist()`: of
    floats ("tolist() with non-integer tensor") and, on 2.13, of integers too (a data-dependent operator). Breaks 3 > 2
    and recompiles 1 > 0 in both compiled fixtures. A `for` statement around an `.item()` makes Dynamo skip the whole
    function; without it the rest is compiled, and each list is a break: with two lists 2 breaks became 3, and a
    compiled loop over eight environments was slower; in eager mode it was faster. A CPU has no device to wait for:
    stacking six numbers gained no time there.

    Reported only where the codemod is named (`--select`, a ticket): reads in constructors, and of tensors that are seen
    to be made on the CPU, where nobody waits.

    Left alone:
    - a tensor that is written in the loop or between the reads, also by a function that is called there
    - an index with effects of its own, or one that depends on data
    - tensors that may live on different devices, unless `same_device=true`
    - a loop that can leave before it has read everything, unless it is seen to be short
    - reads whose errors are caught in the loop, and reads under a `with` that may matter (a stream)
    - places without a line before them: lambdas, `elif`, `while`, one side of a condition, class bodies
    - what is read under a condition and may be None, or is not read in every round
    - a collection that would be gone through twice and may be an iterator
    - what is made in the loop (`loss.item()` of each step)
    - arrays of numpy, and single reads
    - the smallest and the largest value in statements that do not follow each other
    - with `level=all`: numbers of which dtype, shape or device are not seen to be the same
    - what is read together already
    """

    needles: ClassVar[tuple[bytes, ...]] = (b".item()",)
    pattern: ClassVar[re.Pattern[bytes]] = re.compile(rb"\btorch\b")
    claim: ClassVar[str] = "each `.item()` in a loop waits for the GPU and breaks the graph; read them all at once."
    why: ClassVar[str] = (
        "Every `.item()` makes the host wait for the device, and breaks the graph in compiled code; one `tolist()` "
        "brings the same numbers with one wait (host reads 27 > 6, breaks 3 > 2 on torch 2.13)."
    )
    options: BatchOptions

    def hits(self, raw: bytes) -> Iterable[int]:
        return read_offsets(raw)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if module.imports.names_package("torch"):
            look = Look(module, project, self.options.level == "all", self.options.same_device)
            found = [read for read in reads(module) if self.is_asked or not is_cold(look, read)]
            for batch in batches(look, found):
                yield self.report(module, batch)

    def report(self, module: Module, batch: Batch) -> Finding:
        if lost := comment_in(module, batch):
            return module.finding(self.name, batch.node, batch.message, left_alone=lost)
        return module.finding(
            self.name,
            batch.node,
            batch.message,
            edits=batch.edits,
            caveat="; ".join(batch.caveats) if batch.edits else "",
            left_alone=batch.left_alone,
            notes=batch.notes,
        )


def comment_in(module: Module, batch: Batch) -> str:
    """Where a comment stands in the middle of what would be replaced; empty if none does."""
    for edit in batch.edits:
        text = module.text[edit.span.start : edit.span.end]
        if edit.path == module.path and re.search(r"#[^\r\n]*[\r\n]", text):
            line = getattr(batch.node, "lineno", 0)
            return f"{module.path}:{line}: a comment stands in it, and would be lost"
    return ""


def is_cold(look: Look, read: Read) -> bool:
    """Whether nobody waits: the read runs once for each object, or the tensor is seen to be on the CPU."""
    is_on_cpu = any(text in ON_CPU for _, text in look.known(read.tensor).devices)
    return is_on_cpu or is_in_constructor(look.module, read.node)


def batches(look: Look, found: Sequence[Read]) -> Iterator[Batch]:
    """Every batch of these reads; a read belongs to the first that claims it."""
    for collect in (batch_rows, batch_elements, batch_together):
        yield from collect(look, [read for read in found if read.node not in look.claimed])

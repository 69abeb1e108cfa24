"""Choose between tensors without a branch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Unsure
from fullgraph.codemods.model import COMPILING_SINCE, Finding, Span
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.branches.choices import read_choice
from fullgraph.codemods.topics.branches.screen import Branch, branches
from fullgraph.codemods.topics.branches.stores import read_stores, stores_one_place
from fullgraph.codemods.topics.branches.storing import write_stores
from fullgraph.codemods.topics.branches.writing import Written, write
from fullgraph.codemods.topics.breaks.traced import Traced, traced_functions

HITS = re.compile(rb"\.(?:any|all|sum|mean|max|min|amax|amin|norm|item)\(")


class SelectWithoutBranch(Codemod):
    """Select with `torch.where` instead of branching on a tensor's value.

    `if x.sum() > 0:` in a function that is compiled splits the graph in two. Found: `if` and `elif` whose test is a
    tensor of one element (`any`, `all`, `sum`, `mean`, `max`, `min`, `norm`, comparisons of these, `not`, `and`, `or`,
    `bool` and `.item()` around them), with sides that assign names or return; names that only one side assigns, `+=`,
    conditional expressions, early returns, several results, branches inside. A Python test before the tensor's stays:
    `x.dtype == torch.float16 and ...`, `force or ...`.

    A side must be understood completely: names, numbers, arithmetic and the elementwise functions of torch. Shape,
    dtype and device of all sides are proven to be the same from the text. What the text does not say is asked while
    the graph is traced, which costs nothing then: `x.dtype.is_signed`, `x.shape == y.shape`, `x.numel() > 0`. So the
    new lines stand under `torch.compiler.is_compiling()`, and the old branch stays for eager code and for whatever does
    not pass the test. Only where the new form is the same in eager mode too (values, strides, gradients, aliases)
    does it replace the branch.

    Gradients: `torch.where` hands zeros to the side that is not taken, and zero times infinity is NaN. A side that
    multiplies gradients by values gets `torch.where(taken, x, 1)` in the place of each tensor, so that nothing comes
    through. Where a tensor would get zeros that got no gradient before, the new lines ask that it gets none at all.
    Sides that call a layer go through `torch.cond`, without gradients only.

    Measured on torch 2.13, CPU: breaks 2 > 0 or 1 > 0 in each proven fixture, also for half precision that overflows
    (as in BART's layers); host reads 4 > 0 where the branch is replaced. `torch.cond` fails on a side that returns its
    input, on Python floats that change, on two results with gradients, and on other strides; two of them that share a
    gradient gave wrong gradients (backend inductor), without any error.

    The finding is unsafe where one side keeps a tensor that others hold too, and hands it on: compiled code then
    hands on a copy. In eager mode nothing changes. Unsafe too: sides that end by storing a tensor in the same place
    (`self.name = ...`, `register_buffer`), after filling caches at most. Compiled code then fills both caches and
    stores a copy (Phi-3's long rope in transformers 4.52.4: breaks 5 > 0, for short and long sequences in a row).

    Left alone:
    - sides that may differ in shape or dtype, or give a Python number or None
    - calls that are not understood, random numbers, indexing, host reads, functions that work in place
    - what raises for some tensors, where they cannot be asked: it would run always
    - `+=` on a tensor that others may hold, and writes in place after the branch
    - other stores into objects, or with more beside them than a cache
    - loops inside, `break`, sides that return different numbers of values, more than six ways through it
    - a branch around only a message or an error: other codemods are for these; with values beside it is left too
    - `.item()` compared with a number that a tensor's dtype may not hold
    - a comparison with two ends that are not both written out
    - a Python test after the tensor's or inside, the `elif` of a Python test, and what stands in a `try`
    - a test inside that reads what its side has assigned
    - names that may not be bound, or that other functions change
    - chains of sides that call layers
    - arrays of numpy, code that is not compiled, code that asks `is_compiling` already
    """

    needles: ClassVar[tuple[bytes, ...]] = (b"torch",)
    pattern: ClassVar[re.Pattern[bytes]] = HITS
    repairs_breaks: ClassVar[bool] = True
    claim: ClassVar[str] = "`if` on a tensor's value breaks the graph; select with `torch.where`."
    why: ClassVar[str] = (
        "A graph cannot ask for a tensor's value: `if` splits it in two and waits for the device. `torch.where` "
        "computes both sides and selects in the graph (torch 2.13: 1 break becomes 0, the numbers are the same)."
    )

    def hits(self, raw: bytes) -> Iterable[int]:
        return (found.start() for found in HITS.finditer(raw))

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        found: dict[Function, list[Branch]] = {}
        for branch in branches(module):
            found.setdefault(branch.function, []).append(branch)
        for traced in traced_functions(self, module, project, among=found):
            yield from self.judge_all(module, project, traced, found[traced.function])

    def judge_all(self, module: Module, project: Project, traced: Traced, every: list[Branch]) -> Iterator[Finding]:
        """A branch that another one's new lines do already has no finding of its own."""
        covered: list[Span] = []
        for branch in sorted(every, key=lambda one: module.span(one.node).start):
            start = module.span(branch.node).start
            if traced.admits(branch.node.test) and not any(span.start <= start < span.end for span in covered):
                finding, span = self.judge(module, project, traced, branch)
                covered += [span] if span else []
                yield finding

    def judge(self, module: Module, project: Project, traced: Traced, branch: Branch) -> tuple[Finding, Span | None]:
        message = f"`if` on the value of a tensor breaks the graph; {traced.because}"
        try:
            written = rewritten(module, branch)
        except Unsure as unsure:
            return module.finding(self.name, branch.node, message, left_alone=f"{module.path}: {unsure}"), None
        finding = module.finding(
            self.name,
            branch.node,
            f"{message}; {written.form} selects in the graph",
            edits=written.edits,
            caveat=written.caveat,
            notes=written.notes,
            since=COMPILING_SINCE if written.asks else None,
        )
        return finding, written.covers


def rewritten(module: Module, branch: Branch) -> Written:
    """Either a choice between values, or a place that both sides store to; Unsure where it is neither."""
    if isinstance(branch.node, ast.If) and stores_one_place(branch.node):
        return write_stores(read_stores(module, branch.function, branch.node))
    return write(read_choice(module, branch.function, branch.node))

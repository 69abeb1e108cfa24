"""Keep numbers and shapes of compiled code in the graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import COMPILING_SINCE, Finding
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.breaks.traced import Traced, traced_functions
from fullgraph.codemods.topics.scalars.candidates import may_break
from fullgraph.codemods.topics.scalars.factors import read_numbers
from fullgraph.codemods.topics.scalars.guard import is_shut_out
from fullgraph.codemods.topics.scalars.index_loops import index_loops
from fullgraph.codemods.topics.scalars.masks import reduced_masks
from fullgraph.codemods.topics.scalars.quotients import size_quotients
from fullgraph.codemods.topics.scalars.repair import Look, Repair
from fullgraph.codemods.topics.scalars.scatters import scattered
from fullgraph.codemods.topics.scalars.screen import CANDIDATE, candidate_offsets, settings_of
from fullgraph.codemods.topics.scalars.settling import settled
from fullgraph.codemods.topics.scalars.shapes import open_shapes
from fullgraph.codemods.topics.scalars.size_loops import size_loops

SEARCHES = {
    read_numbers: "capture_scalar_outputs",
    size_loops: "",
    size_quotients: "capture_scalar_outputs",
    reduced_masks: "capture_dynamic_output_shape_ops",
    scattered: "capture_dynamic_output_shape_ops",
    index_loops: "",
    open_shapes: "capture_dynamic_output_shape_ops",
}
"""How repairs are looked for, and the setting of torch with which there is no break."""


class KeepScalarsInGraph(Codemod):
    """Take numbers and shapes of compiled code from tensors of fixed shape, or from Python values that are there.

    Found in functions that are compiled:
    - `x * t.item()`, `y = x - float(t)`, also through a variable of which every use is seen: `t.detach()`
    - counts: `(x > 0).sum().item()` as a divisor or a factor
    - `x[i.item()]` that is used up at once: `x[i.reshape(1)][0]`
    - `torch.tensor(x.shape)[0].item()`, `int(torch.tensor(n))`, `torch.tensor([a, b]).max().item()`: the Python number
    - `x.view(torch.div(x.size(0), n, rounding_mode="floor"), n)`: `x.size(0) // n`, also through variables
    - a loop over a tensor of sizes that was made from a list which is still there, in the function or in its caller:
      compiled code gets the list
    - `x[mask].sum()`, `mean`, `any`, `all`: `torch.where(mask, x, 0).sum()` and the like
    - `y[mask] = x[mask] * 2`, `y[mask] += 1`: `y.copy_(torch.where(mask, y + 1, y))`
    - `for i in mask.nonzero(): y[i] = 1.0`, `y[i] = y[i] * 2`: one masked write

    The new form stands alone where eager code does the same with it, down to the bits: sums, products and comparisons
    of a tensor with a number that is reduced from it, `any`, `all`, and what is known already. Everything else stands
    behind `torch.compiler.is_compiling()`, with the old code in the `else`. What the text does not tell of dtypes,
    devices and shapes, and whether a parameter is a tensor at all, is asked there too: it costs nothing, as torch
    answers it while it traces, and where the answer is no compiled code runs the old form. So a mask for whole rows,
    a factor of another kind, or a mean in halves still breaks the graph, and is still right. Elements that a mask does
    not pick never reach a value or a gradient, NaN and infinities included; the mean of nothing stays NaN.

    Measured on torch 2.13, CPU: `.item()`, `float`, `int` and `bool` of a tensor break (GB0124), a tensor as index or
    as a size of `linspace` does (GB0033), `x[mask]`, `nonzero` and one-argument `where` do (GB0036); `y[mask] = 0.0`
    does not. Under `fullgraph=True` torch captures most of these by itself, but not branches, loops over positions
    or a tensor as index. Breaks 4 > 0 and recompiles 12 > 1 for factors, 5 > 0 breaks for sizes from a list, 4 > 0 for
    sizes that were known already. In Grounding DINO (transformers 4.52.4) two places are repaired, with all outputs
    equal.

    Left alone:
    - numbers that are printed, returned, stored, formatted, or given to a call
    - sizes and bounds of slices: shapes that depend on values; the setting is named
    - rows that are kept, written to or returned: they are views
    - `max`, `min` and the like of what a mask picks: of nothing they are an error
    - masked writes of which the gradient could be NaN where nothing is picked: products of two tensors, roots
    - loops over positions in which a round carries something, or does more than one write
    - positions and picked elements that are used themselves
    - quotients of what is not seen to be a size or a whole number
    - branches and assertions: other codemods take the number out there
    - a number that decides branches in other functions
    - projects that have set `capture_scalar_outputs` or `capture_dynamic_output_shape_ops`
    - code that is compiled with `fullgraph=True`: torch has these settings on there
    - code that nobody is seen to compile
    - what looks alike and does not break: `y[mask] = 0.0`, `int(x.shape[0])`, `float` of a Python number
    - code that asks `is_compiling` already
    - numbers that as tensors would have another value or dtype
    - lists that have changed since the tensor was made from them
    - sizes that are used as tensors on the way
    """

    needles: ClassVar[tuple[bytes, ...]] = (b"torch",)
    pattern: ClassVar[re.Pattern[bytes]] = CANDIDATE
    claim: ClassVar[str] = "reading a number or a shape from a tensor breaks the graph; keep it as a tensor."
    why: ClassVar[str] = (
        "`.item()`, `x[mask]` and loops over `nonzero()` need values on the host and break the graph; the same numbers "
        "from tensors of fixed shape, or from Python values that are there already, do not (torch 2.13)."
    )
    repairs_breaks: ClassVar[bool] = True

    def hits(self, raw: bytes) -> Iterable[int]:
        return candidate_offsets(raw)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        functions = [function for function in module.nodes(ast.FunctionDef) if may_break(module, function)]
        for traced in traced_functions(self, module, project, among=functions):
            look = Look(module, project, traced.function)
            repairs = repairs_in(look, captured(self, project, traced))
            wanted = (repair for repair in repairs if admits(module, traced, repair))
            yield from (self.report(module, repair) for repair in settled(look, wanted))

    def report(self, module: Module, repair: Repair) -> Finding:
        asks = any("is_compiling" in edit.new_text for edit in repair.edits)
        return module.finding(
            self.name,
            repair.node,
            repair.message,
            edits=repair.edits,
            left_alone=repair.left_alone,
            notes=repair.notes,
            since=COMPILING_SINCE if asks else None,
        )


def repairs_in(look: Look, settings: frozenset[str]) -> Iterator[Repair]:
    """Every place of one function, those left out that a setting of the project has repaired."""
    for search, setting in SEARCHES.items():
        if setting not in settings:
            yield from search(look)


def captured(codemod: Codemod, project: Project, traced: Traced) -> frozenset[str]:
    """The settings that are on: by the project, or as one graph is asked for. Where a line broke none has helped."""
    if codemod.sites is not None:
        return frozenset()
    is_whole = traced.region is not None and traced.region.fullgraph == "True"
    return frozenset(SEARCHES.values()) - {""} if is_whole else settings_of(project)


def admits(module: Module, traced: Traced, repair: Repair) -> bool:
    """Whether a repair is for a line that breaks, in code that compiling runs and nobody has written for it."""
    if is_shut_out(module, repair.node):
        return False
    around = module.enclosing(repair.node, ast.For)
    is_head = around is not None and around.iter is repair.node
    return traced.admits(repair.node) or (is_head and around is not None and traced.admits(around))

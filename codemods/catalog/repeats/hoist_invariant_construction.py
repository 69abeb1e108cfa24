"""Make once what never differs: constant tensors, helper functions, patterns and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Unsure
from fullgraph.codemods.model import Edit, Finding
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project, is_test
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.effects.tokens import Token
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.tensors.infer import Tensors
from fullgraph.codemods.topics.constructions.buffers import Owner, Registering, owner_of
from fullgraph.codemods.topics.constructions.functions import Helper, helpers, move_to_top, together
from fullgraph.codemods.topics.constructions.hot import Hot
from fullgraph.codemods.topics.constructions.loops import Loop, hoist_before, loop_around
from fullgraph.codemods.topics.constructions.reading import KeptError, Reading
from fullgraph.codemods.topics.constructions.screen import places
from fullgraph.codemods.topics.constructions.tables import Naming, Table, tables
from fullgraph.codemods.topics.constructions.tensors import ConstantTensor, constant_tensors
from fullgraph.codemods.topics.constructions.writing import as_number

LONGEST = 60


class HoistInvariantConstruction(Codemod):
    """Make constant tensors, helper functions, patterns and tables once, not in every call.

    In `forward`, in the methods that it calls and in `*_step` methods of an `nn.Module`, a tensor that is written out
    (`torch.tensor([1.0, 2.0], device=h.device)`, `zeros`, `ones`, `full`, `arange`, `eye`, `linspace` of fixed sizes,
    also with `.view(...)`, `.float()` or arithmetic behind it) becomes a buffer that `__init__` registers with
    `persistent=False`, so that `state_dict` stays as it is. In a loop of any function it is made once, right before
    the outermost loop that cannot change its device. A function inside a step, a `forward`, a compiled function or a
    loop that uses nothing of the call moves to the top level of the module, a named lambda as a function; so do
    `re.compile` of a fixed pattern and dicts, lists and sets of constants that are only looked up.

    `torch.tensor(0.5)` as an operand, in a comparison or in `torch.where` becomes the number `0.5`, and
    `torch.maximum(x, torch.tensor(0.5))` becomes `x.clamp(min=0.5)`. That is unsafe where the other operand may have no
    dimension, or be float64 beside a number that float32 does not hold; `clamp` always, for the gradient of a tie.

    All this only where every use of the tensor reads it: as an operand, an index, or an argument of functions and
    layers of torch or of the project that only read it.

    Measured on torch 2.13: on a second device one copy from the host per call becomes none, and 200 per loop become
    one. On the CPU the proof is neutral: neither eager nor compiled time (inductor) differed beyond noise; in a loop in
    one process a layer of four units took 13 us instead of 18 us a call in eager mode. There was no graph break,
    before or after, and outputs, gradients and `state_dict` were the same. Functions, patterns and tables made no
    difference that was seen in eager time.

    A buffer is always unsafe if it may hold floats, as `.half()` and `.to(dtype)` cast it with its module and a new
    tensor is not cast; and if the device that was asked for is not seen to be that of the module. It is made when the
    module is: under the dtype and device that are the default then, and on `meta` for those who build there and call
    `to_empty()`; a module that was pickled whole before does not have it. `DistributedDataParallel` broadcasts it like
    all buffers.

    Left alone:
    - tensors that are written, returned or stored: each call must give a new one
    - tensors that go to code that might keep or write them
    - what is drawn, uninitialised or a leaf that requires gradients
    - sizes, values and dtypes that depend on the call
    - modules without an `__init__` that reaches that of `nn.Module`, and constants on a device of their own
    - modules that `PreTrainedModel.from_pretrained` may build on `meta`: it fills in only what is saved
    - functions, which have no place to keep a tensor
    - code that runs once, or only for its own sake: constructors, loading, tests
    - what a loop makes under a condition, or on a device or with a default that the loop changes
    - helper functions that use variables of the call, are decorated, have mutable defaults, attributes, or are returned
    - helper functions of the same name, or whose name is taken
    """

    why: ClassVar[str] = (
        "A tensor that is written out in `forward` is built on the host and copied to the device in every call; a "
        "buffer is there already (a second device, torch 2.13: one copy per call becomes none)."
    )
    claim: ClassVar[str] = "building constants in forward costs a copy to the device in every call."

    def hits(self, raw: bytes) -> Iterable[int] | None:
        return places(raw)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch") or is_test(module.path):
            return
        yield from self.tensors(module, project)
        yield from self.functions(module, project)
        yield from self.tables(module, project)

    # Tensors

    def tensors(self, module: Module, project: Project) -> Iterator[Finding]:
        """Constant tensors that the methods of modules, steps and loops make over and over."""
        reading, registering, hot = Reading(project), Registering(project, module), Hot(project, module)
        taken, tensors = set[Token](), project.worked_out(Tensors, lambda: Tensors(project))
        for tensor in constant_tensors(project, module):
            owner = owner_of(hot, module, tensor.node)
            loop = loop_around(project, module, tensor)
            function = module.enclosing(tensor.node, *FUNCTIONS)
            is_step = isinstance(function, Function) and function in module.tree.body and hot.is_hot(function)
            if not owner and not loop and not is_step:
                continue
            if found := as_number(module, tensors, tensor.node):
                yield module.finding(self.name, tensor.node, tell(module, tensor), edits=found[:1], caveat=found[1])
                continue
            try:
                reading.check(module, tensor.node)
                if owner:
                    yield self.registered(module, registering, tensor, owner)
                elif loop:
                    yield self.hoisted(module, tensor, loop, taken)
                else:
                    raise Unsure(f"{where(module, function)}: a function has no place to keep a tensor")
            except KeptError:
                continue
            except Unsure as unsure:
                if owner or not loop:
                    yield module.finding(self.name, tensor.node, tell(module, tensor), left_alone=str(unsure))

    def registered(self, module: Module, registering: Registering, tensor: ConstantTensor, owner: Owner) -> Finding:
        edits = registering.write(tensor, owner)
        caveat = registering.caveat(tensor, owner)
        return module.finding(self.name, tensor.node, tell(module, tensor), edits=edits, caveat=caveat)

    def hoisted(self, module: Module, tensor: ConstantTensor, loop: Loop, taken: set[Token]) -> Finding:
        edits = hoist_before(module, tensor, loop, taken)
        line = module.statement(loop).lineno
        message = f"`{shorten(module, tensor)}` is the same tensor in every round of the loop in line {line}"
        return module.finding(self.name, tensor.node, message, edits=edits)

    # Functions and tables

    def functions(self, module: Module, project: Project) -> Iterator[Finding]:
        """Functions inside functions that use nothing of the call."""
        hot, known = Hot(project, module), list(helpers(module))
        for helper in known:
            group = together(module, helper, known) if hot.runs_often(helper.node) else []
            if group:
                yield self.moved(module, helper, group)

    def moved(self, module: Module, helper: Helper, group: list[Helper]) -> Finding:
        message = f"{helper.name} uses nothing of {helper.outer.name}, which defines it anew at each call"
        try:
            edits = tuple(edit for one in group for edit in move_to_top(module, one))
        except Unsure as unsure:
            return module.finding(self.name, helper.node, message, left_alone=str(unsure))
        return module.finding(self.name, helper.node, message, edits=edits)

    def tables(self, module: Module, project: Project) -> Iterator[Finding]:
        """Patterns and tables of constants."""
        hot, naming = Hot(project, module), Naming(module)
        for table in tables(Definitions(project, sure=True), module):
            if hot.runs_often(table.node):
                yield self.named(module, naming, table)

    def named(self, module: Module, naming: Naming, table: Table) -> Finding:
        message = f"the same {table.what} is made in every call of {module.symbol(table.node)}"
        edits: tuple[Edit, ...] = ()
        try:
            edits = naming.write(table)
        except Unsure as unsure:
            return module.finding(self.name, table.node, message, left_alone=str(unsure))
        return module.finding(self.name, table.node, message, edits=edits)


def tell(module: Module, tensor: ConstantTensor) -> str:
    return f"`{shorten(module, tensor)}` is the same tensor in every call of {module.symbol(tensor.node)}"


def shorten(module: Module, tensor: ConstantTensor) -> str:
    code = " ".join(module.code(tensor.node).split())
    return code if len(code) <= LONGEST else f"{code[: LONGEST - 3]}..."

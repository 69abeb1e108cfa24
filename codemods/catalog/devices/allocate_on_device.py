"""Let a class make its buffers where they are used, instead of moving them at every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Edit, Finding
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.signatures.arguments import add_keyword
from fullgraph.codemods.syntax.signatures.constructions import parameter_of
from fullgraph.codemods.topics.buffers.held import is_held, written_result
from fullgraph.codemods.topics.buffers.moves import add_copy, drop, is_idle
from fullgraph.codemods.topics.buffers.owner import Buffers, Move, Store
from fullgraph.codemods.topics.buffers.parameter import take_parameter
from fullgraph.codemods.topics.buffers.premises import check
from fullgraph.codemods.topics.buffers.screen import may_move_buffers
from fullgraph.codemods.topics.buffers.told import goes_where_it_is, notes_on, taken_device, tell_sharing, tell_taken
from fullgraph.codemods.topics.buffers.uses import Uses
from fullgraph.codemods.topics.devices.method import first_argument


@dataclass(frozen=True)
class AllocateOptions(Options):
    """How the class is told the device, and what becomes of the moves."""

    parameter: str = option(
        "buffer_device",
        "the name of the new keyword parameter, or of one that the class takes and does not use for its tensors yet: "
        "moves to it are dropped then",
    )
    moves: Literal["keep", "copy"] = option(
        "keep",
        "keep: `x.to(device)` stays, and is the buffer itself once it is there; copy: `copy=True` is added where the "
        "result is handed on, so that it is a copy as before, made on the device",
    )
    least: int = option(3, "of tensors that nothing is ever written to, how many must be moved to be worth a parameter")


class AllocateOnDevice(Codemod):
    """Give a class that moves its tensors at every call a parameter that says where to make them.

    Finds classes that make tensors on the default device while they are set up (`zeros`, `ones`, `empty`, `full`,
    `arange`, `tensor` and the like, lists and dicts of them; in `__init__`, in a dataclass's `__post_init__`, or in
    methods that these call) and move them in another method at every call: `self.x.to(device)`, `self.x[i].cuda()`,
    `[x.to(device) for x in self.xs]`. `__init__` then takes `buffer_device=None` by keyword, a dataclass gets the
    field, and all that makes these tensors, now or later in `reset`, passes it on as `device=`. Tensors that meet
    them in a method go along. By default nothing changes: `device=None` is torch's default device, also under
    `torch.set_default_device` and `with torch.device(...)`.

    The moves stay: `x.to(device)` returns `x` itself when it is there. So with `buffer_device` set, what a method
    hands out shares its memory with the buffer, and is overwritten with it; on a CPU that has always been so. The
    finding is unsafe for that reason, unless every result is seen to be used up in the method. `moves=copy` adds
    `copy=True` where a result is handed on: one copy as before, on the device. The buffers then fill the memory of the
    device, and what is written to them from the CPU crosses at every write: the notes name who may pass the device,
    what is written, read on the host, and computed with arguments.

    Measured on torch 2.13 with a second device and the buffers on it: a batch of 19 tensors, moves between the devices
    19 > 0; three epochs of six tensors, recorded step by step from tensors there, moves 45 > 0 and host reads 24 > 0.

    A class that makes its tensors on a device that it is given is reported and left as it is: the finding names the
    calls that do not pass the device.

    Left alone:
    - a class that takes a device for them already
    - registered buffers, which move with the module
    - one or two constants (`least`)
    - tensors that follow their input, that `to` of the class moves for good, or that are brought to the CPU by name
    - tensors that numpy reads, in the class or in a file that names it; pinned ones, and ones that share memory
    - random ones: another device draws other numbers
    - tensors whose device is named (`device="cpu"`)
    - tensors that a method computes with others that it makes on the default device, or that are made in a way that
      cannot be followed
    - a result that is written to: so far that was a copy (`moves=copy` keeps it one)
    - what a `default_factory` makes; a dataclass that is inherited
    - a class whose `__init__` is decorated, that has a `__new__`, or uses the name `buffer_device` for something else
    - a class whose base class makes tensors too, or whose subclass makes the same ones itself
    - if a method other than `__init__` makes tensors: a class with `__slots__` or `__setstate__`, with a subclass that
      does not call its `__init__`, objects made by `__new__`, and a base class that may call the method too early
    - classes that TorchScript compiles
    - `.to(dtype)`, `.to(other)`, and tensors that a method makes at every call
    """

    options: AllocateOptions
    needles: ClassVar[tuple[bytes, ...]] = (b".to(", b".cuda(", b".xpu(")
    claim: ClassVar[str] = "buffers made on the CPU are moved at every call; made on the device they need no move."
    why: ClassVar[str] = (
        "A buffer on the CPU is copied to the device at every call, and every write from the device waits for it. Made "
        "on the device, nothing moves (torch 2.13: 45 moves and 24 host reads become none); the default stays the CPU."
    )

    def may_hold(self, raw: bytes) -> bool:
        return super().may_hold(raw) and may_move_buffers(raw)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        for owner in module.nodes(ast.ClassDef):
            buffers = Buffers(module, owner)
            moves = [move for move in buffers.moves if not move.keeps and move.attribute in buffers.made]
            if moves and is_worth_it(buffers, moves, self.options.least):
                yield from self.judge(project, buffers, moves)

    def judge(self, project: Project, buffers: Buffers, moves: list[Move]) -> Iterator[Finding]:
        """The finding, at the method that moves most."""
        module, owner = buffers.module, buffers.owner
        methods = [move.method for move in moves]
        most = max(methods, key=methods.count)
        what = f"{owner.name}.{most.name} moves {count(methods.count(most))} at every call"
        if device := taken_device(buffers, moves):
            if not all(goes_where_it_is(buffers, move, device) for move in moves):
                yield module.finding(self.name, most, what, left_alone=tell_taken(project, buffers, device))
            return
        moves = [move for move in moves if is_made_here(buffers, move.attribute)]
        if not moves:
            return
        what += f", which {owner.name} makes on the CPU"
        uses = Uses(buffers)
        names = uses.together({move.attribute for move in moves})
        try:
            edits = self.edits(project, uses, names, moves)
        except Unsure as unsure:
            yield module.finding(self.name, most, what, left_alone=str(unsure))
            return
        notes = notes_on(project, uses, names, self.options.parameter)
        yield module.finding(self.name, most, what, edits=edits, caveat=self.caveat(uses, moves), notes=notes)

    def edits(self, project: Project, uses: Uses, names: set[str], moves: list[Move]) -> tuple[Edit, ...]:
        """The parameter, the device in every call that makes one of these, and what becomes of the moves."""
        buffers, module, name = uses.buffers, uses.module, self.options.parameter
        stores = [store for item in sorted(names) for store in buffers.made[item]]
        made = {call: store.method for store in stores for call in calls_of(store)}
        is_stored = buffers.is_dataclass or any(method is not buffers.entry for method in made.values())
        check(project, uses, names, is_stored)
        edits = take_parameter(project, buffers, name, is_stored)
        for call, method in made.items():
            is_given = method is buffers.entry and not buffers.is_dataclass
            device = f"{first_argument(method)}.{name}" if method and not is_given else name
            edits.append(add_keyword(module, call, f"device={device}"))
        return (*edits, *self.treat_moves(uses, moves))

    def treat_moves(self, uses: Uses, moves: list[Move]) -> Iterator[Edit]:
        """`copy=True` where a copy is asked for; nothing at all in place of a move that can go nowhere."""
        module, keeps = uses.module, self.options.moves == "keep"
        for move in moves:
            if keeps and (written := written_result(uses, move)):
                said = "what a move returned is written to; `moves=copy` keeps it a copy"
                raise Unsure(f"{where(module, written)}: {said}")
            if not keeps and is_held(uses, move):
                yield add_copy(module, move)
            elif is_idle(uses.buffers, move, self.options.parameter):
                yield drop(module, move)

    def caveat(self, uses: Uses, moves: list[Move]) -> str:
        """When behaviour could differ: what is shared, or where the tensors are by default."""
        name, held = self.options.parameter, [move for move in moves if is_held(uses, move)]
        said = []
        if parameter_of(uses.module, uses.buffers.owner, name):
            said.append(f"the tensors are then on the `{name}` that callers pass already, and fill its memory")
        if held and self.options.moves == "copy":
            said.append("on one and the same device a move used to return the tensor itself, and now returns a copy")
        elif held:
            said.append(tell_sharing(uses, held, name))
        return "; ".join(said)


def count(moves: int) -> str:
    return "a tensor" if moves == 1 else f"{moves} tensors"


def is_made_here(buffers: Buffers, name: str) -> bool:
    """Whether some of what becomes this attribute is made on the default device, or would be but for a reason."""
    return any(store.made and (store.made.calls or store.made.refused) for store in buffers.made[name])


def is_worth_it(buffers: Buffers, moves: list[Move], least: int) -> bool:
    """Whether something is moved that is written to as well, or so many constants."""
    names = {move.attribute for move in moves}
    changes = {
        store.attribute for store in buffers.stores if store.method and store.method.name not in buffers.creators
    }
    changes |= {use.attribute for use in Uses(buffers).all if use.kind == "written"}
    return len(names) >= least or bool(names & changes)


def calls_of(store: Store) -> tuple[ast.Call, ...]:
    return store.made.calls if store.made else ()

"""The audit of one run: graphs are run by the rule, and what outlives its generation is written down."""

from __future__ import annotations

import contextlib
import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from . import backend, calls
from .buffers import Buffer, key_of, poison
from .generations import BACKWARD, Generations
from .hazards import USED, Hazards
from .holding import Holder, find_holders, find_own_holders
from .keeping import Keeping
from .places import Place, here
from .uses import Watch


class Auditor:
    """Runs compiled graphs as CUDA graphs would be run. `roots` names objects that are kept for the program."""

    def __init__(self, everything: bool = False) -> None:
        self.everything = everything
        self.roots: dict[int, str] = {}
        self.origin: Place | None = None
        """Stands for the line of calls that no line of the program makes."""

        self.begin_anew()

    def begin_anew(self, keeping: Keeping | None = None) -> None:
        """Forget what has been seen, before another run; `keeping` looks for lines in it."""
        self.keeping = keeping
        self.entered = self.skipped = self.idle = 0
        self.generations = Generations()
        self.hazards = Hazards()
        self.looked: Counter[Place | None] = Counter()
        self.used: Counter[Place | None] = Counter()
        self.calls = calls.Calls()
        self.watch = Watch(self.generations.stale, self.note_use)

    def install(self) -> None:
        """For the rest of the process."""
        self.standing = self.installed()
        self.standing.__enter__()

    @contextlib.contextmanager
    def installed(self) -> Iterator[Auditor]:
        """Around everything in which the program may compile or run what it has compiled."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(backend.replacing(self, self.everything))
            stack.enter_context(backend.noticing_marks(lambda: self.generations.mark(here())))
            stack.enter_context(calls.noticing(lambda: self.calls, lambda: self.enter()))
            gc.collect()
            gc.freeze()
            stack.callback(gc.unfreeze)
            yield self

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Around the program itself: uses are noticed, and lines if they are asked for."""
        with self.watch, self.keeping or contextlib.nullcontext():
            yield

    def enter(self) -> Callable[[], None]:
        """An outermost compiled call begins: nothing of ours may stand in Dynamo's way."""
        self.entered += 1
        keeping, runs = self.keeping, self.generations.runs
        if keeping is not None:
            keeping.stop()
        put_back = calls.lift(self.watch.calls, self.watch.operators)

        def leave() -> None:
            self.idle += self.generations.runs == runs
            put_back()
            if keeping is not None:
                keeping.go_on()

        return leave

    def outputs(self) -> dict[int, Buffer]:
        return self.generations.alive()

    def finish(self) -> None:
        """The program has ended: what is held still is told of."""
        self.generations.forget_dead()
        if self.keeping is None:
            self.look_for_holders(is_last=True)

    # A graph runs

    def run(self, graph: backend.Graph, phase: str, args: list[Any]) -> Any:
        with self.watch.paused():
            if phase != BACKWARD:
                graph.made, graph.path = self.calls.place or self.origin, self.generations.path()
            inputs = {key for one in args if isinstance(one, torch.Tensor) and (key := key_of(one))}
            late = self.begin(graph, phase, inputs)
            is_skipped = graph.is_skipped(phase, args, graph.path.live)
            result = graph.call(phase, args)
            for buffer in late:
                poison(buffer)
            self.generations.end(graph.path, phase)
            self.skipped += is_skipped
            if not is_skipped:
                self.generations.keep(graph.path, result, inputs | graph.constants, graph.made, phase)
        return result

    def begin(self, graph: backend.Graph, phase: str, inputs: set[int]) -> list[Buffer]:
        """Overwrite what is over, except what the graph itself is given: that is overwritten after it has run."""
        place = graph.made if phase != BACKWARD else here() or graph.made
        ended = self.generations.begin(graph.path, place)
        for key in inputs & self.generations.stale.keys():
            self.note_input(self.generations.stale[key], phase, place)
        if self.keeping is None:
            self.look_for_holders(leave_out=inputs)
        for buffer in ended:
            if buffer.key not in inputs:
                poison(buffer)
        return [buffer for buffer in ended if buffer.key in inputs]

    # What is seen

    def look_for_holders(self, leave_out: Iterable[int] = (), is_last: bool = False) -> None:
        """Find who can still read what is over. Cycles that nobody holds are cleared away before it is told.

        What a graph is given right now is left out: torch itself holds it on its way there.
        """
        stale = self.generations.stale
        due = {key for key, one in stale.items() if self.is_due(one, is_last)}
        found = self.live_holders(due.difference(leave_out))
        if any(self.is_new(stale[key], holder) for key, holders in found.items() for holder in holders):
            gc.collect()
            self.generations.forget_dead()
            found = self.live_holders(found.keys() & stale.keys())
        for key, holders in found.items():
            lasting = [holder for holder in holders if holder.kind != "local"]
            for holder in (lasting or holders)[:HOLDERS]:
                self.hazards.add(stale[key], holder)

    def live_holders(self, keys: set[int]) -> dict[int, list[Holder]]:
        found = find_holders(keys, self.roots)
        live = {key: [holder for holder in holders if holder.is_live] for key, holders in found.items()}
        return {key: holders for key, holders in live.items() if holders}

    def is_due(self, buffer: Buffer, is_last: bool) -> bool:
        """Whether to look for its holders: outputs of a line that was looked at often are taken together, later."""
        if buffer.phase == BACKWARD or self.is_placed(buffer):
            return False
        self.looked[buffer.made] += 1
        times = self.looked[buffer.made]
        return is_last or times <= OFTEN or times & (times - 1) == 0

    def is_placed(self, buffer: Buffer) -> bool:
        """Whether it is known who holds it."""
        return any(hazard.kind not in USED for hazard in self.hazards.of(buffer))

    def is_new(self, buffer: Buffer, holder: Holder) -> bool:
        return (buffer.made, holder.kind, holder.name) not in self.hazards.by_key

    def note_use(self, buffer: Buffer, tensor: torch.Tensor, name: str) -> None:
        """A call or an operator has been given memory that was overwritten."""
        hazards = self.hazards.of(buffer)
        self.used[buffer.made] += 1
        if (hazards and all(hazard.used_by for hazard in hazards)) or self.used[buffer.made] > OFTEN:
            return
        if buffer.phase == BACKWARD:
            self.hazards.add(buffer, Holder("gradient", "a gradient", "a gradient", True))
            own: list[Holder] = []
        else:
            own = find_own_holders(tensor, self.roots)
            if not hazards:
                self.hazards.add(buffer, (*own, EXPRESSION)[0])
        self.set_used(buffer, here(), name, {(holder.kind, holder.name) for holder in own})

    def note_input(self, buffer: Buffer, phase: str, place: Any) -> None:
        kind = "backward" if phase == BACKWARD else "input"
        self.hazards.add(buffer, Holder(kind, "", "", True))
        self.set_used(buffer, place, "backward" if phase == BACKWARD else "compiled call")

    def note_returned(self, result: Any) -> None:
        """What the program gives away must be its own."""
        for buffer, _ in self.watch.stale_in(torch.utils._pytree.tree_leaves(result)):
            self.hazards.add(buffer, Holder("returned", "the result", "the result", True))
            self.set_used(buffer, None, "the caller", {("returned", "the result")})

    def set_used(self, buffer: Buffer, place: Place | None, name: str, through: Iterable[tuple[str, str]] = ()) -> None:
        """Say so of the hazards through whose holders it was used; of all, if that cannot be told."""
        hazards = self.hazards.of(buffer)
        named = [hazard for hazard in hazards if (hazard.kind, hazard.holder) in set(through)]
        for hazard in named or (hazards if not any(hazard.used_by for hazard in hazards) else ()):
            if not hazard.used_by:
                hazard.used, hazard.used_by = place, name


OFTEN = 24
"""Searches for holders of one line's outputs, and uses of them, after which another one hardly tells anything new."""

HOLDERS = 4
"""Of one tensor; who holds it in more places has been told enough."""

EXPRESSION = Holder("expression", "an expression", "an expression", True)

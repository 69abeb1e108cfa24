"""The audit of one run: graphs are run by the rule, and what outlives its generation is written down."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from . import backend, calls
from .buffers import Buffer, key_of, poison
from .generations import BACKWARD, Generations
from .glance import Glance, glance
from .hazards import USED, Hazards
from .holding import Holder, find_holders, find_own_holders
from .keeping import Keeping
from .places import Call, Place, find_call, here
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
        self.entered = self.skipped = self.idle = self.passed_over = 0
        self.generations = Generations()
        self.hazards = Hazards()
        self.looked: Counter[tuple[Place | None, Glance]] = Counter()
        self.used: Counter[tuple[Place | None, Place | None, str]] = Counter()
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
            stack.enter_context(backend.noticing_marks(lambda: self.generations.mark(find_call(sys._getframe(1)))))
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
        keeping, runs, place = self.keeping, self.generations.runs, self.called().place
        if keeping is not None:
            keeping.stop()
        put_back = calls.lift(self.watch.calls, self.watch.operators)

        def leave() -> None:
            self.idle += self.generations.runs == runs
            put_back()
            if keeping is not None:
                keeping.ask(place)
                keeping.go_on()

        return leave

    @property
    def has_all(self) -> bool:
        """Whether lines were looked for in this run, and are all known by now."""
        return self.keeping is not None and self.keeping.is_over

    def finish(self) -> None:
        """The program has ended: what is held still is told of."""
        self.generations.forget_dead()
        self.look_for_holders(is_last=True)

    # A graph runs

    def run(self, graph: backend.Graph, phase: str, args: list[Any]) -> Any:
        with self.watch.paused():
            if phase != BACKWARD:
                graph.called, graph.path = self.called(), self.generations.path()
            inputs = {key for one in args if isinstance(one, torch.Tensor) and (key := key_of(one))}
            late = self.begin(graph, phase, inputs)
            is_skipped = graph.is_skipped(phase, args, graph.path.live)
            result = graph.call(phase, args)
            for buffer in late:
                poison(buffer)
            self.generations.end(graph.path, phase)
            self.skipped += is_skipped
            if not is_skipped:
                kept = self.generations.keep(graph.path, result, inputs | graph.constants, graph.called, phase)
                if self.keeping is not None:
                    self.keeping.expect(kept)
        return result

    def called(self) -> Call:
        """The call that runs a graph now."""
        return self.calls.last if self.calls.last.place else Call(self.origin)

    def begin(self, graph: backend.Graph, phase: str, inputs: set[int]) -> list[Buffer]:
        """Overwrite what is over, except what the graph itself is given: that is overwritten after it has run."""
        place = graph.called.place if phase != BACKWARD else here() or graph.called.place
        ended = self.generations.begin(graph.path, place)
        for key in inputs & self.generations.stale.keys():
            self.note_input(self.generations.stale[key], phase, place)
        self.look_for_holders(leave_out=inputs)
        if self.keeping is not None:
            self.keeping.end(ended, place)
        for buffer in ended:
            if buffer.key not in inputs:
                poison(buffer)
        return [buffer for buffer in ended if buffer.key in inputs]

    # What is seen

    def look_for_holders(self, leave_out: Iterable[int] = (), is_last: bool = False) -> None:
        """Find who can still read what is over. Cycles that nobody holds are cleared away before it is told.

        What a graph is given right now is left out: torch itself holds it on its way there.
        """
        if self.keeping is not None:
            return
        stale = self.generations.stale
        found = self.live_holders(self.due(leave_out, is_last))
        if any(self.is_new(stale[key], holder) for key, holders in found.items() for holder in holders):
            gc.collect()
            self.generations.forget_dead()
            found = self.live_holders(found.keys() & stale.keys())
        for key, holders in found.items():
            for holder in self.choose(stale[key], holders)[:HOLDERS]:
                self.hazards.add(stale[key], holder)

    def choose(self, buffer: Buffer, holders: list[Holder]) -> list[Holder]:
        """One name for each that holds it, by which it is known already if it is; what lasts, if something does."""
        lasting = [holder for holder in holders if holder.kind != "local"]
        known_first = sorted(lasting or holders, key=lambda holder: self.is_new(buffer, holder))
        return list({holder.within or holder: holder for holder in reversed(known_first)}.values())[::-1]

    def live_holders(self, keys: set[int]) -> dict[int, list[Holder]]:
        found = find_holders(keys, self.roots)
        live = {key: [holder for holder in holders if holder.is_live] for key, holders in found.items()}
        return {key: holders for key, holders in live.items() if holders}

    def due(self, leave_out: Iterable[int], is_last: bool) -> set[int]:
        """Whose holders are looked for: all but what dead variables hold, and what looks as very many did before."""
        stale = self.generations.stale
        unplaced = {key for key, one in stale.items() if one.phase != BACKWARD and not self.is_placed(one)}
        seen = glance(unplaced.difference(leave_out))
        found = {key for key, one in seen.items() if not one.is_dead}
        self.looked.update({(stale[key].made, seen[key]) for key in found})
        due = {key for key in found if is_last or self.is_worth_it(self.looked[stale[key].made, seen[key]])}
        self.passed_over += len(found) - len(due)
        return due

    def is_worth_it(self, times: int) -> bool:
        return times <= OFTEN or times & (times - 1) == 0

    def is_placed(self, buffer: Buffer) -> bool:
        """Whether it is known who holds it."""
        return any(hazard.kind not in USED for hazard in self.hazards.of(buffer))

    def is_new(self, buffer: Buffer, holder: Holder) -> bool:
        return (buffer.made, holder.kind, holder.name) not in self.hazards.by_key

    def note_use(self, buffer: Buffer, tensor: torch.Tensor, name: str) -> None:
        """A call or an operator has been given memory that was overwritten."""
        hazards, place = self.hazards.of(buffer), here()
        if self.keeping is not None or (hazards and all(hazard.used_by for hazard in hazards)):
            return
        self.used[buffer.made, place, name] += 1
        if not self.is_worth_it(self.used[buffer.made, place, name]):
            return
        if buffer.phase == BACKWARD:
            self.hazards.add(buffer, GRADIENT)
            own: list[Holder] = []
        else:
            own = find_own_holders(tensor, self.roots)
            self.add_user(buffer, own)
        self.set_used(buffer, place, name, {(holder.kind, holder.name) for holder in own})

    def add_user(self, buffer: Buffer, own: list[Holder]) -> None:
        """Those who hold the tensor that is used, if none of them is known. A variable may be bound to it just now."""
        known = {(hazard.kind, hazard.holder) for hazard in self.hazards.of(buffer)}
        lasting = [holder for holder in own if holder.kind != "local"]
        if not known:
            self.hazards.add(buffer, (*own, EXPRESSION)[0])
        elif lasting and not any((holder.kind, holder.name) in known for holder in lasting):
            self.hazards.add(buffer, lasting[0])

    def note_input(self, buffer: Buffer, phase: str, place: Any) -> None:
        if self.keeping is not None:
            return
        if phase == BACKWARD:
            found = [Holder("backward", "", "", True)]
        else:
            found = [GRADIENT] if buffer.phase == BACKWARD else self.find_keepers(buffer)
        for holder in found:
            self.hazards.add(buffer, holder)
        through = {(holder.kind, holder.name) for holder in found}
        self.set_used(buffer, place, "backward" if phase == BACKWARD else "compiled call", through)

    def find_keepers(self, buffer: Buffer) -> list[Holder]:
        """Who gives an output to a compiled call; torch itself holds it on its way there, and variables do not last."""
        self.used[buffer.made, None, "input"] += 1
        is_worth_it = self.is_worth_it(self.used[buffer.made, None, "input"])
        found = self.live_holders({buffer.key}).get(buffer.key, []) if is_worth_it else []
        lasting = [one for one in found if one.kind != "local" and not one.name.startswith("a ")]
        return lasting[:1] or [Holder("input", "", "", True)]

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


OFTEN = 2000
"""Searches for holders of one line's outputs that look alike, and uses in one place, after which another one hardly
tells anything new."""

HOLDERS = 4
"""Of one tensor; who holds it in more places has been told enough."""

GRADIENT = Holder("gradient", "a gradient", "a gradient", True)
EXPRESSION = Holder("expression", "an expression", "an expression", True)

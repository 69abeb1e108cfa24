"""The values that travel through a walk: calls, their outputs, and which names hold these."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace

from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.boundaries.requests import Compiled


@dataclass(frozen=True)
class Site:
    """A direct call of a compiled callable. `has_backward`: a backward pass may follow, which needs what it saved."""

    compiled: Compiled
    module: Module
    call: ast.Call
    has_backward: bool

    @property
    def line(self) -> int:
        return self.call.lineno

    def __str__(self) -> str:
        return f"{self.module.path}:{self.line}"


@dataclass(frozen=True)
class Output:
    """What a call has given, or a part or view of it. `held` is the statement or call by which a local name has it.

    `ended_by` is the call that began the next step meanwhile; none does as long as a backward pass is awaited.
    `may_be_new`: something has happened to it that makes a new tensor where there is something to do.
    """

    site: Site
    held: ast.AST | None = None
    ended_by: Site | None = None
    is_awaited: bool = False
    may_be_new: bool = False

    def at_end(self, site: Site) -> Output:
        """What it is after a call that begins the next step."""
        return self if self.is_awaited else replace(self, ended_by=self.ended_by or site)


Outputs = frozenset[Output]
NONE: Outputs = frozenset()
State = dict[str, Outputs]
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def perhaps(outputs: Outputs) -> Outputs:
    """The outputs, or new tensors."""
    return frozenset(replace(output, may_be_new=True) for output in outputs)


def merge(states: Iterable[State | None]) -> State | None:
    """What may be held where several ways meet."""
    alive = [state for state in states if state is not None]
    if not alive:
        return None
    names = {name for state in alive for name in state}
    return {name: NONE.union(*(state.get(name, NONE) for state in alive)) for name in names}

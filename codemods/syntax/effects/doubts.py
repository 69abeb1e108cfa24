"""What running code does, and why something may be different afterwards: values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.effects.tokens import Token
from fullgraph.codemods.syntax.places import where


@dataclass(frozen=True)
class Doubt:
    """Why something may be different afterwards. `is_seen`: the text has the write; else code cannot be followed."""

    where: str
    what: str
    is_seen: bool

    @property
    def text(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True)
class Effect:
    """Something that running a node does: it binds names or attributes anew, it changes objects, or it is unknown.

    `changes` names everything by which a changed object, or one that it is a part of, may be known. `is_unknown`: code
    that cannot be followed. `is_output`: nothing of the program's changes, but doing it once is not doing it twice.
    `origin` is where it stands in the text, if that is in a function which the node runs.
    """

    where: str
    what: str
    binds: frozenset[Token] = frozenset()
    changes: frozenset[Token] = frozenset()
    is_unknown: bool = False
    is_output: bool = False
    origin: str = ""

    def doubt(self) -> Doubt:
        what = f"{self.what} ({self.origin})" if self.origin else self.what
        return Doubt(self.where, what, is_seen=not self.is_unknown)


def binding(module: Module, node: ast.AST, what: str, tokens: Iterable[Token]) -> Effect:
    return Effect(where(module, node), what, binds=frozenset(tokens))


def change(module: Module, node: ast.AST, what: str, tokens: Iterable[Token]) -> Effect:
    return Effect(where(module, node), what, changes=frozenset(tokens))


def distinct(effects: Iterable[Effect]) -> Iterator[Effect]:
    """The first of all effects that do the same."""
    seen: set[tuple[object, ...]] = set()
    for effect in effects:
        what = (effect.binds, effect.changes, effect.is_unknown, effect.is_output)
        if what not in seen:
            seen.add(what)
            yield effect

"""Who holds a tensor: found from the tensor upwards, told from the top down."""

from __future__ import annotations

import contextlib
import gc
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from functools import _lru_cache_wrapper
from typing import Any, NamedTuple

import torch

from .buffers import key_of
from .liveness import is_read_later
from .naming import SUSPENDED, Link, find_key, frame_of, is_internal, link
from .places import is_machinery, name_of
from .variables import Variable, read_variables

DEEPEST = 10
WIDEST = 3000
CHAINS = 60
"""Bounds of a search: links of a chain, objects of a level, chains of a tensor."""

GROWING = (list, deque, set)
"""Such a thing that nobody seems to hold is part of an expression that is being worked out, and will be read."""


class Holder(NamedTuple):
    """`name` is the same at every step (`Controller.history[...]`), `path` as the program would write it now.

    `is_live`: it can be read again. A variable that is bound anew before it is read holds a tensor, and is dead.
    `within`: the number of the object that holds the tensor itself, which may be held under several names.
    """

    kind: str
    name: str
    path: str
    is_live: bool
    within: int = 0


def find_holders(keys: set[int], roots: dict[int, str]) -> dict[int, list[Holder]]:
    """Everything that holds memory of these keys, the live first; `roots` are kept for the program by others."""
    if not keys:
        return {}
    with contextlib.closing(Search(keys, roots)) as search:
        return search.answer()


def find_own_holders(tensor: torch.Tensor, roots: dict[int, str]) -> list[Holder]:
    """Everything that holds this very tensor, and not another view of its memory."""
    with contextlib.closing(Search({key_of(tensor)}, roots)) as search:
        return rank(search.holders_of(id(tensor)))


def rank(holders: Iterable[Holder]) -> list[Holder]:
    """The live first, and what outlasts a function before its variables."""
    return sorted(holders, key=lambda one: (not one.is_live, one.kind == "local", len(one.path)))


class Search:
    """One search. It remembers objects in a single dict, so that it can tell its own references from others'."""

    def __init__(self, keys: set[int], roots: dict[int, str]) -> None:
        self.roots = roots
        self.objects: dict[int, Any] = {}
        self.parents: dict[int, list[int]] = {}
        self.modules = {id(vars(one)): one.__name__ for one in list(sys.modules.values()) if hasattr(one, "__dict__")}
        self.variables, arrays = read_variables()
        self.tensors: dict[int, int] = {}
        for one in gc.get_objects():
            if issubclass(type(one), torch.Tensor) and (key := key_of(one)) in keys:
                self.tensors[id(one)] = key
                self.objects[id(one)] = one
        del one
        self.climb(list(self.objects.values()))
        if "numpy" in sys.modules:
            self.climb(self.add_arrays(sys.modules["numpy"].ndarray, arrays))

    def close(self) -> None:
        """Let go of all: what it has found may hold the search itself, and would stay with it."""
        for held in (self.objects, self.parents, self.variables):
            held.clear()

    def answer(self) -> dict[int, list[Holder]]:
        found: dict[int, list[Holder]] = {}
        for number, key in self.tensors.items():
            found.setdefault(key, []).extend(self.holders_of(number))
        return {key: rank(holders) for key, holders in found.items()}

    def holders_of(self, number: int) -> Iterator[Holder]:
        for chain in self.chains(number) if number in self.objects else ():
            yield from self.tell(chain)

    # From the tensors upwards

    def climb(self, level: list[Any]) -> None:
        for _ in range(DEEPEST):
            if not level or len(level) > WIDEST:
                return
            level = self.note(gc.get_referrers(*level), {id(one) for one in level}, {id(level), id(self.objects)})

    def note(self, referrers: list[Any], wanted: set[int], ours: set[int]) -> list[Any]:
        """Write down who refers to whom; what is to be asked about next."""
        following = []
        for one in referrers:
            if id(one) in ours:
                continue
            for number in {id(child) for child in gc.get_referents(one)} & wanted:
                self.parents.setdefault(number, []).append(id(one))
            if id(one) not in self.objects:
                self.objects[id(one)] = one
                if not self.is_top(one):
                    following.append(one)
        return following

    def is_top(self, one: Any) -> bool:
        tops = (type, types.ModuleType, torch.nn.Module, _lru_cache_wrapper, *SUSPENDED)
        return id(one) in self.modules or id(one) in self.roots or isinstance(one, tops) or is_internal(one)

    def add_arrays(self, kind: Any, arrays: list[Any]) -> list[Any]:
        """An array of numpy's keeps the tensor whose memory it shows, and the collector does not know of it."""
        unheld = {one for one in self.tensors if one not in self.parents and one not in self.variables}
        if not unheld:
            return []
        held = {id(child): child for one in gc.get_objects() for child in gc.get_referents(one) if type(child) is kind}
        held.update((id(array), array) for array in arrays)
        for array in list(held.values()):
            base: Any = array.base
            while type(base) is kind:
                base = base.base
            if id(base) in unheld:
                self.parents.setdefault(id(base), []).append(id(array))
                self.objects[id(array)] = array
        return [self.objects[one] for one in held if one in self.objects]

    # From the top down

    def chains(self, number: int) -> Iterator[list[Any]]:
        """Ways from the tensor to what holds it, the shortest first."""
        waiting = deque([[number]])
        for _ in range(CHAINS):
            if not waiting:
                return
            chain = waiting.popleft()
            yield [self.objects[one] for one in chain]
            waiting.extend([*chain, one] for one in self.parents.get(chain[-1], ()) if one not in chain)

    def tell(self, chain: list[Any]) -> Iterator[Holder]:
        """Those who hold the last of the chain in a way that ends it."""
        top = chain[-1]
        links = self.links_of(chain)
        for variable in self.variables.get(id(top), ()):
            if is_machinery(variable.frame.f_code.co_filename):
                continue
            yield self.tell_variable(variable, chain, links)
        if len(chain) == 1 or is_internal(top):
            return
        if (name := self.name_of_top(top)) is not None:
            holder = make_holder(name, chain, links, self.is_live(top, chain[-2]))
            yield holder._replace(path=holder.name) if is_ours(top) else holder

    def links_of(self, chain: list[Any]) -> list[Link]:
        """How each holds the one before it, from the tensor upwards."""
        links = [link(holder, held, up) for held, holder, up in zip(chain, chain[1:], [*chain[2:], None])]
        if id(chain[-1]) in self.modules:
            name = find_key(chain[-1], chain[-2])
            links[-1] = Link(f".{name}", "global")
        return links

    def tell_variable(self, variable: Variable, chain: list[Any], links: list[Link]) -> Holder:
        if len(chain) > 1:
            name = "an iterator" if variable.name.startswith(".") else variable.name
            return make_holder(name, chain, links, variable.is_live)
        name = f"{variable.name} in {name_of(variable.frame)}"
        return Holder("local", name, variable.name, variable.is_live)

    def name_of_top(self, top: Any) -> Any:
        """What it is called; None if it is neither a top nor something that only an expression holds."""
        if id(top) in self.roots:
            return self.roots[id(top)]
        if id(top) in self.modules:
            return None if is_machinery(getattr(sys.modules.get(self.modules[id(top)]), "__file__", "") or "") else ""
        if self.is_top(top):
            return getattr(top, "__qualname__", type(top).__name__).replace("<locals>.", "")
        if isinstance(top, types.FunctionType) and self.parents.get(id(top)):
            return top.__name__
        is_loose = not self.parents.get(id(top)) and id(top) not in self.variables
        if is_loose and (isinstance(top, GROWING) or type(top).__module__ not in ("builtins", "functools")):
            return f"a {type(top).__name__}" if isinstance(top, GROWING) else type(top).__name__
        return None

    def is_live(self, top: Any, held: Any) -> bool:
        if not isinstance(top, SUSPENDED):
            return True
        frame, name = frame_of(top), link(top, held).text.strip(":")
        return frame is not None and (not name or is_read_later(frame, name))


def is_ours(top: Any) -> bool:
    """Whether it is a function of the audit's, or of torch's, which passes on what the program gave it."""
    return isinstance(top, types.FunctionType) and is_machinery(top.__code__.co_filename)


def make_holder(top: str, chain: list[Any], links: list[Link], is_live: bool) -> Holder:
    kinds = [one.kind for one in links if one.kind and one.kind != "array"] or [links[0].kind]
    path = top + "".join(one.text for one in reversed(links))
    return Holder(kinds[0] or "object", anonymous_name(top, chain, links), path.lstrip("."), is_live, id(chain[1]))


def anonymous_name(top: str, chain: list[Any], links: list[Link]) -> str:
    """By the nearest thing that has a name wherever it is seen, a class or a function; else by what is on top."""
    for number, one in enumerate(chain[1:], 1):
        below = "".join(link.anonymous for link in reversed(links[:number]))
        if isinstance(one, NAMED):
            return f"{one.__name__}{below}"
        if type(one) is not dict and any(link.kind == "attribute" for link in links[:number]):
            return f"{type(one).__name__}{below}"
    return (top + "".join(one.anonymous for one in reversed(links))).lstrip(".")


NAMED = (type, types.FunctionType, _lru_cache_wrapper, *SUSPENDED)

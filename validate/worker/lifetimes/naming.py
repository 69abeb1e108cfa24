"""How one object holds another, in the words of the program: `.scores`, `[3]`, a default argument."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Mapping
from functools import _lru_cache_wrapper
from itertools import islice
from typing import Any, NamedTuple

import torch

from .variables import values_of

INTERNAL = (
    *("torch._dynamo", "torch._functorch", "torch._inductor", "torch.fx", "torch._guards", "torch.autograd"),
    *("torch._ops", "torch._subclasses", "torch.utils.checkpoint", __name__.rpartition(".")[0]),
)
SUSPENDED = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
LONGEST = 40
"""Characters of a key that are worth showing."""


class Link(NamedTuple):
    """`text` follows the name of the holder; `kind` is empty where the holder only passes on what another holds."""

    text: str = ""
    kind: str = ""

    @property
    def anonymous(self) -> str:
        """Without what changes from step to step."""
        return "[...]" if self.text.startswith("[") else self.text


def is_internal(one: Any) -> bool:
    """Whether it belongs to torch's compiler or autograd: what they hold, they give back."""
    kind = type(one)
    return kind.__module__.startswith(INTERNAL) or issubclass(kind, (torch._C._FunctionBase, types.FrameType))


def link(holder: Any, held: Any, above: Any = None) -> Link:
    """How `holder` holds `held`; `above` is what holds the holder, if that is known."""
    if isinstance(holder, types.CellType):
        return Link("", "closure")
    if isinstance(holder, _lru_cache_wrapper):
        return Link("(...)", "cache")
    if isinstance(holder, SUSPENDED):
        return Link(f":{name_in_frame(holder, held)}", "generator")
    if isinstance(holder, types.FunctionType):
        return Link()
    if type(holder) is dict:
        return link_dict(holder, held, above)
    if isinstance(holder, (list, tuple, deque)):
        return link_sequence(holder, held, above)
    return link_instance(holder, held)


def link_dict(holder: dict[Any, Any], held: Any, above: Any) -> Link:
    """An attribute, where the dict is that of an object."""
    key = find_key(holder, held)
    if isinstance(above, _lru_cache_wrapper):
        return Link("", "cache")
    if isinstance(above, types.FunctionType) and holder is above.__kwdefaults__:
        return Link(f":{key}", "default argument")
    if attributes_of(above) is holder or isinstance(above, type):
        return Link(f".{key}", "attribute")
    return Link(f"[{shorten(key)}]", "dict value")


def link_sequence(holder: Any, held: Any, above: Any) -> Link:
    if isinstance(above, types.FunctionType):
        return link_around(holder, held, above)
    if hasattr(holder, "_fields"):
        name = next((name for name in holder._fields if getattr(holder, name) is held), "?")
        return Link(f".{name}", "tuple element")
    index = next((number for number, one in enumerate(holder) if one is held), "?")
    kind = next(name for kind, name in KINDS.items() if isinstance(holder, kind))
    return Link(f"[{index}]", kind)


KINDS = {list: "list item", tuple: "tuple element", deque: "deque item"}


def link_around(holder: Any, held: Any, function: types.FunctionType) -> Link:
    """What a function carries with it: variables of functions around it, and defaults of its arguments."""
    names = function.__code__.co_freevars
    if holder is not function.__closure__:
        names = function.__code__.co_varnames[: function.__code__.co_argcount][-len(holder) :]
    name = next((name for name, one in zip(names, holder) if one is held), "?")
    return Link(f":{name}", "" if holder is function.__closure__ else "default argument")


def link_instance(holder: Any, held: Any) -> Link:
    attributes = attributes_of(holder)
    if attributes is held:
        return Link()
    name = find_key(attributes, held) if isinstance(attributes, dict) else None
    slots = (slot for kind in type(holder).__mro__ for slot in names_of(kind.__dict__.get("__slots__", ())))
    name = name or next((slot for slot in slots if read_slot(holder, slot) is held), None)
    if name is not None:
        return Link(f".{name}", "attribute")
    if isinstance(holder, Mapping):
        return Link("[...]", "dict value")
    if isinstance(holder, (set, frozenset)):
        return Link("[...]", "set item")
    is_array = type(holder).__name__ == "ndarray"
    return Link("", "array") if is_array else Link()


def find_key(holder: Mapping[Any, Any], held: Any) -> Any:
    return next((key for key, value in list(holder.items()) if value is held), None)


def attributes_of(one: Any) -> Any:
    """Its `__dict__`, past whatever the class makes of attribute access."""
    try:
        return object.__getattribute__(one, "__dict__")
    except (AttributeError, TypeError):
        return None


def names_of(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def read_slot(holder: Any, slot: str) -> Any:
    try:
        return object.__getattribute__(holder, slot)
    except AttributeError:
        return None


def frame_of(suspended: Any) -> Any:
    """The frame of a generator or coroutine; None once it has ended."""
    return next(getattr(suspended, name) for name in ("gi_frame", "cr_frame", "ag_frame") if hasattr(suspended, name))


def name_in_frame(suspended: Any, held: Any) -> str:
    frame = frame_of(suspended)
    return next((name for name, value in values_of(frame) if value is held), "") if frame is not None else ""


def shorten(key: Any) -> str:
    if isinstance(key, torch.Tensor):
        return "a tensor"
    text = repr(key) if isinstance(key, (str, int, float, bool, tuple, type(None))) else type(key).__name__
    return "".join(islice(text, LONGEST))

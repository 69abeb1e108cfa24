"""Objects taken apart: modules, optimizers and the like by what torch says of them, all others by their attributes."""

from __future__ import annotations

import copy
import hashlib
import logging
import random
import sys
import types
import weakref
from collections.abc import Iterable
from typing import Any

import torch

from .leaf import HEAP_TYPE, Opened, name_type, read_attributes
from .tensors import COMPILER_MARKS, digest

MODULE_OWN = {*torch.nn.Module().__dict__, "training"}
TRANSPARENT = ("typing", "_typing", "abc")
NAMED_ONLY = ("torch.fx", "torch.utils.hooks", "torch._dynamo", "torch._inductor", "torch.distributed.device_mesh")
"""Where objects are defined that are torch's own business, and of which the type is all that counts."""

ALIVE = ("threading", "multiprocessing", "concurrent", "asyncio", "subprocess", "tempfile")
"""Where objects are defined that stand for something outside: their attributes do not tell."""


def open_object(value: Any) -> Opened | None:
    """Any object that keeps what it is in attributes; None for those whose inside cannot be seen."""
    for open_kind in (open_module, open_random, open_stateful, open_distribution, open_error, open_reference):
        opened = open_kind(value)
        if opened is not None:
            return opened
    return open_plain(value)


def open_module(value: Any) -> Opened | None:
    """Parameters, buffers, submodules, whether it trains; and whatever else was set on it."""
    if not issubclass(type(value), torch.nn.Module):
        return None
    if isinstance(value, torch.jit.ScriptModule):
        return Opened(
            [("type", name_type(type(value))), ("training", value.training)], [("", dict(value.state_dict()))]
        )
    inner = value.__dict__.get("_modules", {}).get("_orig_mod")
    if name_type(type(value)) == "torch._dynamo.eval_frame.OptimizedModule" and inner is not None:
        return Opened([], [("", inner)])
    parts: dict[str, Any] = {}
    for held in ("_parameters", "_buffers", "_modules"):
        parts.update(value.__dict__.get(held, {}))
    others = {name: item for name, item in read_attributes(value).items() if name not in MODULE_OWN}
    # What no state_dict holds is an attribute like any other.
    unsaved = parts.keys() & value.__dict__.get("_non_persistent_buffers_set", set())
    others |= {name: parts.pop(name) for name in sorted(unsaved)}
    names = sort_names(name for name in others if name not in parts and not name.startswith(COMPILER_MARKS))
    facts = [("type", name_type(type(value))), ("training", value.training), ("keys", ", ".join(parts))]
    facts.append(("attributes", ", ".join(names)))
    return Opened(
        facts, [(f".{name}", part) for name, part in (*parts.items(), *((one, others[one]) for one in names))]
    )


def open_random(value: Any) -> Opened | None:
    """Generators of random numbers, by the state they are in."""
    if issubclass(type(value), torch.Generator):
        return Opened(
            [("type", "torch.Generator"), ("device", str(value.device)), ("state", digest(value.get_state()))]
        )
    if issubclass(type(value), random.Random):
        return Opened([("type", name_type(type(value))), ("state", digest_text(value.getstate()))])
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(type(value), (numpy.random.Generator, numpy.random.RandomState)):
        return Opened([("type", name_type(type(value)))], [(".state", read_bits(value))])
    return None


def read_bits(value: Any) -> Any:
    bits = getattr(value, "bit_generator", None) or value._bit_generator
    return bits.state


def open_stateful(value: Any) -> Opened | None:
    """Optimizers, schedulers and scalers have a `state_dict`; loggers a name; storages their bytes."""
    stateful = (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, torch.amp.GradScaler)
    if issubclass(type(value), stateful):
        return Opened([("type", name_type(type(value)))], [(".state_dict()", value.state_dict())])
    if issubclass(type(value), (logging.Logger, logging.LoggerAdapter)):
        return Opened([("logger", value.name if hasattr(value, "name") else value.logger.name)], shared=False)
    if issubclass(type(value), (torch.UntypedStorage, torch.TypedStorage)):
        content = torch.tensor([], dtype=torch.uint8, device=value.device).set_(
            value if isinstance(value, torch.UntypedStorage) else value._untyped_storage
        )
        return Opened([("type", name_type(type(value))), ("value", content)])
    return None


def open_distribution(value: Any) -> Opened | None:
    """By its arguments, all of them computed; which of them happen to be computed already says nothing."""
    if not issubclass(type(value), torch.distributions.Distribution):
        return None
    twin = copy.copy(value)
    try:
        parts = [(f".{name}", getattr(twin, name)) for name in twin.arg_constraints]
    except Exception:
        parts = []
    return Opened([("type", name_type(type(value)))], parts) if parts else None


def open_error(value: Any) -> Opened | None:
    if not issubclass(type(value), BaseException):
        return None
    attributes = read_attributes(value)
    parts = [(".args", value.args), *((f".{name}", attributes[name]) for name in sorted(attributes))]
    return Opened([("type", name_type(type(value)))], parts)


def open_reference(value: Any) -> Opened | None:
    """What a weak reference points to counts, and that it is one."""
    if issubclass(type(value), weakref.ReferenceType):
        return Opened([("type", name_type(type(value)))], [("()", weakref.ReferenceType.__call__(value))], shared=False)
    return None


def open_plain(value: Any) -> Opened | None:
    kind = type(value)
    if kind.__module__.startswith(NAMED_ONLY):
        return Opened([("type", name_type(kind))])
    if (
        kind.__module__.startswith(ALIVE)
        or hasattr(kind, "__next__")
        or not all(is_visible(base) for base in kind.__mro__)
    ):
        return None
    attributes = read_attributes(value)
    names = sort_names(attributes)
    facts = [("type", name_type(kind)), ("attributes", ", ".join(names))]
    return Opened(facts, [(f".{name}", attributes[name]) for name in names])


def sort_names(names: Iterable[str]) -> list[str]:
    """Public ones first: what a rewrite adds is private, and must not be where others are said to be the same as."""
    return sorted(names, key=lambda name: (name.startswith("_"), name))


def is_visible(kind: type) -> bool:
    """Whether a class is written in Python, so that its instances hold nothing but attributes."""
    if kind in (object, types.SimpleNamespace) or kind.__module__ in TRANSPARENT:
        return True
    holds = kind.__dictoffset__ != 0 or "__slots__" in kind.__dict__
    return bool(kind.__flags__ & HEAP_TYPE) and holds and is_python(kind.__module__)


def is_python(module: str) -> bool:
    """Whether a module is one of Python source; one that nobody knows was made by Python code at run time."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return module not in sys.builtin_module_names and (file is None or file.endswith((".py", ".pyc", ".ipynb")))


def digest_text(value: object) -> str:
    return hashlib.blake2b(repr(value).encode(), digest_size=16).hexdigest()

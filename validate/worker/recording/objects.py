"""Objects taken apart: modules, optimizers and the like by what torch says of them, all others by their attributes."""

from __future__ import annotations

import contextvars
import copy
import logging
import os
import random
import sys
import threading
import types
import weakref
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import torch

from .functions import is_importable
from .leaf import HEAP_TYPE, Opened, name_type, read_attributes
from .tensors import COMPILER_MARKS, digest
from .values import own_attributes

MODULE_OWN = {*torch.nn.Module().__dict__, "training"}
MODULE_HOOKS = sorted(name for name in MODULE_OWN if name.endswith("_hooks"))
OPTIMIZER_OWN = {
    *torch.optim.SGD([torch.zeros(1)]).__dict__,
    *("step", "_opt_called", "_step_count", "_compiled_step"),
} - {"defaults"}
"""What torch keeps on an optimizer for itself; `state` and `param_groups` are told apart from it."""

TRANSPARENT = ("typing", "_typing", "abc")
NAMED_ONLY = ("torch.fx", "torch.utils.hooks", "torch._dynamo", "torch._inductor", "torch.distributed.device_mesh")
"""Where objects are defined that are torch's own business, and of which the type is all that counts."""

ALIVE = ("threading", "multiprocessing", "concurrent", "asyncio", "subprocess", "tempfile")
"""Where objects are defined that stand for something outside: their attributes do not tell."""


def open_object(value: Any) -> Opened | None:
    """Any object that keeps what it is in attributes; None for those whose inside cannot be seen."""
    for open_kind in (
        open_module,
        open_optimizer,
        open_random,
        open_stateful,
        open_distribution,
        open_error,
        open_reference,
        open_local,
    ):
        opened = open_kind(value)
        if opened is not None:
            return opened
    return open_plain(value)


def open_module(value: Any) -> Opened | None:
    """Parameters, buffers, submodules, whether it trains; and whatever else was set on it."""
    if not issubclass(type(value), torch.nn.Module):
        return None
    if isinstance(value, torch.jit.ScriptModule):
        saved = dict(value.state_dict())
        return Opened([("type", name_type(type(value))), ("training", value.training)], [("", saved)])
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
    hooks = {name: list(value.__dict__[name].values()) for name in MODULE_HOOKS if value.__dict__.get(name)}
    facts = [("type", name_type(type(value))), ("training", value.__dict__.get("training")), ("keys", ", ".join(parts))]
    facts += [("hooks", ", ".join(hooks)), ("attributes", ", ".join(names))]
    inside = (*parts.items(), *hooks.items(), *((one, others[one]) for one in names))
    return Opened(facts, [(f".{name}", part) for name, part in inside])


def open_optimizer(value: Any) -> Opened | None:
    """Its groups with their parameters, the state of each parameter by its number, and whatever else was set on it."""
    if not issubclass(type(value), torch.optim.Optimizer):
        return None
    attributes = read_attributes(value)
    groups, state = attributes.pop("param_groups", []), dict(attributes.pop("state", {}))
    numbers = {id(one): number for number, one in enumerate(one for group in groups for one in group["params"])}
    numbered = [(numbers[id(key)], item) for key, item in state.items() if id(key) in numbers]
    rest = {key: item for key, item in state.items() if id(key) not in numbers}
    names = sort_names(name for name in attributes if name not in OPTIMIZER_OWN and not name.startswith(COMPILER_MARKS))
    parts = [
        (".param_groups", groups),
        (".state", dict(sorted(numbered, key=lambda one: one[0]))),
        (".more_state", rest),
    ]
    facts = [("type", name_type(type(value))), ("attributes", ", ".join(names))]
    return Opened(facts, [*parts, *((f".{name}", attributes[name]) for name in names)])


def open_random(value: Any) -> Opened | None:
    """Generators of random numbers, by the state they are in."""
    if issubclass(type(value), torch.Generator):
        return Opened(
            [("type", "torch.Generator"), ("device", str(value.device)), ("state", digest(value.get_state()))]
        )
    if issubclass(type(value), random.Random):
        state = digest_text(random.Random.getstate(value))
        return Opened([("type", name_type(type(value))), ("state", state)], own_attributes(value))
    numpy = sys.modules.get("numpy")
    drawing: Any = numpy and (numpy.random.Generator, numpy.random.RandomState, numpy.random.BitGenerator)
    if numpy is not None and issubclass(type(value), drawing):
        return Opened([("type", name_type(type(value)))], [(".state", read_bits(value))])
    return None


def read_bits(value: Any) -> Any:
    bits = getattr(value, "bit_generator", None) or getattr(value, "_bit_generator", value)
    return bits.state


def open_stateful(value: Any) -> Opened | None:
    """Scalers have a `state_dict`; loggers and the environment a name; storages their bytes; graphs a text."""
    if issubclass(type(value), torch.amp.GradScaler):
        return Opened([("type", name_type(type(value)))], [(".state_dict()", torch.amp.GradScaler.state_dict(value))])
    if value is os.environ:
        return Opened([("name", "os.environ")], shared=False)
    if type(value) is torch.fx.Graph:
        return Opened([("type", "torch.fx.Graph"), ("text", str(value))])
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


def open_local(value: Any) -> Opened | None:
    """Variables of a thread or of a context, as this thread sees them."""
    if type(value) is contextvars.ContextVar:
        return Opened([("type", "contextvars.ContextVar"), ("name", value.name)], [(".get()", value.get(None))])
    if issubclass(type(value), threading.local):
        held = threading.local.__getattribute__(value, "__dict__")
        return Opened([("type", name_type(type(value)))], [(f".{name}", held[name]) for name in sort_names(held)])
    return None


def open_plain(value: Any) -> Opened | None:
    kind = type(value)
    if kind.__module__.startswith(NAMED_ONLY) and is_importable(kind):
        return Opened([("type", name_type(kind))])
    if kind.__module__.startswith(ALIVE) or not all(is_visible(base) for base in kind.__mro__):
        return None
    attributes = read_attributes(value)
    names = sort_names(attributes)
    facts = [("type", name_type(kind)), ("attributes", ", ".join(names)), *describe_dataclass(kind)]
    return Opened(facts, [(f".{name}", attributes[name]) for name in names])


def describe_dataclass(kind: Any) -> list[tuple[str, Any]]:
    """How its objects are compared and ordered: methods that nobody has written."""
    given = getattr(kind, "__dataclass_params__", None)
    if given is None:
        return []
    apart = [name for name, one in kind.__dataclass_fields__.items() if not one.compare]
    return [("dataclass", f"eq={given.eq} order={given.order} frozen={given.frozen} not compared: {apart}")]


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
    return blake2b(repr(value).encode(), digest_size=16).hexdigest()

"""Which part of the arguments cannot be stored: the path to it, from the parameter down, and its type."""

from __future__ import annotations

import io
import pickle
import sys
import types
from collections.abc import Iterator
from typing import Any

REFUSED = {"Stream", "Event", "DistributedDataParallel", "FullyShardedDataParallel"}
"""Classes of torch that pickle, and come back as something else or not at all outside their process."""


def is_refused(value: Any) -> bool:
    kinds = type(value).__mro__
    return any(kind.__name__ in REFUSED and kind.__module__.partition(".")[0] == "torch" for kind in kinds)


def explain(error: BaseException, arguments: list[tuple[str, Any]]) -> str:
    """`argument loader._iterator: generator`, or what the system said if it is not about a value."""
    if isinstance(error, OSError):
        return f"the disk refuses them: {error.strerror or error}"
    if isinstance(error, RecursionError):
        return "they are nested too deeply"
    reason = " ".join(str(error).split()) or type(error).__name__
    for name, value in arguments:
        found = Probe(deep=False).find(name, value) or Probe(deep=True).find(name, value)
        if found:
            path, culprit = found
            return f"argument {path}: {called(culprit)}" + (f" ({reason})" if is_tensor(culprit) else "")
    return f"{type(error).__name__}: {reason}"


def is_tensor(value: Any) -> bool:
    return isinstance(value, sys.modules["torch"].Tensor)


def called(value: Any) -> str:
    kind = type(value)
    if kind.__name__ == "function":
        return "lambda" if value.__name__ == "<lambda>" else f"function {value.__qualname__}"
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


class Probe:
    """Pickles parts of a value without keeping the bytes. Tensors are passed over unless it looks deep."""

    def __init__(self, deep: bool) -> None:
        self.deep = deep
        self.seen: dict[int, Any] = {}

    def find(self, path: str, value: Any) -> tuple[str, Any] | None:
        """The innermost part that cannot be stored."""
        if id(value) in self.seen or self.can_store(value):
            return None
        self.seen[id(value)] = value
        for step, part in parts(value):
            found = self.find(path + step, part)
            if found:
                return found
        return path, value

    def can_store(self, value: Any) -> bool:
        try:
            ProbePickler(self.deep).dump(value)
        except Exception:
            return False
        return True


class Nowhere(io.RawIOBase):
    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return len(data)


class ProbePickler(pickle.Pickler):
    def __init__(self, deep: bool) -> None:
        super().__init__(Nowhere(), protocol=4)
        self.deep = deep

    def persistent_id(self, value: Any) -> Any:
        torch = sys.modules["torch"]
        if not isinstance(value, (torch.Tensor, torch.storage.UntypedStorage, torch.storage.TypedStorage)):
            return None
        if self.deep and isinstance(value, torch.Tensor):
            torch.save(value, io.BytesIO())
        return "tensor"

    def reducer_override(self, value: Any) -> Any:
        if is_refused(value):
            raise pickle.PicklingError
        return NotImplemented


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What a value is made of, each with the step that leads to it."""
    if is_tensor(value) or isinstance(value, (type, types.ModuleType)):
        return
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in value.items())
        yield from ((f" key {key!r}", key) for key in value)
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{number}]", part) for number, part in enumerate(value))
    elif isinstance(value, (set, frozenset)):
        yield from ((" member", part) for part in value)
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict):
        yield from module_parts(held)
    for name in slots_of(value):
        if hasattr(value, name):
            yield f".{name}", getattr(value, name)


def module_parts(held: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Attributes; the children of an nn.Module under their own names."""
    for name, part in held.items():
        if name in ("_modules", "_parameters", "_buffers") and isinstance(part, dict):
            yield from ((f".{inner}", child) for inner, child in part.items())
        else:
            yield f".{name}", part


def slots_of(value: Any) -> Iterator[str]:
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots

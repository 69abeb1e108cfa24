"""A device whose memory is the host's: its tensors say that they are elsewhere and hold real values.

Every operator on such tensors is run by the CPU on the same memory. To torch it is a device of its own: operands on two
devices are an error, `.to` copies, views and in-place changes reach the same memory.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import torch

aten = torch.ops.aten
CPU = torch.device("cpu")
ON_CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)

MIXED = {
    f"aten::{name}"
    for name in (
        *("copy_", "_copy_from", "_copy_from_and_resize", "index", "index_put", "index_put_", "_index_put_impl_"),
        *("_unsafe_index", "_pack_padded_sequence", "_use_cudnn_ctc_loss", "_ctc_loss", "_ctc_loss_backward", "set_"),
    )
}
"""Operators that take tensors of the CPU beside those of the device."""

NOT_HERE = {"non_blocking", "pin_memory"}
COPYING = ("aten::copy_", "aten::_to_copy")
"""Operators for all devices that would ask for a stream or for pinned memory."""


class Hosted:
    """One such device. `first` is any tensor that torch believes to be on it, `name` is what messages call it."""

    def __init__(self, first: torch.Tensor, name: str) -> None:
        self.device = first.device
        self.name = name
        self.generator = torch.Generator()
        self.kernels: dict[Any, Callable[..., Any]] = {}
        """Operators that the CPU has not, by what does the same on tensors of the CPU."""
        self._empty = {first.dtype: aten.as_strided.default.redispatch(ON_CPU, first, (0,), (1,), 0)}
        self._libraries: list[Any] = []
        self._kernel = torch._disable_dynamo(lambda *given, **named: self.run(*given, **named))  # type: ignore[attr-defined]

    def register(self, key: str, also: Iterable[str] = ()) -> None:
        """Take every operator of the dispatch key `key`: those that the CPU has, those in `also`, and all others.

        Each by its name, because torch does not find a kernel for all others while a dispatch mode is active.
        """
        self._library("_").fallback(self._kernel, key)
        also = {*also, *COPYING}
        by_namespace: dict[str, set[str]] = {}
        for name in (*torch._C._dispatch_get_registrations_for_dispatch_key("CPU"), *also):
            namespace, _, operator = name.partition("::")
            if namespace == "aten" or name in also:
                by_namespace.setdefault(namespace, set()).add(operator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for namespace, operators in by_namespace.items():
                self._take(namespace, operators, key)

    def _take(self, namespace: str, operators: set[str], key: str) -> None:
        library = self._library(namespace)
        for name in sorted(operators):
            operator, _, overload = name.partition(".")
            found = getattr(getattr(getattr(torch.ops, namespace), operator), overload or "default")
            library.impl(name, functools.partial(self._kernel, found), key)

    def pass_through(self, key: str) -> None:
        """Have torch go on to the next key for every operator of `key`."""
        self._library("_").fallback(torch.library.fallthrough_kernel, key)

    def _library(self, namespace: str) -> Any:
        library = torch.library.Library(namespace, "IMPL")  # type: ignore[no-untyped-call]
        self._libraries.append(library)
        return library

    def release(self) -> None:
        """Give all keys back."""
        while self._libraries:
            self._libraries.pop()._destroy()

    def run(self, operator: Any, *args: Any, **kwargs: Any) -> Any:
        """Run one operator on the host; what it returns is on this device again."""
        with torch._C.DisableTorchFunction():
            return _Call(self, operator).run(args, kwargs)

    def over(self, storage: torch.UntypedStorage) -> torch.UntypedStorage:
        """A storage of this device over the memory of one of the CPU, which lives as long."""
        made: Any = torch._C._construct_storage_from_data_pointer(storage.data_ptr(), self.device, storage.nbytes())
        made.owner = storage
        return made  # type: ignore[no-any-return]

    def empty(self, dtype: torch.dtype) -> Any:
        """A new tensor of this device without elements."""
        if dtype not in self._empty:
            some = next(iter(self._empty.values()))
            self._empty[dtype] = aten.view.dtype.redispatch(ON_CPU, some, dtype)
        return aten.as_strided.default.redispatch(ON_CPU, self._empty[dtype], (0,), (1,), 0)

    def lay(self, tensor: torch.Tensor, storage: torch.UntypedStorage, like: torch.Tensor) -> torch.Tensor:
        """Make a tensor of this device a view of `storage` with the geometry of `like`."""
        place = aten.set_.source_Storage_storage_offset
        place.redispatch(ON_CPU, tensor, storage, like.storage_offset(), like.shape, like.stride())
        return copy_bits(tensor, like)


class _Call:
    """One operator on its way through the host."""

    def __init__(self, hosted: Hosted, operator: Any) -> None:
        self.hosted = hosted
        self.operator = operator
        self.aliases: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        """By id of the tensor on the device: itself, and the one on the CPU over the same memory."""
        self.homes: dict[int, torch.UntypedStorage] = {}
        """By address of the storage on the CPU: the one on the device."""
        self.of_host: list[torch.Tensor] = []

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = [each(value, self.enter) for value in args]
        options = {name: each(value, self.enter) for name, value in kwargs.items() if name not in NOT_HERE}
        self.refuse_two_devices()
        if draws(self.operator) and options.get("generator") is None:
            options["generator"] = self.hosted.generator
        result = self.hosted.kernels.get(self.operator, self.operator)(*given, **options)
        self.follow_resizes()
        device = kwargs.get("device")
        stays = device is not None and torch.device(device).type == "cpu"
        return result if stays else each(result, self.leave)

    def enter(self, value: Any) -> Any:
        """What the CPU gets instead."""
        if isinstance(value, torch.Tensor):
            return self.alias(value) if value.device == self.hosted.device else self.keep(value)
        if isinstance(value, torch.UntypedStorage) and hasattr(value, "owner"):
            self.homes[value.owner._cdata] = value
            return value.owner
        return CPU if isinstance(value, torch.device) else value

    def keep(self, tensor: torch.Tensor) -> torch.Tensor:
        self.of_host.append(tensor)
        return tensor

    def alias(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in self.aliases:
            storage: Any = tensor.untyped_storage()
            self.homes[storage.owner._cdata] = storage
            geometry = (tensor.storage_offset(), tensor.shape, tensor.stride())
            alias = torch.empty(0, dtype=tensor.dtype).set_(storage.owner, *geometry)
            self.aliases[id(tensor)] = (tensor, copy_bits(alias, tensor))
        return self.aliases[id(tensor)][1]

    def refuse_two_devices(self) -> None:
        """As a real device does; only numbers, and what some operators want on the host, may come from the CPU."""
        if self.aliases and self.operator._schema.name not in MIXED:
            for tensor in self.of_host:
                if tensor.dim() and tensor.device.type == "cpu":
                    found = f"{self.hosted.device} and {tensor.device}"
                    raise RuntimeError(
                        f"Expected all tensors to be on the same device, but found at least two devices, {found}!"
                    )

    def follow_resizes(self) -> None:
        """An operator may give its `out` another size or storage: the tensor on the device gets it too."""
        for tensor, alias in self.aliases.values():
            owner = alias.untyped_storage()
            moved = owner.data_ptr() != tensor.untyped_storage().data_ptr()
            if moved or tensor.shape != alias.shape or tensor.stride() != alias.stride():
                self.hosted.lay(tensor, self.home(owner), alias)

    def home(self, owner: torch.UntypedStorage) -> torch.UntypedStorage:
        """The storage on the device over this one; a new one if there is none, or if the memory has moved."""
        if owner._cdata not in self.homes or self.homes[owner._cdata].data_ptr() != owner.data_ptr():
            self.homes[owner._cdata] = self.hosted.over(owner)
        return self.homes[owner._cdata]

    def leave(self, value: Any) -> Any:
        """What goes back to the device for a result of the CPU's."""
        if not isinstance(value, torch.Tensor) or any(value is kept for kept in self.of_host):
            return value
        for tensor, alias in self.aliases.values():
            if alias is value:
                return tensor
        if value.layout != torch.strided or value.is_quantized:
            kind = "quantized" if value.is_quantized else str(value.layout)
            raise NotImplementedError(f"{self.hosted.name} has no {kind} tensors ({self.operator})")
        if value._is_zerotensor():
            value = torch.zeros(value.shape, dtype=value.dtype)
        return self.hosted.lay(self.hosted.empty(value.dtype), self.home(value.untyped_storage()), value)


def copy_bits(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Have a tensor conjugated or negated when it is read, as the other is."""
    torch._C._set_conj(tensor, like.is_conj())
    torch._C._set_neg(tensor, like.is_neg())
    return tensor


def each(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value changed, or what is in it where it is a list or a tuple: operators take and return nothing deeper."""
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return type(value)([each(part, change) for part in value])
    return change(value)


@functools.cache
def draws(operator: Any) -> bool:
    """Whether the operator takes a generator of random numbers."""
    return any(argument.name == "generator" for argument in operator._schema.arguments)

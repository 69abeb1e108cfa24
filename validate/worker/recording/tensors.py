"""Tensors and arrays taken apart: what is visible from outside, and the numbers, without calling a subclass's code."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

import torch

from .leaf import Opened, name_type, read_attributes

INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
BARE = (
    "torch.bits",
    "torch.float4",
    *(f"torch.{sign}int{bits}" for sign in ("", "u") for bits in (1, 2, 3, 4, 5, 6, 7)),
)
"""Kinds of numbers that torch can hold and do next to nothing with: their bits are compared."""

COMPRESSED = {
    torch.sparse_csr: ("crow_indices", "col_indices"),
    torch.sparse_bsr: ("crow_indices", "col_indices"),
    torch.sparse_csc: ("ccol_indices", "row_indices"),
    torch.sparse_bsc: ("ccol_indices", "row_indices"),
}
COMPILER_MARKS = ("_dynamo", "_inductor", "_is_torch_compile", "_compiled_call_impl")
"""What torch.compile leaves on the tensors and modules it has seen."""

Parts = list[tuple[str, Any]]


def open_tensor(value: Any) -> Opened | None:
    """A tensor of any kind; None if it is none."""
    if not issubclass(type(value), torch.Tensor):
        return None
    if torch.nn.parameter.is_lazy(value):
        return Opened([("type", name_type(type(value))), ("dtype", str(value.dtype)), ("device", str(value.device))])
    with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
        content, parts = read_content(value)
        facts = [("type", name_type(type(value))), ("dtype", str(value.dtype)), *describe_shape(value)]
        facts += [("device", str(value.device)), ("layout", str(value.layout)), ("requires_grad", value.requires_grad)]
        told = [*describe_strides(value), ("marks", ", ".join(read_state_marks(value)))]
        if value.requires_grad and (value.is_leaf or value.retains_grad):
            parts = [*parts, (".grad", value.grad)]
    return Opened([*facts, *content, *told], parts)


def describe_strides(value: torch.Tensor) -> list[tuple[str, Any]]:
    """How far apart neighbours are, where there are neighbours."""
    if value.layout is not torch.strided or value.is_nested or is_fake(value):
        return []
    return [("strides", tell_strides(value.shape, value.stride()))]


def tell_strides(shape: Sequence[int], strides: Sequence[int]) -> str:
    shown = ["-" if size <= 1 else str(stride) for size, stride in zip(shape, strides)]
    return f"[{', '.join(['-' for _ in shape] if 0 in shape else shown)}]"


def read_state_marks(value: torch.Tensor) -> Iterator[str]:
    """What a caller can meet later: an error in backward or in place, a hook that runs, a view that is lazy."""
    if value.requires_grad and not value.is_leaf:
        yield "computed"
    if value.is_inference():
        yield "inference"
    if value.layout is torch.strided and not value.is_nested:
        yield from (name for name, holds in (("conj", value.is_conj()), ("neg", value.is_neg())) if holds)
    for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        if getattr(value, name, None):
            yield f"{len(getattr(value, name))} {name.lstrip('_')}"


def describe_shape(value: torch.Tensor) -> list[tuple[str, Any]]:
    """A nested tensor has none to compare: the name of its ragged side counts what the process made before."""
    return [] if value.is_nested else [("shape", str(list(value.shape)))]


def read_content(value: torch.Tensor) -> tuple[list[tuple[str, Any]], Parts]:
    """The numbers, as one dense tensor, or as parts that are."""
    if is_fake(value) or value.is_meta:
        return [], []
    if value.is_nested:
        with torch.enable_grad():  # views that are made without have no way back to what they are views of
            items = value.unbind()
        return [("length", len(items))], [(f"[{place}]", item) for place, item in enumerate(items)]
    if hasattr(type(value), "__tensor_flatten__"):
        names, rest = value.__tensor_flatten__()  # type: ignore[attr-defined]
        return [], [*((f".{name}", getattr(value, name)) for name in names), (".context", rest)]
    if value.layout in COMPRESSED:
        return [], [(f".{name}", getattr(value, name)().detach()) for name in (*COMPRESSED[value.layout], "values")]
    if value.layout is torch.sparse_coo:
        whole = value.detach().coalesce()
        facts = [("dense_dim", value.dense_dim()), ("coalesced", value.is_coalesced())]
        return facts, [(".indices", whole.indices()), (".values", whole.values())]
    if value.is_quantized:
        return [("qscheme", str(value.qscheme()))], read_quantized(value)
    return read_dense(value)


def read_dense(value: torch.Tensor) -> tuple[list[tuple[str, Any]], Parts]:
    """Of a subclass that keeps its numbers elsewhere, the attributes say it all."""
    plain = value.to_dense() if value.layout is not torch.strided else value.as_subclass(torch.Tensor)
    content = [("value", plain.detach())] if type(plain) is torch.Tensor else []
    return content, read_marks(value)


def read_quantized(value: torch.Tensor) -> Parts:
    numbers: Parts = [(".int_repr()", value.int_repr())]
    if value.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return [*numbers, (".q_scale()", value.q_scale()), (".q_zero_point()", value.q_zero_point())]
    scales, zeros = value.q_per_channel_scales(), value.q_per_channel_zero_points()
    return [*numbers, (".scales", scales), (".zero_points", zeros), (".axis", value.q_per_channel_axis())]


def read_marks(value: torch.Tensor) -> Parts:
    """What was set on the tensor itself."""
    attributes = read_attributes(value)
    return [(f".{name}", attributes[name]) for name in sorted(attributes) if not name.startswith(COMPILER_MARKS)]


def is_fake(value: object) -> bool:
    return any(kind.__name__ == "FakeTensor" for kind in type(value).__mro__)


def find_storage(value: torch.Tensor) -> int | None:
    """What two tensors have in common exactly if they share memory; None where there is none to share."""
    try:
        with torch._C.DisableTorchFunctionSubclass():
            storage = value.untyped_storage()
            return storage._cdata if storage.nbytes() and storage.data_ptr() else None
    except (RuntimeError, NotImplementedError):
        return None


def shrink(value: torch.Tensor) -> torch.Tensor:
    """Without the repetition in an expanded tensor: each such dimension is one long."""
    for dimension, (size, stride) in enumerate(zip(value.shape, value.stride())):
        if size > 1 and stride == 0:
            value = value.narrow(dimension, 0, 1)
    return value


def simplify(value: torch.Tensor) -> torch.Tensor:
    """The same numbers as a kind of number that can be stored and compared."""
    if str(value.dtype).startswith(BARE) and value.dtype not in INTEGERS.values():
        return value.view(INTEGERS[value.element_size()])
    value = value.resolve_conj().resolve_neg()
    return torch.view_as_real(value) if value.dtype is torch.complex32 else value


def keep(value: torch.Tensor) -> torch.Tensor:
    """A copy on the CPU, in one piece; an expanded tensor stays expanded."""
    plain = simplify(value)
    return shrink(plain).to("cpu", copy=True).contiguous().expand(plain.shape)


def digest(value: torch.Tensor) -> str:
    """A short text in place of the numbers, another one for other bits."""
    plain = shrink(simplify(value)).to("cpu").contiguous()
    size = plain.numel() * plain.element_size()
    data = (ctypes.c_char * size).from_address(plain.data_ptr()) if size else b""
    return blake2b(data, digest_size=16).hexdigest()


def is_array(value: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(type(value), getattr(numpy, "ndarray", ()))


def open_array(value: Any) -> Opened | None:
    """An array or a number of numpy; None if it is neither. numpy need not be there."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not hasattr(numpy, "ndarray"):
        return None
    if issubclass(type(value), numpy.generic):
        item = value.item()
        known = not issubclass(type(item), numpy.generic)
        return Opened([("type", name_type(type(value)))], [("", item if known else str(item))], shared=False)
    if issubclass(type(value), numpy.dtype):
        return Opened([("type", "numpy.dtype"), ("text", str(value))], shared=False)
    if not is_array(value):
        return None
    facts = [("type", name_type(type(value))), ("dtype", str(value.dtype)), ("shape", str(list(value.shape)))]
    told = [
        ("strides", tell_strides(value.shape, value.strides)),
        ("marks", "" if value.flags.writeable else "read only"),
    ]
    masks = [(".mask", numpy.ma.getmaskarray(value))] if issubclass(type(value), numpy.ma.MaskedArray) else []
    plain = numpy.array(value.view(numpy.ndarray), order="C")
    if plain.dtype.kind in "Mm":
        plain = plain.view(numpy.int64)
    try:
        numbers = torch.from_numpy(plain.astype(plain.dtype.newbyteorder("=")))
        return Opened([*facts, ("value", numbers), *told], masks)
    except (TypeError, RuntimeError):
        return Opened([*facts, *told], [(".tolist()", plain.tolist()), *masks])

"""Which calls of torch make the host wait for data of a device, and which copy between devices.

The tables say what CUDA does. Where the CPU checks values that CUDA leaves unchecked, the check is no read; where CUDA
reads a size or an error code inside a kernel, the operator is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

OnHost = Callable[[torch.Tensor], bool]

CALLS = {
    "item": "item",
    "tolist": "tolist",
    "numpy": "numpy",
    "__array__": "numpy",
    "__dlpack__": "dlpack",
    "__bool__": "bool",
    "is_nonzero": "bool",
    "__float__": "float",
    "__int__": "int",
    "__index__": "int",
    "__complex__": "complex",
    "__contains__": "in",
    "__repr__": "repr",
    "__format__": "format",
}
"""Calls that are one host read of their first argument, whatever happens inside: by name, as they are shown."""

BUILDERS = {"tensor", "as_tensor", "new_tensor", "asarray"}
"""Calls that make a tensor of Python data, reading every tensor inside on its own."""

CHECKED_ON_CPU_ONLY = {"one_hot", "quantile", "nanquantile"}

OPERATORS = {
    f"aten::{name}"
    for name in (
        *("_local_scalar_dense", "equal", "allclose", "nonzero", "masked_select", "bincount", "histc"),
        *("_unique", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive"),
        *("_linalg_check_errors", "_linalg_eigh", "_linalg_svd", "linalg_eig", "linalg_eigvals", "linalg_lstsq"),
        *("linalg_matrix_exp", "_to_sparse", "_coalesce", "segment_reduce", "embedding_renorm_"),
    )
}
"""Operators after which the host knows something of the values: a number, a size, an error."""

INDEXING = {f"aten::{name}" for name in ("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index")}
MASKS = (torch.bool, torch.uint8)


def count_reads(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], on_host: OnHost) -> int:
    """How often CUDA would make the host wait in this operator."""
    name = operator._schema.name
    if name in INDEXING:
        return int(
            any(index.dtype in MASKS and not on_host(index) for index in indices(args)) and not fills(args, on_host)
        )
    if name == "aten::repeat_interleave":
        return int(kwargs.get("output_size") is None and not on_host(args[0]))
    if name == "aten::normal":
        spread = args[1] if len(args) > 1 else None
        return int(isinstance(spread, torch.Tensor) and not on_host(spread))
    return int(name in OPERATORS and any(not on_host(tensor) for tensor in tensors_in(args)))


def indices(args: tuple[Any, ...]) -> list[torch.Tensor]:
    return [index for index in args[1] if isinstance(index, torch.Tensor)]


def fills(args: tuple[Any, ...], on_host: OnHost) -> bool:
    """Whether this is `x[mask] = number`: one number that the host knows needs no positions."""
    return (
        len(args) > 2 and args[2].numel() == 1 and on_host(args[2]) and not any(args[3:4]) and len(indices(args)) == 1
    )


def find_move(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str, bool] | None:
    """From which device to which this operator copies, and whether the host waits for it."""
    name = operator._schema.name
    waits = not kwargs.get("non_blocking")
    if name == "aten::_to_copy":
        source, target = args[0].device, kwargs.get("device") or args[0].device
    elif name == "aten::copy_":
        source, target = args[1].device, args[0].device
        waits = waits and not any(args[2:3])
    elif name in INDEXING:
        target = args[0].device
        source = next((index.device for index in indices(args) if index.device != target), target)
    else:
        return None
    return None if same(source, target) else (spell(source), spell(target), waits)


def same(first: torch.device, second: torch.device) -> bool:
    return first.type == second.type and (first.index or 0) == (second.index or 0)


def spell(device: torch.device) -> str:
    return device.type if device.type == "cpu" else f"{device.type}:{device.index or 0}"


def tensors_in(values: Any) -> Iterator[torch.Tensor]:
    """The tensors in arguments or results: in tuples, lists and dicts too."""
    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, (tuple, list)):
        for value in values:
            yield from tensors_in(value)
    elif isinstance(values, dict):
        yield from tensors_in(list(values.values()))

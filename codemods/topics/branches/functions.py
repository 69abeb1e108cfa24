"""Functions of torch that take more than one tensor, or make one from numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from fullgraph.codemods.topics.branches.operations import WHOLE
from fullgraph.codemods.topics.branches.values import BOOL, NOBODY, Number, Tensor, Value, Work, combined

if TYPE_CHECKING:
    from fullgraph.codemods.topics.branches.reading import Reader


def read_function(reader: Reader, dotted: str, call: ast.Call, work: Work) -> Value | None:
    """What one of these functions makes; None where it is another."""
    kinds: dict[str, Callable[[Reader, ast.Call, Work], Value]] = {
        "torch.maximum": read_larger,
        "torch.minimum": read_larger,
        "torch.where": read_where,
        "torch.arange": read_count,
    }
    return kinds[dotted](reader, call, work) if dotted in kinds and not call.keywords else None


def read_larger(reader: Reader, call: ast.Call, work: Work) -> Tensor:
    """Two tensors of one kind. Of the gradient each gets a part that goes by constants."""
    if len(call.args) != 2:
        raise reader.unsure(call)
    one, other = (reader.tensor(item, work, proves=True) for item in call.args)
    work.real |= {one.dtype: None, other.dtype: None}
    work.signed |= {one.dtype: None, other.dtype: None}
    return combined(one, other if reader.sure else reader.fitting(one, other, work))


def read_where(reader: Reader, call: ast.Call, work: Work) -> Tensor:
    """`torch.where(mask, x, y)`: a mask as big as the tensors, of which one may be a number that their dtype takes."""
    if len(call.args) != 3:
        raise reader.unsure(call)
    mask = reader.tensor(call.args[0], work, proves=True)
    sides = [reader.read(item, work) for item in call.args[1:]]
    tensors = [reader.settled(side, call, work) for side in sides if reader.is_settled(side, work)]
    numbers = [side for side in sides if isinstance(side, Number)]
    if not tensors or len(tensors) + len(numbers) != 2:
        raise reader.unsure(call)
    found = tensors[0]
    for number in numbers:
        is_whole = isinstance(number.value, int) and abs(number.value) < 128
        (work.signed if is_whole else work.floats)[found.dtype] = None
    if len(tensors) == 2:
        found = combined(found, reader.fitting(found, tensors[1], work))
        work.signed |= {item.dtype: None for item in tensors}
    if mask.dtype != BOOL:
        work.bools[mask.dtype] = None
    for kind in ("shape", "device"):
        if getattr(mask, kind) != getattr(found, kind):
            work.same[kind, getattr(found, kind), getattr(mask, kind)] = None
    return found.made()


def read_count(reader: Reader, call: ast.Call, work: Work) -> Tensor:
    """`torch.arange(3)`: whole numbers, where all that is given is written out so."""
    values = [reader.read(item, work) for item in call.args]
    if not values or not all(isinstance(item, Number) and isinstance(item.value, int) for item in values):
        raise reader.unsure(call)
    work.may_raise = work.may_raise or f"line {call.lineno}: `{reader.short(call)}` may raise"
    key = f"arange@{call.lineno}:{call.col_offset}"
    return Tensor(("shape", key), WHOLE, ("device", key), ("dense", ("layout", key)), NOBODY, NOBODY)

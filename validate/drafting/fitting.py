"""Sizes of a constructor that fit the tensors of a captured call: `width=64` if its input was 64 wide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullgraph.validate.drafting.construct import construct
from fullgraph.validate.drafting.evaluate import Scope, evaluate
from fullgraph.validate.drafting.library import Definition
from fullgraph.validate.drafting.parameters import Parameter
from fullgraph.validate.drafting.subject import Subject
from fullgraph.validate.drafting.uses import Uses

Shapes = Mapping[str, list[int]]


def fitting_sizes(
    subject: Subject, owner: Definition, wanted: list[Parameter], worth: Mapping[str, Any], scope: Scope, seen: Shapes
) -> dict[str, int]:
    """By parameter: another size than the usual one, where layers then take what was seen and did not before."""
    chosen: dict[str, int] = {}
    sizes = sorted({size for shape in seen.values() for size in shape[1:] if size > 1})
    misfits = count_misfits(subject, owner, worth, scope, seen)
    for one in wanted:
        if not misfits or not is_int({**worth, **chosen}.get(one.name, evaluate(one.default, scope))):
            continue
        tried = {
            size: count_misfits(subject, owner, {**worth, **chosen, one.name: size}, scope, seen) for size in sizes
        }
        best = min(tried, key=lambda size: tried[size], default=0)
        if best and tried[best] < misfits:
            chosen[one.name], misfits = best, tried[best]
    return chosen


def count_misfits(subject: Subject, owner: Definition, worth: Mapping[str, Any], scope: Scope, seen: Shapes) -> int:
    """The dimensions that the code asks for and the captured tensors do not have."""
    thing = construct(owner, [], dict(worth), scope)
    uses = Uses(subject.node, scope.inside(subject.function.module, {"self": thing}), list(seen))
    asked = [
        (shape, position, size) for name, shape in seen.items() for position, size in uses.facts[name].sizes.items()
    ]
    return sum(-len(shape) <= at < len(shape) and shape[at] != size for shape, at, size in asked if certain(shape, at))


def certain(shape: list[int], position: int) -> bool:
    """Pixels are as many as one likes; channels and the last dimension are not."""
    return position == -1 or (position == 1 and len(shape) > 2)


def is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

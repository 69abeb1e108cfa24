"""Gradients through a case's output: given random numbers at the end, what arrives at every parameter and argument.

They are asked for without touching any `.grad`, so nothing piles up from case to case, and what the code itself has put
there is compared as it left it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from .flatten import Flattener
from .leaf import Leaf
from .tensors import digest, is_fake

FREED = "backward through the graph a second time"
REENTRANT = "compatible with .grad()"
UNSEEN = ("strides", "marks", "requires_grad")
"""Facts that depend on how the gradient was asked for, and not on the code."""

HIDDEN = "hidden"
"""Begins the path of a parameter that is reached and belongs to no argument and no state."""

Places = list[tuple[str, torch.Tensor]]


def take_gradients(
    outputs: Places, known: Places, seed: int, *, second: bool = False
) -> tuple[list[Leaf], BaseException | None]:
    """Leaves for each known tensor that requires a gradient, and what went wrong, if anything did.

    With `second`, the same again through the gradients: how each of them changes with every known tensor.
    """
    roots = [(path, output) for path, output in outputs if can_begin(output)]
    targets = choose_targets(known, [output for _, output in roots])
    if not roots or not targets:
        return [], None
    try:
        ends = draw_ends([output for _, output in roots], seed)
        starts, wanted = [output for _, output in roots], [target for _, target in targets]
        found = torch.autograd.grad(starts, wanted, ends, allow_unused=True, create_graph=second)
    except Exception as error:
        if FREED in str(error):
            return [("grads", "backward", "the graph is used up already")], None
        if REENTRANT in str(error):
            return [("grads", "backward", "reentrant checkpoints allow none")], None
        return [], error
    leaves = flatten_gradients([path for path, _ in targets], found)
    if not second:
        return leaves, None
    slopes = [(f"{path}.grad", slope) for (path, _), slope in zip(targets, found) if slope is not None]
    further, failure = take_gradients(slopes, targets, seed + 1)
    return [*leaves, *((f"second derivative of {path}", kind, fact) for path, kind, fact in further)], failure


def can_begin(output: torch.Tensor) -> bool:
    """Whether a plain random tensor can stand for the gradient of this output."""
    if is_fake(output) or not output.requires_grad or output.is_meta or output.is_nested:
        return False
    wraps = hasattr(type(output), "__tensor_flatten__")
    return output.layout is torch.strided and not wraps and (output.is_floating_point() or output.is_complex())


def draw_ends(outputs: list[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """Random numbers from a generator of their own: the process's are not touched."""
    generator = torch.Generator("cpu").manual_seed(seed)
    drawn = []
    for output in outputs:
        wide = output.dtype in (torch.float64, torch.complex128)
        real, complex_ = (torch.float64, torch.complex128) if wide else (torch.float32, torch.complex64)
        kind = complex_ if output.is_complex() else real
        end = torch.randn(output.shape, generator=generator, dtype=kind, device="cpu")
        drawn.append(end.to(device=output.device, dtype=output.dtype))
    return drawn


def choose_targets(known: Places, roots: list[torch.Tensor]) -> Places:
    targets = {id(tensor): (path, tensor) for path, tensor in reversed(known) if is_target(tensor)}
    hidden = [tensor for tensor in reach_parameters(roots) if id(tensor) not in targets]
    return [*reversed(list(targets.values())), *name_hidden(hidden)]


def is_target(tensor: torch.Tensor) -> bool:
    return tensor.requires_grad and not is_fake(tensor)


def reach_parameters(roots: list[torch.Tensor]) -> list[torch.Tensor]:
    """Every parameter that the graph behind these outputs ends in."""
    waiting: list[Any] = [root.grad_fn for root in roots if root.grad_fn is not None]
    seen = set(waiting)
    found: list[torch.Tensor] = []
    while waiting:
        node = waiting.pop()
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.nn.Parameter):
            found.append(variable)
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return found


def name_hidden(parameters: list[torch.Tensor]) -> Places:
    """A parameter nobody names is known by its numbers; where two have the same, neither is."""
    names = [f"{HIDDEN} {list(tensor.shape)} {digest(tensor.detach())[:8]}" for tensor in parameters]
    times = Counter(names)
    return sorted(
        ((name, tensor) for name, tensor in zip(names, parameters) if times[name] == 1),
        key=lambda named: named[0],
    )


def flatten_gradients(paths: list[str], gradients: Any) -> list[Leaf]:
    """Each on its own: that two gradients are one tensor means nothing."""
    leaves: list[Leaf] = []
    for path, gradient in zip(paths, gradients):
        leaves += Flattener(lambda *_: None).flatten(gradient, f"{path}.grad")
    return [leaf for leaf in leaves if leaf[1] not in UNSEEN]

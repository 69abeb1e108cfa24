"""Backward without torch's engine, which refuses a device that is not really there: the nodes are called one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

Place = tuple[Any, int]
"""A node and the number of one of its inputs."""


def run_backward(
    outputs: Sequence[Any],
    gradients: Sequence[Tensor | None],
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Any] = (),
    allow_unreachable: bool = False,
    accumulate_grad: bool = False,
) -> tuple[Tensor | None, ...]:
    """What torch's engine does with these arguments. Hooks of tensors that are not leaves are not called."""
    walk = Walk([place_of(output) for output in outputs], inputs)
    with torch.set_grad_enabled(create_graph):
        walk.run(gradients, accumulate_grad)
    if accumulate_grad:
        return ()
    if not allow_unreachable and any(gradient is None for gradient in walk.found):
        raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph")
    return tuple(walk.found)


def touches(outputs: Sequence[Any], kind: str) -> bool:
    """Whether a gradient on a device of that kind would flow."""
    roots = [place_of(output)[0] for output in outputs]
    return any(entry.device.type == kind for node in order(roots) for entry in node._input_metadata)


def place_of(value: Any) -> Place:
    """Where the gradient of a tensor enters the graph."""
    edge = torch.autograd.graph.get_gradient_edge(value) if isinstance(value, Tensor) else value
    return edge[0], edge[1]


def order(roots: Sequence[Any]) -> list[Any]:
    """Every node that can be reached, each before all it leads to."""
    done: dict[Any, None] = {}
    pending: list[tuple[Any, Iterator[Any]]] = [(None, iter([(root, 0) for root in roots]))]
    open_nodes: set[Any] = set()
    while pending:
        node, following = pending[-1]
        step = next((to for to, _ in following if to is not None and to not in done and to not in open_nodes), None)
        if step is not None:
            open_nodes.add(step)
            pending.append((step, iter(step.next_functions)))
        else:
            pending.pop()
            done[node] = None
    return [node for node in reversed(list(done)) if node is not None]


class Walk:
    """One pass over the graph, from the outputs to the leaves."""

    def __init__(self, roots: list[Place], inputs: Sequence[Any]) -> None:
        self.roots = roots
        self.nodes = order([node for node, _ in roots])
        leaves = {id(node.variable): node for node in self.nodes if is_leaf(node)}
        self.wanted = [(leaves.get(id(given)), 0) if is_without_history(given) else place_of(given) for given in inputs]
        self.buffers: dict[Any, list[Tensor | None]] = {node: [None] * len(node._input_metadata) for node in self.nodes}
        self.found: list[Tensor | None] = [None] * len(inputs)

    def run(self, gradients: Sequence[Tensor | None], accumulate: bool) -> None:
        for place, gradient in zip(self.roots, gradients):
            self.add(place, gradient)
        needed = self.needed()
        for node in self.nodes:
            received = self.buffers.pop(node)
            self.take(node, received, accumulate)
            if node in needed and any(gradient is not None for gradient in received):
                for place, gradient in zip(*call(node, received)):
                    self.add(place, gradient)

    def needed(self) -> set[Any]:
        """The nodes to call: those that lead to what is wanted, or all but the leaves."""
        if not self.wanted:
            return {node for node in self.nodes if not is_leaf(node)}
        needed: set[Any] = set()
        ends = {node for node, _ in self.wanted}
        for node in reversed(self.nodes):
            if any(to in needed or to in ends for to, _ in node.next_functions):
                needed.add(node)
        return needed

    def take(self, node: Any, received: list[Tensor | None], accumulate: bool) -> None:
        """Keep what was asked for, and what belongs to a leaf."""
        for position, (wanted, number) in enumerate(self.wanted):
            if wanted is node:
                self.found[position] = received[number]
        asked = not self.wanted or any(wanted is node for wanted, _ in self.wanted)
        if accumulate and is_leaf(node) and asked and received[0] is not None:
            accumulate_into(node.variable, received[0])

    def add(self, place: Place, gradient: Tensor | None) -> None:
        node, number = place
        if node is None or gradient is None:
            return
        gradient = fit(gradient, node._input_metadata[number])
        before = self.buffers[node][number]
        self.buffers[node][number] = gradient if before is None else before + gradient


def is_leaf(node: Any) -> bool:
    return hasattr(node, "variable")


def is_without_history(value: Any) -> bool:
    return isinstance(value, Tensor) and value.grad_fn is None


def fit(gradient: Tensor, entry: Any) -> Tensor:
    """The gradient in the shape and dtype of what it is the gradient of: formulas leave broadcasting to the engine."""
    if gradient.shape != entry.shape:
        gradient = gradient.sum_to_size(tuple(entry.shape))
    return gradient if gradient.dtype == entry.dtype else gradient.to(entry.dtype)


def call(node: Any, received: list[Tensor | None]) -> tuple[list[Place], list[Tensor | None]]:
    """Where the gradients of one node go, and the gradients."""
    if isinstance(node, torch.autograd.function.BackwardCFunction):
        return call_users(node, received)
    given = node(*received)
    return list(node.next_functions), list(given) if isinstance(given, tuple) else [given]


def call_users(node: Any, received: list[Tensor | None]) -> tuple[list[Place], list[Tensor | None]]:
    """The same for an `autograd.Function`, which wants zeros for nothing and answers for all its arguments."""
    pairs = zip(received, node._input_metadata)
    given = node.apply(*(make_zeros(entry) if gradient is None else gradient for gradient, entry in pairs))
    answers = zip(given if isinstance(given, tuple) else (given,), node.needs_input_grad)
    places = [(to, number) for to, number in node.next_functions if to is not None]
    return places, [gradient for gradient, needed in answers if needed]


def make_zeros(entry: Any) -> Tensor:
    return torch.zeros(tuple(entry.shape), dtype=entry.dtype, device=entry.device)


def accumulate_into(leaf: Tensor, gradient: Tensor) -> None:
    for hook in (leaf._backward_hooks or {}).values():
        changed = hook(gradient)
        gradient = gradient if changed is None else changed
    gradient = gradient if torch.is_grad_enabled() else gradient.detach()
    leaf.grad = gradient.clone() if leaf.grad is None else leaf.grad + gradient
    for hook in (getattr(leaf, "_post_accumulate_grad_hooks", None) or {}).values():
        hook(leaf)

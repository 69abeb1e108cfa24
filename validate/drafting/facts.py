"""What is known about a tensor that a function takes: rank, sizes, dtype. Facts add up; the first one wins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

BATCH = "batch"
WIDTH = 8
LENGTH = 16
"""Sizes of dimensions that nothing is known about: features, and steps of a sequence or pixels of an image."""

Dim = int | str


@dataclass(frozen=True)
class Facts:
    """`sizes` by position, negative ones from the end; `kind` is float, int or bool; integers are below `below`."""

    rank: int | None = None
    at_least: int = 0
    sizes: dict[int, int] = field(default_factory=dict)
    kind: str = ""
    below: int | None = None
    has_batch: bool = True
    dims: tuple[Dim, ...] = ()
    """All dimensions, where the text spells them out."""

    def plus(self, other: Facts) -> Facts:
        return replace(
            self,
            rank=self.rank if self.rank is not None else other.rank,
            at_least=max(self.at_least, other.at_least),
            sizes={**other.sizes, **self.sizes},
            kind=self.kind or other.kind,
            below=self.below if self.below is not None else other.below,
            has_batch=self.has_batch and other.has_batch,
            dims=self.dims or other.dims,
        )


def shape_of(facts: Facts) -> list[Dim]:
    """The dimensions: spelled out ones first, corrected by sizes that are certain."""
    rank = len(facts.dims) or facts.rank
    if rank is None:
        needed = (position + 1 if position >= 0 else -position for position in facts.sizes)
        rank = max(facts.at_least, 2 if facts.has_batch else 1, *needed)
    shape = list(facts.dims) or default_dims(rank, facts)
    for position, size in facts.sizes.items():
        if -rank <= position < rank:
            shape[position] = size
    return shape


def default_dims(rank: int, facts: Facts) -> list[Dim]:
    """A batch of vectors, of sequences of vectors, of images."""
    if not facts.has_batch:
        return [*[WIDTH] * rank]
    inner = {1: [WIDTH], 2: [LENGTH, WIDTH]}.get(rank - 1, [3, *([LENGTH] * (rank - 2))])
    dims: list[Dim] = [BATCH, *inner]
    return dims[:rank]

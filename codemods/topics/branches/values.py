"""What is known about a tensor without running anything: symbols that are equal only where the real things are."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

FLOATS = frozenset({"torch.float16", "torch.bfloat16", "torch.float32", "torch.float64"})
BOOL = "torch.bool"
NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tensor:
    """A tensor by its symbols: two values with one symbol have the same shape, dtype, device or order of strides.

    `sources`: the values that gradients flow into. `owners`: whose memory it may share; none: it is new.
    """

    shape: Hashable
    dtype: Hashable
    device: Hashable
    layout: Hashable
    sources: frozenset[str] = NOBODY
    owners: frozenset[str] = NOBODY

    def but(self, **changes: object) -> Tensor:
        return replace(self, **changes)  # type: ignore[arg-type]

    def made(self, dtype: Hashable = None) -> Tensor:
        """A new tensor of this shape: dense, in the order of this one's strides."""
        layout = self.layout if dense(self.layout) else ("dense", self.layout)
        return replace(self, dtype=dtype or self.dtype, layout=layout, owners=NOBODY)

    def single(self, dtype: Hashable) -> Tensor:
        """A new tensor of one element without dimensions."""
        return replace(self, shape="()", dtype=dtype, layout="()", owners=NOBODY)


@dataclass(frozen=True)
class Number:
    """A Python number; `value` is None where it is not written out. `within`: a dtype that can hold it."""

    value: float | None = None
    within: Hashable = None


@dataclass(frozen=True)
class Other:
    """A Python value that depends on no tensor's elements: a dtype, a shape, None."""


@dataclass(frozen=True)
class Unknown:
    """Something that may be a tensor, a number or anything else. Of an attribute the key is its text, `#` and age."""

    key: str

    def as_tensor(self) -> Tensor:
        own = frozenset({self.key})
        key = self.key
        return Tensor(("shape", key), ("dtype", key), ("device", key), ("layout", key), own, own)


Value = Tensor | Number | Other | Unknown


@dataclass
class Work:
    """What it takes to compute something, gathered while it is read.

    `tensors` and `numbers`: keys of what must be a tensor or a Python number. `floats`: dtypes that must be floating;
    `full`: those that must be float32, as autocast takes some functions there; `signed`: those that must be signed, as
    arithmetic keeps these; `real`: those that must not be complex; `bools`: those that must be bool. `filled`: shapes
    that must have elements; `single`: those that must have just one. `same`: shapes, dtypes and devices that must be
    equal. `bent`: a gradient is multiplied by a value, so that zero may become NaN. `heavy`: it costs more than a pass
    over the elements. `may_raise`: why.
    """

    tensors: dict[str, None] = field(default_factory=dict)
    numbers: dict[str, None] = field(default_factory=dict)
    floats: dict[Hashable, None] = field(default_factory=dict)
    full: dict[Hashable, None] = field(default_factory=dict)
    real: dict[Hashable, None] = field(default_factory=dict)
    signed: dict[Hashable, None] = field(default_factory=dict)
    bools: dict[Hashable, None] = field(default_factory=dict)
    filled: dict[Hashable, None] = field(default_factory=dict)
    single: dict[Hashable, None] = field(default_factory=dict)
    same: dict[tuple[str, Hashable, Hashable], None] = field(default_factory=dict)
    bent: bool = False
    heavy: bool = False
    may_raise: str = ""

    @property
    def wants_more(self) -> bool:
        """Whether it takes more than tensors and numbers of any kind."""
        dtypes = self.floats or self.full or self.real or self.signed or self.bools
        return bool(dtypes or self.filled or self.single or self.same)

    def add(self, other: Work) -> None:
        self.tensors |= other.tensors
        self.numbers |= other.numbers
        self.floats |= other.floats
        self.full |= other.full
        self.real |= other.real
        self.signed |= other.signed
        self.bools |= other.bools
        self.filled |= other.filled
        self.single |= other.single
        self.same |= other.same
        self.bent |= other.bent
        self.heavy |= other.heavy
        self.may_raise = self.may_raise or other.may_raise


def dense(layout: Hashable) -> bool:
    return layout == "()" or (isinstance(layout, tuple) and layout[0] == "dense")


def layout_roots(layout: Hashable) -> list[Hashable]:
    """The tensors by whose strides those of a result go."""
    if not isinstance(layout, tuple):
        return []
    return [layout] if layout[0] == "layout" else [root for part in layout[1:] for root in layout_roots(part)]


def bases(dtype: Hashable) -> set[Hashable]:
    """The dtypes that a dtype is made from."""
    if isinstance(dtype, tuple) and dtype[0] == "promoted":
        return {base for part, _ in dtype[1] for base in bases(part)}
    return {dtype}


def combined(left: Tensor, right: Tensor) -> Tensor:
    """What an operator makes of two tensors: of their common shape and dtype, whatever these are."""
    sources = left.sources | right.sources
    dtype: Hashable = left.dtype
    if left.dtype != right.dtype:
        dtype = ("promoted", frozenset({(left.dtype, left.shape), (right.dtype, right.shape)}))
    layout = left.layout if left.layout == right.layout else ("both", left.layout, right.layout)
    if left.shape == right.shape or right.shape == "()":
        shape, layout = left.shape, layout if left.shape == right.shape else left.layout
    elif left.shape == "()":
        shape, layout = right.shape, right.layout
    else:
        shape = ("joint", frozenset({left.shape, right.shape}))
    device = left.device if left.device == right.device else ("either", frozenset({left.device, right.device}))
    return Tensor(shape, dtype, device, layout, sources).made()

"""What must be the same on all sides of a branch, and the tests that ask for what the text does not say.

A shape, a dtype, a device and whether something is a tensor are known while a graph is traced: such a test costs a
compiled program nothing, and where it fails the old code runs.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.topics.branches.arms import Arm, is_result
from fullgraph.codemods.topics.branches.choices import Choice
from fullgraph.codemods.topics.branches.operations import WHOLE
from fullgraph.codemods.topics.branches.values import (
    BOOL,
    NOBODY,
    Tensor,
    Unknown,
    Value,
    Work,
    bases,
    dense,
    layout_roots,
)

Pair = tuple[str, Hashable, Hashable]
"""Two symbols for a shape, a dtype or a device."""


@dataclass
class Proof:
    """Why the values of a choice may be selected. `tests` are to be asked first, in their order."""

    choice: Choice
    torch: str
    tests: dict[str, None] = field(default_factory=dict)
    values: dict[str, list[Tensor]] = field(default_factory=dict)
    equal: list[Pair] = field(default_factory=list)
    groups: list[tuple[str, frozenset[Hashable]]] = field(default_factory=list)
    floating: set[Hashable] = field(default_factory=set)
    signed: set[Hashable] = field(default_factory=set)
    """Dtypes that the tests so far say are floating, or signed."""

    def prove(self) -> None:
        """Unsure where something can neither be seen nor asked."""
        work = Work()
        work.add(self.choice.asked)
        for arm in self.choice.arms:
            work.add(arm.work)
        for name in self.choice.targets:
            self.values[name] = [self.value_of(arm, name, work) for arm in self.choice.arms]
        for key in work.tensors:
            self.ask(f"isinstance({self.spelled(key)}, {self.torch}.Tensor)")
        for key in work.numbers:
            self.ask(f"isinstance({self.spelled(key)}, (int, float))")
        self.assumed |= set(work.tensors)
        self.equal = [*work.same, *(pair for found in self.values.values() for pair in self.alike(found))]
        for dtype in work.full:
            self.need_full(dtype)
        for dtype in work.floats:
            self.need_float(dtype)
        for dtype in work.signed:
            self.need_signed(dtype)
        for dtype in work.real:
            self.need_real(dtype)
        for dtype in work.bools:
            self.ask(f"{self.holder('dtype', dtype)}.dtype == {self.torch}.bool")
        for shape in work.single:
            self.ask(f"{self.holder('shape', shape)}.numel() == 1")
        for shape in work.filled:
            if shape not in self.choice.reader.filled | work.single.keys():
                self.ask(f"{self.holder('shape', shape)}.numel() > 0")
        for kind, one, other in self.equal:
            self.need_equal(kind, one, other)

    @cached_property
    def assumed(self) -> set[str]:
        return set(self.choice.reader.tensors)

    def value_of(self, arm: Arm, name: str, work: Work) -> Tensor:
        """What a side gives to a name: its own value, or the one from before."""
        step = arm.step(name)
        if step:
            found: Value = step.found
        elif name in self.choice.reader.env:
            found = self.choice.reader.env[name]
        else:
            raise Unsure(f"line {self.choice.node.lineno}: `{name}` may not be bound where one side leaves it alone")
        node = step.value if step else self.choice.node
        if not isinstance(found, Tensor | Unknown):
            what = "the result" if is_result(name) else f"`{name}`"
            raise Unsure(f"line {node.lineno}: {what} is a Python value on one side, not a tensor")
        return self.choice.reader.settled(found, node, work)

    # Tests

    def ask(self, test: str) -> None:
        self.tests[test] = None

    def spelled(self, key: str) -> str:
        if text := self.choice.reader.spell(key):
            return text
        raise Unsure(f"line {self.choice.node.lineno}: what `{key.partition('@')[0]}` is cannot be told")

    def holder(self, kind: str, symbol: Hashable) -> str:
        """A name whose shape, dtype or device is this symbol."""
        for name, value in self.choice.reader.env.items():
            if isinstance(value, Unknown) and value.key in self.assumed:
                value = value.as_tensor()
            if isinstance(value, Tensor) and getattr(value, kind) == symbol:
                return name
        if isinstance(symbol, tuple) and symbol[0] == kind and isinstance(symbol[1], str):
            return self.spelled(symbol[1])
        raise Unsure(f"line {self.choice.node.lineno}: the {kind} of a side cannot be told")

    def need_float(self, dtype: Hashable) -> None:
        if self.choice.reader.is_float(dtype):
            return
        for base in bases(dtype):
            if base == BOOL or isinstance(base, str):
                raise Unsure(f"line {self.choice.node.lineno}: a side calculates with {base}")
            if not self.is_told(base, self.floating):
                self.ask(f"{self.holder('dtype', base)}.is_floating_point()")
                self.floating.add(base)

    def need_signed(self, dtype: Hashable) -> None:
        """Arithmetic makes numbers of bools and lacks much of what is unsigned; what is signed keeps its dtype."""
        if self.choice.reader.is_float(dtype):
            return
        for base in bases(dtype):
            if isinstance(base, str) and base != WHOLE:
                raise Unsure(f"line {self.choice.node.lineno}: a side calculates with {base}")
            if base != WHOLE and not self.is_told(base, self.floating | self.signed):
                self.ask(f"{self.holder('dtype', base)}.dtype.is_signed")
                self.signed.add(base)

    def need_real(self, dtype: Hashable) -> None:
        reader = self.choice.reader
        for base in () if reader.is_float(dtype) else bases(dtype):
            is_known = base in reader.real or isinstance(base, str)
            if not is_known and not self.is_told(base, self.floating):
                self.ask(f"not {self.holder('dtype', base)}.is_complex()")

    def need_full(self, dtype: Hashable) -> None:
        """Autocast takes some functions to float32; what is float32 stays."""
        if dtype not in self.choice.reader.full:
            self.ask(f"{self.holder('dtype', dtype)}.dtype == {self.torch}.float32")
            self.floating.add(dtype)

    def alike(self, values: list[Tensor]) -> Iterator[Pair]:
        """What must be equal for values to be selected from."""
        first = values[0]
        for other in values[1:]:
            yield from ((kind, getattr(first, kind), getattr(other, kind)) for kind in ("shape", "dtype", "device"))
        yield from (("device", first.device, condition.device) for condition in self.choice.conditions)

    def need_equal(self, kind: str, one: Hashable, other: Hashable) -> None:
        """Ask whether two symbols are the same, unless that follows from what is asked already."""
        if other not in self.group(kind, one):
            self.groups.append((kind, self.group(kind, one) | self.group(kind, other)))
            self.ask_equal(f"{self.holder(kind, one)}.{kind}", f"{self.holder(kind, other)}.{kind}")

    def ask_equal(self, left: str, right: str) -> None:
        """Ask it by itself, or at the end of a test that asks the same of one of them."""
        for test in self.tests:
            ends = test.split(" == ")
            for mine, other in ((left, right), (right, left)):
                if len(ends) > 1 and mine in ends:
                    longer = f"{test} == {other}"
                    self.tests = {longer if one == test else one: None for one in self.tests}
                    return
        self.ask(f"{left} == {right}")

    def group(self, kind: str, symbol: Hashable) -> frozenset[Hashable]:
        """All symbols that the tests so far say are equal to one."""
        found = (group for of, group in reversed(self.groups) if of == kind and symbol in group)
        return next(found, frozenset({symbol}))

    def is_told(self, dtype: Hashable, told: set[Hashable]) -> bool:
        """Whether a dtype is among those that some test speaks of, or must be the same as one of them."""
        same = {dtype}
        for _ in self.equal:
            same |= {end for kind, *ends in self.equal if kind == "dtype" and same & set(ends) for end in ends}
        return bool(same & told)

    def need_contiguous(self, values: list[Tensor]) -> None:
        """torch.cond wants the same strides of both sides: what is made from contiguous tensors is contiguous."""
        for value in values:
            for root in layout_roots(value.layout):
                self.ask(f"{self.holder('layout', root)}.is_contiguous()")

    def need_no_gradients(self, *, always: bool) -> None:
        """Where none are recorded, what a side keeps as it is may still require some; what is computed does not.

        Unless they never are, what is shared by all sides may require them while they are.
        """
        for name in self.choice.targets:
            for arm, value in zip(self.choice.arms, self.values[name], strict=True):
                last = arm.step(name)
                step = last and arm.origin(last)
                is_strict = always or value.sources & self.apart
                mode = "" if is_strict else f"{self.torch}.is_grad_enabled() or "
                if not is_strict and value.owners <= self.choice.reader.private:
                    continue
                if step is None:
                    self.ask(maybe(mode, f"not {name}.requires_grad"))
                elif isinstance(step.value, ast.Name | ast.Attribute) and not step.sign:
                    self.ask(maybe(mode, f"not {arm.reader.text(step.value)}.requires_grad"))
                elif value.owners and value.sources and is_strict:
                    raise Unsure(
                        f"line {step.line}: a side may keep a tensor that requires gradients where none are recorded"
                    )

    # What follows for the form

    @property
    def is_bent(self) -> bool:
        return any(arm.work.bent for arm in self.choice.arms)

    @property
    def is_heavy(self) -> bool:
        return any(arm.work.heavy for arm in self.choice.arms)

    @cached_property
    def apart(self) -> frozenset[str]:
        """What only some sides hand gradients to: it would get zeros where it got none before."""
        found: frozenset[str] = NOBODY
        for values in self.values.values():
            every = [value.sources for value in values]
            found |= NOBODY.union(*every) - every[0].intersection(*every)
        return found

    def need_apart(self) -> bool:
        """Ask that gradients are recorded for nothing that only some sides use; False where it cannot be named."""
        names = [self.source(key) for key in sorted(self.apart)]
        rest = [f"{name}.requires_grad" for name in names if f"not {name}.requires_grad" not in self.tests]
        if all(names) and rest:
            some = rest[0] if len(rest) == 1 else f"({' or '.join(rest)})"
            self.ask(f"not ({self.torch}.is_grad_enabled() and {some})")
        return all(names)

    def source(self, key: str) -> str:
        """The name of what gradients flow into."""
        own = frozenset({key})
        env = self.choice.reader.env.items()
        named = (name for name, value in env if isinstance(value, Tensor) and value.sources == own)
        return self.choice.reader.spell(key) or next(named, "")

    @property
    def keeps_layout(self) -> bool:
        every = [value.layout for values in self.values.values() for value in values]
        return all(dense(layout) for layout in every) and all(
            len({value.layout for value in values}) == 1 for values in self.values.values()
        )


def maybe(mode: str, test: str) -> str:
    return f"({mode}{test})" if mode else test

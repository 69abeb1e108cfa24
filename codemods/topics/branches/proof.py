"""What must be the same on all sides of a branch, and the tests that ask for what the text does not say.

A shape, a dtype, a device and whether something is a tensor are known while a graph is traced: such a test costs a
compiled program nothing, and where it fails the old code runs.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

from codemods.model import Unsure
from codemods.topics.branches.arms import Arm, is_result
from codemods.topics.branches.choices import Choice
from codemods.topics.branches.values import BOOL, Tensor, Unknown, Value, Work, bases, dense


@dataclass
class Proof:
    """Why the values of a choice may be selected. `tests` are to be asked first, in their order."""

    choice: Choice
    torch: str
    tests: dict[str, None] = field(default_factory=dict)
    values: dict[str, list[Tensor]] = field(default_factory=dict)

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
        for dtype in work.full:
            self.need_full(dtype)
        for dtype in work.floats:
            self.need_float(dtype)
        for kind, one, other in work.same:
            self.need_equal(kind, one, other)
        for found in self.values.values():
            self.need_same(found)

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
            holder = self.holder("dtype", base)
            if f"{holder}.dtype == {self.torch}.float32" not in self.tests:
                self.ask(f"{holder}.is_floating_point()")

    def need_full(self, dtype: Hashable) -> None:
        """Autocast takes some functions to float32; what is float32 stays."""
        if dtype not in self.choice.reader.full:
            self.ask(f"{self.holder('dtype', dtype)}.dtype == {self.torch}.float32")

    def need_same(self, values: list[Tensor]) -> None:
        first = values[0]
        for other in values[1:]:
            for kind in ("shape", "dtype", "device"):
                self.need_equal(kind, getattr(first, kind), getattr(other, kind))
        for condition in self.choice.conditions:
            self.need_equal("device", first.device, condition.device)

    def need_equal(self, kind: str, one: Hashable, other: Hashable) -> None:
        if one != other:
            left, right = self.holder(kind, one), self.holder(kind, other)
            self.ask(f"{left}.{kind} == {right}.{kind}")

    def need_contiguous(self, values: list[Tensor]) -> None:
        """torch.cond wants the same strides of both sides: what is made from contiguous tensors is contiguous."""
        for value in values:
            for root in layout_roots(value.layout):
                self.ask(f"{self.holder('layout', root)}.is_contiguous()")

    def need_no_gradients(self) -> None:
        """Where none are recorded, what a side keeps as it is may still require some; what is computed does not."""
        for name in self.choice.targets:
            for arm, value in zip(self.choice.arms, self.values[name], strict=True):
                last = arm.step(name)
                step = last and arm.origin(last)
                if step is None:
                    self.ask(f"not {name}.requires_grad")
                elif isinstance(step.value, ast.Name | ast.Attribute) and not step.sign:
                    self.ask(f"not {arm.reader.text(step.value)}.requires_grad")
                elif value.owners:
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

    @property
    def shares_gradients(self) -> bool:
        """Whether every side hands gradients to the same values: else one gets zeros where it got none before."""
        return all(len({value.sources for value in values}) == 1 for values in self.values.values())

    @property
    def keeps_layout(self) -> bool:
        every = [value.layout for values in self.values.values() for value in values]
        return all(dense(layout) for layout in every) and all(
            len({value.layout for value in values}) == 1 for values in self.values.values()
        )


def layout_roots(layout: Hashable) -> list[Hashable]:
    """The tensors by whose strides those of a result go."""
    if not isinstance(layout, tuple):
        return []
    return [layout] if layout[0] == "layout" else [root for part in layout[1:] for root in layout_roots(part)]

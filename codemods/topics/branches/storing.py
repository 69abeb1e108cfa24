"""The new code where both sides of a branch store in one place: prepare both, then store what is selected."""

from __future__ import annotations

import ast

from fullgraph.codemods.model import Edit, Unsure
from fullgraph.codemods.topics.branches.needs import require_torch
from fullgraph.codemods.topics.branches.sides import Names
from fullgraph.codemods.topics.branches.stores import Side, Stores
from fullgraph.codemods.topics.branches.writing import Written

NOTE = "eager code runs as before; only compiled code takes the new lines"


def write_stores(stores: Stores) -> Written:
    """The edits of one finding; it is never safe, as compiled code may be told from the old by what it leaves."""
    if any("type" in (getattr(node, "id", ""), getattr(node, "arg", "")) for node in ast.walk(stores.reader.function)):
        raise Unsure(f"line {stores.node.lineno}: the name `type` may be something else here")
    torch, imports = require_torch(stores.reader, stores.node)
    edits = (*imports, StoreText(stores, torch).edit())
    return Written(edits, caveat(stores), (NOTE,), "torch.where", stores.reader.module.span(stores.node))


def caveat(stores: Stores) -> str:
    place = stores.reader.short(stores.sides[0].store)
    one, other = (stores.reader.short(side.value) for side in stores.sides)
    text = (
        f"in compiled code both `{one}` and `{other}` are read, whichever side is taken, and `{place}` stores a copy, "
        "not that very tensor: a write in place no longer changes both"
    )
    prepared = [str(statement.lineno) for side in stores.sides for statement in side.preparations]
    lines = f"line{'s' if len(prepared) > 1 else ''} {' and '.join(prepared)}"
    return f"{text}; what a side prepares ({lines}) runs, and stays, where the other is taken too" if prepared else text


class StoreText:
    """The lines before the old branch."""

    def __init__(self, stores: Stores, torch: str) -> None:
        self.stores, self.torch, self.module = stores, torch, stores.reader.module
        self.indent = self.module.indent(stores.node)
        self.inner = self.indent + self.module.indent_unit
        self.taken = Names(stores.reader.function).fresh("taken")

    def edit(self) -> Edit:
        node = self.stores.node
        if not self.module.begins_line(node):
            raise Unsure(f"line {node.lineno}: it shares its line with another statement")
        asked = self.asked()
        lines = [self.guard(asked), f"{self.inner}{self.taken} = {self.stores.condition.text}"]
        lines += [self.inner + self.copied(item) for side in self.stores.sides for item in side.preparations]
        lines += [self.indent + self.guard([*asked, *self.fitting()]), *self.selection()]
        return self.module.insert(self.module.span(node).start, "\n".join(lines) + f"\n{self.indent}el")

    def guard(self, tests: list[str]) -> str:
        every = [f"{self.torch}.compiler.is_compiling()", *tests]
        line = f"if {' and '.join(every)}:"
        if len(every) < 3:
            return line
        gap = f"\n{self.inner}"
        return f"if ({gap}{f'{gap}and '.join(every)}\n{self.indent}):"

    def asked(self) -> list[str]:
        """What the condition takes for granted."""
        work, torch = self.stores.asked, self.torch
        return [
            *(f"isinstance({self.spelled(key)}, {torch}.Tensor)" for key in work.tensors),
            *(f"isinstance({self.spelled(key)}, (int, float))" for key in work.numbers),
        ]

    def spelled(self, key: str) -> str:
        if text := self.stores.reader.spell(key):
            return text
        raise Unsure(f"line {self.stores.node.lineno}: what `{key.partition('@')[0]}` is cannot be told")

    def fitting(self) -> list[str]:
        """That both are plain tensors alike, without gradients: the one not taken would get zeros."""
        one, other = (self.module.code(side.value) for side in self.stores.sides)
        kinds = [f"type({one}) is type({other}) is {self.torch}.Tensor"]
        kinds += [f"{one}.{kind} == {other}.{kind}" for kind in ("shape", "dtype")]
        return [
            *kinds,
            f"{one}.device == {other}.device == {self.taken}.device",
            f"not ({one}.requires_grad or {other}.requires_grad)",
        ]

    def copied(self, statement: ast.stmt) -> str:
        """A statement as it is written: it stands as deep in the new lines as in the old."""
        if not self.module.begins_line(statement) or self.module.indent(statement) != self.inner:
            raise Unsure(f"line {statement.lineno}: it is laid out in another way than the lines around it")
        return self.module.code(statement).replace("\r\n", "\n")

    def selection(self) -> list[str]:
        one, other = self.stores.sides
        names = (self.taken, *(self.module.code(side.value) for side in (one, other)))
        call = f"{self.torch}.where({', '.join(names)})"
        return [f"{self.inner}{line}" for line in self.around(one, call)]

    def around(self, side: Side, call: str) -> list[str]:
        """The store with another value."""
        start, value = self.module.span(side.store).start, self.module.span(side.value)
        old = self.module.code(side.store)
        before, after = old[: value.start - start], old[value.end - start :]
        if any(mark in before + after for mark in "\r\n#"):
            raise Unsure(f"line {side.store.lineno}: the store stands on several lines")
        return [f"{before}{call}{after}"]

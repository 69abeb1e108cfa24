"""The parts of the script that depend on the project: what is built, and what goes in."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from fullgraph.validate.drafting.compose import Draft, Function
from fullgraph.validate.drafting.construct import construct
from fullgraph.validate.drafting.facts import BATCH, Facts
from fullgraph.validate.drafting.layout import lay_out
from fullgraph.validate.drafting.library import Library
from fullgraph.validate.drafting.parameters import Parameter
from fullgraph.validate.drafting.seen import Seen
from fullgraph.validate.drafting.subject import Subject
from fullgraph.validate.drafting.values import Guesser
from fullgraph.validate.harness.config import Config
from fullgraph.validate.harness.imports import taken_names
from fullgraph.validate.harness.joined import joined_widths, width_of
from fullgraph.validate.harness.wiring import Wiring

SIZES = [4, 7, 9, 12]
"""The first is compiled for, the second makes sizes dynamic, and the others must not compile anything any more."""

MOST_BATCH = 64


class HarnessDraft(Draft):
    """Collects the parts of the script that depend on the project."""

    def __init__(self, subject: Subject, library: Library, seen: Seen, config: Config | None) -> None:
        super().__init__(subject, library, seen)
        self.config = config
        self.wiring = Wiring(config, self.scope, self.imports, self.spelled) if config else None

    def spelled(self, name: str, module: str) -> str:
        if name in taken_names():
            self.imports.add((module, ""))
            return f"{module}.{name}"
        self.imports.add((module, name))
        return name

    def build(self) -> Function:
        owner = self.subject.owner
        if owner is None or self.wiring is None:
            return super().build()
        module, _, qualname = self.subject.target.partition(":")
        first, _, rest = qualname.removesuffix(f".{self.subject.method}").partition(".")
        name = ".".join(filter(None, [self.spelled(first, module), rest]))
        wired = self.wiring.wire(owner)
        self.scope.names["self"] = construct(owner, [], wired.worth, self.scope)
        moved = ".to(device)" if self.library.is_torch_module(owner) else ""
        method = f".{self.subject.method}" if self.subject.method else ""
        lines = lay_out("return ", f"{name}({wired.arguments}){moved}{method}", 4)
        return Function(lines, wired.guesses, wired.missing)

    def inputs(self) -> Function:
        """One batch: what is called by position, and by name."""
        made = Function()
        values = self.argument_values()
        before, texts = made.settle(values)
        positional, named = self.split(texts)
        comma = "," if len(positional) == 1 else ""
        expression = f"(({', '.join(positional)}{comma}), {{{named}}})"
        if "generator" in expression + "".join(before):
            made.lines.append("generator = torch.Generator().manual_seed(seed)")
        made.lines += [*before, *lay_out("return ", expression, 4)]
        return made

    def argument_guesser(self) -> Guesser:
        """Knows the numbers of the config as well, where nothing in the function has their names."""
        bound = {node.id for node in ast.walk(self.subject.node) if isinstance(node, ast.Name) and is_bound(node)}
        own = {one.name for one in self.subject.parameters} | bound | set(self.scope.names)
        numbers = self.numbers()
        self.scope.names |= {name: size for name, size in numbers.items() if name not in own}
        guesser = super().argument_guesser()
        for name, width in joined_widths(self.subject, self.scope, guesser.facts, numbers).items():
            guesser.facts[name] = guesser.facts[name].plus(Facts(sizes={-1: width}))
        guesser.width = guesser.width or width_of(self.scope.names.get("self"))
        if self.subject.owner and self.library.is_torch_module(self.subject.owner):
            guesser.facts = with_batch(guesser.facts)
        return guesser

    def numbers(self) -> dict[str, int]:
        """Sizes in the config, by name; of a name that stands for two, neither."""
        found: dict[str, set[int]] = {}
        for _, parts in self.config.sections() if self.config else ():
            for name, value in parts.items():
                if isinstance(value, int) and not isinstance(value, bool):
                    found.setdefault(name, set()).add(value)
        return {name: values.pop() for name, values in found.items() if len(values) == 1}

    def split(self, texts: dict[Parameter, str]) -> tuple[list[str], str]:
        """By position as long as no parameter before is left out; the others by name."""
        positional, named = [], []
        is_open = True
        for one in self.subject.parameters:
            is_open = is_open and (one in texts or one.kind == "star") and one.kind != "keyword"
            if one in texts and (is_open or one.kind in ("positional", "star")):
                positional.append(texts[one])
            elif one in texts:
                named.append(f'"{one.name}": {texts[one]}')
        return positional, ", ".join(named)

    def batches(self, inputs: Function) -> list[int]:
        """Sizes that were captured, or that the config names, first; one where nothing depends on it.

        A batch of one is compiled for by itself, and would count as a recompile.
        """
        if not any(re.search(rf"\b{BATCH}\b[,)]", line) for line in inputs.lines):
            return SIZES[:1]
        first = [*(size for size in self.seen.sizes if size > 1), *self.batch_sizes()]
        return list(dict.fromkeys([*first, *(size for size in SIZES if size not in first)]))[:4]

    def batch_sizes(self) -> list[int]:
        sections = self.config.sections() if self.config else ()
        sizes = [parts[name] for _, parts in sections for name in ("batch_size", "train_batch_size") if name in parts]
        return [size for size in sizes[:1] if isinstance(size, int) and 1 < size <= MOST_BATCH]


def is_bound(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def with_batch(facts: dict[str, Facts]) -> dict[str, Facts]:
    """Where shapes are spelled out and none has a batch, the first dimension is one if they have it in common."""
    spelled = {name: one.dims for name, one in facts.items() if one.dims}
    firsts = {dims[0] for dims in spelled.values()}
    if len(firsts) != 1 or BATCH in firsts or any(BATCH in dims for dims in spelled.values()):
        return facts
    changed = {name: replace(facts[name], dims=(BATCH, *dims[1:])) for name, dims in spelled.items() if len(dims) > 1}
    return {**facts, **changed}

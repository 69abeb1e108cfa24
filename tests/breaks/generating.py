"""Programs made up by Hypothesis: functions and modules with branches, messages, checks and writes on tensors.

What comes out is always Python. Much of it raises, as plain code and compiled: then both raise the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import indent

from hypothesis import strategies as st

from tests.breaks import phrases
from tests.breaks.programs import Program, program_of

TARGETS = ("z", "w", "x")
DEEPEST = 2
Draw = Callable[[st.SearchStrategy[str]], str]
HOLE = re.compile(r"<([abkcd])>")


@dataclass(frozen=True)
class Writer:
    """Writes the body of one function. `names`: the tensors that are bound; `numbers`: the Python numbers."""

    draw: Draw
    in_module: bool = False
    has_helper: bool = False
    names: tuple[str, ...] = ("x", "y")

    def pick(self, options: Sequence[str]) -> str:
        return self.draw(st.sampled_from(options))

    def fill(self, phrase: str, depth: int = 0) -> str:
        """The phrase with every hole filled."""

        def put(hole: re.Match[str]) -> str:
            kind = hole[1]
            if kind in "ab":
                return self.pick(self.names)
            if kind == "k":
                return self.pick(("2", "k", "0.5"))
            return self.pick(("flag", "x.sum() > 0", "y.sum() > 1")) if depth else self.question(depth + 1)

        return HOLE.sub(put, phrase)

    def question(self, depth: int = 0) -> str:
        return self.fill(self.pick(phrases.QUESTIONS), depth)

    def value(self) -> str:
        own = (*phrases.OF_A_MODULE,) if self.in_module else ()
        helped = phrases.OF_A_HELPER if self.has_helper else ()
        return self.fill(self.pick((*phrases.VALUES, *own, *helped)))

    # Plain branches: what a select can be made of, one inside the other

    def plain(self, depth: int) -> str:
        deep = ("fork",) if depth < DEEPEST else ()
        kind = self.pick(("assign", "assign", "assign", "swap", "add", *deep))
        name = self.pick(TARGETS)
        if kind == "fork":
            return self.fork(depth)
        value = self.fill(self.pick(phrases.PLAIN_VALUES))
        others = {"swap": f"{name}, w = w, {value}" if name != "w" else "z, w = w, z", "add": f"{name} += {value}"}
        return others.get(kind, f"{name} = {value}")

    def fork(self, depth: int) -> str:
        lines = [f"if {self.fill(self.pick(phrases.PLAIN_QUESTIONS), depth)}:", self.side(depth)]
        if self.pick(("no", "elif")) == "elif":
            lines += [f"elif {self.fill(self.pick(phrases.PLAIN_QUESTIONS), 1)}:", self.side(depth)]
        if self.pick(("no", "else", "else")) == "else":
            lines += ["else:", self.side(depth)]
        return "\n".join(lines)

    def side(self, depth: int) -> str:
        count = int(self.pick(("1", "2", "3")))
        lines = [self.plain(depth + 1) for _ in range(count)]
        if self.pick(("on", "on", "on", "out")) == "out":
            lines[-1] = f"return {self.fill(self.pick(phrases.PLAIN_RESULTS))}"
        return indent("\n".join(lines), "    ")

    def plain_body(self) -> str:
        """A function of plain branches; it ends as all of its ways do."""
        bound = Writer(self.draw, self.in_module, False, ("z", "x", "w", "y"))
        lines = ["k = 1", f"z = {bound.pick(('x * 1', 'x + 1', 'x.tanh()', 'x'))}", "w = y + 1"]
        lines += [bound.fork(0) for _ in range(int(bound.pick(("1", "1", "2"))))]
        return "\n".join([*lines, f"return {bound.fill(bound.pick(phrases.PLAIN_RESULTS))}"])

    # Statements

    def assign(self, depth: int) -> str:
        return f"{self.pick(TARGETS)} = {self.value()}"

    def branch(self, depth: int) -> str:
        lines = [f"if {self.question()}:", self.block(depth + 1)]
        for _ in range(int(self.pick(("0", "0", "1")))):
            lines += [f"elif {self.question()}:", self.block(depth + 1)]
        if self.pick(("no", "else")) == "else":
            lines += ["else:", self.block(depth + 1)]
        return "\n".join(lines)

    def select(self, depth: int) -> str:
        """Both ways bind the same name, as most branches of real code do."""
        name = self.pick(TARGETS)
        ways = [f"    {name} = {self.value()}" for _ in range(2)]
        return "\n".join((f"if {self.question()}:", ways[0], "else:", ways[1]))

    def message(self, depth: int) -> str:
        return self.fill(self.pick(phrases.MESSAGES))

    def check(self, depth: int) -> str:
        if self.pick(("if", "assert")) == "assert":
            return f'assert {self.question()}, "asserted"'
        return f"if {self.question()}:\n    {self.fill(self.pick(phrases.CHECKS))}"

    def number(self, depth: int) -> str:
        return f"k = {self.fill(self.pick(phrases.NUMBERS))}"

    def write(self, depth: int) -> str:
        own = phrases.WRITES_OF_A_MODULE if self.in_module else ()
        return self.fill(self.pick((*phrases.WRITES, *own)))

    def leave(self, depth: int) -> str:
        return f"if {self.question()}:\n    return {self.fill(self.pick(phrases.RESULTS))}"

    def wrap(self, depth: int) -> str:
        head = self.pick(("for i in range(2):", "with torch.no_grad():", "for row in (x > 0).nonzero():", "try:"))
        lines = [head, self.block(depth + 1)]
        if head == "try:":
            lines += ["except ValueError:", self.block(depth + 1)]
        return "\n".join(lines)

    def statement(self, depth: int) -> str:
        flat = (self.assign, self.select, self.message, self.check, self.number, self.write, self.leave)
        deep = (self.branch, self.wrap, self.fork) if depth < DEEPEST else ()
        kinds: dict[str, Callable[[int], str]] = {kind.__name__: kind for kind in (*flat, *deep)}
        return kinds[self.pick(tuple(kinds))](depth)

    def block(self, depth: int) -> str:
        count = int(self.pick(("1", "2", "1")))
        return indent("\n".join(self.statement(depth) for _ in range(count)), "    ")

    def body(self, most: int) -> str:
        count = int(self.pick([str(number) for number in range(1, most + 1)]))
        lines = ["k = 1", "z = x * 1", "w = y + 1"]
        bound = Writer(self.draw, self.in_module, self.has_helper, ("z", "x", "w", "y"))
        lines += [bound.statement(0) for _ in range(count)]
        return "\n".join([*lines, f"return {bound.fill(bound.pick(phrases.RESULTS))}"])


@st.composite
def programs(draw: Callable[..., str], most: int = 4) -> Program:
    """A function or a module, compiled, and four calls: both signs first, then what else tensors can be."""
    kind = draw(st.sampled_from(("function", "module", "helper", "plain")))
    writer = Writer(draw, in_module=kind == "module", has_helper=kind == "helper")
    helper = f"def helper(x, y=1.0, opt=None, flag=False):\n{indent(Writer(draw).body(2), '    ')}\n\n\n"
    body = writer.plain_body() if kind == "plain" else writer.body(most)
    if kind == "module":
        method = f"def forward(self, x, y, opt=None, flag=False):\n{indent(body, '    ')}"
        text = f"{phrases.CLASS}\n{indent(method, '    ')}\n\n\nmodel = torch.compile(Net())\n"
    else:
        said = draw(st.sampled_from(("x, y", "x: torch.Tensor, y: torch.Tensor"))) if kind == "plain" else "x, y"
        text = f"@torch.compile\ndef run({said}, opt=None, flag=False):\n{indent(body, '    ')}\n"
        text = (helper if kind == "helper" else "") + text
    more = [draw(st.sampled_from(phrases.MORE_CALLS)) for _ in range(2)]
    calls = (*phrases.FIRST_CALLS, *more)
    return program_of(f"{phrases.HEAD}\n\n{text}", calls, "model" if kind == "module" else "run")

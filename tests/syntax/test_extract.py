"""Statements that became a function do what they did: on made-up programs, wherever they are cut."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Module
from fullgraph.codemods.source import decode
from fullgraph.codemods.syntax.extraction.extract import extract

NAMES = "abcdef"
EXPRESSIONS = (
    *("{v}", "{n}") * 4,
    "({e} + {e})",
    "tell({e})",
    "({v} := {e})",
    "({e} if {e} % 2 else {e})",
    "({e} and {e})",
    "sum([i + {v} for i in range({n}) if i != {v}])",
    "boom({e})",
    "later(lambda: {v})",
    "sum(i * {v} for i in range(2))",
)
SIMPLE = (
    *("{v} = {e}",) * 6,
    *("{v} += {e}", "tell({v})") * 3,
    "{v}, {v} = {e}, {e}",
    "del {v}",
    "if {e} % 5 == 0: return {v}",
)
IN_LOOPS = ("if {e} % 2: break", "if {e} % 2: continue")
COMPOUND: tuple[tuple[str, ...], ...] = (
    ("if {e} % 3:",),
    ("if {e} % 3:", "else:"),
    ("for {v} in range({n}):",),
    ("for {v} in range({n}):", "else:"),
    ("while tick() and {e} % 4:",),
    ("try:", "except ValueError:"),
    ("try:", "except ValueError as {v}:", "finally:"),
    ("try:", "finally:"),
    ("with quiet({v}):",),
)


class Author:
    """Writes programs at random, over a handful of variables."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def fill(self, text: str, depth: int = 0) -> str:
        choices = EXPRESSIONS if depth < 2 else EXPRESSIONS[:2]
        while "{" in text:
            text = text.replace("{v}", self.random.choice(NAMES), 1)
            text = text.replace("{n}", str(self.random.randrange(4)), 1)
            if "{e}" in text:
                text = text.replace("{e}", self.fill(self.random.choice(choices), depth + 1), 1)
        return text

    def block(self, depth: int = 0, in_loop: bool = False) -> Iterator[str]:
        for _ in range(self.random.randrange(1, 5)):
            if depth < 3 and self.random.random() < 0.4:
                for head in self.random.choice(COMPOUND):
                    yield self.fill(head)
                    is_loop = head.startswith(("for", "while"))
                    yield from (f"    {line}" for line in self.block(depth + 1, is_loop or in_loop))
            else:
                yield self.fill(self.random.choice(SIMPLE + (IN_LOOPS if in_loop else ())))

    def program(self) -> str:
        lines = ["d = e = f = 1", *self.block(), *self.block(), "return a, b"]
        return "def work(a, b, c):\n" + "".join(f"    {line}\n" for line in lines)


class World:
    """What a program can call; everything that it does can be seen afterwards."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.kept: list[Callable[[], Any]] = []

    def tell(self, value: Any) -> Any:
        self.seen.append(repr(value))
        return value

    def boom(self, value: Any) -> Any:
        if value % 3 == 0:
            raise ValueError("boom")
        return value

    def tick(self) -> int:
        self.seen.append("tick")
        return len(self.seen) % 5 if len(self.seen) < 300 else 0

    def later(self, function: Callable[[], Any]) -> int:
        """Keeps a function, and asks the first of them what it sees by now."""
        self.kept.append(function)
        self.ask(self.kept[0])
        return 1

    def ask(self, function: Callable[[], Any]) -> None:
        try:
            self.seen.append(repr(function()))
        except NameError:
            self.seen.append("unbound")

    class Quiet:
        def __init__(self, value: Any) -> None:
            self.value = value

        def __enter__(self) -> Any:
            return self.value

        def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
            return kind is ValueError


def run(text: str, arguments: tuple[int, ...]) -> Any:
    world = World()
    names = {name: getattr(world, name) for name in ("tell", "boom", "tick", "later")}
    names |= {"quiet": World.Quiet, "mark": lambda function: function}
    exec(compile(text, "program", "exec"), names)
    try:
        ended = repr(names["work"](*arguments))
    except Exception as error:
        ended = type(error).__name__.replace("UnboundLocalError", "NameError")
    for function in world.kept:
        world.ask(function)
    return ended, world.seen


def cuts(tree: ast.AST, chance: random.Random) -> Iterator[list[ast.stmt]]:
    """Consecutive statements here and there."""
    fields = [getattr(node, name, None) for node in ast.walk(tree) for name in ("body", "orelse", "finalbody")]
    blocks = [field for field in fields if isinstance(field, list) and field]
    for block in chance.sample(blocks, min(6, len(blocks))):
        start = chance.randrange(len(block))
        yield block[start : chance.randrange(start, len(block)) + 1]


def extracted(module: Module, statements: list[ast.stmt]) -> str:
    text = module.text
    for edit in sorted(extract(module, statements).edits("part", "mark", "A part."), reverse=True):
        text = text[: edit.span.start] + edit.new_text + text[edit.span.end :]
    return text


@pytest.mark.parametrize("seed", range(5))
def test_cut_programs_do_the_same(seed: int) -> None:
    done = 0
    for number in range(20):
        author = Author(1000 * seed + number)
        text = author.program()
        module = Module(decode("program.py", text.encode()))
        for statements in cuts(module.tree.body[0], author.random):
            try:
                after = extracted(module, statements)
            except Unsure:
                continue
            done += 1
            for arguments in ((1, 2, 3), (0, 0, 0), (4, 1, 6)):
                assert run(after, arguments) == run(text, arguments), f"{text}\n{after}"
    assert done > 10, "most of it was refused"

"""What is asked once must be answered as before: fixtures and made-up programs, run before and after."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fullgraph import Project
from fullgraph.codemods.catalog.repeats.cache_loop_queries import CacheLoopQueries
from fullgraph.codemods.rewrite.find import find
from tests.cases import FIXTURES, apply

HOST = """
import torch

NAMES = (0, 1, 2)

class Host:
    def __init__(self, on):
        self.on, self.log, self.stage, self.asked, self.size = list(on), [], 0, 0, len(on)

    def is_on(self, slot: int) -> bool:
        return self.on[slot] > 0

    def is_late(self, slot: int) -> bool:
        return self.stage > slot

    def flip(self, slot: int) -> None:
        self.on[slot] = 1 - self.on[slot]

    def maybe(self, slot: int) -> None:
        if self.stage > 1:
            self.flip(slot)

    def advance(self) -> None:
        self.stage += 1

def poke(flags, slot):
    flags[slot] = 1 - flags[slot]

def run(host: Host, slots: list[int]):
    out, n, x, slot = [], 0, None, 0
"""
PLAIN = [
    *("out.append({q})", "x = {q}", "out.append((x, {q}, {p}))", "out += [{q} for k in range(2)]", "n += 1"),
    *("host.flip(slot)", "host.maybe(slot)", "host.advance()", "poke(host.on, slot)", "host.on[slot] = 1", "pass"),
    *("flags = host.on; flags[slot] = 0", "host.stage = slot", "host.on = [1] * host.size", "host.log.append(slot)"),
    *("out.append([slot for slot in range(host.size) if {c}])", "out.append(any({q} for k in range(2)))"),
    *("if (y := {q}): out.append({q})", "while {q} and n < 3: n += 1", "assert {q} is not None", "out.append(n)"),
    *("out.append({q}); out.append({p})", "out.append((lambda: {q})())", "out.append(f'{{{q}}}')", "out.append({q})"),
    *("if {c}: continue", "if {c}: break", "slot = (slot + 1) % host.size", "if slot > 3: raise IndexError(slot)"),
]
CONDITIONS = ["{q}", "not {q}", "{q} and {p}", "slot > 1 and {q}", "{q} or slot > 2", "({q} if slot else {p})", "n > 1"]
HEADS = ["if {c}:", "for k in range(2):", "with torch.no_grad():", "for slot in range(host.size):", "try:", "if {c}:"]


class Maker:
    """Makes up programs that ask, change and leave in all orders."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def fill(self, text: str) -> str:
        asks = ("host.is_on(slot)", "host.is_on(slot)", "host.is_late(slot)")
        condition = self.random.choice(CONDITIONS)
        text = text.replace("{c}", condition)
        return text.replace("{q}", self.random.choice(asks)).replace("{p}", self.random.choice(asks))

    def block(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            if depth > 3 or self.random.random() < 0.65:
                lines.append("    " * depth + self.fill(self.random.choice(PLAIN)))
            else:
                head = self.random.choice(HEADS)
                lines += ["    " * depth + self.fill(head), *self.block(depth + 1)]
                if head == "try:" or (head.startswith("if") and self.random.random() < 0.5):
                    other = "except IndexError:" if head == "try:" else self.random.choice(["else:", "elif {c}:"])
                    lines += ["    " * depth + self.fill(other), *self.block(depth + 1)]
        return lines

    def program(self) -> str:
        over = self.random.choice(["range(host.size)", "slots", "NAMES"])
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            lines += [f"    for slot in {over}:", *self.block(2), *self.block(2)]
        return HOST + "\n".join([*lines, "    return out", ""])


def rewritten(text: str) -> str:
    files = {"module.py": text.encode()}
    result = find(Project(Path("/nowhere"), files, files), "module.py", [CacheLoopQueries()])
    assert not result.error
    return apply(files, [finding for finding in result.findings if finding.is_fixable])["module.py"].decode()


def outcome(text: str, on: list[int], slots: list[int]) -> tuple[Any, int]:
    """What the program returns or raises and leaves behind, and how often it asks."""
    names: dict[str, Any] = {}
    exec(text, names)
    host = names["Host"](on)
    asked: list[int] = []
    for name in ("is_on", "is_late"):
        setattr(host, name, counted(getattr(host, name), asked))
    try:
        answer = names["run"](host, slots)
    except Exception as error:
        return (type(error), str(error)), len(asked)
    return (answer, host.on, host.log, host.stage), len(asked)


def counted(ask: Callable[[int], bool], asked: list[int]) -> Callable[[int], bool]:
    def count(slot: int) -> bool:
        asked.append(slot)
        return ask(slot)

    return count


@pytest.mark.parametrize("seed", range(30))
def test_made_up_programs_answer_as_before_and_never_ask_more(seed: int) -> None:
    before = Maker(seed).program()
    after = rewritten(before)
    assert rewritten(after) == after
    for on, slots in (([0, 1, 0, 1], [0, 1, 2, 3]), ([1, 1, 1], [2, 0]), ([0, 0], [1, 1, 0]), ([1], []), ([1, 0], [5])):
        expected, asked_before = outcome(before, on, slots)
        result, asked_after = outcome(after, on, slots)
        assert result == expected
        assert asked_after <= asked_before


def load(file: Path) -> ModuleType:
    module = ModuleType(file.stem)
    exec(file.read_text(), vars(module))
    return module


BANKS = [
    *(("basic", "live_gates"), ("collection_of_unknown_kind", "split"), ("held_already", "describe")),
    *(("held_already", "rename"), ("change_in_between", "tend"), ("branch_that_leaves", "sow_all")),
    *(("declared_pure", "report"), ("name_taken", "active"), ("looked_up_in_the_loop", "visit")),
    *(("third_pass_behind_a_change", "three_passes"), ("third_pass_behind_a_change", "commented")),
]


@pytest.mark.parametrize(("case", "function"), BANKS)
@pytest.mark.parametrize("slots", [[], [0, 1, 2, 3], [3, 3, 1], (2, 0)])
def test_the_fixtures_answer_as_before(case: str, function: str, slots: list[int]) -> None:
    results = []
    for side in ("before.py", "after.py"):
        module = load(FIXTURES / "cache_loop_queries" / case / side)
        bank = module.SeedBank(4, 2)
        bank.sow(1)
        bank.sow(3)
        results.append((repr(getattr(module, function)(bank, slots)), bank.stages, bank.active.tolist()))
    assert results[0] == results[1]

"""What `flatten_tuple_keys` writes computes the same: eager, compiled, and for programs nobody wrote by hand."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullgraph import Finding, Project, Safety
from fullgraph.codemods.catalog.keys.flatten_tuple_keys import FlattenTupleKeys
from fullgraph.codemods.rewrite.find import find
from tests.cases import Case, all_cases, apply

torch = pytest.importorskip("torch")

RUNNING = [case for case in all_cases("flatten_tuple_keys") if "runs" in case.config]


@contextlib.contextmanager
def imported(folder: Path, files: dict[str, bytes]) -> Iterator[dict[str, Any]]:
    """The names of all files of a project, imported from a folder; afterwards none of its modules is left."""
    for path, raw in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(raw)
    known = set(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        names: dict[str, Any] = {"torch": torch}
        for path in sorted(files):
            dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            names |= vars(importlib.import_module(dotted))
        yield names
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - known:
            if str(folder) in (getattr(sys.modules[name], "__file__", None) or ""):
                del sys.modules[name]


def outcome(folder: Path, files: dict[str, bytes], expression: str) -> str:
    with imported(folder, files) as names:
        try:
            return repr(eval(expression, names))
        except Exception as error:
            return f"raises {type(error).__name__}"


@pytest.mark.parametrize("case", RUNNING, ids=lambda case: case.name)
def test_the_result_computes_the_same(case: Case, tmp_path: Path) -> None:
    before = outcome(tmp_path / "before", case.before, case.config["runs"])
    after = outcome(tmp_path / "after", case.after, case.config["runs"])
    assert not before.startswith("raises")
    assert after == before


def found_in(files: dict[str, bytes], options: dict[str, str] | None = None) -> list[Finding]:
    project = Project(Path("/nowhere"), files, files)
    return [finding for path in files for finding in find(project, path, [FlattenTupleKeys(options)]).findings]


COMPILED = b"""
import torch


class Board:
    def __init__(self, slots):
        self.slots = slots
        self.scores: dict[tuple[int, int], torch.Tensor] = {}
        for i in range(len(slots)):
            for j in range(len(slots)):
                self.scores[i, j] = torch.full((2,), float(10 * i + j))

    def total(self, x, n_active: int):
        for i in range(n_active):
            for j in range(n_active):
                x = x + self.scores[i, j]
        for (i, j), score in self.scores.items():
            x = x + (i - j) * score
        return x + sum(i * score for (i, _), score in self.scores.items())
"""


def test_two_strides_and_a_compiled_reader_give_the_same_without_a_break(tmp_path: Path) -> None:
    files = {"board.py": COMPILED}
    results = []
    for name, side in (("before", files), ("after", apply(files, found_in(files)))):
        with imported(tmp_path / name, side) as names:
            board = names["Board"](list("abcde"))
            torch._dynamo.reset()
            compiled = torch.compile(board.total, backend="eager", fullgraph=True)
            for n_active in (2, 5):
                eager, traced = board.total(torch.ones(2), n_active), compiled(torch.ones(2), n_active)
                assert torch.equal(eager, traced)
                results.append(eager.tolist())
    assert results[:2] == results[2:]
    assert apply(files, found_in(files)) != files


HALVED = b"""
import torch

def halves():
    scores = {(i, j): torch.ones(()) for i in range(3) for j in range(3)}
    for half in range(4):
        half /= 2
        yield (0, half) in scores
"""
INHERITED = b"""
import argparse
import torch

class Three:
    def __init__(self):
        self.n = 3

class Other(argparse.Namespace):
    def run(self):
        scores = {}
        for i in range(3):
            scores[i, self.n] = torch.ones(())
        return [pair for pair in scores]
"""


@pytest.mark.parametrize("text", [HALVED, INHERITED])
def test_a_part_that_may_be_no_natural_number_makes_it_unsafe(text: bytes) -> None:
    (finding,) = found_in({"module.py": text})
    assert finding.safety is Safety.UNSAFE
    assert "is not seen to be two ints" in finding.caveat


@pytest.mark.parametrize("key", ["slot_pair", "ids[0], ids[1]"])
def test_any_spelling_of_a_key_is_found(key: str) -> None:
    lines = ["    d = {}", "    ids = list(range(4))", "    for slot_pair in combinations(ids, 2):"]
    lines += [f"        d[{key}] = torch.ones(())", "    return [v.item() for v in d.values()]"]
    text = "import torch\nfrom itertools import combinations\ndef run():\n" + "\n".join(lines)
    assert len(found_in({"module.py": text.encode()})) == 1


# Programs that nobody wrote by hand

FILLS = [
    "d = {{(i, j): torch.tensor(float(i * 7 + j)) for i in range({a}) for j in range({b})}}",
    "d = {{}}\n    for i in range({a}):\n        for j in range(i, {b}): d[i, j] = torch.tensor(float(i * 7 + j))",
    "d = {{}}\n    for pair in itertools.product(range({a}), range({b})):\n        d[pair] = torch.ones(()) * pair[1]",
    "d = {{}}\n    for i, j in itertools.combinations(range({a}), 2):\n        d[(i, j)] = torch.tensor(float(i - j))",
]
STEPS = [
    "for (i, j), v in d.items(): out.append((i, j, v.item()))",
    "for i, j in d:\n        out.append(i * j)\n        if j == {a}: break\n    else:\n        out.append('end')",
    "for pair in list(d):\n        if pair[0] == {a}: del d[pair]",
    "for pair in d:\n        d[pair] = d[pair] + 1",
    "out += [pair for pair in d.keys() if sum(pair) > {a}]",
    "out.append({{(j, i): v.item() for (i, j), v in sorted(d.items())}})",
    "out.append(((min({a}, {b}), {b}) in d, ({a}, {b}) not in d, len(d), bool(d)))",
    "out.append(d.get(({a}, {b}), torch.zeros(())).item())",
    "out.append(d.setdefault(({a}, {b}), torch.ones(())).item())",
    "out.append(d.pop(({b}, {a}), None) is None)",
    "for i in range({b}):\n        if (i, {a}) in d: d[i, {a}] += i",
    "for n, (pair, v) in enumerate(d.items()):\n        out.append((n, pair, v.item(), d[pair].item()))",
    "out += [v.item() for v in d.values()]",
    "d = {{pair: v * 2 for pair, v in d.items() if v > {a}}}",
    "out.append(d[{a}, {b}].item())",
    "pair = ({a}, {b})\n    out.append([pair in d for _ in range(2)])",
    "for pair in d:\n        for pair in d: out.append(d[pair].item())\n        out.append(pair)",
    "for a, b in list(d):\n        d[b, a] = d[a, b] + {a}",
    "for pair in list(d):\n        out.append(tuple(sorted(pair)) in d)",
    "if (pair := ({a}, {b})) in d: out.append(d[pair].item() + d[(pair[0], {b})].item())",
    "looks = [lambda: d.get(pair) is None for pair in [({b}, {a})]]\n    out.append(looks[0]())",
]
sizes = st.integers(0, 4)
steps = st.lists(st.tuples(st.sampled_from(STEPS), sizes, sizes), max_size=6)


@given(fill=st.sampled_from(FILLS), a=st.integers(1, 4), b=st.integers(1, 4), steps=steps, said=st.booleans())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_program_computes_the_same(
    fill: str, a: int, b: int, steps: list[tuple[str, int, int]], said: bool
) -> None:
    lines = [fill.format(a=a, b=b), "out = []", *(step.format(a=x, b=y) for step, x, y in steps)]
    if said:
        lines[0] = lines[0].replace("d = ", "d: dict[tuple[int, int], torch.Tensor] = ", 1)
    text = "import itertools\nimport torch\n\n\ndef run():\n    " + "\n    ".join(
        [*lines, "out.append(len(d))", "return out\n"]
    )
    files = {"module.py": text.encode()}
    findings = found_in(files)
    assert all(finding.safety is Safety.SAFE for finding in findings)
    after = apply(files, findings)["module.py"].decode()
    assert run(text) == run(after), after
    assert not any(finding.is_fixable for finding in found_in({"module.py": after.encode()}))


def run(text: str) -> object:
    names: dict[str, Any] = {}
    exec(text, names)
    try:
        return names["run"]()
    except KeyError:
        return "KeyError"

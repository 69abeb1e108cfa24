"""What statements may change: small programs, each with what must be seen in it, or that nothing is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fullgraph import Project
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.effects.answers import impurity, what_changes
from fullgraph.codemods.syntax.effects.doubts import Doubt

HOST = """
import torch
import unknown_package
from dataclasses import dataclass
from torch import nn

class Host(nn.Module):
    def __init__(self):
        super().__init__()
        self.grafts = nn.ModuleDict()
        self.gates = torch.zeros(4)
        self.names: list[str] = []
        self._stage = 0
        self.count = 0
        self.layer = nn.Linear(2, 2)
        self.rows = Rows()

    def has(self, slot: int) -> bool:
        return str(slot) in self.grafts

    def gate(self, slot: int) -> float:
        return self.gates[slot].item()

    def staged(self, slot: int) -> bool:
        return self._stage > slot

    def row(self, slot: int) -> int:
        return self.rows.data[slot]

    def deep(self, slot: int) -> bool:
        return self.has(slot) and self.staged(slot)

    def graft(self, slot: int) -> None:
        self.grafts[str(slot)] = nn.Linear(2, 2)

    def graft_twice(self, slot: int) -> None:
        self.graft(slot)

    @property
    def stage(self) -> int:
        return self._stage

    @stage.setter
    def stage(self, value: int) -> None:
        self._stage = value

    @property
    def ticks(self) -> int:
        self._stage += 1
        return self._stage

    def note(self, name: str) -> None:
        self.names.append(name)

    def again(self, depth: int) -> None:
        if depth:
            self.and_again(depth - 1)

    def and_again(self, depth: int) -> None:
        self.again(depth)
        self.graft(depth)

    def __setitem__(self, slot: int, value: int) -> None:
        self._stage = value

    def __getitem__(self, slot: int) -> int:
        self._stage = slot
        return slot

    def __enter__(self):
        self._stage = 1
        return self

    def __exit__(self, *error):
        self._stage = 0

    def __len__(self) -> int:
        return self._stage

    def __contains__(self, slot: int) -> bool:
        self._stage = slot
        return True

    def __iter__(self):
        self._stage = 2
        return iter(self.names)

    def __add__(self, other):
        self._stage = other
        return self

class Rows:
    def __init__(self):
        self.data = [1, 2, 3]

    def put(self, slot: int, value: int) -> None:
        self.data[slot] = value

class TallHost(Host):
    def note(self, name: str) -> None:
        self.gates.zero_()

def fill(items, value):
    items.append(value)

def zero(tensor):
    tensor.zero_()

def zero_all(*tensors):
    for tensor in tensors:
        tensor.zero_()

def zero_named(**tensors):
    for tensor in tensors.values():
        tensor.zero_()

def harmless(host: Host) -> int:
    return len(host.names) + 1

LIMIT = 3
total = 0

def set_total():
    global total
    total = 5

def make() -> Host:
    return Host()

@dataclass
class Plain:
    size: int = 0

@dataclass
class Counting:
    host: Host

    def __post_init__(self):
        self.host.graft(1)

class Foreign(unknown_package.Base):
    pass
"""


def read(code: str) -> tuple[Project, Module]:
    files = {"module.py": (HOST + code).encode()}
    project = Project(Path("/nowhere"), files, files)
    return project, project.module("module.py")


def probe_of(module: Module) -> Function:
    functions: list[Function] = module.nodes(ast.FunctionDef, ast.AsyncFunctionDef)
    return next(node for node in functions if node.name == "probe")


def doubt_of(code: str, pure: tuple[str, ...] = ()) -> Doubt | None:
    """What may change the value of the first statement of `probe` in the statements behind it."""
    project, module = read(code)
    first, *rest = probe_of(module).body
    assert isinstance(first, (ast.Assign, ast.Expr))
    return what_changes(project, module, first.value, rest, pure)


def program(question: str, between: str, parameters: str = "host: Host, other: Host, slot: int") -> str:
    lines = "".join(f"    {line}\n" for line in between.splitlines())
    return f"\ndef probe({parameters}):\n    answer = {question}\n{lines}"


HAS, GATE, STAGED, DEEP, ROW = (
    "host.has(slot)",
    "host.gate(slot)",
    "host.staged(slot)",
    "host.deep(slot)",
    "host.row(1)",
)

CHANGES = [
    # names bound anew
    (HAS, "slot = 3"),
    (HAS, "host = other"),
    (HAS, "slot += 1"),
    (HAS, "del slot"),
    (HAS, "for slot in range(3):\n    pass"),
    (HAS, "for a, (slot, b) in []:\n    pass"),
    (HAS, "with torch.no_grad() as slot:\n    pass"),
    (HAS, "try:\n    pass\nexcept ValueError as slot:\n    pass"),
    (HAS, "print(slot := 4)"),
    (HAS, "[slot := i for i in range(3)]"),
    (HAS, "import os as slot"),
    (HAS, "from os import path as host"),
    (HAS, "def slot():\n    pass"),
    (HAS, "class host:\n    pass"),
    (HAS, "match other:\n    case [slot, *_]:\n        pass"),
    (HAS, "match other:\n    case {'a': 1, **slot}:\n        pass"),
    (HAS, "match other:\n    case Host() as host:\n        pass"),
    (HAS, "a, *slot = other"),
    (HAS, "if other:\n    slot: int = 3"),
    ("host.has(total)", "set_total()"),
    ("total + 1", "global total\ntotal = 3"),
    # attributes and items
    (HAS, "x = Counting(host)"),
    (HAS, "host.grafts['1'] = None"),
    (HAS, "other.grafts = {}"),
    (HAS, "del host.grafts['1']"),
    (HAS, "del host.grafts"),
    (HAS, "host.grafts.pop('1')"),
    (HAS, "host.grafts.update({})"),
    (HAS, "host.grafts |= {}"),
    (HAS, "setattr(host, 'grafts', {})"),
    (HAS, "host.__dict__['grafts'] = {}"),
    (HAS, "vars(host)['grafts'] = {}"),
    (HAS, "host.__setattr__('grafts', {})"),
    (HAS, "host.grafts.__setitem__('1', None)"),
    (HAS, "for host.grafts['1'] in [None]:\n    pass"),
    (HAS, "host.grafts, other = {}, 1"),
    # through another name
    (HAS, "grafts = host.grafts\ngrafts['1'] = None"),
    (HAS, "held = [host.grafts]\nheld[0]['1'] = None"),
    (HAS, "held = {'a': host.grafts}\nheld['a'].clear()"),
    (HAS, "a, b = host.grafts, 1\na.clear()"),
    (HAS, "(g := host.grafts).clear()"),
    (HAS, "for g in (host.grafts, other.grafts):\n    g.clear()"),
    (HAS, "with torch.no_grad():\n    host.grafts.clear()"),
    (HAS, "clear = host.grafts.clear\nclear()"),
    (HAS, "fill(host.grafts, 1)"),
    (HAS, "fill(value=1, items=host.grafts)"),
    (HAS, "fill(*[host.grafts, 1])"),
    (HAS, "fill(**{'items': host.grafts})"),
    (HAS, "[fill(host.grafts, n) for n in range(2)]"),
    (HAS, "f = lambda: host.grafts.clear()\nf()"),
    (HAS, "def f():\n    host.grafts.clear()\nf()"),
    (HAS, "def f():\n    nonlocal slot\n    slot = 2\nf()"),
    (HAS, "getattr(host, 'grafts').clear()"),
    (HAS, "list(map(host.graft, [1]))"),
    (HAS, "list(map(lambda n: host.graft(n), [1]))"),
    (HAS, "x = sorted([1], key=host.graft)"),
    (HAS, "x = max([1], key=lambda n: host.grafts.clear())"),
    (HAS, "x = [n for n in filter(host.graft, [1])]"),
    (HAS, "import functools\nx = functools.reduce(fill, [1], host.grafts)"),
    # through methods
    (HAS, "host.graft(1)"),
    (HAS, "other.graft(1)"),
    (HAS, "host.graft_twice(1)"),
    (HAS, "Host.graft(host, 1)"),
    (HAS, "make().graft(1)"),
    (HAS, "host.and_again(2)"),
    (HAS, "host.again(2)"),
    (DEEP, "host.graft(1)"),
    (DEEP, "host._stage = 3"),
    (HAS, "host.add_module('a', None)"),
    (HAS, "host.load_state_dict({})"),
    # tensors
    (GATE, "host.gates[slot] = 1.0"),
    (GATE, "host.gates.zero_()"),
    (GATE, "host.gates += 1"),
    (GATE, "host.gates[slot] += 1"),
    (GATE, "host.gates[1:].fill_(2)"),
    (GATE, "host.gates.data.fill_(2)"),
    (GATE, "host.gates.view(2, 2)[0] = 1"),
    (GATE, "flat = host.gates.flatten()\nflat[0] = 1"),
    (GATE, "torch.add(other, 1, out=host.gates)"),
    (GATE, "torch.relu_(host.gates)"),
    (GATE, "nn.init.zeros_(host.gates)"),
    (GATE, "host.gates.copy_(other.gates)"),
    (GATE, "zero(host.gates)"),
    (GATE, "zero_all(host.gates)"),
    (GATE, "zero_named(a=host.gates)"),
    (GATE, "a, b = host.gates.chunk(2)\na.mul_(2)"),
    (GATE, "for gate in host.gates:\n    gate.zero_()"),
    (GATE, "for index, gate in enumerate(host.gates):\n    gate.zero_()"),
    (GATE, "with torch.no_grad():\n    host.gates.sub_(1)"),
    (GATE, "host.gates.set_(other.gates)"),
    (GATE, "host.gates.numpy()[0] = 1"),
    # what subclasses do instead
    (GATE, "host.note('x')"),
    # what runs without being called by name
    (STAGED, "host.stage = 3"),
    (STAGED, "print(host.ticks)"),
    (STAGED, "host[1] = 2"),
    (STAGED, "a = host[1]"),
    (STAGED, "with host:\n    pass"),
    (STAGED, "with make() as made:\n    pass"),
    (STAGED, "for name in host:\n    pass"),
    (STAGED, "a = 1 in host"),
    (ROW, "host.rows.put(1, 2)"),
    (ROW, "rows = host.rows\nrows.put(1, 2)"),
    (ROW, "host.rows = other.rows"),
    (ROW, "host.rows.data.sort()"),
    (ROW, "host.rows.data[0], x = 1, 2"),
]

UNSEEN = [
    (HAS, "callback(slot)", "callback"),
    (HAS, "callback(host)", "callback"),
    (HAS, "host.unheard_of()", "unheard_of"),
    (HAS, "exec('host.grafts = 1')", "exec"),
    (HAS, "getattr(host, 'gra' + 'ft')(1)", "call"),
    (HAS, "functions[0](1)", "call"),
    (HAS, "list(map(callback, [1]))", "callback"),
    (HAS, "x = sorted(other, key=callback)", "callback"),
    (HAS, "unknown_package.run()", "run"),
    (HAS, "import pytest\npytest.raises(ValueError, callback)", "raises"),
    (HAS, "other.assertRaises(ValueError, callback)", "assertRaises"),
    (HAS, "import heapq\nx = heapq.nlargest(2, other, key=callback)", "callback"),
    (HAS, "x = next(callback)", "next"),
    (HAS, "x = Foreign()", "Foreign"),
    (HAS, "yield slot", "other code"),
    (HAS, "yield from other", "other code"),
]

NOTHING = [
    (HAS, "pass"),
    (HAS, "x = 'abc'.translate(str.maketrans('a', 'b'))"),
    (HAS, "import pytest\nwith pytest.raises(ValueError):\n    x = pytest.approx(slot)"),
    (HAS, "other.assertAlmostEqual(slot, 3)"),
    (HAS, "import inspect, dataclasses\nx = inspect.get_annotations(Host), dataclasses.fields(Plain)"),
    (HAS, "import einops\nx = einops.repeat(other.gates, 'a -> a b', b=2)"),
    (HAS, "x = next(other.parameters()).device"),
    (HAS, "x = Plain(1)"),
    (HAS, "x = torch.ones(2).clamp_min(1).repeat_interleave(2).log1p()"),
    (HAS, "x = 3\nhost.names.append('a')"),
    (HAS, "host.count += 1"),
    (HAS, "host.gates[slot] = 2"),
    (HAS, "print(slot, host)"),
    (HAS, "rows = []\nrows.append(host.grafts['1'])"),
    (HAS, "found = {}\nfound[slot] = host.grafts"),
    (HAS, "x = harmless(host)"),
    (HAS, "x = [slot for slot in range(3)]"),
    (HAS, "x = lambda slot: slot"),
    (HAS, "def f(slot):\n    slot = 3\n    return slot"),
    (HAS, "def f():\n    host.grafts.clear()"),
    (HAS, "f = lambda: host.grafts.clear()"),
    (HAS, "x = torch.zeros(3).add_(1)"),
    (HAS, "x = host.gates.sum().item() + len(host.names)"),
    (HAS, "x = sorted(host.grafts.keys())"),
    (HAS, "x = sorted(map(str, host.names), key=len)"),
    (HAS, "x = max(host.names, key=lambda name: (len(name), name))"),
    (HAS, "x = str(slot) in host.grafts and slot > 2"),
    (HAS, "with torch.no_grad():\n    x = host.gates * 2"),
    (HAS, "for i in range(3):\n    if i > slot:\n        break\nelse:\n    x = 1"),
    (HAS, "try:\n    x = host.gates[slot]\nexcept IndexError:\n    raise ValueError(f'{slot}') from None"),
    (HAS, "assert slot > 1, 'too small'"),
    (HAS, "x = host.stage"),
    (HAS, "import math\nx = math.sqrt(slot)"),
    (HAS, "host.note_nothing = 1"),
    (GATE, "host.grafts['1'] = None"),
    (GATE, "host.graft(1)"),
    (GATE, "x = host.gates + 1\nx.zero_()"),
    (GATE, "x = host.gates.clone()\nx.zero_()"),
    (GATE, "x = torch.relu(host.gates)\nx.add_(1)"),
    (STAGED, "host.note_more = 3"),
    (STAGED, "x = host.stage"),
    ("LIMIT * slot", "callback(host)"),
    ("slot * 2", "callback(host)"),
    ("host.has(slot)", "x = other.has(slot) or other.staged(slot)"),
]


@pytest.mark.parametrize(("question", "between"), CHANGES, ids=[f"{q}: {b}" for q, b in CHANGES])
def test_a_change_is_seen(question: str, between: str) -> None:
    assert doubt_of(program(question, between)) is not None


@pytest.mark.parametrize(("question", "between", "said"), UNSEEN, ids=[b for _, b, _ in UNSEEN])
def test_what_cannot_be_followed_is_a_doubt(question: str, between: str, said: str) -> None:
    doubt = doubt_of(program(question, between, "host: Host, other, slot: int, callback, functions"))
    assert doubt is not None
    assert not doubt.is_seen
    assert said in doubt.text


@pytest.mark.parametrize(("question", "between"), NOTHING, ids=[f"{q}: {b}" for q, b in NOTHING])
def test_what_changes_nothing_is_no_doubt(question: str, between: str) -> None:
    doubt = doubt_of(program(question, between, "host: Host, other: Host, slot: int, callback"))
    assert doubt is None, doubt


def test_an_await_lets_other_code_run() -> None:
    code = "\nasync def probe(host: Host, slot: int, pause):\n    answer = host.has(slot)\n    await pause\n"
    doubt = doubt_of(code)
    assert doubt is not None
    assert "other code runs" in doubt.text


def test_the_doubt_names_the_call_and_the_line_that_writes() -> None:
    doubt = doubt_of(program(HAS, "host.graft_twice(1)"))
    assert doubt is not None
    line = HOST.splitlines().index("        self.grafts[str(slot)] = nn.Linear(2, 2)") + 1
    last = len((HOST + program(HAS, "host.graft_twice(1)")).splitlines())
    assert doubt.text == f"module.py:{last}: `graft()` sets `self.grafts[str(slot)]` (module.py:{line})"


# What is read without being named


@pytest.mark.parametrize(
    ("question", "between"),
    [
        ("host.stage > slot", "host._stage = 1"),
        ("len(host) > slot", "host._stage = 1"),
        ("len(host) > slot", "host.stage = 1"),
        ("TallHost().deep(slot)", "host.graft(1)"),
        ("max(host.gates)", "host.gates.zero_()"),
        ("[name for name in host.names]", "host.names.append('x')"),
        ("host.names[slot].upper()", "host.names[0] = 'x'"),
        ("getattr(host, 'count')", "host.count = 2"),
        ("getattr(host, name)", "host.count = 2"),
        ("callback(slot)", "host.count = 2"),
        ("f'{host.count}'", "host.count = 2"),
        ("(lambda: host.count)()", "host.count = 2"),
        ("inner()", "flag = 2"),
        ("inner()", "flag += 2"),
    ],
)
def test_what_is_read_indirectly_counts(question: str, between: str) -> None:
    lines = "".join(f"    {line}\n" for line in between.splitlines())
    head = (
        "\ndef outer(host: Host, slot: int, name, callback):\n    flag = 1\n\n    def inner():\n        return flag\n"
    )
    code = f"{head}\n    def probe(host: Host, slot: int):\n        nonlocal flag\n"
    code += f"        answer = {question}\n    {lines}"
    project, module = read(code)
    _, first, second = probe_of(module).body
    assert isinstance(first, ast.Assign)
    assert what_changes(project, module, first.value, [second]) is not None


DECORATED = """
import functools

def counting(function):
    def wrapped(*args):
        host.count += 1
        return function(*args)
    return wrapped

@counting
def is_big(slot):
    return slot > 3

@functools.lru_cache
def is_huge(slot):
    return slot > 30

@torch.no_grad()
def is_small(slot):
    return slot < 3
"""


def test_a_decorator_of_the_project_may_do_more() -> None:
    assert impurity_of("is_big(slot)", code=DECORATED) is not None
    assert impurity_of("is_huge(slot)", code=DECORATED) is None
    assert impurity_of("is_small(slot)", code=DECORATED) is None


def test_functions_that_call_each_other_twice_are_looked_into_once() -> None:
    chain = "".join(f"\ndef f{n}(host):\n    f{n + 1}(host)\n    f{n + 1}(host)\n" for n in range(5))
    code = chain + "\ndef f5(host):\n    host.names.append('x')\n" + program(HAS, "f0(host)")
    assert doubt_of(code) is None
    assert doubt_of(code.replace("host.names.append('x')", "host.grafts.clear()")) is not None


def test_a_chain_that_is_too_long_is_a_doubt() -> None:
    chain = "".join(f"\ndef f{n}(host):\n    f{n + 1}(host)\n" for n in range(12))
    doubt = doubt_of(chain + "\ndef f12(host):\n    pass\n" + program(HAS, "f0(host)"))
    assert doubt is not None
    assert "too much" in doubt.text


def several(files: dict[str, str]) -> Project:
    texts = {path: text.encode() for path, text in files.items()}
    return Project(Path("/nowhere"), texts, texts)


def test_a_subclass_in_another_file_counts() -> None:
    probe = "from host import Host\n" + program(GATE, "host.note('x')", "host: Host, slot: int")
    heir = "from host import Host\nclass Low(Host):\n    def note(self, name):\n        self.gates[0] = 1\n"
    for other, is_doubted in (("", False), (heir, True)):
        project = several(
            {"host.py": HOST.replace("class TallHost(Host)", "class TallHost"), "a.py": probe, "b.py": other}
        )
        module = project.module("a.py")
        question, then = probe_of(module).body
        assert isinstance(question, ast.Assign)
        assert (what_changes(project, module, question.value, [then]) is not None) == is_doubted


def test_a_file_that_cannot_be_read_may_hold_a_subclass() -> None:
    probe = "from host import Host\n" + program(GATE, "host.graft(1)", "host: Host, slot: int")
    project = several({"host.py": HOST, "a.py": probe, "b.py": "class Odd(Host):\n    def graft(self) ->:\n"})
    module = project.module("a.py")
    question, then = probe_of(module).body
    assert isinstance(question, ast.Assign)
    doubt = what_changes(project, module, question.value, [then])
    assert doubt is not None
    assert "it may inherit Host" in doubt.text


# Declared pure


def test_what_is_declared_pure_changes_nothing() -> None:
    code = program(HAS, "callback(host)\nhost.graft(2)", "host: Host, slot: int, callback")
    assert doubt_of(code) is not None
    assert doubt_of(code, ("callback", "graft")) is None


@pytest.mark.parametrize(
    "between",
    ["model.stages[0] = 1", "model.x = 1", "model.stages.pop()", "slot = 2", "model = None", "rows.append(1)"],
)
def test_a_declared_query_of_something_unknown_may_read_anything(between: str) -> None:
    code = program("model.asks(slot)", between, "model, slot: int, rows")
    assert doubt_of(code, ("asks",)) is not None


@pytest.mark.parametrize(
    "between", ["x = 1", "rows = []\nrows.append(1)", "found = {}\nfound[slot] = 2", "x = model.stages[0]", "print(1)"]
)
def test_a_declared_query_of_something_unknown_does_not_read_what_is_made_here(between: str) -> None:
    code = program("model.asks(slot)", between, "model, slot: int")
    assert doubt_of(code, ("asks",)) is None


def test_a_declared_query_that_can_be_followed_reads_what_it_reads() -> None:
    assert doubt_of(program(HAS, "host.grafts.clear()"), ("has",)) is not None
    assert doubt_of(program(HAS, "host.names.append('x')"), ("has",)) is None


# Order of asking


def test_mutual_recursion_is_seen_whoever_is_asked_first() -> None:
    for first, second in (("again", "and_again"), ("and_again", "again")):
        project, module = read(program(HAS, f"host.{first}(1)\nhost.{second}(1)"))
        question, one, two = probe_of(module).body
        assert isinstance(question, ast.Assign)
        assert what_changes(project, module, question.value, [one]) is not None
        assert what_changes(project, module, question.value, [two]) is not None


# Impurity


def impurity_of(expression: str, code: str = "") -> Doubt | None:
    project, module = read(f"{code}\ndef probe(host: Host, slot: int, callback):\n    return {expression}\n")
    returned = probe_of(module).body[0]
    assert isinstance(returned, ast.Return)
    assert isinstance(returned.value, ast.Call)
    return impurity(project, module, returned.value)


@pytest.mark.parametrize("expression", [HAS, GATE, STAGED, DEEP, ROW, "harmless(host)", "len(host.names)"])
def test_a_read_is_pure(expression: str) -> None:
    doubt = impurity_of(expression)
    assert doubt is None, doubt


@pytest.mark.parametrize(
    "expression",
    [
        *("host.graft(slot)", "host.graft_twice(slot)", "host.note('x')", "set_total()", "callback(slot)"),
        *("print(slot)", "torch.rand(slot)", "host.has(callback(slot))", "str(host.ticks)", "host.unheard_of()"),
        *("fill(host.names, 'x')", "zero(host.gates)", "host.gates.zero_()", "host.grafts.pop('1')", "open('x')"),
        *("next(host.names)", "host.has(host.names.pop())", "input()", "torch.randn(3).sum()", "str(host[slot])"),
    ],
)
def test_what_does_more_than_reading_is_not_pure(expression: str) -> None:
    assert impurity_of(expression) is not None

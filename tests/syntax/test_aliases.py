"""One object by several names: what is written by one of them is seen by the others."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fullgraph import Project
from fullgraph.codemods.module import Module
from fullgraph.codemods.source import decode
from fullgraph.codemods.syntax.effects.aliases import is_atomic, is_private
from fullgraph.codemods.syntax.effects.answers import what_changes
from fullgraph.codemods.syntax.effects.doubts import Doubt
from tests.syntax.test_effects import GATE, HAS, doubt_of, impurity_of, probe_of, program, several

FRESH = "x = torch.zeros(4)\n"
SEEN = {
    "an item that was put in": "held = []\nheld.append(host.gates)\nheld[0].zero_()",
    "an item of an item": "held = [[]]\nheld[0].append(host.gates)\nheld[0][0].zero_()",
    "an item that was added": "held = []\nheld += [host.gates]\nheld[0].zero_()",
    "a loop over what was put in": "held = []\nheld.append(host.gates)\nfor gate in held:\n    gate.zero_()",
    "the second of a choice": f"{FRESH}(x if slot else host.gates).zero_()",
    "the first of or": f"{FRESH}(host.gates or x).zero_()",
    "another attribute": "other.held = host.gates\nother.held.zero_()",
    "another attribute with an annotation": "other.held: object = host.gates\nother.held.zero_()",
    "bound by with": "with host.gates as gate:\n    gate.zero_()",
    "bound by match": "match host.gates:\n    case gate:\n        gate.zero_()",
    "unpacked with a star": "a, b, c = *(1, host.gates), 2\nb.zero_()",
    "a method that nobody knows": "host.gates.pick().zero_()",
    "given by name": "callback(it=host.gates).zero_()",
    "held by a class of torch": "held = torch.Wrapper(host.gates)\nheld.zero_()",
    "a view that a function makes": "flat = torch.reshape(host.gates, (4,))\nflat.zero_()",
    "its data": "gates = host.gates\ngates.data = other",
    "in place by a keyword": "x = torch.nn.functional.relu(host.gates, inplace=True)",
    "in place by a flag": "x = torch.nn.functional.relu(host.gates, inplace=callback)",
    "a collective": "import torch.distributed as dist\ndist.all_reduce(host.gates)",
    "behind a call that cannot be followed": "callback(slot)\nhost.gates.zero_()",
}
UNSEEN = {
    "not in place": "x = torch.nn.functional.relu(host.gates, inplace=False)",
    "sorted into something new": "x = host.gates.sort()",
    "a new tensor of a choice": f"{FRESH}(x if slot else x + 1).zero_()",
    "items of a builtin": "x = sorted(host.names)",
}
PARAMETERS = "host: Host, other, slot: int, callback"


@pytest.mark.parametrize("between", SEEN.values(), ids=SEEN.keys())
def test_a_write_by_another_name_is_seen(between: str) -> None:
    doubt = doubt_of(program(GATE, between, PARAMETERS))
    assert doubt is not None
    assert doubt.is_seen, doubt


@pytest.mark.parametrize("between", UNSEEN.values(), ids=UNSEEN.keys())
def test_a_write_to_something_else_is_none(between: str) -> None:
    assert doubt_of(program(GATE, between, PARAMETERS)) is None


def test_the_first_call_that_cannot_be_followed_is_named() -> None:
    doubt = doubt_of(program(HAS, "callback(slot)\nhost.unheard_of()", PARAMETERS))
    assert doubt is not None
    assert "callback" in doubt.text


def test_an_operator_of_a_library_cannot_be_followed() -> None:
    doubt = doubt_of(program(GATE, "x = torch.ops.library.run(slot)", PARAMETERS))
    assert doubt is not None
    assert not doubt.is_seen


def test_a_default_runs_where_its_function_is_defined() -> None:
    assert doubt_of(program(HAS, "def inner(x=host.graft(1)):\n    pass")) is not None


SHARED = """
shared = [1]
LIMITS = [1]

def put(value, items=shared):
    items.append(value)

def put_by_name(value, *, items=shared):
    items.append(value)

class Bag:
    left = 1

    def __new__(cls):
        Bag.made = 1
        return None

    def __init__(self):
        pass

    def __delitem__(self, key):
        self.gone = key

    def __iadd__(self, other):
        self.left = other
        return self

    @property
    def top(self):
        return self.left

    @top.deleter
    def top(self):
        self.left = 0
"""


@pytest.mark.parametrize(
    ("question", "between"),
    [
        ("len(shared)", "put(2)"),
        ("len(shared)", "put_by_name(2)"),
        ("len(shared)", "put(*[2])"),
        ("len(shared)", "put_by_name(**{'value': 2})"),
        ("len(shared)", "import module\nmodule.shared = [2]"),
        ("shared[slot]", "callback(slot)"),
        ("bag.made", "x = Bag()"),
        ("another.gone", "del bag[1]"),
        ("bag.left", "another += 1"),
        ("bag.left", "del bag.top"),
    ],
)
def test_what_runs_without_being_named_is_followed(question: str, between: str) -> None:
    code = program(question, between, "bag: Bag, another: Bag, slot: int, callback")
    assert doubt_of(SHARED + code) is not None


@pytest.mark.parametrize(
    ("question", "between"),
    [
        ("LIMITS[slot]", "callback(slot)"),
        ("len(shared)", "put(2, [])"),
        ("len(shared)", "put_by_name(2, items=[])"),
        ("bag.left", "Bag()"),
    ],
)
def test_what_runs_without_being_named_changes_no_more_than_it_does(question: str, between: str) -> None:
    code = program(question, between, "bag: Bag, another: Bag, slot: int, callback")
    assert doubt_of(SHARED + code) is None


def test_a_constant_of_another_file_can_be_changed_there() -> None:
    text = "import config\nfrom config import LIMITS\n\ndef probe(slot: int):\n    answer = LIMITS[slot]\n"
    assert changed({"config.py": "LIMITS = [1]\n", "a.py": f"{text}    config.LIMITS = [2]\n"}) is not None
    assert changed({"config.py": "LIMITS = [1]\n", "a.py": f"{text}    config.OTHERS = [2]\n"}) is None


def changed(files: dict[str, str]) -> Doubt | None:
    project = several(files)
    module = project.module("a.py")
    question, *rest = probe_of(module).body
    assert isinstance(question, ast.Assign)
    return what_changes(project, module, question.value, rest)


def test_every_question_may_look_into_as_many_functions() -> None:
    functions = "".join(f"def f{number}(x):\n    return x + {number}\n\n" for number in range(60))
    probe = "def probe(names: list):\n    answer = names[0]\n    " + "\n    ".join(f"f{n}(1)" for n in range(60)) + "\n"
    project = Project(Path("/nowhere"), ["a.py"], {"a.py": (functions + probe).encode()})
    module = project.module("a.py")
    question, *rest = probe_of(module).body
    assert isinstance(question, ast.Assign)
    for some in (rest[:30], rest[30:]):
        assert what_changes(project, module, question.value, some) is None


def test_what_is_declared_pure_may_be_named_as_it_is_written() -> None:
    code = program(HAS, "host.graft(2)")
    assert doubt_of(code, ("host.graft",)) is None
    assert doubt_of(code, ("other.graft",)) is not None


def test_a_random_number_is_no_read() -> None:
    assert impurity_of("np.random.rand(3)", code="import numpy as np\n") is not None
    assert impurity_of("np.zeros(3)", code="import numpy as np\n") is None


def last_mention(text: str) -> tuple[Module, ast.Name]:
    """The last mention of the variable `it`."""
    module = Module(decode("m.py", text.encode()), "m")
    return module, [node for node in module.nodes(ast.Name) if node.id == "it"][-1]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("it = 1\n    return it", True),
        ("it = len(xs)\n    return it", True),
        ("it: int | None = xs\n    return it", True),
        ("it: int | list = xs\n    return it", False),
        ("it = 1\n    it = []\n    return it", False),
        ("for it, x in enumerate(xs):\n        print(it)", True),
        ("for x, it in enumerate(xs):\n        print(it)", False),
        ("for it in range(3):\n        print(it)", True),
        ("for it in xs:\n        print(it)", False),
        ("it, x = len(xs)\n    return it", False),
    ],
)
def test_a_value_that_nothing_can_change_is_known_by_all_that_binds_it(body: str, expected: bool) -> None:
    assert is_atomic(*last_mention(f"def f(xs):\n    {body}\n")) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("it = []\n    it.append(1)", True),
        ("it = []\n    return len(it)", True),
        ("it = []\n    keep(it)", False),
        ("it = []\n    keep(all=it)", False),
        ("it = []\n    other = it", False),
        ("it = []\n    yield it", False),
        ("it = []\n    yield from it", False),
        ("it = []\n    def g():\n        return it", False),
        ("it = keep()\n    it.append(1)", False),
        ("global it\n    it = []\n    it.append(1)", False),
    ],
)
def test_a_new_list_is_private_until_somebody_gets_it(body: str, expected: bool) -> None:
    assert is_private(*last_mention(f"from kept import keep\n\ndef f(xs):\n    {body}\n")) is expected


def test_a_global_is_never_private() -> None:
    assert not is_private(*last_mention("it = []\nit.append(1)\n"))

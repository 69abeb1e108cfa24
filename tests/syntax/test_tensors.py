"""What is known of a value holds for whichever it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.tensors.calls import loss, of_literal
from fullgraph.codemods.syntax.tensors.infer import Tensors
from fullgraph.codemods.syntax.tensors.known import NUMBER, UNKNOWN, Device, Known, agreed, tensor
from fullgraph.codemods.syntax.tensors.pieces import element, unpacked

HERE: Device = (None, "here")
THERE: Device = (None, "there")


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def call(text: str) -> ast.Call:
    found = expression(text)
    assert isinstance(found, ast.Call)
    return found


def test_two_values_agree_in_what_both_are() -> None:
    one = tensor("float", 2, frozenset({HERE, THERE}))
    assert agreed([one, tensor("int", 2, frozenset({HERE}))]) == tensor("", 2, frozenset({HERE}))
    assert agreed([one, tensor("float", 1)]) == tensor("float")
    assert agreed([one, UNKNOWN]) == agreed([UNKNOWN, one]) == UNKNOWN
    assert not agreed([one, NUMBER]).is_tensor
    assert agreed([]) == UNKNOWN


def test_an_item_of_a_tensor_has_one_dimension_less() -> None:
    assert element(tensor("float", 2)).ndim == 1
    assert element(tensor("float", 1)).shape == "()"
    assert element(tensor("float", 0)).ndim is None
    assert element(tensor("float")).ndim is None


@pytest.mark.parametrize(("place", "kind"), [(0, "float"), (1, "int")])
def test_a_sort_gives_values_and_their_positions(place: int, kind: str) -> None:
    found = unpacked(lambda node: Known("list", item=tensor("float", 1)), expression("x.sort()"), (place,))
    assert found.kind == kind


@pytest.mark.parametrize(
    ("text", "ndim"),
    [
        ("mse_loss(a, b)", 0),
        ("mse_loss(a, b, reduction='sum')", 0),
        ("mse_loss(a, b, reduction='none')", None),
        ("mse_loss(a, b, reduction=chosen)", None),
        ("mse_loss(a, b, None)", None),
    ],
)
def test_a_loss_is_one_number_unless_it_is_told_otherwise(text: str, ndim: int | None) -> None:
    assert loss(call(text), []).ndim == ndim


@pytest.mark.parametrize(
    ("text", "kind"),
    [("[1, 2]", "int"), ("[1, 2.0]", "float"), ("[True]", "bool"), ("[True, 1]", ""), ("[x, 1]", ""), ("[-1]", "int")],
)
def test_a_float_among_ints_makes_floats(text: str, kind: str) -> None:
    assert of_literal(expression(text)) == kind


NET = """
import torch
from torch import nn

class Net(nn.Module):
    def act(self, x) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        return self.run(x)

    def drawn(self, x, names):
        logits, values = self.act(x)
        actions, total = {}, 0.0
        for name in names:
            dist = torch.distributions.Categorical(logits=logits[name])
            actions[name] = logits[name].argmax(-1) if self.greedy else dist.sample()
        return actions, values

    def mixed(self, x, names):
        found = {"loss": 0.0}
        for name in names:
            found[name] = torch.zeros(3)
        return found

    def handed_on(self, names, fill):
        found = {}
        found["a"] = torch.zeros(3)
        fill(found)
        return found

    def sometimes(self, x) -> torch.Tensor:
        if not self.ready:
            return None
        return self.run(x)

class Agent:
    def __init__(self, net: Net, compiled: bool):
        self.network = torch.compile(net) if compiled else net

class Nets:
    def __init__(self, net: Net):
        self.net = net

    def all(self):
        return (1, self.net)

class Trainer:
    def __init__(self, agent: Agent, nets: Nets):
        self.agent = agent
        self.nets = nets

    def step(self, x):
        _, net = self.nets.all()
        dicts, values = {call}
        return VALUE
"""


def known_in(text: str) -> Known:
    """What is known of the last thing that a small program returns."""
    project = Project(Path("/nowhere"), ["program.py"], {"program.py": text.encode()})
    module = project.module("program.py")
    returned = module.nodes(ast.Return)[-1].value
    assert returned is not None
    return Tensors(project).known(module, returned)


@pytest.mark.parametrize(
    ("called", "value", "is_tensor"),
    [
        ("self.agent.network.act(x)", "dicts[x]", True),
        ("self.agent.network.act(x)", "values", True),
        ("self.agent.network.act(x)", "dicts", False),
        ("net.drawn(x, [])", "dicts[x]", True),
        ("net.drawn(x, [])", "values", True),
        ("net.mixed(x, []), 0", "dicts[x]", False),
        ("net.handed_on([], x), 0", "dicts[x]", False),
        ("net.sometimes(x), 0", "dicts", False),
        ("torch.zeros(2, 3)", "values", True),
    ],
)
def test_a_part_of_what_a_method_returns_is_known(called: str, value: str, is_tensor: bool) -> None:
    assert known_in(NET.replace("{call}", called).replace("VALUE", value)).is_tensor is is_tensor


SIGN = """
import torch

def read(x, y):
    {use}
    return x
"""


@pytest.mark.parametrize(
    ("use", "is_tensor"),
    [
        ("n = x.numel()", True),
        ("n = x.dim()", True),
        ("y = torch.zeros(x.shape, device=x.device)", True),
        ("n = x.shape[0]", False),
        ("y = y.to(x.device)", False),
        ("n = x.numel() if torch.is_tensor(x) else len(x)", False),
        ("n = x.numel() if isinstance(x, torch.Tensor) else len(x)", False),
        ("n = 0 if x is None else x.numel()", False),
    ],
)
def test_what_only_a_tensor_has_tells_a_tensor_unless_the_code_asks(use: str, is_tensor: bool) -> None:
    assert known_in(SIGN.replace("{use}", use)).is_tensor is is_tensor

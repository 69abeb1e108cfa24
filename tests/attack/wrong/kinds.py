"""The kind of a result: a tuple that had names, a parameter that is a tensor, an object of another class."""

from tests.attack.bank import Rewrite, calls

KINDS = """\
import collections
import dataclasses
import enum
import typing

import torch

Pair = collections.namedtuple("Pair", "loss value")


class Output(typing.NamedTuple):
    loss: torch.Tensor
    value: torch.Tensor


@dataclasses.dataclass
class Losses:
    loss: torch.Tensor
    weight: float = 1.0
    note: str = "none"


class Mode(enum.Enum):
    TRAIN = 1
    EVAL = 2


class Tagged(torch.Tensor):
    pass


def named(x):
    return Pair(x.sum(), x.mean())


def typed(x):
    return Output(x.sum(), x.mean())


def losses(x):
    return Losses(x.sum(), note="total")


def mode(x):
    return Mode.TRAIN


def tagged(x):
    return x.as_subclass(Tagged)


def parameter(x):
    return torch.nn.Parameter(x.clone())


def table(x):
    return collections.defaultdict(list, a=[1])


def ordered(x):
    return collections.OrderedDict(a=1)


def many(x):
    return [x.sum(), x.mean()]


def unique(x):
    return {1, 2}


def nothing(x):
    return None


def sparse(x):
    return x.to_sparse()


def bytes_of(x):
    return b"ab"


def layer(x):
    return torch.nn.Sequential(torch.nn.Identity(), torch.nn.ReLU())
"""


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(name, KINDS, {old: new}, calls(f"module.{subject}", "(torch.arange(3.0),)"))


ROWS = (
    row("a tuple without names", "return Pair(x.sum(), x.mean())", "return x.sum(), x.mean()", "named"),
    row("a tuple of another class", "return Output(", "return Pair(", "typed"),
    row("a field of a dataclass", 'note="total"', 'note="all"', "losses"),
    row("another member of an enum", "return Mode.TRAIN", "return Mode.EVAL", "mode"),
    row("a tensor without its class", "return x.as_subclass(Tagged)", "return x.as_subclass(torch.Tensor)", "tagged"),
    row("a tensor for a parameter", "torch.nn.Parameter(x.clone())", "x.clone().requires_grad_()", "parameter"),
    row("a dict without its default", "collections.defaultdict(list, a=[1])", "dict(a=[1])", "table"),
    row("a defaultdict with another factory", "defaultdict(list, a", "defaultdict(dict, a", "table"),
    row("a dict for an OrderedDict", "collections.OrderedDict(a=1)", "dict(a=1)", "ordered"),
    row("a tuple for a list", "return [x.sum(), x.mean()]", "return (x.sum(), x.mean())", "many"),
    row("a frozenset for a set", "return {1, 2}", "return frozenset({1, 2})", "unique"),
    row("False for None", "return None", "return False", "nothing"),
    row("dense for sparse", "return x.to_sparse()", "return x.clone()", "sparse"),
    row("a text for bytes", 'return b"ab"', 'return "ab"', "bytes_of"),
    row("another layer", "torch.nn.ReLU())", "torch.nn.ReLU6())", "layer"),
)

"""A value of every kind that a program may return, each made anew by a function."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import logging
import pathlib
import random
import re
import types
import uuid
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Number(enum.IntFlag):
    ONE = 1
    TWO = 2


class Point(NamedTuple):
    x: int
    y: Any


@dataclasses.dataclass
class Settings:
    rate: float
    names: list[str] = dataclasses.field(default_factory=list)


class Slotted:
    __slots__ = ("__hidden", "here", "never_set")

    def __init__(self) -> None:
        self.here = [1]
        self.__hidden = 2


class Angry:
    """Nothing of its own code may be called."""

    def __init__(self, value: int) -> None:
        self.__dict__["value"] = value

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("getattr")

    @property
    def broken(self) -> int:
        raise RuntimeError("property")

    def __len__(self) -> int:
        raise RuntimeError("len")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")


class AngryDict(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("items")

    def __iter__(self) -> Any:
        raise RuntimeError("iter")

    def __getitem__(self, key: str) -> int:
        raise RuntimeError("getitem")


class Tagged(torch.Tensor):
    """A subclass whose every operation fails."""

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> Any:
        raise RuntimeError("torch function")


@dataclasses.dataclass
class ModelOutput(collections.OrderedDict[str, Any]):
    """As transformers writes them: fields that are items too, unless they are None."""

    loss: Any = None
    logits: Any = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is not None:
                self[field.name] = getattr(self, field.name)


def optimizer() -> torch.optim.Optimizer:
    weight = torch.nn.Parameter(torch.ones(2))
    made = torch.optim.Adam([weight], lr=0.1)
    weight.grad = torch.ones(2)
    made.step()
    return made


VALUES: list[Callable[[], Any]] = [
    lambda: None,
    lambda: True,
    lambda: 3,
    lambda: -(10**700),
    lambda: 2**63,
    lambda: 1.5,
    lambda: float("nan"),
    lambda: float("-inf"),
    lambda: complex(1, float("nan")),
    lambda: "text \ud800 \0 é",
    lambda: b"",
    lambda: b"\x00\xff",
    lambda: bytearray(b"x"),
    lambda: memoryview(b"abc"),
    lambda: [1, [2, (3,)]],
    lambda: Point(1, torch.ones(2)),
    lambda: torch.Size([2, 3]),
    lambda: torch.arange(6.0).reshape(2, 3).max(0),
    lambda: {"b": 1, "a": {(0, 1): 2, Color.RED: 3, None: 4, torch.float32: 5}},
    lambda: collections.OrderedDict(a=1),
    lambda: collections.defaultdict(list, {1: [2]}),
    lambda: collections.Counter("abca"),
    lambda: collections.ChainMap({1: 2}),
    lambda: collections.UserDict(a=1),
    lambda: collections.UserList([1]),
    lambda: collections.deque([1, 2], maxlen=5),
    lambda: types.MappingProxyType({"a": 1}),
    lambda: {"a": 1}.items(),
    lambda: {3, 1, "x", (1, 2), frozenset({2.5})},
    lambda: Settings(0.1, ["a"]),
    lambda: Slotted(),
    lambda: types.SimpleNamespace(a=1),
    lambda: ModelOutput(loss=torch.ones(1)),
    lambda: object(),
    lambda: Color.RED,
    lambda: Number.ONE | Number.TWO,
    lambda: torch.bfloat16,
    lambda: torch.device("cpu"),
    lambda: torch.channels_last,
    lambda: torch.Generator().manual_seed(3),
    lambda: random.Random(3),
    lambda: np.random.default_rng(3),
    lambda: np.random.RandomState(3),
    lambda: np.arange(6).reshape(2, 3).T,
    lambda: np.float32(0.1),
    lambda: np.float64(0.1),
    lambda: np.longdouble("0.1"),
    lambda: np.array(["a", "b"]),
    lambda: np.array([None, {"a": 1}], dtype=object),
    lambda: np.array(["2020-01-01"], dtype="M8[D]"),
    lambda: np.array([1, 2], dtype=">i4"),
    lambda: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    lambda: np.ma.array([1, 2], mask=[False, True]),
    lambda: range(3),
    lambda: slice(1, None, 2),
    lambda: datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
    lambda: pathlib.Path("a/b"),
    lambda: decimal.Decimal("1.10"),
    lambda: fractions.Fraction(1, 3),
    lambda: uuid.UUID(int=5),
    lambda: re.compile("a+", re.I),
    lambda: array.array("d", [1.0]),
    lambda: ValueError("wrong", 3),
    lambda: ...,
    lambda: torch.nn.functional.relu,
    lambda: torch.add,
    lambda: torch.ops.aten.add.Tensor,
    lambda: torch.nn.Linear,
    lambda: torch,
    lambda: len,
    lambda: functools.partial(max, 1, key=abs),
    lambda: Settings(0.1).names.append,
    lambda: Settings(0.1).__repr__,
    lambda: functools.lru_cache(abs),
    lambda: logging.getLogger("a.b"),
    lambda: weakref.ref(Color),
    lambda: torch.nn.Sequential(torch.nn.BatchNorm1d(2)),
    lambda: torch.compile(torch.nn.ReLU()),
    lambda: torch.jit.script(torch.nn.Flatten()),
    lambda: torch.fx.symbolic_trace(torch.nn.ReLU()),
    lambda: optimizer(),
    lambda: torch.optim.lr_scheduler.StepLR(optimizer(), 2),
    lambda: torch.amp.GradScaler("cpu"),
    lambda: torch.distributions.Normal(torch.zeros(2), torch.ones(2)),
    lambda: torch.distributions.Categorical(logits=torch.ones(3)),
    lambda: torch.distributions.Independent(torch.distributions.Normal(torch.zeros(2), 1.0), 1),
    lambda: torch.nn.utils.rnn.pack_sequence([torch.ones(2), torch.ones(1)]),
    lambda: torch.ones(2).untyped_storage(),
    lambda: Angry(1),
    lambda: AngryDict(a=1),
    lambda: torch.ones(3).as_subclass(Tagged),
]

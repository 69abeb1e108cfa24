"""Any value becomes leaves that a file can hold, and equal values become equal leaves."""

from __future__ import annotations

import array
import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import io
import itertools
import logging
import pathlib
import queue
import random
import re
import socket
import threading
import types
import uuid
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing._internal.logging_tensor import LoggingTensor
from torch.testing._internal.two_tensor import TwoTensor

from tests.validate.recording import stored
from validate.worker.closeness import Rule
from validate.worker.flatten import Flattener, describe, flatten, tensors_in
from validate.worker.leaf import Leaf
from validate.worker.surroundings import read_surroundings
from validate.worker.trees import Found, find_differences

EXACT = Rule(True)


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


def leaves(value: object) -> list[Leaf]:
    """Through the file, and with nothing opaque."""
    refused: list[tuple[str, str]] = []
    found: list[Leaf] = stored(flatten(value, "v", on_opaque=lambda *place: refused.append(place)))
    assert not refused
    return found


def opaque(value: object) -> list[tuple[str, str]]:
    refused: list[tuple[str, str]] = []
    stored(flatten(value, "v", on_opaque=lambda *place: refused.append(place)))
    return refused


def found(first: object, second: object) -> list[Found]:
    return list(find_differences(leaves(first), leaves(second), EXACT, lambda *_: None))


def kinds(value: object) -> dict[str, Any]:
    return {kind: fact for path, kind, fact in leaves(value) if path == "v"}


def optimizer() -> torch.optim.Optimizer:
    weight = torch.nn.Parameter(torch.ones(2))
    made = torch.optim.Adam([weight], lr=0.1)
    weight.grad = torch.ones(2)
    made.step()
    return made


def twins(value: Any) -> dict[str, Callable[[], Any]]:
    return {str(number): make for number, make in enumerate(value)}


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
    lambda: Color.RED.__init__,
    lambda: functools.lru_cache(fractions.gcd if hasattr(fractions, "gcd") else abs),
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

TENSORS: dict[str, Callable[[], torch.Tensor]] = {
    "empty": lambda: torch.empty(0, 3),
    "scalar": lambda: torch.tensor(2.5),
    "parameter": lambda: torch.nn.Parameter(torch.ones(2)),
    "buffer": lambda: torch.nn.Buffer(torch.ones(2)),
    "non-leaf": lambda: torch.ones(2, requires_grad=True) * 2,
    "transposed": lambda: torch.arange(6.0).reshape(2, 3).t(),
    "channels last": lambda: torch.ones(1, 2, 3, 4).to(memory_format=torch.channels_last),
    "conjugate": lambda: torch.tensor([1 + 2j]).conj(),
    "negative": lambda: torch.tensor([1 + 2j]).conj().imag,
    "complex half": lambda: torch.ones(2, dtype=torch.complex32),
    "expanded": lambda: torch.arange(3.0).reshape(3, 1).expand(3, 10**9),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "sparse, not coalesced": lambda: torch.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (3,)),
    "hybrid": lambda: torch.ones(2, 3).to_sparse(1),
    "csr": lambda: torch.eye(3).to_sparse_csr(),
    "csc": lambda: torch.eye(3).to_sparse_csc(),
    "bsr": lambda: torch.eye(4).to_sparse_bsr((2, 2)),
    "mkldnn": lambda: torch.ones(2, 2).to_mkldnn(),
    "jagged": lambda: torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(1, 3)], layout=torch.jagged),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(1, 3)]),
    "meta": lambda: torch.ones(2, device="meta"),
    "subclass": lambda: torch.ones(3).as_subclass(Tagged),
    "wrapper": lambda: TwoTensor(torch.ones(2), torch.zeros(2)),
    "wrapper with slots": lambda: LoggingTensor(torch.ones(2)),
    "inference": lambda: torch.inference_mode()(torch.ones)(3),
}
DTYPES = sorted({dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)}, key=str)
QUANTIZED = ("torch.q", "torch.uint1", "torch.int1")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(len(VALUES)))
def test_a_value_made_twice_gives_the_same_leaves(number: int) -> None:
    assert not found(VALUES[number](), VALUES[number]())


@pytest.mark.filterwarnings("ignore")
def test_different_values_give_different_leaves() -> None:
    texts = [repr(describe(make(), "v")) for make in VALUES]
    assert len(set(texts)) == len(texts)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_made_twice_gives_the_same_leaves(name: str) -> None:
    assert not found(TENSORS[name](), TENSORS[name]())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_kind_of_number_is_kept_bit_for_bit(dtype: torch.dtype) -> None:
    if str(dtype).startswith("torch.q"):
        pytest.skip("is made by quantizing only")
    one = torch.arange(16, dtype=torch.uint8) * (0 if dtype is torch.bool else 1)
    other = one.clone()
    other[-1] = 1 if dtype is torch.bool else 14
    assert not found(one.view(dtype), one.clone().view(dtype))
    assert [(at.path, at.what) for at in found(one.view(dtype), other.view(dtype))] == [("v", "value")]
    assert kinds(one.view(dtype))["dtype"] == str(dtype)


@pytest.mark.filterwarnings("ignore")
def test_quantized_tensors_are_their_integers_and_their_scale() -> None:
    plain = torch.tensor([0.1, 0.2])
    one = torch.quantize_per_tensor(plain, 0.1, 0, torch.qint8)
    assert not found(one, torch.quantize_per_tensor(plain, 0.1, 0, torch.qint8))
    other = torch.quantize_per_tensor(plain * 2, 0.2, 0, torch.qint8)
    assert [at.path for at in found(one, other)] == ["v.q_scale()"]
    scales, zeros = torch.tensor([0.1, 0.2]), torch.zeros(2)
    rows = torch.quantize_per_channel(torch.ones(2, 2), scales, zeros, 0, torch.qint8)
    more = torch.quantize_per_channel(torch.ones(2, 2), scales * 2, zeros, 0, torch.qint8)
    assert found(rows, more)[0].path == "v.int_repr()"


def test_what_is_visible_of_a_tensor_is_told() -> None:
    told = kinds(torch.nn.Parameter(torch.ones(2, 3, dtype=torch.float16)))
    assert told["type"] == "torch.nn.parameter.Parameter"
    assert told["dtype"] == "torch.float16"
    assert told["shape"] == "[2, 3]"
    assert told["device"] == "cpu"
    assert told["layout"] == "torch.strided"
    assert told["requires_grad"] is True


def test_an_expanded_tensor_is_stored_small() -> None:
    huge = torch.ones(1).expand(10**6, 10**6)
    file = io.BytesIO()
    torch.save(flatten(huge, "v", on_opaque=lambda *_: None), file)
    assert file.tell() < 10_000


def test_what_is_kept_is_a_copy() -> None:
    tensor = torch.zeros(3)
    kept = flatten(tensor, "v", on_opaque=lambda *_: None)
    tensor.add_(1)
    assert kept[-1][2].tolist() == [0, 0, 0]


def test_a_gradient_belongs_to_its_tensor() -> None:
    tensor = torch.ones(2, requires_grad=True)
    assert ("v.grad", "None", None) in leaves(tensor)
    (tensor * 3).sum().backward()
    assert next(fact for path, kind, fact in leaves(tensor) if (path, kind) == ("v.grad", "value")).tolist() == [3, 3]


def test_what_is_set_on_a_tensor_is_told_but_not_the_marks_of_the_compiler() -> None:
    tensor = torch.nn.Parameter(torch.ones(2))
    tensor.is_shared = True  # type: ignore[attr-defined]
    tensor._dynamo_static_input_type = "guarded"  # type: ignore[attr-defined]
    assert ("v.is_shared", "bool", True) in leaves(tensor)
    assert not any("dynamo" in path for path, _, _ in leaves(tensor))


def test_meta_and_fake_tensors_have_no_numbers() -> None:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(2, 3)
    for tensor in (fake, torch.ones(2, 3, device="meta")):
        assert "value" not in kinds(tensor)
        assert kinds(tensor)["shape"] == "[2, 3]"


def test_numbers_of_another_type_are_other_numbers() -> None:
    same: list[Any] = [
        1,
        True,
        1.0,
        complex(1),
        np.int64(1),
        np.float64(1),
        np.float32(1),
        torch.tensor(1),
        Number.ONE,
        "1",
    ]
    for one, other in itertools.permutations(same, 2):
        assert found(one, other), (one, other)


def test_containers_of_another_type_are_other_containers() -> None:
    same: list[Any] = [[1], (1,), {1}, frozenset({1}), {1: 1}, collections.deque([1]), torch.Size([1]), np.array([1])]
    for one, other in itertools.permutations(same, 2):
        assert found(one, other)[0].path == "v"


def test_the_order_of_a_dict_counts_and_that_of_a_set_does_not() -> None:
    assert found({"a": 1, "b": 2}, {"b": 2, "a": 1})[0].what == "keys"
    words = [f"word {number}" for number in range(100)]
    backwards = words[::-1]
    assert leaves(set(words)) == leaves(set(backwards))


def test_keys_stand_in_paths_as_they_are_written() -> None:
    tree = {"loss": {(0, 1): 1, Color.BLUE: 2, 3: 4, True: 5, (1,): 6}}
    paths = [path for path, kind, _ in leaves(tree) if kind == "int"]
    assert paths == ["v['loss'][(0, 1)]", "v['loss'][Color.BLUE]", "v['loss'][3]", "v['loss'][True]", "v['loss'][(1,)]"]


def test_keys_that_cannot_be_written_are_taken_apart() -> None:
    one, other = {torch.ones(1): 1, Point(1, 2): 2}, {torch.zeros(1): 1, Point(1, 2): 2}
    assert [(at.path, at.what) for at in found(one, other)] == [("v.keys()[0]", "value")]


def test_attributes_are_told_in_the_order_of_their_names() -> None:
    one, other = types.SimpleNamespace(a=1, b=2), types.SimpleNamespace(b=2, a=1)
    assert not found(one, other)
    paths = dict.fromkeys(path for path, _, _ in leaves(Slotted()))
    assert list(paths) == ["v", "v.here", "v.here[0]", "v._Slotted__hidden"]


def test_fields_that_are_items_too_are_told_once() -> None:
    told = [path for path, kind, _ in leaves(ModelOutput(loss=torch.ones(1))) if kind in ("value", "None")]
    assert told == ["v['loss']", "v.logits"]


def test_a_module_is_its_parameters_buffers_flags_and_attributes() -> None:
    def make() -> torch.nn.Module:
        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
        module.cache = {(0, 1): 3}  # type: ignore[assignment]
        return module

    def weigh(module: Any) -> None:
        with torch.no_grad():
            module[0].weight[1, 0] += 1

    changes: dict[str, Callable[[Any], Any]] = {
        "v.0.weight": weigh,
        "v.1.running_mean": lambda module: module[1].running_mean.add_(1),
        "v.1.num_batches_tracked": lambda module: module[1].num_batches_tracked.add_(1),
        "v.1": lambda module: module[1].eval(),
        "v.cache[(0, 1)]": lambda module: module.cache.update({(0, 1): 4}),
        "v.0.bias.grad": lambda module: setattr(module[0].bias, "grad", torch.ones(2)),
        "v.0": lambda module: setattr(module[0], "extra", 1),
    }
    for path, change in changes.items():
        module = make()
        change(module)
        assert [at.path for at in found(make(), module)] == [path]


def test_a_compiled_module_is_told_as_the_module_it_wraps() -> None:
    module = torch.nn.Linear(2, 2)
    assert not found(module, torch.compile(module))


def test_what_a_distribution_has_computed_already_does_not_count() -> None:
    one, other = (torch.distributions.Categorical(logits=torch.ones(3)) for _ in range(2))
    assert other.probs is not None
    assert not found(one, other)
    assert found(one, torch.distributions.Categorical(logits=torch.tensor([1.0, 1, 2])))


def test_the_same_object_twice_is_not_two_equal_ones() -> None:
    tensor = torch.ones(2)
    assert ("v[1]", "same as", "v[0]") in leaves([tensor, tensor])
    at = found([tensor, tensor], [tensor, tensor.clone()])[0]
    assert (at.path, at.what, at.first, at.second) == (
        "v[1]",
        "aliasing",
        "the same object as v[0]",
        "an object of its own",
    )
    rows: list[Any] = [0]
    assert found({"a": rows, "b": rows}, {"a": [0], "b": [0]})[0].what == "aliasing"


def test_what_nobody_can_tell_apart_is_never_the_same_object() -> None:
    text, number, pair = "long enough text", 10**20, (1, (2, 3))
    assert not found(
        [text, number, pair, text, number, pair], copy.deepcopy([text, number, pair, text, number, (1, (2, 3))])
    )


def test_a_circle_ends() -> None:
    circle: dict[str, Any] = {"list": []}
    circle["list"].append((circle,))
    assert ("v['list'][0][0]", "same as", "v") in leaves(circle)


def test_objects_made_on_the_way_are_never_taken_for_each_other() -> None:
    views = [types.MappingProxyType({number: [number]}) for number in range(300)]
    assert not any(kind == "same as" for _, kind, _ in leaves(views))


@pytest.mark.parametrize(
    "make",
    [
        lambda: (item for item in ()),
        lambda: iter([]),
        lambda: itertools.count(),
        lambda: map(abs, []),
        threading.Lock,
        threading.RLock,
        threading.Event,
        io.StringIO,
        lambda: open(__file__),  # noqa: SIM115
        socket.socket,
        threading.local,
        lambda: property(abs),
        lambda: re.match("a", "a"),
    ],
)
def test_what_cannot_be_looked_into_is_opaque(make: Callable[[], Any]) -> None:
    value = make()
    refused = opaque({"a": [value]})
    assert [path for path, _ in refused] == ["v['a'][0]"]
    assert type(value).__name__ in refused[0][1]
    if hasattr(value, "close"):
        value.close()


def test_a_queue_is_what_waits_in_it() -> None:
    one, other = queue.Queue[int](), queue.Queue[int]()
    one.put(1)
    other.put(2)
    at = flatten(one, "v", on_opaque=lambda *_: None), flatten(other, "v", on_opaque=lambda *_: None)
    assert [found.path for found in find_differences(*at, EXACT, lambda *_: None)] == ["v.queue[0]"]


def test_what_fails_when_it_is_read_is_opaque_and_says_so() -> None:
    class Broken(torch.Tensor):
        def __tensor_flatten__(self) -> Any:
            raise RuntimeError("no")

    assert opaque(torch.ones(1).as_subclass(Broken))[0][1].endswith("Broken (RuntimeError when read)")


def test_too_many_leaves_are_refused_once() -> None:
    refused: list[tuple[str, str]] = []
    told = Flattener(lambda *place: refused.append(place), limit=100).flatten(list(range(1000)), "v")
    assert len(told) == 101
    assert refused == [("v[98]", "tree of more than 100 leaves")]


def test_a_chain_of_any_length_ends() -> None:
    chain: list[Any] = []
    for _ in range(100_000):
        chain = [chain]
    assert opaque(chain)[0][1] == "tree too deep to follow"


def test_addresses_in_texts_do_not_count() -> None:
    assert not found(f"made by {Angry.__init__} at 0x7f00", f"made by {Angry.__init__} at 0x7fff")
    assert found("flag 0x7f0012345678", "flag 0x7f0012345679")


def test_tensors_are_found_where_time_counts() -> None:
    one, two, three = torch.ones(1), torch.ones(2), torch.ones(3)
    assert [item.numel() for item in tensors_in({"a": [one, (two,)], "b": Settings(three), "c": 1})] == [1, 2, 3]  # type: ignore[arg-type]


MODEL = torch.nn.Linear(2, 2)


def call_model(x: torch.Tensor) -> Any:
    return MODEL(x)


def test_surroundings_are_followed_into_the_functions_that_are_called() -> None:
    scale = torch.ones(1)

    def outer(x: torch.Tensor) -> Any:
        return call_model(x) * scale

    named = {path: id(value) for path, value in read_surroundings(functools.partial(outer)).items()}
    here = __name__
    assert named == {f"surroundings['{here}.MODEL']": id(MODEL), f"surroundings['{here}.scale']": id(scale)}
    assert read_surroundings(len) == {}


floats = st.floats(allow_nan=True, width=32)
plain = st.none() | st.booleans() | st.integers() | floats | st.text(max_size=5) | st.binary(max_size=5)
tensors = st.lists(floats, min_size=1, max_size=4).map(torch.tensor)
keys = st.text(max_size=3) | st.integers() | st.tuples(st.integers(), st.integers())
trees = st.recursive(
    plain | tensors,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(
            st.text(max_size=3) | st.integers() | st.tuples(st.integers(), st.integers()), inner, max_size=4
        )
        | st.builds(Settings, inner)  # type: ignore[arg-type]
    ),
    max_leaves=15,
)


@given(trees)
def test_a_copy_of_anything_is_equal(tree: object) -> None:
    assert not found(tree, copy.deepcopy(tree))


@given(st.sets(plain | st.tuples(plain, plain) | st.frozensets(plain)), st.randoms())
def test_a_set_built_in_any_order_is_equal(members: set[Any], chance: random.Random) -> None:
    shuffled = list(members)
    chance.shuffle(shuffled)
    assert not found(members, set(shuffled))


@given(trees, st.data())
def test_one_change_is_found_where_it_is(tree: object, data: st.DataObject) -> None:
    other = [copy.deepcopy(tree)]
    places = list(walk(other, 0, "v"))
    holder, key, path = data.draw(st.sampled_from(places))
    changed = change(read(holder, key))
    if isinstance(holder, (list, dict)):
        holder[key] = changed
    else:
        setattr(holder, key, changed)
    assert [at.path for at in found(tree, other[0])] == [path]


def read(holder: Any, key: Any) -> Any:
    return getattr(holder, key) if isinstance(holder, Settings) else holder[key]


def walk(holder: Any, key: Any, path: str) -> Any:
    """Every place that can be given another value: tuples only as a whole."""
    yield holder, key, path
    value = read(holder, key)
    if isinstance(value, list):
        for place in range(len(value)):
            yield from walk(value, place, f"{path}[{place}]")
    elif isinstance(value, dict):
        for name in value:
            yield from walk(value, name, f"{path}[{name!r}]")
    elif isinstance(value, Settings):
        yield from walk(value, "rate", f"{path}.rate")


def change(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        other = value.clone()
        other[-1] = 1.0 if torch.isnan(value[-1]) or value[-1] != 1.0 else 2.0
        return other
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return 1.0 if value != 1.0 else 2.0
    if isinstance(value, int):
        return value + 1
    return "changed" if value != "changed" else "changed again"

"""Any value becomes leaves that a file can hold, and equal values become equal leaves."""

from __future__ import annotations

import collections
import copy
import io
import itertools
import queue
import random
import re
import socket
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.validate.worker.recording.flatten import Flattener, describe, flatten, tensors_in
from fullgraph.validate.worker.recording.trees import find_differences
from tests.validate.flattening import EXACT, found, leaves, opaque
from tests.validate.values import VALUES, Angry, Color, ModelOutput, Number, Point, Settings, Slotted


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(len(VALUES)))
def test_a_value_made_twice_gives_the_same_leaves(number: int) -> None:
    assert not found(VALUES[number](), VALUES[number]())


@pytest.mark.filterwarnings("ignore")
def test_different_values_give_different_leaves() -> None:
    texts = [repr(describe(make(), "v")) for make in VALUES]
    assert len(set(texts)) == len(texts)


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
    told = dict.fromkeys(path for path, _, _ in leaves(ModelOutput(loss=torch.ones(1))))
    assert list(told) == ["v", "v['loss']", "v.logits"]


def test_the_same_object_twice_is_not_two_equal_ones() -> None:
    tensor = torch.ones(2)
    assert ("v[1]", "same as", "v[0]") in leaves([tensor, tensor])
    at = found([tensor, tensor], [tensor, tensor.clone()])[0]
    assert (at.path, at.what) == ("v[1]", "aliasing")
    assert (at.first, at.second) == ("the same object as v[0]", "an object of its own")
    rows: list[Any] = [0]
    assert found({"a": rows, "b": rows}, {"a": [0], "b": [0]})[0].what == "aliasing"


def test_what_nobody_can_tell_apart_is_never_the_same_object() -> None:
    text, number, pair = "long enough text", 10**20, (1, (2, 3))
    apart = ["".join(text), int(str(number)), (1, (2, 3))]
    assert not found([text, number, pair, text, number, pair], [text, number, pair, *apart])


def test_a_circle_ends() -> None:
    circle: dict[str, Any] = {"list": []}
    circle["list"].append((circle,))
    assert ("v['list'][0][0]", "same as", "v") in leaves(circle)


def test_objects_made_on_the_way_are_never_taken_for_each_other() -> None:
    arrays = [np.array([[number]], dtype=object) for number in range(300)]
    assert not any(kind == "same as" for _, kind, _ in leaves(arrays))


@pytest.mark.parametrize(
    "make",
    [
        threading.Lock,
        threading.RLock,
        threading.Event,
        io.StringIO,
        lambda: open(__file__),  # noqa: SIM115
        socket.socket,
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
    told = Flattener(lambda *place: refused.append(place), limit=100).flatten(list(range(900)), "v")
    assert len(told) == 101
    assert refused == [("v[98]", "tree of more than 100 leaves")]


def test_long_lists_of_numbers_are_never_too_many() -> None:
    many = list(range(200_000))
    other = [*many[:-1], -1]
    assert [(at.path, at.what, at.first) for at in found(many, other)] == [("v", "value", "199999")]
    assert found(many, tuple(many))[0].what == "type"
    assert found([0.5] * 2000, [0.5] * 1999 + [1])[0].what == "type"
    assert found([2**70] * 2000, [2**70] * 1999 + [2**70 + 1])[0].path == "v[1999]"


def test_a_chain_of_any_length_ends() -> None:
    chain: list[Any] = []
    for _ in range(100_000):
        chain = [chain]
    assert opaque(chain)[0][1] == "tree too deep to follow"


def test_addresses_in_texts_do_not_count() -> None:
    assert not found(f"made by {object()} and {Angry.__init__}", f"made by {object()} and {Angry.__init__}")
    assert found("jump at 0x1f", "jump at 0x2f")
    assert found("word 0xdeadbeef", "word 0xdeadbee0")
    assert found("flag 0x7f0012345678", "flag 0x7f0012345679")


def test_tensors_are_found_where_time_counts() -> None:
    one, two, three = torch.ones(1), torch.ones(2), torch.ones(3)
    assert [item.numel() for item in tensors_in({"a": [one, (two,)], "b": Settings(three), "c": 1})] == [1, 2, 3]  # type: ignore[arg-type]


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
        | st.builds(Settings, inner)
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

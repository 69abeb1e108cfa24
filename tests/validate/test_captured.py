"""Stored calls come back as they were when the call began: arguments, gradients, modes, random states."""

from __future__ import annotations

import random
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from fullgraph.validate.worker.capturing import captured
from fullgraph.validate.worker.errors import UserError
from tests.validate.capturing import Recorder, load_module

MODULE = """
import functools
import threading

import torch

MARKER = object()


class Holder:
    def __init__(self, value):
        self.inner = {"k": [1, value]}


def plain(a, b=2, *, c=3): return a
def only(a, b=5, /, c=6, *, d=7): return a
def many(a, *rest, k=1, **more): return a
def marked(x, marker=MARKER, z=1):
    assert marker is MARKER
    return x
def change(x):
    x.add_(1)
    return x
def cells(x):
    def inner(): return x
    return inner()
def recurse(n): return n if n == 0 else recurse(n - 1)
def passing(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper
def adding(function):
    def wrapper(*args): return function("extra", *args)
    return wrapper
@passing
def decorated(a, b=2): return a
@passing
def other(a, b=2): return a
@adding
def extended(extra, a): return a
@functools.lru_cache
def cached(n): return n
class Base:
    def run(self, x): return x
    @classmethod
    def make(cls, x): return cls()
    @staticmethod
    def free(x): return x
    @property
    def value(self): return 1
    @torch.no_grad()
    def quiet(self, x): return x
class Derived(Base): pass
class Other(Base): pass
class Outer:
    class Inner:
        def go(self, x): return x
def counting(n): yield n
async def waiting(n): return n
partial = functools.partial(plain, 1)
"""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load_module(tmp_path_factory.mktemp("target"), MODULE)


@pytest.fixture
def recorder(tmp_path: Path, target: Any) -> Recorder:
    return Recorder(tmp_path)


def forms(calls: list[captured.Call]) -> list[tuple[Any, ...]]:
    return [(*call.args, call.kwargs) for call in calls]


# How a call is repeated


def test_arguments_are_passed_as_the_function_takes_them(recorder: Recorder, target: Any) -> None:
    def run() -> None:
        target.many(1, 2, 3, k=4, z=5)
        target.many(1)
        target.many(*range(3))

    assert forms(recorder.calls("target_module:many", run)) == [
        (1, 2, 3, {"k": 4, "z": 5}),
        (1, {}),
        (0, 1, 2, {}),
    ]


def test_positional_only_arguments_stay_positional(recorder: Recorder, target: Any) -> None:
    def run() -> None:
        target.only(1)
        target.only(1, 2)
        target.only(1, c=9, d=8)

    expected: list[tuple[Any, ...]] = [(1, {}), (1, 2, {}), (1, {"c": 9, "d": 8})]
    assert forms(recorder.calls("target_module:only", run)) == expected


def test_the_functions_own_default_is_not_stored(recorder: Recorder, target: Any) -> None:
    (call,) = recorder.calls("target_module:marked", lambda: target.marked(1, z=4))
    assert (call.args, call.kwargs) == ((1,), {"z": 4})
    target.marked(*call.args, **call.kwargs)


def test_arguments_that_inner_functions_use_are_seen(recorder: Recorder, target: Any) -> None:
    assert forms(recorder.calls("target_module:cells", lambda: target.cells(7))) == [(7, {})]


@pytest.mark.parametrize("name", ["decorated", "extended"])
def test_a_decorated_function_is_stored_as_its_callers_call_it(recorder: Recorder, target: Any, name: str) -> None:
    def run() -> None:
        target.other("not this one")
        getattr(target, name)("a")

    (call,) = recorder.calls(f"target_module:{name}", run)
    assert call.args == ("a",)
    assert captured.resolve(f"target_module:{name}")[0] is getattr(target, name)


def test_a_cached_function_is_stored_when_it_runs(recorder: Recorder, target: Any) -> None:
    target.cached.cache_clear()
    assert forms(recorder.calls("target_module:cached", lambda: [target.cached(n) for n in (1, 1, 2)])) == [
        (1, {}),
        (2, {}),
    ]


def test_a_method_is_stored_with_its_object_and_only_of_its_class(recorder: Recorder, target: Any) -> None:
    def run() -> None:
        target.Other().run(0)
        target.Derived().run(1)

    (call,) = recorder.calls("target_module:Derived.run", run)
    assert isinstance(call.args[0], target.Derived)
    function, is_method = captured.resolve("target_module:Derived.run")
    assert is_method
    assert function(*call.args) == 1


def test_class_methods_and_static_methods_can_be_repeated(recorder: Recorder, target: Any) -> None:
    (made,) = recorder.calls("target_module:Derived.make", lambda: target.Derived.make(3))
    function, is_method = captured.resolve("target_module:Derived.make")
    assert is_method
    assert isinstance(function(*made.args), target.Derived)
    (free,) = recorder.calls("target_module:Base.free", lambda: target.Base.free(4))
    assert captured.resolve("target_module:Base.free")[1] is False
    assert free.args == (4,)


def test_a_wrapper_that_many_share_is_told_apart(recorder: Recorder, target: Any) -> None:
    def run() -> None:
        torch.no_grad()(lambda x: x)(1)
        target.Base().quiet(2)

    (call,) = recorder.calls("target_module:Base.quiet", run)
    assert call.args[1] == 2


def test_nested_classes_have_methods_too(recorder: Recorder, target: Any) -> None:
    (call,) = recorder.calls("target_module:Outer.Inner.go", lambda: target.Outer.Inner().go(5))
    assert call.args[1] == 5


def test_a_call_inside_a_call_is_part_of_it(recorder: Recorder, target: Any) -> None:
    assert forms(recorder.calls("target_module:recurse", lambda: (target.recurse(5), target.recurse(2)))) == [
        (5, {}),
        (2, {}),
    ]


def test_calls_of_other_threads_are_stored_and_no_more_than_asked_for(recorder: Recorder, target: Any) -> None:
    def run() -> None:
        threads = [threading.Thread(target=target.plain, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(recorder.calls("target_module:plain", run, limit=5)) == 5


# What the arguments are


def test_arguments_are_as_they_were_before_the_call(recorder: Recorder, target: Any) -> None:
    (call,) = recorder.calls("target_module:change", lambda: target.change(torch.zeros(3)))
    assert call.args[0].tolist() == [0, 0, 0]


def test_views_still_share_their_storage(recorder: Recorder, target: Any) -> None:
    base = torch.arange(6.0)
    (call,) = recorder.calls("target_module:plain", lambda: target.plain(base, base[2:]))
    call.args[0][2] = 100
    assert call.args[1][0] == 100


def test_gradients_and_the_optimizers_hold_on_parameters_are_kept(recorder: Recorder, target: Any) -> None:
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(2)).backward()
    optimizer.step()
    (call,) = recorder.calls("target_module:plain", lambda: target.plain(net, optimizer))
    stored, held = call.args
    assert net.weight.grad is not None
    assert stored.weight.grad.tolist() == net.weight.grad.tolist()
    assert held.param_groups[0]["params"][0] is stored.weight
    assert held.state[stored.weight]["step"] == 1


def test_a_result_of_an_operation_still_requires_grad(recorder: Recorder, target: Any) -> None:
    x = torch.ones(2, requires_grad=True) * 2
    (call,) = recorder.calls("target_module:plain", lambda: target.plain(x))
    assert call.args[0].requires_grad


def test_training_flags_come_with_the_module(recorder: Recorder, target: Any) -> None:
    (call,) = recorder.calls("target_module:plain", lambda: target.plain(torch.nn.Dropout().eval()))
    assert call.args[0].training is False


def test_every_load_gives_fresh_copies(recorder: Recorder, target: Any) -> None:
    file = recorder.store("target_module:plain", lambda: target.plain(torch.zeros(2)))
    first, second = captured.load_calls(file, "cpu"), captured.load_calls(file, "cpu")
    first[0].args[0].fill_(1)
    assert second[0].args[0].sum() == 0


# What the call stands in


def test_modes_hold_inside_and_are_as_before_outside(recorder: Recorder, target: Any) -> None:
    def run() -> None:
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            target.plain(1)
        with torch.inference_mode():
            target.plain(2)

    quiet, inferring = recorder.calls("target_module:plain", run)
    with captured.settings_of(quiet):
        assert not torch.is_grad_enabled()
        assert torch.is_autocast_enabled("cpu")
        assert torch.get_autocast_dtype("cpu") is torch.bfloat16
    with captured.settings_of(inferring):
        assert torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()
    assert not torch.is_autocast_enabled("cpu")


def test_switches_of_the_whole_process_are_put_back(recorder: Recorder, target: Any) -> None:
    def run() -> None:
        torch.set_default_dtype(torch.float64)
        torch.use_deterministic_algorithms(True)
        try:
            target.plain(1)
        finally:
            torch.set_default_dtype(torch.float32)
            torch.use_deterministic_algorithms(False)

    (call,) = recorder.calls("target_module:plain", run)
    with captured.settings_of(call):
        assert torch.get_default_dtype() is torch.float64
        assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_default_dtype() is torch.float32
    assert not torch.are_deterministic_algorithms_enabled()


def test_random_states_can_be_restored(recorder: Recorder, target: Any) -> None:
    torch.manual_seed(3)
    random.seed(3)
    (call,) = recorder.calls("target_module:plain", lambda: target.plain(1))
    drawn = (torch.rand(2).tolist(), random.random())
    captured.restore_random(call)
    assert (torch.rand(2).tolist(), random.random()) == drawn


# Devices


def index_with(*devices: str) -> dict[str, Any]:
    return {"calls": [{"devices": list(devices)}], "torch": torch.__version__}


@pytest.mark.parametrize(
    ("stored", "wanted", "moves"),
    [
        (("cpu",), "cpu", {}),
        (("cpu",), "cuda", {"cpu": "cuda"}),
        (("cpu", "cuda:0"), "cuda", {}),
        (("cpu", "cuda:0"), "cuda:1", {"cuda:0": "cuda:1"}),
        (("cpu", "cuda:0", "cuda:1"), "cpu", {"cuda:0": "cpu", "cuda:1": "cpu"}),
        (("cuda:0", "meta"), "mps", {"cuda:0": "mps"}),
    ],
)
def test_what_stood_on_the_accelerator_moves(stored: tuple[str, ...], wanted: str, moves: dict[str, str]) -> None:
    assert captured.moves_of(index_with(*stored), wanted) == moves


def test_tensors_and_named_devices_are_moved_and_that_is_told(recorder: Recorder, target: Any) -> None:
    file = recorder.store("target_module:plain", lambda: target.plain(torch.ones(2), torch.device("cpu")))
    (call,) = captured.load_calls(file, "meta")
    assert call.args[0].device.type == "meta"
    assert call.args[1] == torch.device("meta")
    assert "captured on cpu and run on meta" in captured.notices_of(file, "meta")[0]
    assert captured.notices_of(file, "cpu") == []


def test_fake_tensors_stand_on_the_wanted_device_too(recorder: Recorder, target: Any) -> None:
    from torch._subclasses import FakeTensorMode

    net = torch.nn.Linear(2, 2)
    file = recorder.store("target_module:plain", lambda: target.plain(torch.ones(2, requires_grad=True), net))
    with FakeTensorMode():
        (call,) = captured.load_calls(file, "cuda")
    assert call.args[0].device.type == "cuda"
    assert call.args[0].requires_grad
    assert call.args[1].weight.device.type == "cuda"


# What cannot be stored, or found


def generator() -> Any:
    yield 1


def with_hook() -> torch.nn.Module:
    net = torch.nn.Sequential(torch.nn.Linear(1, 1))
    net[0]._forward_hooks[0] = lambda *_: None  # torch numbers hooks by all that were ever registered
    return net


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda target: lambda: 1, "argument b: lambda"),
        (lambda target: generator(), "argument b: generator"),
        (lambda target: target.Holder(threading.Lock()), "argument b.inner['k'][1]: _thread.lock"),
        (lambda target: sys.__stderr__, "argument b: _io.TextIOWrapper"),
        (lambda target: with_hook(), "argument b.0._forward_hooks[0]: lambda"),
        (lambda target: torch.Stream(device="cpu"), "argument b: torch.Stream"),
        (lambda target: threading, "argument b: module"),
    ],
)
def test_an_argument_that_cannot_be_stored_is_named(recorder: Recorder, target: Any, make: Any, says: str) -> None:
    value = make(target)
    session = recorder.record("target_module:plain", lambda: target.plain(torch.ones(1), value))
    assert session.problems("arguments") == [says]
    assert not list(session.folder.glob("*.pt"))


def test_what_holds_itself_can_be_blamed_too(recorder: Recorder, target: Any) -> None:
    holder = target.Holder(None)
    holder.me, holder.lock = holder, threading.Lock()
    assert recorder.problem("target_module:plain", lambda: target.plain(holder)) == "argument a.lock: _thread.lock"


def test_a_tensor_inside_vmap_cannot_be_stored(recorder: Recorder, target: Any) -> None:
    text = recorder.problem("target_module:plain", lambda: torch.vmap(lambda x: target.plain(x))(torch.ones(2, 2)))
    assert text.startswith("argument a: torch.Tensor (")


def test_nesting_that_is_too_deep_is_told(recorder: Recorder, target: Any) -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert "nested too deeply" in recorder.problem("target_module:plain", lambda: target.plain(deep))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("plane", "there is no 'plane' in module 'target_module'; did you mean plain?"),
        ("run", "did you mean Base.run or Derived.run"),
        ("Base.rum", "did you mean Base.run"),
        ("Base.value", "is a property"),
        ("Base", "is a class; name one of its methods, like target_module:Base.run"),
        ("counting", "is a generator function"),
        ("waiting", "is a coroutine function"),
        ("partial", "is an object of the class partial"),
    ],
)
def test_what_is_no_plain_function_is_refused_with_the_way_out(target: Any, name: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        captured.resolve(f"target_module:{name}")
    assert says.removesuffix(" or Derived.run") in str(error.value)


def test_a_module_that_is_not_there_is_told_from_one_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "needs_more.py").write_text("import nowhere_to_be_found\n")
    with pytest.raises(UserError, match="there is no module 'not_there'"):
        captured.resolve("not_there:f")
    with pytest.raises(UserError, match="'needs_more' does not import: No module named 'nowhere_to_be_found'"):
        captured.resolve("needs_more:f")


def test_a_file_that_is_no_capture_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.pt").write_bytes(b"PK nothing")
    with pytest.raises(UserError, match="is no capture"):
        captured.load_calls(str(tmp_path / "x.pt"), "cpu")
    with pytest.raises(UserError, match="nothing has been captured"):
        captured.load_calls(str(tmp_path / "y.pt"), "cpu")


def test_a_class_that_is_gone_is_told(recorder: Recorder, target: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = recorder.store("target_module:plain", lambda: target.plain(target.Holder(1)))
    monkeypatch.delattr(target, "Holder")
    with pytest.raises(
        UserError, match=r"call 1 of target_module:plain cannot be loaded.*run `fullgraph capture` again"
    ):
        captured.load_calls(file, "cpu")

"""Tensors of every kind become leaves, and so do the modules that hold them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.testing._internal.logging_tensor import LoggingTensor
from torch.testing._internal.two_tensor import TwoTensor

from fullgraph.validate.worker.recording.flatten import describe, flatten
from tests.validate.flattening import found, kinds, leaves


class Tagged(torch.Tensor):
    """A subclass whose every operation fails."""

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> Any:
        raise RuntimeError("torch function")


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
    "sparse, not coalesced": lambda: torch.sparse_coo_tensor(torch.tensor([[0, 0]]), torch.tensor([1.0, 2.0]), (3,)),
    "hybrid": lambda: torch.ones(2, 3).to_sparse(1),
    "csr": lambda: torch.eye(3).to_sparse_csr(),
    "csc": lambda: torch.eye(3).to_sparse_csc(),
    "bsr": lambda: torch.eye(4).to_sparse_bsr((2, 2)),
    "mkldnn": lambda: torch.ones(2, 2).to_mkldnn(),
    "jagged": lambda: torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(1, 3)], layout=torch.jagged),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(1, 3)]),
    "meta": lambda: torch.ones(2, device="meta"),
    "subclass": lambda: torch.ones(3).as_subclass(Tagged),
    "wrapper": lambda: TwoTensor(torch.ones(2), torch.zeros(2)),  # type: ignore[no-untyped-call]
    "wrapper with slots": lambda: LoggingTensor(torch.ones(2)),  # type: ignore[no-untyped-call]
    "inference": lambda: torch.inference_mode()(torch.ones)(3),
}
DTYPES = sorted({dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)}, key=str)


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


def test_a_number_is_the_same_however_it_is_stored() -> None:
    plain = torch.tensor([1 + 2j, 3 - 4j])
    for view in (plain.conj(), plain.conj().imag, plain.real.expand(3, 2), plain.reshape(1, 2).t()):
        stored = view.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
        assert {at.what for at in found(view, stored)} <= {"strides", "marks"}
        told = [[leaf for leaf in describe(one, "v") if leaf[1] != "marks"] for one in (view, stored)]
        assert view.is_contiguous() is False or told[0] == told[1]


def test_what_is_kept_is_a_copy() -> None:
    tensor = torch.zeros(3)
    kept = flatten(tensor, "v", on_opaque=lambda *_: None)
    tensor.add_(1)
    (value,) = [fact for _, kind, fact in kept if kind == "value"]
    assert value.tolist() == [0, 0, 0]


def test_a_gradient_belongs_to_its_tensor() -> None:
    tensor = torch.ones(2, requires_grad=True)
    assert ("v.grad", "None", None) in leaves(tensor)
    tensor.grad = torch.full((2,), 3.0)
    assert next(fact for path, kind, fact in leaves(tensor) if (path, kind) == ("v.grad", "value")).tolist() == [3, 3]


def test_what_is_set_on_a_tensor_is_told_but_not_the_marks_of_the_compiler() -> None:
    tensor = torch.nn.Parameter(torch.ones(2))
    tensor.owner = "me"  # type: ignore[attr-defined]
    tensor._dynamo_static_input_type = "guarded"  # type: ignore[attr-defined]
    assert ("v.owner", "str", "me") in leaves(tensor)
    module = torch.nn.ReLU()
    module._is_torch_compile = True  # type: ignore[assignment]
    assert not any("dynamo" in path or "compile" in path for path, _, _ in leaves([tensor, module]))


def test_meta_and_fake_tensors_have_no_numbers() -> None:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(2, 3)
    for tensor in (fake, torch.ones(2, 3, device="meta")):
        assert "value" not in kinds(tensor)
        assert kinds(tensor)["shape"] == "[2, 3]"


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


MODEL = torch.nn.Linear(2, 2)


def call_model(x: torch.Tensor) -> Any:
    return MODEL(x)


def test_a_parameter_without_a_shape_yet_is_told_without_one() -> None:
    module = torch.nn.LazyLinear(3)
    assert ("v.weight", "type", "torch.nn.parameter.UninitializedParameter") in leaves(module)

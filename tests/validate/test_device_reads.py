"""Which operators make the host wait: the rules, asked one by one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fullgraph.validate.worker.devices.reads import count_reads, find_move, same, spell, tensors_in

AWAY, HERE = torch.arange(3.0), torch.tensor(1.0)
MASK, OTHER = AWAY > 1, AWAY > 0


def operator(name: str) -> Any:
    return SimpleNamespace(_schema=SimpleNamespace(name=f"aten::{name}"))


def on_host(tensor: torch.Tensor) -> bool:
    return tensor is HERE


def reads(name: str, *args: Any, **kwargs: Any) -> int:
    return count_reads(operator(name), args, kwargs, on_host)


def test_a_mask_is_read_to_find_its_positions_and_numbers_are_not() -> None:
    assert reads("index", AWAY, [MASK]) == 1
    assert reads("index", AWAY, [MASK.to(torch.uint8)]) == 1
    assert reads("index", AWAY, [torch.tensor([0])]) == 0
    assert reads("index", AWAY, [None, HERE]) == 0


def test_one_number_that_the_host_knows_fills_a_mask_without_a_read() -> None:
    assert reads("index_put_", AWAY, [MASK], HERE) == 0
    assert reads("index_put_", AWAY, [MASK], torch.tensor(1.0)) == 1
    assert reads("index_put_", AWAY, [MASK], AWAY) == 1
    assert reads("index_put_", AWAY, [MASK], HERE, True) == 1
    assert reads("index_put_", AWAY, [MASK, OTHER], HERE) == 1


def test_what_the_host_was_told_the_size_of_is_not_read() -> None:
    assert reads("repeat_interleave", AWAY) == 1
    assert reads("repeat_interleave", AWAY, output_size=3) == 0
    assert reads("repeat_interleave", HERE) == 0


def test_random_numbers_are_read_only_for_a_spread_of_the_devices() -> None:
    assert reads("normal", AWAY, AWAY) == 1
    assert reads("normal", AWAY, 1.0) == 0
    assert reads("normal", AWAY) == 0
    assert reads("normal", AWAY, HERE) == 0


def test_operators_whose_result_the_host_must_know_are_reads_of_what_is_away() -> None:
    assert reads("nonzero", AWAY) == 1
    assert reads("equal", HERE, AWAY) == 1
    assert reads("nonzero", HERE) == 0
    assert reads("add", AWAY, AWAY) == 0


CUDA, SECOND = torch.device("cuda:0"), torch.device("cuda:1")


def on(device: Any) -> Any:
    return SimpleNamespace(device=torch.device(device))


def move(name: str, *args: Any, **kwargs: Any) -> tuple[str, str, bool] | None:
    return find_move(operator(name), args, kwargs)


def test_a_copy_goes_from_its_source_to_its_target_and_waits_unless_told_otherwise() -> None:
    assert move("_to_copy", on("cpu"), device=CUDA) == ("cpu", "cuda:0", True)
    assert move("_to_copy", on("cuda:0"), device=torch.device("cpu"), non_blocking=True) == ("cuda:0", "cpu", False)
    assert move("copy_", on("cuda:1"), on("cpu")) == ("cpu", "cuda:1", True)
    assert move("copy_", on("cuda:1"), on("cpu"), True) == ("cpu", "cuda:1", False)


def test_a_copy_on_one_device_is_no_move() -> None:
    assert move("_to_copy", on("cuda"), device=CUDA) is None
    assert move("_to_copy", on("cuda"), dtype=torch.float64) is None
    assert move("copy_", on("cpu"), on("cpu")) is None
    assert move("add", on("cpu"), on("cuda")) is None


def test_devices_of_one_kind_are_told_apart_by_their_number_and_none_is_0() -> None:
    assert same(torch.device("cuda"), CUDA)
    assert not same(CUDA, SECOND)
    assert not same(torch.device("cpu"), CUDA)
    assert [spell(torch.device(name)) for name in ("cpu", "cuda", "cuda:1")] == ["cpu", "cuda:0", "cuda:1"]


@pytest.mark.parametrize(
    ("values", "count"), [(AWAY, 1), ([AWAY, (HERE, 1)], 2), ({"a": [AWAY], "b": HERE}, 2), ((None, "x", 3), 0)]
)
def test_tensors_are_found_in_tuples_lists_and_dicts(values: Any, count: int) -> None:
    assert len(list(tensors_in(values))) == count


def test_a_mask_that_the_host_holds_is_not_read() -> None:
    assert count_reads(operator("index"), (AWAY, [MASK]), {}, lambda tensor: tensor is MASK) == 0
    assert count_reads(operator("index"), (AWAY, [MASK, OTHER]), {}, lambda tensor: tensor is MASK) == 1

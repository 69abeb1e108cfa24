"""The bench of models: what its comparer must never pass over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from zoo.entries import ENTRIES
from zoo.judging import compare_values
from zoo.recorded import NOTHING, Comparison, record
from zoo.row import begin

from fullgraph.validate.worker.recording.closeness import Rule

EXACT = Rule(exact=True, signed_zero=True)
WITHIN = Rule(False, 1e-4, 1e-5)


def compare(first: object, second: object, rule: Rule = EXACT) -> list[str]:
    return Comparison([record({"output": first})], [record({"output": second})], rule).differences


class Cache:
    """An object that holds tensors in its attributes, as models return them."""

    def __init__(self, *layers: torch.Tensor) -> None:
        self.layers = list(layers)


def test_the_same_values_do_not_differ() -> None:
    assert compare({"logits": torch.ones(2, 3)}, {"logits": torch.ones(2, 3)}) == []


def test_results_without_a_tensor_are_no_success() -> None:
    assert compare({"loss": None}, {"loss": None}) == [NOTHING]
    assert Comparison([], [], EXACT).differences == [NOTHING]


@pytest.mark.parametrize("rule", [EXACT, WITHIN])
@pytest.mark.parametrize(
    ("other", "word"),
    [
        (torch.zeros(2, 3, dtype=torch.float64), "dtype"),
        (torch.zeros(2, 3, 1), "shape"),
        (torch.full((2, 3), 0.5), "value"),
        (torch.full((2, 3), float("nan")), "value"),
        (None, "type"),
    ],
)
def test_another_dtype_shape_or_value_shows(rule: Rule, other: object, word: str) -> None:
    told = compare([torch.zeros(2, 3)], [other], rule)
    assert f": {word}: " in told[0]


def test_a_shape_of_one_is_not_a_scalar() -> None:
    assert compare(torch.zeros(1), torch.zeros(()), WITHIN)


def test_another_stride_shows_in_plain_code_only() -> None:
    ours, theirs = torch.zeros(2, 3), torch.zeros(3, 2).t()
    assert [": strides: " in one for one in compare([ours], [theirs])] == [True]
    assert compare([ours], [theirs], WITHIN) == []


def test_memory_that_is_no_longer_shared_shows() -> None:
    whole = torch.zeros(4)
    assert compare([whole, whole[:2]], [whole, whole[:2]]) == []
    (told,) = compare([whole, whole[:2]], [whole, whole[:2].clone()])
    assert "memory" in told


def test_a_value_deep_in_a_cache_shows() -> None:
    (told,) = compare((torch.ones(1), Cache(torch.zeros(2))), (torch.ones(1), Cache(torch.ones(2))))
    assert "layers" in told


def test_a_tensor_that_is_missing_shows() -> None:
    assert compare([torch.ones(1), torch.ones(1)], [torch.ones(1)])


def test_a_call_that_is_missing_shows() -> None:
    one = record({"output": torch.ones(1)})
    assert Comparison([one, one], [one], EXACT).differences == ["2 calls, then 1"]


def test_the_last_bit_counts_in_plain_code_only() -> None:
    near = torch.tensor([1.0000001])
    assert compare(torch.ones(1), near)
    assert compare(torch.ones(1), near, WITHIN) == []
    assert compare(torch.zeros(1), -torch.zeros(1))


# From files


def store(work: Path, side: str, stage: str, values: list[torch.Tensor]) -> None:
    records: list[dict[str, Any]] = [record({"output": value}) for value in values]
    (work / side).mkdir(exist_ok=True)
    torch.save([{key: one[key] for key in ("leaves", "tensors")} for one in records], work / side / f"{stage}.pt")


def test_every_run_is_held_against_the_plain_one_before(tmp_path: Path) -> None:
    ones = torch.ones(2)
    for side, factor in (("before", 1.0), ("after", 2.0)):
        store(tmp_path, side, "plain", [ones, ones * 3])
        store(tmp_path, side, "compiled", [ones * factor])
    row = begin(ENTRIES["t5"], "4.52.4")
    compare_values(row, ENTRIES["t5"], tmp_path)
    assert (row.plain, row.compiled) == ("2 same", ["1 within 0e+00", "1 DIFFER"])
    assert row.reasons[0].startswith("compiled after: call 0: output: value: ")


def test_a_side_that_did_not_run_is_not_the_same(tmp_path: Path) -> None:
    store(tmp_path, "before", "plain", [torch.ones(2)])
    row = begin(ENTRIES["t5"], "4.52.4")
    compare_values(row, ENTRIES["t5"], tmp_path)
    assert (row.plain, row.compiled) == (None, [None, None])

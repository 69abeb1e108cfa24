"""What `batch_host_reads` writes gives the same numbers, types and bits included, and fails where the code failed."""

from __future__ import annotations

import contextlib
import io
import runpy
import struct
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cases import FIXTURES

torch = pytest.importorskip("torch")

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTS = (torch.int64, torch.int32, torch.int8, torch.uint8)


@cache
def load(case: str, side: str) -> dict[str, Any]:
    return runpy.run_path(str(FIXTURES / "batch_host_reads" / case / f"{side}.py"), run_name=f"{case}_{side}")


def run(space: dict[str, Any], name: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
    """What a function of a module does: what it returns or raises, and what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result: Any = plain(space[name](*arguments))
        except Exception as error:
            result = type(error)
    return printed.getvalue(), result


def plain(value: Any) -> Any:
    """A value in which everything that can be told apart is told apart: 1, 1.0, True, 0.0 and -0.0."""
    if isinstance(value, dict):
        return [("dict", plain(key), plain(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if type(value) is float:
        return ("float", "nan" if value != value else struct.pack("d", value))
    if hasattr(value, "__dict__"):
        return plain(vars(value))
    return (type(value).__name__, value)


def tensors(*shape: int) -> Iterator[Any]:
    """Numbers of every kind, odd ones among them."""
    make = torch.Generator().manual_seed(1)
    base = torch.randn(shape, generator=make) * 3
    yield from (base.to(dtype) for dtype in (*FLOATS, *INTS))
    yield base > 0
    if base.numel() > 2:
        odd = base.clone().flatten()
        odd[0], odd[1], odd[2] = float("nan"), float("inf"), -0.0
        yield odd.reshape(shape)


def changed(case: str, name: str, *calls: tuple[Any, ...]) -> None:
    for arguments in calls:
        old = run(load(case, "before"), name, deepcopy(arguments))
        new = run(load(case, "after"), name, deepcopy(arguments))
        assert old == new, f"{case}: {name}{arguments}"


NAMES = ["a", "b", "c"]
ROWS: list[tuple[str, str, Callable[[Any], tuple[Any, ...]]]] = [
    ("loop_by_index", "shown", lambda x: (x, 3)),
    ("loop_by_index", "shown", lambda x: (x, 2)),
    ("loop_by_index", "shown", lambda x: (x, 5)),
    ("loop_by_index", "shown", lambda x: (x, -1)),
    ("loop_by_index", "steps", lambda x: (x,)),
    ("enumerated", "by_name", lambda x: (x, NAMES)),
    ("enumerated", "by_name", lambda x: (x, [*NAMES, "d"])),
    ("enumerated", "by_name", lambda x: (x, [])),
    ("whole_tensor", "plain", lambda x: (x,)),
    ("whole_tensor", "by_size", lambda x: (x,)),
    ("keyword_arguments", "outcomes", lambda x: (x, x)),
    ("loop_over_a_tensor", "printed", lambda x: (x, NAMES)),
    ("loop_over_a_tensor", "counted", lambda x: (x,)),
    ("loop_over_a_tensor", "positive", lambda x: (x,)),
    ("under_a_condition", "chosen", lambda x: (x, [True, False, True])),
    ("under_a_condition", "first_of_four", lambda x: (x,)),
    ("rows_of_dicts", "by_items", lambda x: ({"slot": x, "rate": x}, 3)),
    ("rows_of_dicts", "filtered", lambda x: ({"slot": x, "other": None}, 3)),
    ("rows_of_dicts", "by_statement", lambda x: ({"slot": x, "rate": x}, 4)),
    ("rows_of_dicts", "per_key", lambda x: ({"slot": x},)),
    ("layouts", "commented", lambda x: (x, NAMES)),
    ("layouts", "in_a_row", lambda x: (x, NAMES)),
    ("name_taken", "listed", lambda x: (x, NAMES)),
    ("lengths", "grown", lambda x: (x, x)),
    ("lengths", "twice", lambda x: (x, 2)),
    ("lengths", "gaps", lambda x: (x, 2)),
    ("lengths", "gaps", lambda x: (x, 3)),
    ("lengths", "backwards", lambda x: (x,)),
    ("lengths", "said", lambda x: (x, 3)),
]


@pytest.mark.parametrize(("case", "name", "call"), ROWS)
def test_numbers_of_elements_are_the_same(case: str, name: str, call: Callable[[Any], Any]) -> None:
    for x in (*tensors(3), *tensors(3, 1), torch.empty(0), torch.empty(0, 1)):
        changed(case, name, call(x))


@pytest.mark.parametrize("shape", [(5,), (2, 3), (), (1,), (0,), (700, 3)])
def test_extremes_are_the_same(shape: tuple[int, ...]) -> None:
    for x in tensors(*shape):
        changed("extremes", "value_range", (x,))
        for name in ("as_tuple", "largest_first", "with_comments", "converted", "unseen", "unpacked"):
            changed("extremes_layouts", name, (x,))
    zeros = torch.tensor([0.0, -0.0] * 400)
    changed("extremes", "value_range", (zeros,), (-zeros,), (zeros.clone().requires_grad_(),), (zeros[:1],))


def test_statistics_are_the_same() -> None:
    for x in (*tensors(7), *tensors(1), *tensors(0)):
        changed("statistics", "describe", (x,))
        changed("statistics", "positions", (x,))
        changed("layouts", "wrapped", (x,))


def test_reduced_rows_are_the_same() -> None:
    for x in (*tensors(3, 4), *tensors(3, 2, 2), torch.ones(0, 4), torch.ones(3, 0, dtype=torch.bool)):
        changed("reduced_rows", "finished", (x,))
        changed("whole_tensor", "rows", (x,))
    for x in (*tensors(3, 4), *tensors(3, 2, 2)):
        changed("reduced_rows", "peaks", (x, NAMES), (x, NAMES[:2]), (x, [*NAMES, "d"]))
    for x in tensors(2, 3, 4):
        changed("reduced_rows", "crowded", (x, 2, 3), (x, 1, 2), (x, 3, 3))
    changed("reduced_rows", "blocked", (torch.arange(32.0), 7.0), (torch.arange(32), 40.0))


def test_values_and_positions_are_the_same() -> None:
    for x in tensors(7):
        changed("lengths", "best", (x,))
    changed("lengths", "drop_rates", (0.3, 5), (0.3, 0))
    changed("lengths", "made", (3,), (0,))


def test_grids_are_the_same() -> None:
    for x in (*tensors(3, 4), *tensors(3, 4, 1), torch.ones(0, 4)):
        changed("grids", "matrix", (x,))
        changed("grids", "nested", (x, 2, 4), (x, 3, 5))
        changed("grids", "column", (x, NAMES))
        changed("grids", "first_row", (x, NAMES))


def test_parts_of_one_tensor_are_the_same() -> None:
    steps = torch.tensor([0, 1, 1, 2, 2])
    for x in tensors(5):
        changed("parts_of_one_tensor", "by_step", (x, steps, 2), (x, steps, 4), (x, steps, -1))
        changed("parts_of_one_tensor", "by_group", (x, [slice(0, 2), slice(2, 5)]), (x, []))
    for x in (*tensors(3, 4), torch.ones(0, 2)):
        changed("parts_of_one_tensor", "norms", (x,))
        changed("parts_of_one_tensor", "of_each", (x,))


def test_bracketed_expressions_give_the_same() -> None:
    for x in (*tensors(4), *tensors(4, 1)):
        changed("brackets", "signs", (x, 4))
        changed("brackets", "negated", (x,))
    for x in (*tensors(4), *tensors(4, 2)):
        changed("brackets", "of_two", (x, 1, 2))
        changed("brackets", "of_either", (x, [0, 3], [], True), (x, [0, 3], [], False))
        for name in ("joined", "first", "total"):
            changed("brackets", name, (x, [2, 1]), (x, []), (x, [9]))


def test_states_are_the_same() -> None:
    for count in (3, 1, 0):
        states = [SimpleNamespace(name=f"s{i}", total=torch.tensor(i / 3)) for i in range(count)]
        for name in ("totals", "by_name", "best", "grand_total", "busy"):
            changed("states", name, (states,))
        changed("states", "means", (states, 7))
        for shape in ((), (1,), (1, 1)):
            losses = [torch.full(shape, i / 7) for i in range(count)]
            changed("states_not_seen", "labelled", (losses,))
            changed("states_not_seen", "report", (dict(zip("abc", losses, strict=False)),))
            changed("states_not_seen", "totals", (iter([SimpleNamespace(total=loss) for loss in losses]),))
            changed("states_not_seen", "totals", ([SimpleNamespace(total=loss) for loss in losses],))


def test_one_read_in_all_gives_the_same() -> None:
    changed("in_all_of_a_loop", "table", (3, NAMES), (2, NAMES), (4, []))
    changed("in_all_of_a_loop", "unlike", (3, NAMES))
    for dtype in (*FLOATS, torch.int64):
        x = (torch.randn(3, 4, generator=torch.Generator().manual_seed(0)) * 3).to(dtype)
        changed("in_all", "per_row", (x, NAMES))
        changed("in_all", "evaluate", (x, x.flip(0)))

"""What only an accelerator does: which changes concern it, and when it was performed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fullgraph.validate.device_operations import touched_operations
from fullgraph.validate.exercised import Trace, exercise
from fullgraph.validate.model import Sides

BEFORE = """import torch


def f(stream, x, device):
    prepare(x)
    stream.wait_stream(torch.cuda.current_stream())
    use(x)
    return x.to(device, non_blocking=True)
"""


def touched(after: str, before: str = BEFORE) -> list[str]:
    return [one.name for one in touched_operations(ast.parse(before), ast.parse(after))]


CONCERNED = {
    "gone": ("    stream.wait_stream(torch.cuda.current_stream())\n", "", ["wait_stream"]),
    "under a condition": ("    stream.wait", "    if x:\n        stream.wait", ["wait_stream"]),
    "a statement moved across": ("    prepare(x)\n    stream", "    stream", ["wait_stream"]),
    "a way out before": ("    prepare(x)", "    if not x:\n        return x", ["wait_stream", "non_blocking"]),
    "blocking": ("non_blocking=True", "non_blocking=False", ["non_blocking"]),
    "another stream": ("current_stream()", "default_stream()", ["wait_stream", "wait_stream"]),
    "a synchronization": ("    use(x)", "    torch.cuda.synchronize()\n    use(x)", ["synchronize"]),
    "by another name": (
        "    use(x)",
        "    from torch.cuda import synchronize as s\n    torch.mps.empty_cache()",
        ["empty_cache"],
    ),
    "a stream of its own": ("    use(x)", "    with torch.cuda.stream(stream):\n        use(x)", ["stream"]),
    "a mark": (
        "    use(x)",
        "    torch.compiler.cudagraph_mark_step_begin()\n    use(x)",
        ["cudagraph_mark_step_begin"],
    ),
    "pinned": ("    use(x)", "    use(x.pin_memory())", ["pin_memory"]),
    "a loader": ("    use(x)", "    use(DataLoader(x, pin_memory=True))", ["pin_memory"]),
}


@pytest.mark.parametrize("what", CONCERNED)
def test_a_change_of_an_operation_for_a_device_is_noticed(what: str) -> None:
    old, new, names = CONCERNED[what]
    after = BEFORE.replace(old, new)
    if what == "a statement moved across":
        after = after.replace("    use(x)", "    prepare(x)\n    use(x)")
    assert touched(after) == names


UNCONCERNED = {
    "a neighbour": ("use(x)", "use(x + 1)"),
    "another argument": ("non_blocking=True", "non_blocking=True, copy=True"),
    "a question": ("use(x)", "torch.cuda.is_available()"),
    "autocast": ("    use(x)", "    with torch.cuda.amp.autocast():\n        use(x)"),
    "a comment": ("    use(x)", "    # stream.wait_stream()\n    use(x)"),
    "off": ("use(x)", "use(x, pin_memory=False)"),
    "an exception before": ("    prepare(x)", "    prepare(x)\n    if x is None:\n        raise ValueError"),
    "an event of threads": ("use(x)", "done.wait()"),
}


@pytest.mark.parametrize("what", UNCONCERNED)
def test_a_change_beside_it_is_not(what: str) -> None:
    assert touched(BEFORE.replace(*UNCONCERNED[what])) == []


def test_a_file_that_is_new_or_gone_concerns_all_that_it_holds() -> None:
    tree = ast.parse(BEFORE)
    for sides in ((None, tree), (tree, None)):
        assert [one.name for one in touched_operations(*sides)] == ["wait_stream", "non_blocking"]


GUARDED = BEFORE.replace("    stream.wait", "    if x:\n        stream.wait")


@pytest.mark.parametrize(
    ("after", "is_seen"),
    [
        (Trace(frozenset(range(4, 9)), performed=frozenset({(7, "wait_stream")})), True),
        (Trace(frozenset(range(4, 9)), has_device=True), True),
        (Trace(frozenset(range(4, 9))), False),
        (Trace(frozenset(range(4, 9)), performed=frozenset({(7, "synchronize")})), False),
        (Trace(frozenset({4, 5, 6, 9}), has_device=True), False),
    ],
    ids=["a stand-in of the scenario's", "an accelerator", "a CPU", "another operation", "not reached"],
)
def test_a_wait_is_seen_only_where_one_was_performed(after: Trace, is_seen: bool) -> None:
    sides = Sides(Path("/"), {"m.py": BEFORE.encode()}, {"m.py": GUARDED.encode()})
    (place,) = exercise(sides, {"after": {"m.py": after}})
    told = "`wait_stream` (after, line 7) was not performed: only an accelerator does that"
    assert (told not in place.unseen) == is_seen

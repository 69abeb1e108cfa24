"""What is noted of a running program: whose a file is, what an entry was called with, and which call waits."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest
import torch

from fullgraph.validate.worker.capturing.describe import LONGEST, MOST
from fullgraph.validate.worker.capturing.describe import describe as describe_argument
from fullgraph.validate.worker.capturing.naming import suggest
from fullgraph.validate.worker.graphs.frames import Frame
from fullgraph.validate.worker.graphs.places import TORCH
from fullgraph.validate.worker.observing.entries import FRAMES, SIGNATURES, Entry, Key, find_key
from fullgraph.validate.worker.observing.inputs import INSIDE, LEAVES, describe_inputs, find_module, name_phase
from fullgraph.validate.worker.observing.pending import Waiting, reach, settle
from fullgraph.validate.worker.observing.whose import IGNORED, NOBODY, OTHERS, PROJECT, Whose

# Whose


@pytest.mark.parametrize(
    ("file", "whose"),
    [
        ("{root}/a.py", PROJECT),
        ("{root}2/a.py", OTHERS),
        ("{root}/.venv/lib/site-packages/lib/a.py", OTHERS),
        ("{torch}/optim/adam.py", IGNORED),
        ("{torch}/_dynamo/a.py", IGNORED),
        ("{torch}/utils/_device.py", IGNORED),
        ("{torch}/nn/modules/linear.py", NOBODY),
        ("{torch}/fx_like.py", NOBODY),
        ("<string>", NOBODY),
    ],
)
def test_a_file_is_the_projects_anothers_or_torchs(file: str, whose: str, tmp_path: Path) -> None:
    assert Whose(str(tmp_path))(file.format(root=tmp_path.resolve(), torch=TORCH)) == whose


def test_a_project_inside_of_installed_packages_is_a_project(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "site-packages" / "mine"
    assert Whose(str(root))(f"{root}/a.py") == PROJECT


def frames(*files: str) -> FrameType:
    """A stack, the deepest file first."""
    made: Any = None
    for file in reversed(files):
        made = SimpleNamespace(f_code=SimpleNamespace(co_filename=file), f_back=made)
    found: FrameType = made
    return found


def test_the_projects_deepest_frame_is_found_behind_others(tmp_path: Path) -> None:
    root, library, machinery = f"{tmp_path.resolve()}/a.py", "/lib/b.py", f"{TORCH}/_dynamo/c.py"
    whose = Whose(str(tmp_path))

    def found(*files: str, stops: bool = True) -> str | None:
        frame = whose.find_frame(frames(*files), stops)
        return frame.f_code.co_filename if frame else None

    assert found(library, root) == root
    assert found("/lib/c.py", library) == "/lib/c.py"
    assert found(machinery, root) is None
    assert found(machinery, root, stops=False) == root
    assert found(library, machinery, root) == root
    assert found(f"{TORCH}/nn/d.py", root) == root


# Inputs


def test_no_more_is_told_than_can_be_read() -> None:
    assert describe_inputs((1,) * LEAVES, {}) == ", ".join(["int"] * LEAVES)
    assert describe_inputs((1,) * (LEAVES + 1), {}) == ", ".join(["int"] * LEAVES) + ", ..."
    assert describe_inputs(([1] * INSIDE,), {}) == f"[{', '.join(['int'] * INSIDE)}]"
    assert describe_inputs(({n: n for n in range(INSIDE + 1)},), {}).endswith("7: int, ...}")


def test_a_phase_has_the_modules_flag_and_the_mode() -> None:
    module = torch.nn.Linear(1, 1)
    assert (name_phase(module), name_phase(None)) == ("train, grad", "grad")
    with torch.no_grad():
        assert name_phase(module.eval()) == "eval, no grad"
    with torch.inference_mode():
        assert name_phase(module) == "eval, inference"


def test_the_phase_is_that_of_the_entrys_own_module_or_of_the_first_that_it_is_given() -> None:
    own, given, later = (torch.nn.Linear(1, 1) for _ in range(3))
    assert find_module(own, (given,)) is own
    assert find_module(None, (1, given, later)) is given
    assert find_module(None, (1, "x")) is None


# Entries


def entry() -> Entry:
    return Entry(Key("a.py", 1, "f", "function"), "f")


def test_inputs_and_compilations_beyond_the_most_are_counted() -> None:
    one = entry()
    for number in [*range(SIGNATURES + 2), 0]:
        one.add_inputs(f"float32[{number}]")
    assert (len(one.inputs), one.inputs["float32[0]"], one.other_inputs) == (SIGNATURES, 2, 2)
    one.frames = [Frame("a.py", 1, "f")] * (FRAMES - 1)
    for _ in range(3):
        one.add_frame(Frame("a.py", 1, "f"))
    assert (len(one.frames), one.more_frames) == (FRAMES, 2)


def test_only_what_was_compiled_counts_as_graph_or_recompile() -> None:
    one = entry()
    one.frames = [
        Frame("/p/a.py", 1, "f", outcome="compiled", operators=2, recompile="L['k'] == 3"),
        Frame("/p/a.py", 1, "f", outcome="compiled", operators=0),
        Frame("/p/a.py", 1, "f", outcome="skipped", operators=5, recompile="L['k'] == 4"),
    ]
    told = one.tell()
    assert (told["graphs"], told["operators"]) == (1, 2)
    assert [(item["guard"], item["count"]) for item in told["recompiles"]] == [("k == 3 failed", 1)]


class Net(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x

    def other(self, x: Any) -> Any:
        return x


def test_a_module_is_one_entry_however_it_is_called_and_its_other_methods_are_others() -> None:
    from fullgraph.validate.worker.graphs.places import Line

    place = Line("/p/main.py", 9, "main")
    net = Net()
    keys = [find_key(call, place)[0] for call in (net, net.forward, net.__call__)]
    assert [(key.name, key.kind) for key in keys] == [("Net", "module")] * 3
    assert len(set(keys)) == 1
    other = find_key(net.other, place)[0]
    assert (other.name, other.kind) == ("Net.other", "method")


def test_what_is_torchs_goes_by_the_line_that_compiled_it() -> None:
    from fullgraph.validate.worker.graphs.places import Line

    key = find_key(torch.nn.Linear(1, 1), Line("/p/main.py", 9, "main"))[0]
    assert (key.file, key.line, key.name) == ("/p/main.py", 9, "Linear")


# Calls that wait for their backward


def call(x: torch.Tensor) -> tuple[Waiting, torch.Tensor]:
    waiting = Waiting(entry())
    first = torch.autograd._get_sequence_nr()  # type: ignore[attr-defined]
    output = (x * 2).sin()
    waiting.end_call(first, torch.autograd._get_sequence_nr())  # type: ignore[attr-defined]
    return waiting, output


def test_a_backward_ends_the_wait_of_the_calls_that_it_leads_to_and_of_no_other() -> None:
    x = torch.ones(2, requires_grad=True)
    (one, output), (other, _) = call(x), call(x)
    settle([one, other], [output])
    assert (one.span, one.entry.backwards) == (None, 1)
    assert other.span is not None
    assert other.entry.backwards == 0


def test_a_call_that_made_no_node_does_not_wait() -> None:
    waiting, _ = call(torch.ones(2))
    assert waiting.span is None


def test_a_span_ends_before_its_last_number() -> None:
    x = torch.ones(2, requires_grad=True)
    output = x * 2
    number = output.grad_fn._sequence_nr()  # type: ignore[union-attr]
    behind, holding = (number - 1, number), (number, number + 1)
    assert reach([behind, holding], [output]) == {holding}


# Arguments in words


def test_arguments_that_are_too_long_or_too_deep_are_told_by_their_type() -> None:
    assert describe_argument([1] * MOST)["kind"] == "list"
    assert describe_argument([1] * (MOST + 1)) == {"kind": "object", "type": "builtins.list"}
    assert describe_argument("x" * LONGEST)["kind"] == "object"
    assert describe_argument({1: 2})["kind"] == "object"
    inner = describe_argument([[[[1]]]])["items"][0]["items"][0]["items"][0]
    assert inner == {"kind": "object", "type": "builtins.list"}


def test_a_name_that_ends_alike_is_suggested_before_one_that_is_spelled_alike() -> None:
    assert suggest("step", iter(["Trainer.step", "stop"])) == "; did you mean Trainer.step or stop?"
    assert suggest("step", iter(["other"])) == ""


def test_a_frame_of_this_test_is_one_of_the_project() -> None:
    whose = Whose(str(Path(__file__).parent))
    assert whose.find_frame(sys._getframe()) is sys._getframe()

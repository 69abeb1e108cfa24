"""Every item gets an answer: a rewrite of what its words are about, a command to run, or a reason that is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.codemods.tickets import Ticket, read_tickets
from fullgraph.codemods.tickets.fixing.leftover import is_met, left_of
from fullgraph.codemods.tickets.fixing.model import Filed
from fullgraph.codemods.tickets.fixing.moved import shifter
from fullgraph.codemods.tickets.model import Lines
from fullgraph.codemods.tickets.places.model import Spot
from fullgraph.codemods.tickets.understanding import Understood, understand
from fullgraph.codemods.ui.tickets.as_text import COMMAND, row
from fullgraph.codemods.ui.tickets.fix_text import handled_text

from .asking import catalogue_of
from .test_fix import fixer

REVIEWED = "# Tuple keys\n\n**Severity:** P2\n\n| Reviewer | Verdict |\n|---|---|\n"
PLAN = """\
# Make torch.compile reliable for LensNet

## Goals
- Keep `torch.compile(mode="reduce-overhead")` on for LensNet.

## Plan

### 1. Instrument LensNet usage
- Add counters to record how many times LensNet runs per step.

### 2. Audit tensor lifetimes
- Trace where outputs are stored beyond the compiled call.

### 3. Build a harness
- Compiles LensNet with the actual config.
- \u2705 Implemented in `scripts/harness.py` (`python scripts/harness.py`).

### 4. Documentation & tests
- Add unit tests that confirm we call `cudagraph_mark_step_begin`.

## Execution checklist
1. [{box}] Add instrumentation for LensNet usage
"""
NET = """\
import torch
from torch import nn


class LensNet(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2
"""
KEYS = """\
import torch

HEADS = ("left", "right")


def gather({given}, masks: list[dict[str, torch.Tensor]]) -> list[torch.Tensor]:
    first = [masks[0][key] for key in masks[0].keys()]
    second = [gates[key] + 1 for key in gates.keys()]
    return first + second
"""
TELEMETRY = """\
import torch


def train_step(model, slots, batch, use_telemetry: bool):
    for slot in slots:
        model.advance(slot)
    loss = model(batch)
    norms = {}
    if use_telemetry:
        for slot in slots:
            norms[slot] = model.grad_norm(slot).item()
    return loss, norms
"""


def project(root: Path, files: dict[str, str]) -> Path:
    for path, text in {"pyproject.toml": '[project]\nname = "p"\ndependencies = ["torch>=2.9"]\n', **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def read(text: str) -> list[Ticket]:
    return read_tickets("plan.md", text.encode())


def understood(root: Path, text: str) -> dict[str, Understood]:
    catalogue = catalogue_of(root)
    return {ticket.id: understand(ticket, catalogue) for ticket in read(text)}


def one(root: Path, text: str) -> Understood:
    (found,) = understood(root, text).values()
    return found


# Reviews


@pytest.mark.parametrize(
    ("verdicts", "is_rejected"),
    [
        (["ENDORSE", "ENDORSE", "DISPUTE", "ENDORSE"], False),
        (["ENDORSE", "REJECT", "ENDORSE"], False),
        (["ENDORSE", "REJECT"], True),
        (["DISPUTE"], True),
        (["REJECT", "REJECT", "ENDORSE"], True),
    ],
)
def test_reviews_are_weighed(verdicts: list[str], is_rejected: bool) -> None:
    rows = "".join(f"| R{number} | {verdict} |\n" for number, verdict in enumerate(verdicts))
    (ticket,) = read(REVIEWED + rows)
    assert ticket.is_rejected is is_rejected


def test_a_decision_without_a_name_closes_the_vote() -> None:
    rows = "| Kim | ENDORSE |\n| Bo | ENDORSE |\n"
    (ticket,) = read(f"{REVIEWED}{rows}\n## Resolution\n\nNot a bug.\n")
    assert ticket.is_rejected


def test_an_objection_that_was_outvoted_is_told(tmp_path: Path) -> None:
    root = project(tmp_path, {"a.py": KEYS.format(given="gates: dict[str, torch.Tensor]")})
    review = "## Reviews\n\n| Reviewer | Verdict |\n|---|---|\n| Kim | ENDORSE |\n| Ada | ENDORSE |\n| Bo | DISPUTE |\n"
    routed = one(root, keys_ticket() + review).routed
    assert routed.codemod == "iterate_constant_keys"
    assert "objection: Bo: DISPUTE; 2 endorse it" in routed.notes


# Plans


def test_the_numbered_headings_of_a_plan_are_items() -> None:
    tickets = read(PLAN.format(box=" "))
    assert [(ticket.id, ticket.title) for ticket in tickets] == [
        ("plan#1", "Instrument LensNet usage"),
        ("plan#2", "Audit tensor lifetimes"),
        ("plan#3", "Build a harness"),
        ("plan#4", "Documentation & tests"),
    ]
    assert [ticket.why_resolved for ticket in tickets] == ["", "", "\u2705 Implemented in scripts/harness.py", ""]


def test_a_step_whose_box_is_ticked_is_done() -> None:
    first, *_ = read(PLAN.format(box="x"))
    assert first.why_resolved == "its box is ticked: Add instrumentation for LensNet usage"


def test_the_steps_of_one_tickets_own_plan_stay_in_it() -> None:
    (ticket,) = read("# Slow\n\n**Severity:** P1\n\n## Plan\n\n### 1. Measure\n- it\n\n### 2. Cut\n- it\n")
    assert ticket.severity.effective == "P1"


# Commands


def test_a_step_is_answered_by_the_command_as_it_is_typed(tmp_path: Path) -> None:
    readme = "    python train.py --steps 4\n    python train.py --steps 4 --compile\n    python gone.py --compile\n"
    test = "from pkg.net import LensNet\n\n\ndef test_a_call():\n    torch.compile(LensNet())\n"
    root = project(
        tmp_path,
        {"README.md": readme, "train.py": "", "pkg/__init__.py": "", "pkg/net.py": NET, "tests/test_net.py": test},
    )
    answers = {name: each.routed for name, each in understood(root, PLAN.format(box=" ")).items()}
    assert [answers[f"plan#{number}"].commands for number in (1, 2, 3, 4)] == [
        ("fullgraph observe -- python train.py --steps 4 --compile",),
        ("fullgraph audit tests/test_net.py::test_a_call",),
        ("fullgraph harness pkg.net:LensNet",),
        ("fullgraph fix . --select clone_at_boundary --write-tests",),
    ]
    assert answers["plan#4"].why.startswith("no codemod writes documentation")


def test_without_a_test_that_compiles_a_scenario_is_audited(tmp_path: Path) -> None:
    root = project(
        tmp_path, {"pkg/__init__.py": "", "pkg/net.py": NET, "tests/test_net.py": "def test_LensNet(): pass\n"}
    )
    assert understood(root, PLAN.format(box=" "))["plan#2"].routed.commands == (
        "fullgraph scenario new pkg.net:LensNet --out scenarios/lensnet.py",
        "fullgraph audit scenarios/lensnet.py",
    )


def test_a_command_of_a_clone_is_no_more_than_a_program_with_arguments(tmp_path: Path) -> None:
    readme = "python train.py --compile $(touch x)\npython train.py --compile;reboot\npython ../x.py --compile\n"
    root = project(tmp_path, {"README.md": readme, "train.py": "", "net.py": NET})
    first = understood(root, PLAN.format(box=" "))["plan#1"]
    assert first.routed.commands == ("fullgraph observe -- python train.py --compile",)


def test_a_readme_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("python train.py --compile\n")
    root = project(tmp_path / "root", {"train.py": "", "net.py": NET})
    (root / "README.md").symlink_to(outside)
    first = understood(root, PLAN.format(box=" "))["plan#1"]
    assert first.routed.commands == ("fullgraph observe -- python YOUR_PROGRAM.py",)


def test_a_command_is_never_wrapped() -> None:
    (line,) = row(COMMAND, "fullgraph audit " + "tests/test_a_file.py::test_something " * 9, color=False)
    assert line.count("::") == 9


# What the words are about


def keys_ticket(lines: str = "7") -> str:
    return (
        f"# Loop over dynamic keys of a dict\n\n**Severity:** P2\n**File:** `a.py:{lines}`\n\n## Problem\n\n"
        "The iteration over `.keys()` of the dict is dynamic.\n\n## Fix\n\nLoop over the static constant:\n\n"
        "```python\nfrom a import HEADS\n\nfirst = [masks[0][key] for key in HEADS]\n```\n"
    )


def test_what_a_ticket_says_of_its_lines_holds_for_these_only(tmp_path: Path) -> None:
    root = project(tmp_path, {"a.py": KEYS.format(given="gates: dict[str, torch.Tensor]")})
    assert [finding.line for finding in one(root, keys_ticket()).routed.findings] == [7]
    assert [finding.line for finding in one(root, keys_ticket("7-8")).routed.findings] == [7, 8]


def test_an_annotation_beats_what_a_ticket_says(tmp_path: Path) -> None:
    root = project(tmp_path, {"a.py": KEYS.format(given="gates: dict[int, torch.Tensor]")})
    assert [finding.line for finding in one(root, keys_ticket("7-8")).routed.findings] == [7]


def test_the_words_are_not_beaten_by_what_fires_on_the_lines(tmp_path: Path) -> None:
    code = (
        "import torch\nfrom own import amp\n\n\ndef step(model, batches: list[torch.Tensor]) -> list[float]:\n"
        "    out = []\n    for batch in batches:\n        with amp.autocast('cuda'):\n"
        "            out.append(model(batch).sum().item())\n    return out\n"
    )
    root = project(tmp_path, {"a.py": code})
    text = (
        "# Autocast context recreated per batch\n\n**Severity:** P2\n**File:** `a.py:8-9`\n\n## Problem\n\n```python\n"
        "with amp.autocast('cuda'):\n    out.append(model(batch).sum().item())\n```\n\n"
        "The autocast context is made anew in every batch.\n\n## Fix\n\nDecide about autocast once, before the loop.\n"
    )
    routed = one(root, text).routed
    assert (routed.codemod, routed.nearest) == ("", "hoist_autocast")
    assert routed.why == (
        "hoist_autocast finds nothing to rewrite at a.py:8-9: `amp.autocast` is own.amp.autocast there, "
        "which is not known to be torch's"
    )


def test_a_codemod_on_request_is_not_meant_by_a_word(tmp_path: Path) -> None:
    code = "import torch\n\n\n@torch.compile\ndef step(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
    root = project(tmp_path, {"a.py": code})
    text = (
        "# Compiled step is hard to read\n\n**Severity:** P3\n**File:** `a.py:4-6`\n\n## Problem\n\n"
        "```python\n@torch.compile\ndef step(x: torch.Tensor) -> torch.Tensor:\n```\n\n"
        "The callable that is compiled counts its arguments from one, and the count is not documented.\n"
    )
    assert one(root, text).routed.codemod == ""


def test_backward_under_autocast_is_refused_with_the_reason(tmp_path: Path) -> None:
    code = "import torch\n\n\ndef step(loss: torch.Tensor) -> None:\n    loss.backward()\n"
    root = project(tmp_path, {"a.py": code})
    text = (
        "# AMP autocast scope too narrow\n\n**Severity:** P3\n**File:** `a.py:4-5`\n\n## Problem\n\n"
        "The autocast region wraps the forward pass only, and backward is not covered.\n\n"
        "## Fix\n\nExtend the autocast scope to include the backward pass.\n"
    )
    assert one(root, text).routed.why.startswith("backward does not belong under autocast: torch's documentation")


# Functions that a fix writes anew


def test_a_new_function_in_the_fix_is_extracted_from_the_lines_it_is_about(tmp_path: Path) -> None:
    root = project(tmp_path, {"a.py": TELEMETRY})
    text = (
        "# Gradient telemetry breaks the graph\n\n**Severity:** P2\n**File:** `a.py`\n**Lines:** 5-6, 9-11\n\n"
        "## Problem\n\n```python\n# lines 5-6\nfor slot in slots:\n    model.advance(slot)\n```\n\n"
        "Telemetry inside the compiled step breaks the graph.\n\n## Fix\n\n1. Cache the answers of the model\n"
        "2. Isolate the telemetry behind `@torch.compiler.disable`:\n\n```python\n@torch.compiler.disable\n"
        "def collect_gradient_telemetry(model, slots, use_telemetry):\n    ...\n```\n"
    )
    found = one(root, text)
    assert found.routed.codemod == "isolate_telemetry"
    assert dict(found.routed.options) == {"name": "collect_gradient_telemetry", "lines": "a.py:9-11"}
    left = left_of(found, found.routed.findings, catalogue_of(root).project)
    assert left == ("its fix asks for more: Cache the answers of the model",)


# Places


def test_a_class_that_the_prose_names_is_a_place_beside_the_lines(tmp_path: Path) -> None:
    clock = (
        "import time\n\nimport torch\n\n\nclass StepClock:\n"
        "    def __init__(self) -> None:\n        self.began = 0.0\n\n"
        "    def start(self) -> None:\n        self.began = time.perf_counter()\n\n    def stop(self) -> float:\n"
        "        torch.cuda.synchronize()\n        return time.perf_counter() - self.began\n"
    )
    loop = (
        "from clock import StepClock\n\n\ndef run():\n"
        "    clock = StepClock()\n    clock.start()\n    return clock.stop()\n"
    )
    root = project(tmp_path, {"clock.py": clock, "loop.py": loop})
    text = (
        "# StepClock synchronization\n\n**Severity:** P3\n**File:** `loop.py`\n**Lines:** 6, 7\n\n## Problem\n\n"
        "`StepClock.stop()` calls synchronize(), which blocks at the end of every interval.\n\n"
        "## Fix\n\nMake the timing optional by a flag, or sample it: every Nth step.\n"
    )
    found = one(root, text)
    assert [(finding.path, finding.symbol) for finding in found.routed.findings] == [("clock.py", "StepClock.stop")]
    assert left_of(found, found.routed.findings, catalogue_of(root).project) == ()


def test_a_plain_word_of_a_title_is_no_class(tmp_path: Path) -> None:
    root = project(tmp_path, {"a.py": "class Buffer:\n    pass\n\n\nclass RingBuffer:\n    pass\n"})
    named = {spot.symbol for spot in one(root, "# Buffer of the RingBuffer\n\n**Severity:** P3\n").located.spots}
    assert named == {"RingBuffer"}


def test_in_a_big_function_only_its_lines_are_the_place() -> None:
    spot = Spot("a.py", "step", (Lines(10, 12),), Lines(1, 2300))
    assert not is_met(spot, [("a.py", 2000, 2000)])
    assert is_met(spot, [("a.py", 12, 14)])


def test_lines_are_followed_through_what_was_written_before() -> None:
    shift = shifter([b"a", b"b", b"c", b"d"], [b"new", b"a", b"x", b"y", b"d"])
    assert [shift(line) for line in (1, 4)] == [2, 5]


def test_a_ticket_that_only_a_command_answers_is_told_apart_and_stays_open(tmp_path: Path) -> None:
    root = project(tmp_path, {"pkg/__init__.py": "", "pkg/net.py": NET})
    tickets = [ticket for ticket in read(PLAN.format(box=" ")) if ticket.id == "plan#2"]
    (handled,) = fixer(root).fix([Filed(ticket) for ticket in tickets])
    assert handled.outcome == "answered"
    assert handled.is_open
    text = handled_text(handled, is_dry=True, color=False)
    assert "answered by a command" in text
    assert "fullgraph audit scenarios/lensnet.py" in text

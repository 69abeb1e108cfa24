"""What compile_setting's docstring claims of the settings at run time, and what it makes of an observed run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fullgraph import Project
from fullgraph.codemods.catalog.breaks.compile_setting import CompileSetting
from fullgraph.codemods.model import Finding, Site
from tests.torch_facts import facts

ROOT = Path(__file__).parents[2]
CROP = """\
import torch


def crop(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    y = x[: n.max().item()]
    return torch.cat([y, x[x > 0]])


fast = torch.compile(crop, dynamic=False)
"""


@pytest.fixture(scope="module")
def tried(everything: bool) -> dict[str, Any]:
    """Graphs, recompiles, breaks and errors of each form of each setting."""
    answer: dict[str, Any] = facts("settings", everything)
    if not answer["torch"].startswith("2.13"):
        pytest.skip("measured on torch 2.13")
    return answer


@pytest.mark.parametrize(("function", "id_"), [("crop", "GB0124"), ("masked", "GB0036")])
def test_both_forms_repair_the_break(tried: dict[str, Any], function: str, id_: str) -> None:
    graphs, _, ids = tried[f"{function}: none"]
    assert graphs > 1
    assert ids == [id_]
    for form in ("statement", "decorator", "decorator, another thread", "fullgraph"):
        assert tried[f"{function}: {form}"] == [1, 0, []], form


@pytest.mark.parametrize(("function", "id_"), [("crop", "GB0124"), ("masked", "GB0036")])
def test_a_statement_is_not_seen_by_another_thread(tried: dict[str, Any], function: str, id_: str) -> None:
    assert tried[f"{function}: statement, another thread"][2] == [id_]


@pytest.mark.parametrize("function", ["crop", "masked"])
def test_a_decorator_that_is_traced_itself_breaks_the_graph(tried: dict[str, Any], function: str) -> None:
    assert "GB0142" in tried[f"{function}: decorator below"][2]
    assert "GB0142" in tried[f"{function}: decorator, called compiled"][2]


def test_a_setting_does_not_help_a_branch_or_floating_point_tolist(tried: dict[str, Any]) -> None:
    assert tried["branch: decorator"][2] == ["GB0170"]
    assert tried["floats: decorator"][2] == ["GB0109"]


def test_a_setting_turns_some_breaks_into_errors(tried: dict[str, Any]) -> None:
    assert tried["listed: decorator"][3] == "GuardOnDataDependentSymNode"
    assert tried["repeated: decorator"][3] == "BackendCompilerFailed"
    assert tried["viewed: decorator"][3] == "BackendCompilerFailed"


def test_a_number_is_an_error_as_one_of_several_indices(tried: dict[str, Any]) -> None:
    assert tried["column: decorator"][3] == "IndexError"


def test_inductor_must_know_in_training_that_a_slice_does_not_count_from_the_end(tried: dict[str, Any]) -> None:
    assert tried["sliced: inductor"][3] == "InductorError"
    assert tried["sliced_told: inductor"] == [1, 0, []]


def test_a_slice_that_counts_from_the_end_raises_once_torch_is_told_otherwise(tried: dict[str, Any]) -> None:
    assert tried["sliced: from the end"] == [3]
    assert "Runtime assertion failed" in tried["sliced_told: from the end"]


def test_what_must_know_of_more_than_one_can_be_told_so_by_hand(tried: dict[str, Any]) -> None:
    assert tried["summed_up: decorator"][3] == "BackendCompilerFailed"
    assert tried["summed_up_told: decorator"] == [1, 0, []]


def test_a_setting_has_loops_on_values_skipped(tried: dict[str, Any]) -> None:
    assert "GB4841" in tried["loop: decorator"][2]
    assert tried["in_a_loop: decorator"] == [0, 0, ["skipped"]]


def test_sizes_that_change_reach_the_limit_only_where_dynamic_is_off(tried: dict[str, Any]) -> None:
    assert tried["sizes: dynamic=None"] == [2, 1, []]
    assert tried["sizes: dynamic=True"] == [1, 0, []]
    assert tried["sizes: dynamic=False"] == [8, 8, ["GB0039"]]


def test_a_message_that_is_put_off_loses_its_keywords(tried: dict[str, Any]) -> None:
    assert tried["printed"] == "a"
    assert tried["printed, put off"] == "a\n"


def found(folder: Path, text: str, *sites: Site, **others: str) -> list[Finding]:
    files = {"crop.py": text, **{f"{name}.py": other for name, other in others.items()}}
    for path, written in files.items():
        (folder / path).write_text(written)
    project = Project(folder, sorted(files))
    codemod = CompileSetting()
    codemod.sites = sites or None
    return [finding for path in files for finding in codemod.find(project.module(path), project)]


def written(findings: list[Finding]) -> str:
    return "".join(edit.new_text for finding in findings for edit in finding.edits)


def test_without_a_report_everything_that_needs_a_setting_gets_one(tmp_path: Path) -> None:
    text = written(found(tmp_path, CROP))
    assert "capture_scalar_outputs = True" in text
    assert "capture_dynamic_output_shape_ops = True" in text


def test_with_a_report_only_what_broke_gets_its_setting(tmp_path: Path) -> None:
    text = written(found(tmp_path, CROP, Site("crop.py", 6, "GB0036")))
    assert "capture_dynamic_output_shape_ops = True" in text
    assert "capture_scalar_outputs" not in text


def test_a_report_about_other_lines_finds_nothing(tmp_path: Path) -> None:
    assert found(tmp_path, CROP, Site("crop.py", 4, "GB0170")) == []


def test_what_broke_out_of_sight_belongs_to_the_only_request(tmp_path: Path) -> None:
    hidden = (
        "import torch\n\n\ndef cut(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:\n    return x[: n.max().item()]\n"
    )
    text = "import torch\n\n\ndef make(functions):\n    return torch.compile(functions['cut'])\n"
    findings = found(tmp_path, text, Site("hidden.py", 5, "GB0124"), hidden=hidden)
    assert [finding.path for finding in findings] == ["crop.py"]
    assert "capture_scalar_outputs = True" in written(findings)
    two = found(tmp_path, f"{text}\n\nother = torch.compile(make)\n", Site("hidden.py", 5, "GB0124"), hidden=hidden)
    assert two == []


def test_a_limit_that_was_reached_with_dynamic_off_lets_torch_decide(tmp_path: Path) -> None:
    findings = found(tmp_path, CROP, Site("crop.py", 4, "GB0039"))
    assert [edit.new_text for finding in findings for edit in finding.edits] == ["None"]
    assert "if sizes are what changes" in findings[0].caveat


@pytest.mark.parametrize("setting", ["", ", dynamic=None", ", dynamic=True"])
def test_a_limit_that_was_reached_otherwise_is_left_alone_with_advice(tmp_path: Path, setting: str) -> None:
    (finding,) = found(tmp_path, CROP.replace(", dynamic=False", setting), Site("crop.py", 4, "GB0039"))
    assert not finding.is_fixable
    assert "mark_dynamic" in finding.left_alone


SUMS = """\
import torch


@torch.compile(dynamic=False)
def total(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x * 2).sum() + y


def run(rows):
    for row in rows:
        print(total(row, torch.ones(())))
"""
CHANGED = "tensor 'x' size mismatch at index 1. expected 3, actual 4"


def limited(folder: Path, text: str, *guards: str) -> Finding:
    (finding,) = found(folder, text, Site("crop.py", 5, "GB0039", guards or (CHANGED,)))
    return finding


def test_sizes_that_were_seen_to_change_are_marked_where_the_function_is_called(tmp_path: Path) -> None:
    finding = limited(tmp_path, SUMS)
    assert [edit.new_text.strip() for edit in finding.edits] == ["torch._dynamo.maybe_mark_dynamic(row, 1)"]
    assert "size 1 of x changes from call to call" in finding.message
    assert "1 recompile with dynamic=None, none with a mark" in finding.notes[0]


def test_sizes_that_are_marked_already_are_left_alone(tmp_path: Path) -> None:
    line = "        print(total"
    text = SUMS.replace(line, f"        torch._dynamo.maybe_mark_dynamic(row, 1)\n{line}")
    assert found(tmp_path, text, Site("crop.py", 5, "GB0039", (CHANGED,))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        print(total(row, torch.ones(())))", "        print(total(*row))"),
        ("        print(total(row, torch.ones(())))", "        print(total(row + 1, row))"),
        ("        print(total(row, torch.ones(())))", "        print(row and total(row, row))"),
        ("        print(total(row, torch.ones(())))", "        print(map(total, row))"),
        (
            "        print(total(row, torch.ones(())))",
            "        print(total(row, row))\n        print(total(x=rows, y=row))",
        ),
        ("def run(", "@torch.compile\ndef run("),
    ],
)
def test_where_calls_cannot_be_marked_torch_decides(tmp_path: Path, old: str, new: str) -> None:
    finding = limited(tmp_path, SUMS.replace(old, new))
    assert [edit.new_text for edit in finding.edits] == ["None"]


def test_what_changes_beside_sizes_is_not_for_marks(tmp_path: Path) -> None:
    finding = limited(tmp_path, SUMS, CHANGED, "self.step == 3")
    assert [edit.new_text for edit in finding.edits] == ["None"]


def test_a_mark_saves_every_recompile_and_one_that_may_be_broken_raises_nothing(tried: dict[str, Any]) -> None:
    for dynamic in (None, False):
        assert tried[f"sizes: mark_dynamic, dynamic={dynamic}"] == [1, 0, []]
        assert tried[f"sizes: maybe_mark_dynamic, dynamic={dynamic}"] == [1, 0, []]
    assert tried["one size: mark_dynamic"][3] == "ConstraintViolationError"
    assert tried["one size: maybe_mark_dynamic"] == [1, 0, []]


def test_no_finding_is_called_safe(tmp_path: Path) -> None:
    findings = found(tmp_path, CROP)
    assert findings
    assert all(finding.caveat for finding in findings)


def test_two_requests_of_one_block_share_one_setting(tmp_path: Path) -> None:
    text = CROP.replace("fast = torch.compile(crop, dynamic=False)", "a = torch.compile(crop)\nb = torch.compile(crop)")
    first, second = found(tmp_path, text)
    assert first.edits == second.edits

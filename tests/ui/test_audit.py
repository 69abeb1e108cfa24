"""`audit` as a user runs it, and what it says of an audit."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import fields, replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from fullgraph.codemods.ui.audit.as_json import audits_as_json, schema
from fullgraph.codemods.ui.audit.as_text import audit_text
from fullgraph.validate.audit_model import Audit, Conclusion, Hazard, Place, RealError
from fullgraph.validate.model import Outcome, Scenario, Settings

FULLGRAPH = Path(sys.executable).with_name("fullgraph")

SCENARIO = """\
    import torch

    net = torch.compile(torch.nn.Linear(4, 2), mode="reduce-overhead")
    kept = []


    def step(x):
        with torch.no_grad():
            kept.append(net(x){copy})
            return len(kept)


    def build(device):
        return step


    def cases(device, seed):
        return [(torch.ones(3, 4),), (torch.zeros(3, 4),)]
    """


def run(folder: Path, copy: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "scenario.py").write_text(textwrap.dedent(SCENARIO).format(copy=copy))
    command = [str(FULLGRAPH), "audit", "scenario.py", "--device", "cpu", "--python", sys.executable, *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def test_hazards_are_told_and_end_with_exit_code_3(tmp_path: Path) -> None:
    done = run(tmp_path, "")
    assert done.returncode == 3
    assert "HAZARDS: scenario.py" in done.stdout
    assert "list item kept[...]" in done.stdout
    assert "made at scenario.py:9 in step" in done.stdout
    assert "kept at scenario.py:9 in step" in done.stdout
    assert "fullgraph fix --select clone_at_boundary" in " ".join(done.stdout.split())


def test_a_clean_scenario_ends_with_exit_code_0_and_json_follows_the_schema(tmp_path: Path) -> None:
    done = run(tmp_path, ".clone()", "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    Draft202012Validator(schema()).validate(told)
    assert (told["conclusion"], told["exit_code"]) == ("clean", 0)
    assert told["audits"][0]["hazards"] == []


def test_what_is_no_scenario_ends_with_exit_code_4(tmp_path: Path) -> None:
    command = [str(FULLGRAPH), "audit", "nowhere.py", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 4
    assert "no such file" in done.stderr


def test_no_scenario_at_all_is_wrong_usage(tmp_path: Path) -> None:
    done = subprocess.run([str(FULLGRAPH), "audit"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2


# What is said

HELD = Hazard(
    kind="attribute",
    holder="Controller.scores",
    path="self.scores",
    tensor="float32 [3, 2]",
    made=Place("net.py", 4, "step"),
    through=(),
    callers=(),
    kept=Place("net.py", 5, "step"),
    overwritten=Place("net.py", 4, "step"),
    used=None,
    used_by="",
    mark=None,
    mark_callers=(),
    pending=False,
    case="case 2",
    count=3,
)
USED = replace(HELD, holder="Controller.log[...]", used=Place("net.py", 9, "flush"), used_by="mean", kept=None)
MARKED = replace(
    HELD, kind="backward", holder="", path="", mark=Place("net.py", 7, "step"), pending=True, used_by="backward"
)


def sample(*hazards: Hazard, conclusion: Conclusion = Conclusion.HAZARDS) -> Audit:
    scenario = Scenario("file", "scenario.py", "/project/scenario.py")
    return Audit(conclusion, "as it was seen", scenario, Settings(), False, hazards)


def words(*hazards: Hazard) -> str:
    return " ".join(audit_text([sample(*hazards)], color=False, width=100).split())


def test_what_was_used_comes_before_what_was_only_held() -> None:
    told = words(HELD, USED)
    assert told.index("Controller.log") < told.index("Controller.scores")
    assert "used by mean at net.py:9 in flush" in told


def test_a_line_that_is_unknown_is_called_so() -> None:
    assert "kept at a line that was not found" in words(USED)


def test_a_mark_before_a_backward_is_told_with_both_lines_and_its_own_remedy() -> None:
    told = words(MARKED)
    assert "the mark at net.py:7 frees what the backward of the call at net.py:4 needs" in told
    assert "Move the mark" in told
    assert "clone_at_boundary" not in told


def test_a_wrapper_and_the_lines_above_are_told_with_the_line_that_made_it() -> None:
    gated = replace(HELD, through=(Place("gate.py", 70, "run"),), callers=(Place("train.py", 8, "fit"),))
    assert "made at net.py:4 in step through gate.py:70 called at train.py:8" in words(gated)
    marked = replace(MARKED, mark_callers=(Place("train.py", 8, "fit"),))
    assert "the mark at net.py:7 (called at train.py:8) frees" in words(marked)


def test_a_gradient_has_a_remedy_of_its_own() -> None:
    told = words(replace(HELD, kind="gradient", holder="a gradient", path="a gradient", used_by="add_"))
    assert "set `.grad` to None" in told
    assert "clone_at_boundary" not in told


def test_a_clean_audit_offers_no_remedy() -> None:
    told = audit_text([sample(conclusion=Conclusion.CLEAN)], color=False, width=80)
    assert told.startswith("CLEAN: scenario.py")
    assert "clone" not in told


@pytest.mark.parametrize("width", [20, 60, 200])
def test_text_fits_the_terminal(width: int) -> None:
    lines = audit_text([sample(HELD, USED, MARKED)], color=False, width=width).splitlines()
    assert max(map(len, lines)) <= max(width, 20)


def test_several_audits_say_what_they_say_together() -> None:
    audits = [sample(conclusion=Conclusion.CLEAN), sample(HELD), sample(conclusion=Conclusion.UNDECIDED)]
    assert "3 scenarios: together hazards." in audit_text(audits, color=False, width=80)
    assert audits_as_json(audits)["exit_code"] == 3


def test_every_audit_is_as_the_schema_says() -> None:
    error = RealError("case 1", "accessing tensor output", None, Place("net.py", 3, "step"))
    dead = replace(sample(conclusion=Conclusion.UNDECIDED), outcome=Outcome("crash", "audit", "SIGSEGV"))
    for audit in (sample(HELD, USED, MARKED), replace(sample(), errors=(error,)), dead):
        Draft202012Validator(schema()).validate(json.loads(json.dumps(audits_as_json([audit]))))


@pytest.mark.parametrize(
    ("part", "kind", "added"),
    [
        ("hazard", Hazard, {"is_used"}),
        ("place", Place, set()),
        ("error", RealError, set()),
        ("audit", Audit, {"version", "kind"}),
    ],
)
def test_the_schema_has_every_field(part: str, kind: type, added: set[str]) -> None:
    assert set(schema()["$defs"][part]["properties"]) == {field.name for field in fields(kind)} | added

"""What check_without_branch claims of torch, and what it does with lines that were seen to break."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from fullgraph import Project
from fullgraph.codemods.catalog.breaks.check_without_branch import CheckWithoutBranch
from fullgraph.codemods.model import Finding, Site
from fullgraph.codemods.topics.checks.messages import purpose_of, safe
from fullgraph.codemods.topics.checks.statics import is_exact

UNKNOWN = """
import torch


def forward(shapes, length):
    if (shapes[:, 0] * shapes[:, 1]).sum() != length:
        raise ValueError("the shapes do not fit the length")
    return shapes * 2
"""


def found(tmp_path: Path, text: str, *sites: Site) -> list[Finding]:
    (tmp_path / "module.py").write_text(text)
    codemod = CheckWithoutBranch()
    codemod.sites = sites
    project = Project(tmp_path, ["module.py"])
    return list(codemod.find(project.module("module.py"), project))


def test_a_value_that_broke_a_graph_is_a_tensor(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, UNKNOWN, Site("module.py", 6, "GB0170"))
    assert "~((shapes[:, 0] * shapes[:, 1]).sum() != length)" in finding.edits[0].new_text
    assert "seen to break in line 6" in finding.message


def test_another_kind_of_break_says_nothing_of_the_value(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, UNKNOWN, Site("module.py", 6, "GB0007"))
    assert "nothing says for sure" in finding.left_alone


def test_lines_that_did_not_break_are_not_reported(tmp_path: Path) -> None:
    assert found(tmp_path, UNKNOWN, Site("module.py", 8, "GB0170")) == []
    assert found(tmp_path, UNKNOWN, Site("other.py", 6, "GB0170")) == []


def test_of_two_operands_a_break_does_not_say_which_is_the_tensor(tmp_path: Path) -> None:
    text = UNKNOWN.replace("!= length", "!= length or length.any()")
    (finding,) = found(tmp_path, text, Site("module.py", 6, "GB0170"))
    assert finding.left_alone


CHECKED = """
import torch


@torch.compile
def step(x, limit=9):
    if x.max() > limit:
        raise ValueError("x is too large")
    return x * 2
"""


def written(tmp_path: Path, text: str, *sites: Site) -> str:
    (finding,) = found(tmp_path, text, *sites)
    return "".join(edit.new_text for edit in finding.edits)


def test_what_was_seen_to_break_is_not_asked_for_its_type(tmp_path: Path) -> None:
    assert "isinstance(x, torch.Tensor)" in written_unseen(tmp_path, CHECKED)
    assert "isinstance" not in written(tmp_path, CHECKED, Site("module.py", 7, "GB0170"))


def written_unseen(tmp_path: Path, text: str) -> str:
    (tmp_path / "module.py").write_text(text)
    project = Project(tmp_path, ["module.py"])
    (finding,) = CheckWithoutBranch().find(project.module("module.py"), project)
    return "".join(edit.new_text for edit in finding.edits)


@pytest.mark.parametrize(
    "changed",
    [
        CHECKED.replace("import torch\n", "import torch\n\nisinstance = print\n"),
        CHECKED.replace("import torch\n", "import numpy as x\nimport torch\n").replace("step(x, ", "step("),
        CHECKED.replace("x.max()", "x.max().item()").replace("> limit", "> 2**53 + 1"),
        CHECKED.replace("> limit", "== limit"),
    ],
    ids=["another isinstance", "a module", "beyond double precision", "equality with anything"],
)
def test_what_cannot_be_asked_is_left_alone(changed: str, tmp_path: Path) -> None:
    assert written_unseen(tmp_path, changed) == ""


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("'a %s b %d' % (x, y[0])", "a {x} b {y[0]}"),
        ("'100%% of %s' % x", "100% of {x}"),
        ("'a {} {}'.format(x, y)", "a {x} {y}"),
        ("'{a:.2f} {{}} {0}'.format(y, a=x)", "{x} {} {y}"),
        ("'a ' + str(x) + f' {y!r}'", "a {str(x)} {y}"),
    ],
)
def test_a_text_shows_its_values_by_their_source(code: str, text: str, tmp_path: Path) -> None:
    assert text in written_unseen(tmp_path, CHECKED.replace('"x is too large"', code))


@pytest.mark.parametrize(
    "code", ["'%s %s' % x", "'%(a)s' % {'a': x}", "'{} {}'.format(*x)", "'{x.y}'.format(x=x)", "f(x)"]
)
def test_a_text_that_is_made_elsewhere_is_a_caveat(code: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(CHECKED.replace('"x is too large"', code))
    project = Project(tmp_path, ["module.py"])
    (finding,) = CheckWithoutBranch().find(project.module("module.py"), project)
    assert "does not say what" in finding.caveat


def fails(text: str | None, backend: str) -> str:
    def step(x: torch.Tensor) -> torch.Tensor:
        if text is None:
            torch._assert_async((x >= 0).all())
        else:
            torch._assert_async((x >= 0).all(), text)
        return x * 2

    torch._dynamo.reset()
    compiled = torch.compile(step, backend=backend, fullgraph=True)
    compiled(torch.ones(3))
    with pytest.raises(RuntimeError) as failed:
        compiled(-torch.ones(3))
    return str(failed.value)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_the_text_arrives_as_it_is_written(backend: str) -> None:
    text = safe("say \"it\"\nor not: C:\\x '{x.min()}' %s {} ü")
    assert text == "say 'it' or not: C:/x '{x.min()}' %s {} ü"
    assert fails(text, backend) == text


def test_without_a_text_the_assertion_is_lost() -> None:
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        fails(None, "aot_eager")


@pytest.mark.parametrize("number", ["0", "1", "-3", "0.5", "256", "0.0"])
def test_numbers_that_every_dtype_holds_are_compared_as_they_are(number: str) -> None:
    import ast

    assert is_exact(ast.parse(number, mode="eval").body)
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        assert torch.tensor(float(number), dtype=dtype).item() == float(number)


@pytest.mark.parametrize("number", ["0.1", "1e-6", "257", "50257", "1e30", "x"])
def test_other_numbers_are_compared_in_double_precision(number: str) -> None:
    import ast

    assert not is_exact(ast.parse(number, mode="eval").body)


def test_a_read_number_is_compared_as_python_does() -> None:
    value = torch.tensor(0.1)
    assert value.item() > 0.1
    assert not value > 0.1
    assert value.double() > 0.1


def test_the_purpose_is_read_from_what_the_finding_says() -> None:
    note = "of a failed check compiled code says `RuntimeError: is {x}`, eager code `ValueError: is {x}`"
    assert re.fullmatch(purpose_of(note), "ValueError: is 3 > RuntimeError: is {x}")
    assert re.fullmatch(purpose_of(note), "module.ValueError: is 3 > RuntimeError: is {x}")
    assert not re.fullmatch(purpose_of(note), "ValueError: was 3 > RuntimeError: is {x}")
    assert not re.fullmatch(purpose_of(note), "ValueError: is 3 > RuntimeError: is 3")
    assert purpose_of("something else") == ""

"""Numbers and shapes in compiled code: which lines count, and what the new forms ask for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fullgraph import Finding, Project
from fullgraph.codemods.catalog.breaks.keep_scalars_in_graph import KeepScalarsInGraph
from fullgraph.codemods.model import Site
from fullgraph.codemods.rewrite.find import find
from tests.cases import apply

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor, m: torch.Tensor):\n"
TAIL = "\n\nstep = torch.compile(f)\n"
FILLER = "\n\ndef other_{0}(a):\n    b = a + {0}\n    return b\n"


def found(body: str, *lines: int, filler: int = 0) -> list[Finding]:
    text = "import torch\n" + "".join(FILLER.format(number) for number in range(filler)) + body
    project = Project(Path("nowhere"), {"a.py": text.encode()}, {"a.py": text.encode()})
    codemod = KeepScalarsInGraph()
    codemod.sites = tuple(Site("a.py", line) for line in lines) if lines else None
    return list(find(project, "a.py", [codemod]).findings)


def rewritten(statements: str) -> str:
    text = HEAD + "".join(f"    {line}\n" for line in statements.splitlines()) + TAIL
    project = Project(Path("nowhere"), {"a.py": text.encode()}, {"a.py": text.encode()})
    findings = find(project, "a.py", [KeepScalarsInGraph()]).findings
    result = apply({"a.py": text.encode()}, [finding for finding in findings if finding.is_fixable])["a.py"].decode()
    ast.parse(result)
    return result.removeprefix(HEAD).removesuffix(TAIL)


def test_only_lines_that_broke_are_reported() -> None:
    body = "\n\ndef f(x: torch.Tensor):\n    a = x * x.max().item()\n    return a - x.min().item()\n"
    assert [finding.line for finding in found(body, 5)] == [5]
    assert [finding.line for finding in found(body, 6)] == [6]
    assert not found(body)


def test_lines_that_broke_are_found_in_big_files_too() -> None:
    body = "\n\ndef f(x: torch.Tensor):\n    return x * x.max().item()\n"
    line = 1 + 5 * 300 + 4
    assert [finding.line for finding in found(body, line, filler=300)] == [line]


@pytest.mark.parametrize(
    "statements",
    [
        "s = x.max().item()\nx = x.half()\nreturn x * s",  # two values of one name
        "s = x.max().item()\ns = s + 1\nreturn x * s",
        "s = x.max().item()\nreturn [x * s for _ in range(2)], lambda: s",
        "s = x.max().item()\nreturn x ** s",
        "s = x.max().item()\nreturn x // s",
        "return x * bool(x.max())",
        "return x * bool((x > 0).sum())",  # one, however many there are
        "return y.max().item() / x.half()",
        "return x.half() * (y.max().item() + 1)",
        "return x * (1.0 / x.max().item())",  # an error for zero
        "s = y.double().max().item()\nreturn x.sum() * s + x.sum() > s",
        "return m.bool() & (x > 0).sum().item()",
        "return x[m].sum()",  # nothing says that m holds bools
        "return torch.where(x > 0, x[x > 0].sum(), 0) if m is None else x[x > 0].sum()",
    ],
)
def test_what_is_not_sure_is_not_written(statements: str) -> None:
    assert "is_compiling" not in rewritten(statements)
    assert "detach" not in rewritten(statements)


def test_a_number_that_is_divided_is_not_cut_to_halves_first() -> None:
    assert "x.dtype in (torch.float32, torch.float64)" in rewritten("return y.max().item() / x")
    assert 'x.device.type == "cpu" or' in rewritten("return x / y.max().item()")


def test_python_calculates_in_doubles() -> None:
    assert "y.max().detach().double() - 0.1" in rewritten("return x / (y.max().item() - 0.1)")


def test_the_old_code_stays_as_it_is() -> None:
    result = rewritten("a = (x  /  x.std().item())  # two blanks\nreturn a")
    assert "        a = (x  /  x.std().item())  # two blanks\n" in result


def test_forms_of_one_statement_are_written_together() -> None:
    result = rewritten("return (x - x.mean().item()) / x.std().item()")
    assert result.count("is_compiling") == 1
    assert "return (x - x.mean().detach()) / x.std().detach()\n" in result


def test_in_one_statement_a_variable_has_one_value() -> None:
    assert "return x * x.max().detach()" in rewritten("x = x + 1\nreturn x * x.max().item()")


def test_a_tensor_that_is_written_to_later_is_copied() -> None:
    assert "y.detach().clone().reshape(())" in rewritten("s = y.item()\ny.add_(1)\nreturn x * s")


def test_devices_and_dtypes_are_asked_for_where_the_text_does_not_tell() -> None:
    result = rewritten("return x * y.item()")
    assert "if torch.compiler.is_compiling() and y.dtype == x.dtype and y.device == x.device:" in result


def test_a_mask_of_another_tensor_must_have_the_shape() -> None:
    result = rewritten("keep = m > 0\nreturn x[keep].sum()")
    assert "keep.dtype == torch.bool and keep.shape == x.shape" in result

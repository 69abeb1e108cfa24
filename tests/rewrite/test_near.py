"""A question about one place gets what the whole file's answer has there, from fewer codemods."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.model import Span
from codemods.module import Module
from codemods.project import Project
from codemods.registry import all_codemods
from codemods.rewrite.find import find
from codemods.rewrite.near import reaching
from codemods.source import decode
from tests.cases import Case, all_cases

TEXT = """\
# é
import torch


@torch._dynamo.disable
def one(x):
    return x


# here


def two(x):
    return x
"""


def names(raw: bytes, marked: str, path: str = "a.py") -> list[str]:
    module = Module(decode(path, raw))
    at = module.text.index(marked)
    return [codemod.name for codemod in reaching([all_codemods()["use_public_compiler_api"]()], module, Span(at, at))]


@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    ("marked", "is_asked"), [("@torch", True), ("return x", True), ("# here", False), ("two", False)]
)
def test_a_codemod_is_asked_about_statements_with_a_hit(prefix: bytes, marked: str, is_asked: bool) -> None:
    assert bool(names(prefix + TEXT.encode(), marked)) == is_asked


def test_a_codemod_that_cannot_tell_is_asked_about_every_statement() -> None:
    module = Module(decode("a.py", TEXT.encode()))
    anywhere = [all_codemods()["clone_at_boundary"]()]
    assert reaching(anywhere, module, Span(len(TEXT) - 2, len(TEXT) - 2)) == anywhere
    assert reaching(anywhere, module, Span(TEXT.index("# here"), TEXT.index("# here"))) == []


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_near_a_finding_it_is_found_the_same(case: Case, tmp_path: Path) -> None:
    for path, raw in case.before.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(raw)
    codemods = [case.codemod()]
    project = Project(tmp_path, case.before)
    for path in case.before:
        for finding in find(project, path, codemods).findings:
            assert finding in find(project, path, codemods, near=finding.span).findings

"""A short search for programs that are rewritten wrongly; and the search itself, which must find what is wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings

from fullgraph import Codemod, Edit, Finding, Project, Span
from fullgraph.codemods.module import Module
from tests.breaks.fuzzing import Search, keep
from tests.breaks.generating import programs
from tests.breaks.patterns import Pattern
from tests.breaks.programs import PLAIN, Program
from tests.breaks.recording import record_program
from tests.breaks.rewriting import break_codemods

CODEMODS = break_codemods()
SHORT = 60


@given(programs())
@settings(max_examples=60, deadline=None)
def test_what_is_generated_is_python(program: Program) -> None:
    assert ast.parse(program.text)


def test_most_generated_programs_run(tmp_path: Path) -> None:
    """Plain code, and calls that come to an end: an exam of exceptions alone would be worth little."""
    raised: list[bool] = []

    @given(programs())
    @settings(max_examples=40, deadline=None)
    def run(program: Program) -> None:
        raised.extend(bool(record["exception"]) for record in record_program(program, tmp_path, PLAIN))

    run()
    assert 0 < sum(raised) < 0.5 * len(raised)


@pytest.mark.skipif(not CODEMODS, reason="no codemod repairs breaks: nothing would be rewritten")
def test_no_generated_program_is_miscompiled(tmp_path: Path) -> None:
    search = Search(CODEMODS, tmp_path)
    search.run(0, SHORT)
    assert search.wrong is None, keep(*search.wrong, tmp_path)
    assert search.counts["changed"] > SHORT // 10


class DropPrints(Codemod):
    """Wrong on purpose: messages are lost."""

    needles = (b"print(",)
    repairs_breaks = True

    def find(self, module: Module, project: Project) -> Iterable[Finding]:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Expr) and ast.unparse(node).startswith("print("):
                start = module.text.index(ast.get_source_segment(module.text, node) or "")
                span = Span(start, start + len(ast.get_source_segment(module.text, node) or ""))
                edit = Edit(module.path, span, "pass")
                yield Finding(self.name, module.path, span, "run", "a print", (edit,), line=node.lineno)


def test_a_wrong_codemod_is_found_out_and_its_program_is_small(tmp_path: Path) -> None:
    search = Search([DropPrints()], tmp_path, smaller=40)
    search.run(3, 200)
    assert search.wrong is not None
    program, result = search.wrong
    assert any("messages" in told for told in result.differences)
    assert len(program.text.splitlines()) < 32
    assert Pattern(keep(program, result, tmp_path)).program() == program

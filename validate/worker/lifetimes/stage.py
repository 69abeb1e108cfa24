"""The audit of a scenario: its cases are run by the rule, and once more if a hazard's line is to be found."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from ..recording import gradients, record
from ..subject import Case, Subject
from .auditor import Auditor
from .keeping import Keeping
from .places import Place, is_machinery

ROUNDS = 2
"""How often all cases are run: what the last one keeps, the first one overwrites."""

RERUNS = 3
"""In which the lines that kept outputs are looked for."""

MODE = "reduce-overhead"

Pass = Callable[[], list[list[str]]]
"""Runs the program once; the cases that raised, each with its error."""


def audit(stages: Any, auditor: Auditor) -> tuple[Pass, dict[str, Any]]:
    """The hazards of the scenario that the stages have opened; first, what runs it again."""
    is_test = not hasattr(stages, "source")
    program: Any = audit_tests(stages, auditor) if is_test else SubjectPass(stages, auditor)
    raised = run_pass(program, auditor)
    if not is_test and program.wants_compiling():
        program.is_compiled_here = True
        raised = run_pass(program, auditor)
    return program, {
        "hazards": auditor.hazards.as_json(),
        "raised": raised,
        "graph_runs": auditor.generations.runs,
        "generations": auditor.generations.begun,
        "compiled_calls": auditor.entered,
        "skipped": auditor.skipped,
        "idle": auditor.idle,
        "passed_over": auditor.passed_over,
        "compiled_here": not is_test and program.is_compiled_here,
    }


def find_lines(program: Pass, auditor: Auditor) -> list[dict[str, Any]]:
    """The hazards once more, with the lines that kept them: for these the program is run again."""
    hazards = auditor.hazards
    keeping = Keeping(hazards.unplaced(), lambda: auditor.roots)
    for _ in range(RERUNS):
        if keeping.is_over:
            break
        run_pass(program, auditor, keeping)
        keeping.refine()
    return hazards.as_json()


def run_pass(program: Any, auditor: Auditor, keeping: Any = None) -> list[list[str]]:
    torch._dynamo.reset()
    auditor.begin_anew(keeping)
    with record.silenced():
        raised: list[list[str]] = program()
    auditor.finish()
    return raised


class SubjectPass:
    """All cases in order on one fresh subject, twice over."""

    def __init__(self, stages: Any, auditor: Auditor) -> None:
        self.stages = stages
        self.auditor = auditor
        self.is_compiled_here = False

    def wants_compiling(self) -> bool:
        """Whether nothing was compiled by the program itself, and something may be."""
        return self.stages.source.compiled and not self.auditor.entered

    def __call__(self) -> list[list[str]]:
        subject = self.stages.build()
        again = [self.stages.build().cases for _ in range(ROUNDS - 1)]
        self.auditor.roots, self.auditor.origin = roots_of(subject), definition_of(subject.call)
        call = subject.call
        if self.is_compiled_here:
            options = {key: one for key, one in self.stages.options.items() if key in ("dynamic", "fullgraph")}
            call = torch.compile(call, mode=MODE, **options)
        raised = []
        with self.auditor.watching():
            for case in [*subject.cases, *(case for cases in again for case in cases)]:
                if self.auditor.has_all:
                    break
                self.auditor.hazards.case = case.name
                if error := self.run_case(call, case):
                    raised.append([case.name, f"{type(error).__name__}: {error}"])
        return raised

    def run_case(self, call: Callable[..., Any], case: Case) -> BaseException | None:
        record.seed_all(self.stages.source.seed, self.stages.device)
        try:
            with case.settings():
                result = call(*case.args, **case.kwargs)
                self.auditor.note_returned(result)
                if self.stages.source.backward:
                    self.run_backward(result)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error
        return None

    def run_backward(self, result: Any) -> None:
        """A training step goes on with a backward; without one, torch would wait for it and never begin anew."""
        leaves = [("", one) for one in torch.utils._pytree.tree_leaves(result) if isinstance(one, torch.Tensor)]
        gradients.take_gradients(leaves, [], self.stages.source.seed)


def roots_of(subject: Subject) -> dict[int, str]:
    """What the stage holds for the program, with the names to tell it by."""
    call = getattr(subject.call, "_orig_mod", subject.call)
    owner = subject.owner
    named = {id(call): str(getattr(call, "__name__", type(call).__name__))}
    return named if owner is None else {**named, id(owner): type(owner).__name__}


def definition_of(call: Any) -> Place | None:
    """Where the function, or the forward of the module, is defined."""
    call = getattr(call, "_orig_mod", call)
    function = call.forward if isinstance(call, torch.nn.Module) else call
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    if code is None or is_machinery(code.co_filename):
        return None
    return Place(code.co_filename, code.co_firstlineno, str(getattr(code, "co_qualname", code.co_name)))


def audit_tests(stages: Any, auditor: Auditor) -> Pass:
    """The tests, run by pytest in this process."""

    class Naming:
        @staticmethod
        def pytest_runtest_logstart(nodeid: str) -> None:
            auditor.hazards.case = nodeid

    def run() -> list[list[str]]:
        with auditor.watching():
            seen = stages.run_tests(also=[Naming()])
        return [[name, " ".join(kept["exception"][:2])] for name, kept in seen.tests.items() if kept["exception"]]

    return run

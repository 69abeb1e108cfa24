"""Check values of tensors in compiled code without a branch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Unsure
from fullgraph.codemods.model import COMPILING_SINCE, Edit, Finding, Purpose
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.tensors.infer import Tensors
from fullgraph.codemods.topics.breaks.traced import Traced, traced_functions
from fullgraph.codemods.topics.checks.catching import caught_at
from fullgraph.codemods.topics.checks.conditions import Answer, Condition, Reader
from fullgraph.codemods.topics.checks.exceptions import doubt_about_texts
from fullgraph.codemods.topics.checks.forms import Check, Link, checks
from fullgraph.codemods.topics.checks.messages import message_of, purpose_of, tell
from fullgraph.codemods.topics.checks.screen import hits_in
from fullgraph.codemods.topics.checks.surroundings import check_link, check_surroundings, doubt_about_statements
from fullgraph.codemods.topics.checks.writing import Written, write

SEEN = {"GB0170", "GB0124"}
"""Torch's names for a branch on a tensor's value, and for `.item()`."""

ON_A_GPU = (
    "on a GPU compiled code fails later, by a device-side assert after which the process cannot use the device; what "
    "Python had stored in the same call is not stored then"
)


class CheckWithoutBranch(Codemod):
    """Ask for values with `torch._assert_async` in compiled code, and leave eager code as it is.

    Finds, in functions that are compiled, checks that need the value of a tensor: `if` with a branch that only raises
    (`elif` chains and an `else` that raises too), `assert` where torch cannot keep it, and `torch._check_tensor_all`,
    `torch._check_value` and their like on values that are read. Conditions may compare, reduce, read (`.item()`,
    `bool`, `float`), ask `torch.equal`, `torch.allclose` and `torch.is_nonzero`, and join several by `and` and `or`.

    Writes `if torch.compiler.is_compiling():` with the assertion, and what there was as its `elif` or `else`: eager
    code runs the same statement, with the same exception and text. Where the text does not say that a variable is a
    tensor, and no observed break does, compiled code asks that first: `and isinstance(x, torch.Tensor)` is answered
    while tracing, and where it is not one the old statement runs. Where other branches follow the check, the assertion
    stands before it and compiled code goes on as if it was passed. What Python knows stays a Python question:
    `self.training and x.isnan().any()` is asked only in training. A number that was read is compared in double
    precision, as Python does, unless every dtype holds the other number exactly.

    Measured on torch 2.13, CPU: each such check is a graph break, or keeps the whole frame from being compiled;
    afterwards there is none, also under `fullgraph=True`, in loops, with gradients, under activation checkpointing and
    with dynamic shapes. A failed check raises RuntimeError with the text, by the graph, in `aot_eager` and `inductor`
    alike. `torch._assert_async` without a text is dropped from the graph in silence, so there always is one. Inductor
    writes the text into C++ as it is: with a double quote or a line break that does not compile, and a backslash is
    read again; such characters are replaced. An f-string cannot be kept: as soon as a size is dynamic its text is no
    constant, and `fullgraph=True` fails. So values in a text are written as their source, `{x.min()}`.
    `torch._check` does not take tensors, and `torch._check_tensor_all` reads its answer with `.item()`: a break, and
    under `fullgraph=True` another text. `assert x.min().item() >= 0` is not checked at all there.

    So compiled code raises another exception than eager code; each finding says which. Python's side effects of the
    failing call are lost with it. On a GPU the assertion fails later, and the device cannot be used afterwards.
    The finding is unsafe where a handler in the project tells the two exceptions apart around calls that lead there,
    where something else is done before the exception is raised: compiled code leaves it out, and where a class of
    exceptions makes its text itself: compiled code says what the class is given.

    Left alone:
    - checks in a `try` or under a context manager that is not one of torch's: the exception may be for these
    - generators and coroutines
    - exceptions that are made elsewhere, have a text that is, or a cause; StopIteration and its like
    - comparisons for equality with what may be None, and attributes that nothing says to be tensors
    - sizes, types and other things that Python knows: no break
    - asserts on one tensor with a written text or none: torch itself puts them into the graph
    - a name that may be None, asked for its truth
    - a second operand that may fail where it is not asked now
    - questions that may do something, and tests that bind a name
    - an `elif` with other branches behind it, or these behind a test that Python answers in part
    - code that asks whether it is compiled
    - functions that nothing is seen to compile
    - functions that TorchScript compiles
    """

    repairs_breaks = True
    claim: ClassVar[str] = "a check on a tensor's value breaks the graph; `torch._assert_async` checks inside it."
    why: ClassVar[str] = (
        "A branch on a tensor's value ends the graph and reads the value on the host. `torch._assert_async` stays in "
        "the graph and still fails with the message (torch 2.13: each such check is one break less)."
    )

    def may_hold(self, raw: bytes) -> bool:
        return b"torch" in raw and super().may_hold(raw)

    def hits(self, raw: bytes) -> list[int]:
        return list(hits_in(raw))

    def purposes(self, findings: Sequence[Finding]) -> tuple[Purpose, ...]:
        patterns = dict.fromkeys(purpose_of(note) for finding in findings for note in finding.notes)
        return tuple(Purpose("exception", each, "torch._assert_async raises it") for each in patterns if each)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        found = list(checks(module))
        functions = list(dict.fromkeys(function for function, _ in found))
        for traced in traced_functions(self, module, project, among=functions):
            tensors = project.worked_out(Tensors, lambda: Tensors(project))
            reader = Reader(module, tensors, lambda test: self.was_seen(module, test))
            for function, check in found:
                if function is traced.function and any(map(traced.admits, places(check))):
                    yield self.judge(module, project, traced, check, reader)

    def was_seen(self, module: Module, test: ast.expr) -> bool:
        """Whether torch was seen to break on the value of a tensor in this test."""
        inside = range(test.lineno, (test.end_lineno or test.lineno) + 1)
        sites = self.sites or ()
        return any(site.path == module.path and site.line in inside and site.id in SEEN for site in sites)

    def judge(self, module: Module, project: Project, traced: Traced, check: Check, reader: Reader) -> Finding:
        statement = check.statement
        message = f"{traced.function.name} checks values in compiled code: {what(check)}; {traced.because}"
        try:
            check_surroundings(module, traced.function, check)
            edits, notes = self.write(module, check, reader)
        except Unsure as unsure:
            return module.finding(self.name, statement, message, left_alone=str(unsure))
        caveats = [doubt_about_statements(module, link) for link in check.links]
        caveats += doubt_about_texts(reader.tensors.names, module, check)
        caveats += [self.doubt_about_callers(module, project, traced, link) for link in check.links]
        caveat = "; ".join(dict.fromkeys(filter(None, caveats)))
        return module.finding(
            self.name, statement, message, edits=edits, caveat=caveat, notes=notes, since=COMPILING_SINCE
        )

    def write(self, module: Module, check: Check, reader: Reader) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
        """The edits, and what is different when compiled code fails."""
        asked, notes = [], []
        for link in check.links:
            check_link(module, link)
            message = message_of(module, link)
            asked.append(Written(passed(reader, link), message))
            notes.append(tell(link, message))
            if message.left_out:
                notes.append(f"compiled code does not show the value of {listed(message.left_out)}")
        if len(asked) > 1 and any(one.condition.guards for one in asked):
            raise Unsure(f"{module.path}:{check.statement.lineno}: a Python question in one of several tests")
        return write(module, check, asked), (*dict.fromkeys(notes), ON_A_GPU)

    def doubt_about_callers(self, module: Module, project: Project, traced: Traced, link: Link) -> str:
        if link.error == "RuntimeError":
            return ""
        place = caught_at(project, module, traced.function, link.error)
        return f"{place}: a handler around compiled code tells {link.error} from RuntimeError" if place else ""


def passed(reader: Reader, link: Link) -> Condition:
    """The tensor that must be true; `torch._check_tensor_all` takes nothing but tensors of bools."""
    if not link.is_for_all:
        return reader.condition(link.test, link.passes_on)
    is_loose = not isinstance(link.test, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    text = f"({reader.code(link.test)})" if is_loose else reader.code(link.test)
    return Condition(Answer(f"{text}.all()", True, True))


def places(check: Check) -> list[ast.AST]:
    """Where a graph breaks on a check: in the tests, not in what follows them."""
    return [link.test for link in check.links] if isinstance(check.statement, ast.If) else [check.statement]


def what(check: Check) -> str:
    if isinstance(check.statement, ast.If):
        return f"a branch that raises {check.links[0].error}"
    return "an assert that torch cannot keep" if isinstance(check.statement, ast.Assert) else "a check of torch's own"


def listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))

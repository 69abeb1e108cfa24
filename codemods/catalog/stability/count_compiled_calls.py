"""Count the calls of compiled modules and functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Edit, Finding, Purpose
from fullgraph.codemods.module import Module
from fullgraph.codemods.payload import tested
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.compiled import requests
from fullgraph.codemods.topics.compile_requests.home import defines, home_of
from fullgraph.codemods.topics.compile_requests.importing import import_wrapper
from fullgraph.codemods.topics.compile_requests.requests import Request, requests_of
from fullgraph.codemods.topics.compile_requests.wrappers import COUNTED, wrapper_of
from fullgraph.codemods.topics.compile_requests.writing import Wrapper, put_around, quoted
from fullgraph.codemods.topics.compiled_calls.checks import check
from fullgraph.codemods.topics.compiled_calls.counter import ENVIRONMENT, FILE, counter_text
from fullgraph.codemods.topics.compiled_calls.naming import names_of
from fullgraph.codemods.topics.compiled_calls.regression import count_test


@dataclass(frozen=True)
class CountOptions(Options):
    """Where the counter lives, and what switches it on."""

    file: str = option(
        "",
        "the path of the file that counts, from the root of the project. By default compiled_calls.py in the package "
        "that compiles the most",
    )
    environment: str = option(ENVIRONMENT, "the variable of the environment that switches counting on")


class CountCompiledCalls(Codemod):
    """Count the calls of everything that torch.compile compiles, by phase and by inputs.

    The counter stands where something is compiled, not where it is called: `torch.compile(net)` becomes
    `counted("net", torch.compile(net))`, a decorated function gets `@counted("score")` above `@torch.compile`, and
    `counted("net", net)` follows `net.compile()`. Also in branches, conditional expressions, `return`, comprehensions,
    tuples and dicts, as an argument, for `torch.compile(mode=...)(f)`, `partial(torch.compile, ...)(f)`, lambdas and
    bound methods. Names are those that the code uses, unique in the project (`controller.scorer` where there are two).

    `counted` comes from a new file, one for the project, that needs torch alone; what one of your own defines under
    that name is used instead. Its object `compiled_calls` holds, for every name and phase (train or eval, with or
    without gradients), the number of calls, how many came before the backward of an earlier call had run, and the
    shapes and dtypes of the inputs; as a dict or in a log. Off, which is the default, `counted` returns the object
    that it is given. It is switched on in the environment, or by `compiled_calls.on = True` before all compilation.

    Train or eval is that of the module; of a function, that of the module that owns it or is among its arguments. A
    backward is looked for in the tensors, lists, tuples, dicts and dataclasses that are returned. Calls inside another
    compiled region are not counted, and neither are copies of a module. Around the gate of `gate_compile`, in whatever
    order the two are written, the counter is the outer one and counts calls of plain code too.

    Measured on torch 2.13, on the CPU, before and after: graph breaks 0 and 0, `fullgraph=True` compiles, as many
    recompiles, outputs equal; with the counters off and on. On, a call costs 10 to 55 us of CPU time more, so that a
    pass of a tiny net took 1.4 to 1.7 times as long.

    Left alone:
    - what is counted already, and the project's tests
    - compiled classes, generators and coroutines: what is compiled does not run when they are called
    - a result that is dropped, and a `torch.compile(mode=...)` or `partial` of it that is kept for later
    - what stands behind a `*`, or inside an f-string
    - `net.compile()` of what has no name or no line of its own, or is not known to be a module
    - notebooks, and files that import torch in functions or in a `try`: the counter's import would load it
    - files that give `counted` another meaning, or that do not tell how they import files of their own project: some
      are run as scripts
    - projects that have another file where the counter would be
    """

    options: CountOptions
    on_request: ClassVar[bool] = True
    is_addition: ClassVar[bool] = True
    writes_tests: ClassVar[bool] = True
    needles: ClassVar[tuple[bytes, ...]] = (b"compile", b"dynamo")
    claim: ClassVar[str] = "nobody knows how often a compiled net runs, with which shapes, and what it runs in between."
    why: ClassVar[str] = (
        "The counts say how often each compiled callable runs in training and in evaluation, with which inputs, and "
        "whether it is entered again before a backward has run. Off, `counted` returns what it is given."
    )

    def may_hold(self, raw: bytes) -> bool:
        is_open = b"import torch as " in raw or b'"cells"' in raw
        return super().may_hold(raw) and b"torch" in raw and (is_open or requests(raw))

    def purposes(self, findings: Sequence[Finding]) -> tuple[Purpose, ...]:
        return (tested("compiled_calls.py"),) if findings else ()

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        for request in requests_of(project):
            if request.module.path == module.path and wrapper_of(request, COUNTED) is None:
                yield self.judge(project, request)

    def judge(self, project: Project, request: Request) -> Finding:
        message = f"the calls of {names_of(project)[request]} are not counted"
        edits, reason = self.outcome(project, request)
        if edits and self.tests:
            edits += self.test(project)
        return request.module.finding(self.name, request.node, message, edits=edits, left_alone=reason)

    def outcome(self, project: Project, request: Request) -> tuple[tuple[Edit, ...], str]:
        """The edits, or why there are none."""
        try:
            return self.write(project, request), ""
        except Unsure as unsure:
            return (), str(unsure)

    def write(self, project: Project, request: Request) -> tuple[Edit, ...]:
        """The counter at the request, its import, and the file that it comes from unless that is there."""
        check(project, request)
        home, module = self.home(project), request.module
        spelling, imported = import_wrapper(module, project, home, COUNTED, request.node)
        created = () if defines(project, home, COUNTED) else project.new_file(home, self.text)
        counter = Wrapper(spelling, quoted(module, names_of(project)[request]))
        return (*put_around(request, counter), *imported, *created)

    def home(self, project: Project) -> str:
        return self.options.file or home_of(project, FILE, COUNTED)

    @property
    def text(self) -> str:
        return counter_text(self.options.environment)

    def test(self, project: Project) -> tuple[Edit, ...]:
        """The regression test of the whole project, which every finding brings along."""
        home = self.home(project)
        waiting = [request for request in requests_of(project) if wrapper_of(request, COUNTED) is None]
        left = [request for request in waiting if not self.outcome(project, request)[0]]
        is_ours = not defines(project, home, COUNTED) or project.holds(home, self.text)
        return count_test(project, self.tests, home, left, is_ours)

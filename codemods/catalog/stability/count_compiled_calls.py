"""Count the calls of compiled modules and functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from codemods.codemod import Codemod, Options, Unsure, option
from codemods.model import Edit, Finding
from codemods.module import Module
from codemods.project import Project
from codemods.syntax.compiled import requests
from codemods.topics.compiled_calls.checks import check
from codemods.topics.compiled_calls.counter import ENVIRONMENT, counter_text
from codemods.topics.compiled_calls.home import has_counter, home_of, import_counter
from codemods.topics.compiled_calls.naming import names_of
from codemods.topics.compiled_calls.regression import count_test
from codemods.topics.compiled_calls.requests import Form, Request, requests_of
from codemods.topics.compiled_calls.writing import count_after, decorate, quoted, wrap_call


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
    compiled region are not counted, and neither are copies of a module.

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

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        for request in requests_of(project):
            if request.module.path == module.path and request.counter is None:
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
        home = home_of(project, self.options.file)
        spelling, imported = import_counter(request.module, project, home)
        created = () if has_counter(project, home) else project.new_file(home, self.text)
        return (*place(request, spelling, names_of(project)[request]), *imported, *created)

    @property
    def text(self) -> str:
        return counter_text(self.options.environment)

    def test(self, project: Project) -> tuple[Edit, ...]:
        """The regression test of the whole project, which every finding brings along."""
        home = home_of(project, self.options.file)
        waiting = [request for request in requests_of(project) if request.counter is None]
        left = [request for request in waiting if not self.outcome(project, request)[0]]
        is_ours = not has_counter(project, home) or project.source(home).text.splitlines() == self.text.splitlines()
        return count_test(project, self.tests, home, left, is_ours)


def place(request: Request, counted: str, name: str) -> tuple[Edit, ...]:
    """The counter, in the form that the request asks for."""
    module, node = request.module, request.node
    label = quoted(module, name)
    if request.form is Form.DECORATOR:
        return decorate(module, node, f"{counted}({label})")
    if request.form is Form.IN_PLACE:
        return count_after(module, module.statement(node), f"{counted}({label}, {module.code(request.target)})")
    return wrap_call(module, node, counted, label)

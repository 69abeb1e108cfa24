"""Put compiled code behind flags."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Edit, Finding, Purpose
from fullgraph.codemods.module import Module
from fullgraph.codemods.payload import tested
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS, argument_names
from fullgraph.codemods.syntax.compiled import requests as may_ask
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.compile_requests.home import defines, home_of
from fullgraph.codemods.topics.compile_requests.importing import import_wrapper
from fullgraph.codemods.topics.compile_requests.requests import Form, Request, requests_of
from fullgraph.codemods.topics.compile_requests.wrappers import GATED, outermost, wrapper_of
from fullgraph.codemods.topics.compile_requests.writing import Wrapper, put_around, quoted
from fullgraph.codemods.topics.gates.flags_by_hand import flag_by_hand, flag_of_inference
from fullgraph.codemods.topics.gates.gate_text import FILE, gate_text
from fullgraph.codemods.topics.gates.naming import flags_of
from fullgraph.codemods.topics.gates.regression import gate_tests
from fullgraph.codemods.topics.gates.switches import switches

NO_GRAD = ("torch.no_grad", "torch.inference_mode")


@dataclass(frozen=True)
class GateCompileOptions(Options):
    flag: Literal["environment", "config", "argument"] = option(
        "environment",
        "what switches it: environment variables, two fields of the dataclass that holds the config, or two arguments "
        "of the function that compiles",
    )
    config: str = option("", "with flag=config, the expression that holds the config, such as `self.cfg`")
    prefix: str = option("COMPILE_", "what the names of the environment variables begin with")
    retry_after: int = option(100, "calls that run as plain Python after a compile failure, before the next try")


class GateCompile(Codemod):
    """Put each `torch.compile` behind a flag for training and one for inference.

    Finds every request: `torch.compile(x)` wherever it stands (assigned, returned, in a list, in a condition), with or
    without arguments as a decorator, on methods, and `x.compile()` of the project's own modules. What it makes goes
    through `gated("COMPILE_X", ...)`, from a new file `compile_gate.py` at the top of the package. A call with
    gradients enabled is training, any other is inference: the variables are `COMPILE_X` and `COMPILE_X_INFERENCE`, both
    on unless they say otherwise. With `flag=config` and `flag=argument` the two are bools, named `compile_x` and
    `compile_x_inference`. A flag that the project has around the request stays; if it is a field of the config, only
    the one for inference is added, under its name.

    Off, the plain function or module runs and nothing is compiled. On, a compiled module stays the object that
    `torch.compile` made, with its type, parameters and state dict. When the compiler itself fails (its backend, or an
    internal error of Dynamo), the failure is logged once, the call runs as plain Python, and compiling is tried again
    after `retry_after` calls. Everything else passes as it is: errors of the program, and what `fullgraph=True`
    refuses, which is asked for. If a part of the function had run when the compiler failed (before a graph break, or in
    a hook of the module), the failure is raised: the start would run twice. A failure in `backward` is outside the
    gate. Inside other compiled code a gate is inlined like the function itself. A deep copy of a compiled module is
    not gated.

    Measured on torch 2.13 with both flags on: the same values, graphs, breaks, recompiles and host reads; the gate
    takes 1.3 us of a call, or 0.4 us where the switches are bools. With planted failures of the backend, of inductor's
    lowering and of Dynamo itself, values are those of the plain function and nothing ran twice.

    Left alone:
    - requests that hang on a condition which speaks of compiling for inference, and `disable=`: flags written by hand
    - `torch.compile` that is handed on: kept as a partial, or given a function that may be None
    - what is compiled and called in one expression: each call would have a gate of its own
    - classes that are decorated
    - `x.compile()` that shares its line
    - files where `gated` means something else or would be imported too late
    - packages with another `compile_gate.py`, scripts that do not reach the one of the project, and
      folders without `__init__.py` of which it is not seen how their files import each other
    - decorators, where the flag is to be a config or an argument; functions without a config
    - tests and notebooks
    """

    needles = (b"compile",)
    on_request: ClassVar[bool] = True
    is_addition: ClassVar[bool] = True
    writes_tests: ClassVar[bool] = True
    claim: ClassVar[str] = "compiled code needs a flag to roll it out, and a failing compiler must not end a run."
    why: ClassVar[str] = (
        "Compiled code can be switched off for training and for inference, and a compiler that fails is logged and "
        "tried again later; with both flags on, values, graphs and breaks are as before (torch 2.13)."
    )
    options: GateCompileOptions

    def may_hold(self, raw: bytes) -> bool:
        if not super().may_hold(raw) or b"torch" not in raw:
            return False
        return b"import torch as " in raw or raw.lstrip().startswith(b"{") or may_ask(raw)

    def purposes(self, findings: Sequence[Finding]) -> tuple[Purpose, ...]:
        return (tested("compile_gate.py"),) if findings else ()

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for request in requests_of(project):
            if request.module.path == module.path and wrapper_of(request, GATED) is None:
                yield self.judge(request, project)

    def judge(self, request: Request, project: Project) -> Finding:
        module, name = request.module, flags_of(project, self.options.prefix)[request]
        flag = flag_by_hand(request)
        how = f"for training and inference alike: `{module.code(flag)}` decides on both" if flag else "whatever happens"
        switch = "" if flag else ": no flag turns that off"
        message = f"`{name}` is compiled {how}{switch}, and a failing compiler ends the run"
        edits, reason = self.outcome(request, project)
        if reason:
            return module.finding(self.name, request.node, message, left_alone=reason)
        edits += self.test(project) if self.tests else ()
        return module.finding(self.name, request.node, message, edits=edits, notes=notes(request))

    def outcome(self, request: Request, project: Project) -> tuple[tuple[Edit, ...], str]:
        """The edits, or why there are none."""
        try:
            return self.write(request, project), ""
        except Unsure as unsure:
            return (), str(unsure)

    def write(self, request: Request, project: Project) -> tuple[Edit, ...]:
        check(request)
        name = flags_of(project, self.options.prefix)[request]
        switched = switches(request, project, f"compile_{name}", self.options.flag, self.options.config)
        module, home = request.module, home_of(project, FILE, GATED)
        gated, imports = import_wrapper(module, project, home, GATED, request.node)
        flag = quoted(module, f"{self.options.prefix}{name.upper()}")
        created = () if defines(project, home, GATED) else project.new_file(home, self.text)
        gate = Wrapper(gated, flag, switched.keywords, is_inner=True)
        return (*put_around(request, gate), *imports, *switched.edits, *created)

    @property
    def text(self) -> str:
        return gate_text(self.options.retry_after)

    def test(self, project: Project) -> tuple[Edit, ...]:
        """The regression tests of the whole project, which every finding brings along."""
        home = home_of(project, FILE, GATED)
        waiting = [request for request in requests_of(project) if wrapper_of(request, GATED) is None]
        left = [request for request in waiting if self.outcome(request, project)[1]]
        is_ours = not defines(project, home, GATED) or project.holds(home, self.text)
        return gate_tests(project, self.tests, home, left, is_ours)


def check(request: Request) -> None:
    """Unsure about what has a flag already, and about what no gate can hold."""
    module, node = request.module, request.node
    place = where(module, node)
    if module.path.endswith(".ipynb"):
        raise Unsure(f"{place}: a notebook has no package for the gate")
    if flag := flag_of_inference(request):
        raise Unsure(f"{where(module, flag)}: `{module.code(flag)}` is a flag for it already")
    if request.form is Form.LATER or may_be_none(request):
        raise Unsure(f"{place}: what this compiles is not seen here")
    if isinstance(request.target, ast.ClassDef):
        raise Unsure(f"{place}: a class is compiled, not a function or a module")
    whole = outermost(request)
    parent = module.parent(whole)
    if isinstance(parent, ast.Call) and parent.func is whole:
        raise Unsure(f"{place}: it is compiled anew at each call, and a gate would not remember anything")
    if request.form is Form.IN_PLACE and not isinstance(parent, ast.Expr):
        raise Unsure(f"{place}: the result of `compile()` is used")


def may_be_none(request: Request) -> bool:
    """Whether the target is an argument that is None by default: then `torch.compile` returns a decorator."""
    function = request.module.enclosing(request.node, ast.FunctionDef, ast.AsyncFunctionDef)
    target = request.target
    if isinstance(target, ast.Starred):
        return True
    if not isinstance(target, ast.Name) or function is None or target.id not in argument_names(function):
        return False
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args][::-1]
    defaults = {item.arg: value for item, value in zip(given, arguments.defaults[::-1], strict=False)}
    defaults |= {
        item.arg: value for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    }
    default = defaults.get(target.id)
    return isinstance(default, ast.Constant) and default.value is None


def is_tried(module: Module, node: ast.AST, around: ast.Try) -> bool:
    """Whether it stands in what is tried, in the same function."""
    inner = module.enclosing(node, *FUNCTIONS) is module.enclosing(around, *FUNCTIONS)
    return inner and any(node in ast.walk(statement) for statement in around.body)


def notes(request: Request) -> tuple[str, ...]:
    """Gradients may be off inside, where the gate does not see it; a `try` around the request does not see failures."""
    module = request.module
    if (around := module.enclosing(request.node, ast.Try)) and is_tried(module, request.node, around):
        return (f"{where(module, around)}: this `try` sees no failure of the compiler: the first call compiles",)
    for decorator in getattr(request.target, "decorator_list", []):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if request.module.resolve(called) in NO_GRAD:
            place = where(request.module, decorator)
            return (f"{place}: gradients are turned off inside; the gate asks outside, and may take it for training",)
    return ()
